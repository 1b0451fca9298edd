//! A player: goes from a prompt to the report of the fork that it caused, again and again, and knows what each hook on
//! the way must say.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use autofork::sim::Stage;
use serde_json::json;

use super::ledger::Ledger;
use super::person::{Hook, Person, Told};
use super::{Outcome, PATIENCE};

/// How often progress is looked at by whoever waits for some.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How far all players together have come.
#[derive(Debug)]
pub(crate) struct Progress {
    rounds: AtomicUsize,
    players: AtomicUsize,
}

impl Progress {
    pub(crate) fn new(players: usize) -> Self {
        Self { rounds: AtomicUsize::new(0), players: AtomicUsize::new(players) }
    }

    /// Rounds that were played, of all players together.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Waits until so many rounds were played, or nobody plays any more.
    pub(crate) fn wait_for(&self, rounds: usize) {
        while self.rounds() < rounds && self.players.load(Ordering::Relaxed) > 0 {
            thread::sleep(LOOK_AGAIN);
        }
    }

    fn round_is_over(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts a player out, also when it panics: others wait for its rounds.
#[derive(Debug)]
pub(crate) struct Playing<'a>(pub(crate) &'a Progress);

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        self.0.players.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Playing<'_> {
    pub(crate) fn round_is_over(&self) {
        self.0.round_is_over();
    }
}

/// One of the crowd.
#[derive(Debug)]
pub(crate) struct Player<'a> {
    client: Person<'a>,
    name: String,
    sessions: usize,
    rounds: usize,
    /// The hook that waits since the last turn's end.
    parked: Option<Hook>,
    faults: Vec<String>,
    woken: Vec<(String, String)>,
    told: Vec<Told>,
    prompts_with_kills: Vec<Duration>,
    prompts: Vec<Duration>,
    nothing: Vec<Duration>,
    unanswered: usize,
}

impl<'a> Player<'a> {
    pub(crate) fn new(stage: &'a Stage, name: String, pid: u32) -> Self {
        Self {
            client: Person::new(stage, &stage.project(), name.clone(), pid),
            name,
            sessions: 0,
            rounds: 0,
            parked: None,
            faults: Vec::new(),
            woken: Vec::new(),
            told: Vec::new(),
            prompts_with_kills: Vec::new(),
            prompts: Vec::new(),
            nothing: Vec::new(),
            unanswered: 0,
        }
    }

    pub(crate) fn begin_session(&mut self) {
        self.end_session();
        self.sessions += 1;
        self.client.begin_another(format!("{}-{}", self.name, self.sessions));
    }

    /// The session is over, and the hook that is parked must go unnoticed.
    pub(crate) fn end_session(&mut self) {
        if self.sessions > 0 {
            self.client.run("session-end", String::new(), json!({ "reason": "clear" }));
            self.let_go("the session's end");
        }
    }

    /// From a prompt to the report of the fork that is due at once when its turn ends, and the turn after that.
    pub(crate) fn play_round(&mut self, with_kills: bool) {
        self.rounds += 1;
        let agent = format!("{}-agent-{}", self.client.session, self.rounds);
        self.prompt("Go on.", with_kills);
        let hook = self.client.stop(&[]);
        let Some(ticket) = self.wake_of(hook) else { return };
        let wake = "<task-notification>\n<summary>Stop hook feedback</summary>\n</task-notification>\n\
                    <system-reminder>\nStop hook blocking error from command \"Stop\": autofork\n</system-reminder>";
        self.prompt(wake, with_kills);

        let call = self.spawn(&agent, &ticket);
        let started = json!({ "agent_id": agent, "agent_type": "fork" });
        self.silently("subagent-start", &agent, started);
        let response = json!({ "agentId": agent, "status": "async_launched" });
        let input = json!({ "prompt": ticket });
        let launched = json!({
            "tool_name": "Agent", "tool_input": input, "tool_use_id": call, "tool_response": response,
        });
        self.silently("post-tool-use", &call, launched);
        self.parked = Some(self.client.stop(&[&agent]));

        let report = json!({ "agent_id": agent, "agent_type": "fork", "last_assistant_message": "Done." });
        self.silently("subagent-stop", &agent, report);
        let notice = format!(
            "<task-notification>\n<task-id>{agent}</task-id>\n<tool-use-id>{call}</tool-use-id>\n\
             <status>completed</status>\n<summary>Agent finished</summary>\n<result>Done.</result>\n\
             </task-notification>"
        );
        self.prompt(&notice, with_kills);
        // In the same pause, so it must not be woken again: the next prompt lets it go.
        self.parked = Some(self.client.stop(&[]));
        self.measure_nothing(with_kills);
    }

    /// Gives away all that was seen.
    pub(crate) fn hand_over(&mut self, ledger: &mut Ledger, outcome: &mut Outcome) {
        self.told.append(&mut self.client.told);
        ledger.told(std::mem::take(&mut self.told));
        for (session, ticket) in self.woken.drain(..) {
            ledger.woken(&session, "at-once", &ticket);
        }
        outcome.faults.append(&mut self.faults);
        outcome.prompts_with_kills.append(&mut self.prompts_with_kills);
        outcome.prompts.append(&mut self.prompts);
        outcome.nothing.append(&mut self.nothing);
        outcome.unanswered += self.unanswered;
    }

    fn prompt(&mut self, text: &str, with_kills: bool) {
        let took = self.client.prompt(text);
        let times = if with_kills { &mut self.prompts_with_kills } else { &mut self.prompts };
        times.push(took);
        self.let_go("a prompt");
    }

    fn wake_of(&mut self, hook: Hook) -> Option<String> {
        let ended = hook.end_within(PATIENCE);
        if let Some(ended) = &ended
            && ended.is_wake()
            && let [ticket] = ended.tickets().as_slice()
        {
            self.woken.push((self.client.session.clone(), ticket.clone()));
            return Some(ticket.clone());
        }
        self.faults.push(format!("{}: not woken once, but {ended:?}", self.client.session));
        None
    }

    /// The hook that is parked must end in silence.
    fn let_go(&mut self, by: &str) {
        let Some(hook) = self.parked.take() else { return };
        let ended = hook.end_within(PATIENCE);
        if !ended.as_ref().is_some_and(super::person::Ended::is_silent) {
            self.faults.push(format!("{}: {by} did not let the parked hook go, but {ended:?}", self.client.session));
        }
    }

    /// The model makes the call twice. Returns the call that was let through: the first, unless its answer came too late
    /// and it was never heard of.
    fn spawn(&mut self, agent: &str, ticket: &str) -> String {
        let calls = [format!("{agent}-call"), format!("{agent}-call-again")];
        let decisions = calls.each_ref().map(|call| self.decision(call, ticket));
        self.unanswered += decisions.iter().filter(|decision| decision.is_none()).count();
        match decisions.each_ref().map(|decision| decision.as_deref()) {
            [Some("allow") | None, Some("deny") | None] => calls[0].clone(),
            [None, Some("allow")] => calls[1].clone(),
            wrong => {
                self.faults.push(format!("{agent}: the calls of one ticket were answered {wrong:?}"));
                calls[0].clone()
            }
        }
    }

    fn decision(&mut self, call: &str, ticket: &str) -> Option<String> {
        let input = json!({ "subagent_type": "fork", "description": "autofork: at-once", "prompt": ticket });
        let fields = json!({ "tool_name": "Agent", "tool_input": input, "tool_use_id": call });
        self.client.run("pre-tool-use", call.to_owned(), fields).decision()
    }

    fn silently(&mut self, event: &'static str, which: &str, fields: serde_json::Value) {
        let ended = self.client.run(event, which.to_owned(), fields);
        if !ended.is_silent() {
            self.faults.push(format!("{which}: {event} was noticed: {ended:?}"));
        }
    }

    /// What any process takes among so many.
    fn measure_nothing(&mut self, with_kills: bool) {
        let began = Instant::now();
        let mut nothing = Command::new("/bin/true");
        nothing.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if nothing.output().is_ok() && !with_kills {
            self.nothing.push(began.elapsed());
        }
    }
}
