//! Playing a scenario: the compiler over files in memory, the engine on a virtual clock, and clients that obey.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::client::{Agent, Client};
use super::expect::Unmet;
use super::file::{Doing, RunSetup, Scenario, Step};
use super::timeline::{Change, Timeline, What};
use crate::compile::State as FileState;
use crate::db::{Loaded, Workspace};
use crate::diagnostic::Diagnostic;
use crate::engine::{
    BackgroundTask, Caller, Effect, Event, Evidence, Fact, Mark, Origin, Outcome, PermissionMode, PollId, Prompt,
    SessionId, Start, StartSource, State, TagOverride, TaskId, TaskKind, TaskNotice, ToolUseId, TurnKind, Usage,
    WakeId, WindowSign,
};
use crate::ir::{ForkName, LaunchDir, Programs, ProjectRoot, Time};
use crate::project::{Memory, UserDirs};

/// Where the play takes place.
const PROJECT: &str = "/project";

/// Texts of fork files by their paths below the folder of forks.
pub type Texts = BTreeMap<PathBuf, Vec<u8>>;

/// What came of a play.
#[derive(Debug)]
pub struct Played {
    /// What happened.
    pub timeline: Timeline,
    /// When it began.
    pub began: Time,
    /// Expectations that were not met.
    pub unmet: Vec<Unmet>,
    /// How many there were.
    pub expectations: usize,
    /// What the compiler found at the beginning.
    pub diagnostics: Vec<Diagnostic>,
    /// The forks that are there at the beginning.
    pub known: Vec<ForkName>,
    /// Forks that are broken at the beginning.
    pub broken: Vec<ForkName>,
    /// Forks that the scenario names and that are not there at the beginning, nor are written in it.
    pub unknown: Vec<ForkName>,
}

/// Plays a scenario with the forks of a folder besides its own.
pub fn play(scenario: &Scenario, folder: &Texts) -> Played {
    let mut stage = Stage::new(scenario, folder);
    let loaded = stage.load();
    let broken = loaded.in_state(FileState::Broken).map(|listed| listed.name.clone()).collect();
    let known = loaded.listing.iter().map(|listed| listed.name.clone()).collect();
    let unknown = unknown_forks(scenario, &loaded);
    let mut unmet = Vec::new();
    let mut expectations = 0;
    for step in &scenario.steps {
        stage.until(stage.began.after(step.at));
        if let Doing::Expect(expectation) = &step.what {
            expectations += expectation.forks.len();
            let turn = stage.clients.get(&step.session).and_then(|client| client.user_turn).unwrap_or(stage.began);
            let session = SessionId::from(step.session.as_str());
            let outlook = |fork: &ForkName| {
                let session = stage.state.session(&session)?;
                let program = stage.programs.get(&session.launch)?;
                Some(stage.state.outlook(session, program.fork(fork)?, program, stage.now))
            };
            unmet.extend(expectation.check(stage.began, turn, &stage.timeline, outlook));
        } else {
            stage.take(step);
        }
    }
    // The rest of each pause is told, though nobody lives through it.
    let ids: Vec<SessionId> = stage.state.sessions().map(|session| session.id.clone()).collect();
    for id in ids {
        stage.timeline.unfired(&stage.state, &id, &stage.programs);
    }
    // When it fires after all is worth knowing too.
    for unmet in &mut unmet {
        unmet.fired = unmet.expectation.firings(&stage.timeline, &unmet.fork);
    }
    let (timeline, began, diagnostics) = (stage.timeline, stage.began, loaded.diagnostics);
    Played { timeline, began, unmet, expectations, diagnostics, known, broken, unknown }
}

fn unknown_forks(scenario: &Scenario, loaded: &Loaded) -> Vec<ForkName> {
    let written: Vec<ForkName> = scenario
        .steps
        .iter()
        .filter_map(|step| match &step.what {
            Doing::Write(fork, _) => Some(ForkName::from(fork.as_str())),
            _ => None,
        })
        .collect();
    let expected = scenario.steps.iter().filter_map(|step| match &step.what {
        Doing::Expect(expectation) => Some(&expectation.forks),
        _ => None,
    });
    let mut named: Vec<ForkName> = expected.flatten().chain(scenario.runs.keys()).cloned().collect();
    named.sort();
    named.dedup();
    named.retain(|name| !written.contains(name) && !loaded.listing.iter().any(|listed| listed.name == *name));
    named
}

struct Stage<'a> {
    scenario: &'a Scenario,
    files: Memory,
    state: State,
    programs: Programs,
    began: Time,
    now: Time,
    clients: BTreeMap<String, Client>,
    timeline: Timeline,
    count: u64,
}

impl<'a> Stage<'a> {
    fn new(scenario: &'a Scenario, folder: &Texts) -> Self {
        let mut files = Memory::default();
        for (path, text) in folder {
            files.write(forks_folder().join(path), text.clone());
        }
        for (name, text) in &scenario.forks {
            files.write(forks_folder().join(format!("{name}.md")), text.as_str());
        }
        files.write(Path::new(PROJECT).join(".autofork/config.toml"), scenario.config.as_str());
        let began = Time::from_millis(0);
        Self {
            scenario,
            files,
            state: State::default(),
            programs: Programs::default(),
            began,
            now: began,
            clients: BTreeMap::new(),
            timeline: Timeline::default(),
            count: 0,
        }
    }

    /// Compiles what is on disk and puts it in force.
    fn load(&mut self) -> Loaded {
        let user = UserDirs { base: Some("/home/.autofork".into()), user: None };
        let loaded = Workspace::new(Arc::new(self.files.clone())).load(&launch(), &user);
        self.programs.set(launch(), Arc::clone(&loaded.program));
        self.tell(Event::ProgramChanged(launch()));
        loaded
    }

    /// Lets time pass: deadlines of the engine, then ends of runs, each at its instant.
    fn until(&mut self, end: Time) {
        loop {
            let deadline = self.state.next_deadline();
            let run = self.clients.values().filter_map(Client::next_end).min();
            match (deadline, run) {
                (Some(deadline), run) if deadline <= end && run.is_none_or(|run| deadline <= run) => {
                    self.now = self.now.max(deadline);
                    self.tell(Event::Tick);
                }
                (_, Some(run)) if run <= end => {
                    self.now = self.now.max(run);
                    self.end_run(run);
                }
                _ => break,
            }
        }
        self.now = self.now.max(end);
    }

    fn take(&mut self, step: &Step) {
        let name = step.session.as_str();
        match &step.what {
            Doing::Start(source, tokens) => self.start(name, *source, *tokens),
            Doing::Prompt(plan) => {
                self.mode(name, *plan);
                let now = self.now;
                self.client(name).user_turn = Some(now);
                self.prompt(name, Prompt::Human);
            }
            Doing::Stop { tasks, plan } => {
                self.mode(name, *plan);
                for task in tasks {
                    let known = &mut self.client(name).tasks;
                    if !known.contains(task) {
                        known.push(task.clone());
                    }
                }
                self.stop(name, TurnKind::Plain);
            }
            Doing::Interrupt => {
                self.client(name).busy = true;
                self.timeline.say(self.now, Some(&name.into()), What::Interrupted);
            }
            Doing::HookGoes => {
                if let Some(poll) = self.client(name).poll.take() {
                    self.tell(Event::PollDropped { session: name.into(), poll });
                }
            }
            Doing::HookReturns => self.park(name),
            Doing::TaskEnds(task) => {
                self.client(name).tasks.retain(|known| known != task);
                let notice = notice(task.as_str().into(), None, Outcome::Completed, None);
                let now = self.now;
                self.client(name).user_turn = Some(now);
                self.prompt(name, Prompt::Tasks(vec![notice]));
            }
            Doing::Gauge(tokens) => {
                let (tokens, window) = (Some(*tokens), WindowSign::None);
                self.tell(Event::GaugeRead { session: name.into(), tokens, window });
            }
            Doing::End => {
                self.fact(name, Fact::Ended);
                self.clients.remove(name);
            }
            Doing::Restart => self.restart(),
            Doing::Write(fork, text) => {
                self.files.write(forks_folder().join(format!("{fork}.md")), text.as_str());
                self.timeline.say(self.now, None, What::Files(Change::Written(fork.clone())));
                self.load();
            }
            Doing::Remove(fork) => {
                self.files.remove(&forks_folder().join(format!("{fork}.md")));
                self.timeline.say(self.now, None, What::Files(Change::Removed(fork.clone())));
                self.load();
            }
            Doing::Configure(text) => {
                self.files.write(Path::new(PROJECT).join(".autofork/config.toml"), text.as_str());
                self.timeline.say(self.now, None, What::Files(Change::Configured));
                self.load();
            }
            Doing::Expect(_) => {}
        }
    }

    fn client(&mut self, name: &str) -> &mut Client {
        self.clients.entry(name.to_owned()).or_default()
    }

    fn mode(&mut self, name: &str, plan: Option<bool>) {
        let mode = if plan == Some(true) { PermissionMode::Plan } else { PermissionMode::Other };
        self.client(name).mode = Some(mode);
    }

    fn start(&mut self, name: &str, source: StartSource, tokens: Option<u64>) {
        if source != StartSource::Compact {
            let client = self.client(name);
            client.busy = false;
            client.poll = None;
            client.agents.clear();
            client.unannounced.clear();
            client.tasks.clear();
        }
        self.fact(name, Fact::Started(Start { source, tokens, window: WindowSign::None }));
    }

    fn prompt(&mut self, name: &str, prompt: Prompt) {
        let client = self.client(name);
        client.turn += 1;
        client.busy = true;
        let mode = client.mode;
        let mark = self.mark(name);
        self.fact(name, Fact::Prompt { mark, prompt, mode });
    }

    /// The turn ends, its hook parks, and then the client tells the session what has ended meanwhile.
    fn stop(&mut self, name: &str, kind: TurnKind) {
        let client = self.client(name);
        client.busy = false;
        let mode = client.mode;
        let runs =
            client.agents.iter().map(|agent| (agent.id.clone(), TaskKind::Fork, format!("autofork: {}", agent.fork)));
        let tasks = client.tasks.iter().map(|task| (task.as_str().into(), TaskKind::Other, task.clone()));
        let listed = runs.chain(tasks).map(|(id, kind, description)| BackgroundTask { id, kind, description });
        let background = Some(listed.collect());
        let mark = self.mark(name);
        self.fact(name, Fact::Stopped { mark, kind, background, mode });
        self.park(name);
        let ended = std::mem::take(&mut self.client(name).unannounced);
        if !ended.is_empty() && !self.client(name).busy {
            self.announce(name, ended);
        }
    }

    fn park(&mut self, name: &str) {
        self.count += 1;
        let poll = PollId::new(self.count);
        self.client(name).poll = Some(poll);
        let mark = self.mark(name);
        self.tell(Event::Parked { session: name.into(), poll, mark });
    }

    /// The first run that is to end at this instant does.
    fn end_run(&mut self, at: Time) {
        let found = self.clients.iter_mut().find_map(|(name, client)| {
            let place = client.agents.iter().position(|agent| agent.ends_at <= at)?;
            Some((name.clone(), client.agents.remove(place)))
        });
        let Some((name, agent)) = found else { return };
        if agent.outcome == Outcome::Lost {
            return;
        }
        if agent.outcome == Outcome::Completed {
            let report = Some(agent.report.clone());
            self.fact(&name, Fact::SubagentStopped { agent: agent.id.clone(), report });
        }
        // What that released may have begun a turn already.
        if self.client(&name).busy {
            self.client(&name).unannounced.push(agent);
        } else {
            self.announce(&name, vec![agent]);
        }
    }

    /// The client tells the session that forks have ended, and a short turn goes by.
    fn announce(&mut self, name: &str, ended: Vec<Agent>) {
        let notices = ended
            .into_iter()
            .map(|agent| notice(agent.id, Some(agent.call), agent.outcome, Some(agent.report)))
            .collect();
        self.prompt(name, Prompt::Tasks(notices));
        self.stop(name, TurnKind::Plain);
    }

    /// A wake arrives: the model starts every fork that it names, as it is asked.
    fn obey(&mut self, session: &SessionId, wake: WakeId) {
        let name = session.as_str().to_owned();
        self.tell(Event::WakeDelivered(session.clone()));
        self.prompt(&name, Prompt::Wake);
        let tickets = self.state.session(session).into_iter().flat_map(|session| session.tickets_of(wake));
        let tickets: Vec<_> = tickets.map(|ticket| (ticket.id, ticket.fork.clone())).collect();
        for (ticket, fork) in tickets {
            let RunSetup { takes, ends, report } = self.scenario.runs.get(&fork).cloned().unwrap_or_default();
            let Some(outcome) = ends else { continue };
            self.count += 1;
            let call = ToolUseId::from(format!("call-{}", self.count).as_str());
            let id = TaskId::from(format!("agent-{}", self.count).as_str());
            let caller = Caller::Main;
            self.fact(&name, Fact::SpawnRequested { tool_use: call.clone(), ticket: Some(ticket), caller });
            let started =
                Fact::SpawnStarted { tool_use: call.clone(), agent: id.clone(), ticket: Some(Some(ticket)) };
            self.fact(&name, started);
            let ends_at = self.now.after(takes);
            self.client(&name).agents.push(Agent { id, fork, call, ends_at, outcome, report });
        }
        self.stop(&name, TurnKind::HookAsked);
    }

    /// The daemon goes and another one comes: what it knows is what was written.
    fn restart(&mut self) {
        let written = serde_json::to_string(&self.state).and_then(|text| serde_json::from_str(&text));
        self.state = written.unwrap_or_default();
        self.tell(Event::Restarted);
        let parked: Vec<String> =
            self.clients.iter().filter(|(_, client)| client.poll.is_some()).map(|(name, _)| name.clone()).collect();
        for name in parked {
            self.park(&name);
        }
    }

    fn mark(&mut self, name: &str) -> Mark {
        let turn = self.client(name).turn;
        Mark { prompt: Some(format!("{name}-{turn}").as_str().into()), at: self.now }
    }

    fn fact(&mut self, name: &str, fact: Fact) {
        let setup = self.scenario.sessions.get(name).cloned().unwrap_or_default();
        let origin = Origin {
            session: name.into(),
            conversation: setup.conversation.as_deref().unwrap_or(name).into(),
            launch: launch(),
            client: None,
            transcript: None,
            tags: TagOverride { enable: setup.enable_tags, disable: setup.disable_tags },
        };
        self.tell(Event::Host { origin, root: ProjectRoot::new(PROJECT), fact });
    }

    /// Tells the engine, and does what it asks for.
    #[allow(clippy::needless_pass_by_value, reason = "an event is told once")]
    fn tell(&mut self, event: Event) {
        let before = self.state.clone();
        let effects = self.state.apply(self.now, &self.programs, event.clone());
        self.timeline.observe(&before, &event, &effects, &self.state, &self.programs);
        for effect in effects {
            match effect {
                Effect::Wake { session, wake, .. } => {
                    self.client(session.as_str()).poll = None;
                    self.obey(&session, wake);
                }
                Effect::Release { poll } => {
                    for client in self.clients.values_mut().filter(|client| client.poll == Some(poll)) {
                        client.poll = None;
                    }
                }
                Effect::Probe { session, .. } => self.tell(Event::ClientAlive(session)),
                Effect::Allow { .. } | Effect::Deny(_) | Effect::Record(_) => {}
            }
        }
    }
}

fn launch() -> LaunchDir {
    LaunchDir::new(PROJECT)
}

fn forks_folder() -> PathBuf {
    Path::new(PROJECT).join(".autofork/forks")
}

/// The client's word that a task has ended.
fn notice(task: TaskId, tool_use: Option<ToolUseId>, outcome: Outcome, report: Option<String>) -> TaskNotice {
    let usage = report.as_ref().map(|_| Usage::default());
    TaskNotice { task: Some(task), tool_use, outcome, report, usage, evidence: Evidence::Plain }
}
