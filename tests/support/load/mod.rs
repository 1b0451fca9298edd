//! The daemon under load: sessions that are parked, clients that go on turn after turn, every hook a process of its own,
//! and a daemon that is killed meanwhile. Played by `benches/load.rs` at full size, and in small by `tests/daemon`.
//!
//! What must hold is checked from both ends: each player knows what every hook of its own must say, and at the end the
//! journal must hold every event that was told, and one firing for every pause.

mod ledger;
mod person;
mod player;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use autofork::host::client::{Absence, Client, Patience};
use autofork::host::dirs::{HOME_VARIABLE, Home};
use autofork::host::protocol::Reply;
use autofork::sim::Stage;
use rustix::process::{Pid, Signal, kill_process};

use self::ledger::Ledger;
use self::person::{Folk, Hook, Person};
use self::player::{Player, Playing, Progress};

/// How long anything may take that should take milliseconds: the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often the daemon's memory is looked at.
const LOOK_AT_MEMORY: Duration = Duration::from_millis(100);

/// How long the one at the keyboard, who is measured beside the crowd, rests between prompts.
const TYPING: Duration = Duration::from_millis(100);

/// What is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Sessions that are parked all the time, each with a hook process.
    pub(crate) parked: usize,
    /// Clients that go on turn after turn, all at once.
    pub(crate) clients: usize,
    /// How often each of them goes from a prompt to the report of the fork that it caused: eleven hooks.
    pub(crate) rounds: usize,
    /// How long each of them rests before a round, as people do. Without rest the machine is never idle, and processes
    /// wait for each other.
    pub(crate) rest: Duration,
    /// How many rounds one session lasts; then the client begins another.
    pub(crate) rounds_per_session: usize,
    /// How often the daemon is killed, evenly over the first two thirds of the rounds. In the rest it lives.
    pub(crate) kills: usize,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Whatever was not as it must be, in words.
    pub(crate) faults: Vec<String>,
    /// Hook events that were told.
    pub(crate) events: usize,
    /// Events that the journal holds more than once: told to a daemon that died before it could answer, and to the next.
    pub(crate) told_again: usize,
    /// Spawn calls whose hook had to go without an answer. Then the call goes ahead as it is, and the fork reads its file.
    pub(crate) unanswered: usize,
    /// Forks that fired.
    pub(crate) fired: usize,
    /// How often the daemon was killed.
    pub(crate) kills: usize,
    /// How long it took, but for the beginning and the end.
    pub(crate) took: Duration,
    /// Hooks of prompts while the daemon was killed now and then.
    pub(crate) prompts_with_kills: Vec<Duration>,
    /// Hooks of prompts while it lived.
    pub(crate) prompts: Vec<Duration>,
    /// Prompts of one more client, who types now and then, while the daemon lived.
    pub(crate) typed: Vec<Duration>,
    /// Answers to as many clients at once, without processes of their own: what the daemon adds.
    pub(crate) answers: Vec<Duration>,
    /// `/bin/true` as one more of the processes at once, while the daemon lived.
    pub(crate) nothing: Vec<Duration>,
    /// The daemon's resident memory in kilobytes while it lived, over time.
    pub(crate) memory: Vec<u64>,
    /// Resident memory in kilobytes that parked hooks have for themselves: the largest.
    pub(crate) parked_hook: u64,
}

/// Plays it with the program of the stage, which has no daemon yet.
pub(crate) fn play(stage: &Stage, plan: Plan) -> Outcome {
    fs::write(stage.home().join("config.toml"), "wake_debounce = \"0s\"\n").expect("our own folder");
    write_fork(&stage.project(), "at-once", "0s");
    let quiet = stage.root().join("quiet");
    write_fork(&quiet, "late", "1h");
    let mut outcome = Outcome::default();
    let mut ledger = Ledger::default();
    let mut folk = Folk::default();

    let parked: Vec<(Person<'_>, Hook)> = (0..plan.parked)
        .map(|number| {
            let mut client = Person::new(stage, &quiet, format!("quiet-{number}"), folk.newcomer());
            client.start();
            client.prompt("Go on.");
            let hook = client.stop(&[]);
            (client, hook)
        })
        .collect();

    play_crowd(stage, plan, &mut folk, &mut ledger, &mut outcome);
    outcome.answers = answers(stage, plan.clients, &mut ledger);
    outcome.parked_hook = parked.iter().map(|(_, hook)| resident(hook.pid())).max().unwrap_or(0);

    // Now every parked session comes due at once: another session of the folder has the forks read anew.
    write_fork(&quiet, "late", "1s");
    let mut newcomer = Person::new(stage, &quiet, "newcomer".to_owned(), folk.newcomer());
    newcomer.start();
    for (client, hook) in parked {
        match hook.end_within(PATIENCE) {
            Some(ended) if ended.is_wake() && ended.tickets().len() == 1 => {
                ledger.woken(&client.session, "late", &ended.tickets()[0]);
            }
            ended => outcome.faults.push(format!("{}: not woken once at the end, but {ended:?}", client.session)),
        }
        ledger.told(client.told);
    }
    ledger.told(newcomer.told);
    ledger.compare(stage, &mut outcome);
    outcome
}

/// Everybody at once, until all have played their rounds.
fn play_crowd(stage: &Stage, plan: Plan, folk: &mut Folk, ledger: &mut Ledger, outcome: &mut Outcome) {
    let began = Instant::now();
    let rounds_with_kills = plan.rounds - plan.rounds / 3;
    let progress = Progress::new(plan.clients);
    let over = AtomicBool::new(false);
    let mut players: Vec<Player<'_>> =
        (0..plan.clients).map(|number| Player::new(stage, format!("client-{number}"), folk.newcomer())).collect();
    let mut typist = Person::new(stage, &stage.project(), "typist".to_owned(), folk.newcomer());
    typist.start();
    thread::scope(|scope| {
        let at_the_end = AtTheEnd(&over);
        let playing: Vec<_> = players
            .iter_mut()
            .zip(0..)
            .map(|(player, number): (_, u32)| {
                let playing = Playing(&progress);
                scope.spawn(move || {
                    // They do not begin all at once.
                    thread::sleep(plan.rest.saturating_mul(number) / u32::try_from(plan.clients).unwrap_or(1));
                    for round in 0..plan.rounds {
                        thread::sleep(plan.rest);
                        if round % plan.rounds_per_session == 0 {
                            player.begin_session();
                        }
                        player.play_round(round < rounds_with_kills);
                        playing.round_is_over();
                    }
                    player.end_session();
                })
            })
            .collect();
        let typing = scope.spawn(|| {
            let mut typed = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let took = typist.prompt("Go on.");
                if progress.rounds() >= rounds_with_kills * plan.clients {
                    typed.push(took);
                }
                thread::sleep(TYPING);
            }
            typed
        });
        let watching = scope.spawn(|| {
            let mut memory = Vec::new();
            while !over.load(Ordering::Relaxed) {
                if progress.rounds() >= rounds_with_kills * plan.clients
                    && let Some(pid) = daemon(stage)
                {
                    memory.push(resident(pid));
                }
                thread::sleep(LOOK_AT_MEMORY);
            }
            memory
        });
        for kill in 1..=plan.kills {
            progress.wait_for(rounds_with_kills * plan.clients * kill / (plan.kills + 1));
            outcome.kills += usize::from(kill_daemon(stage));
        }
        for player in playing {
            player.join().expect("a player does not panic");
        }
        outcome.took = began.elapsed();
        drop(at_the_end);
        outcome.typed = typing.join().expect("it does not panic");
        outcome.memory = watching.join().expect("it does not panic");
    });
    ledger.told(std::mem::take(&mut typist.told));
    for player in &mut players {
        player.hand_over(ledger, outcome);
    }
}

/// Says that it is over when it is dropped, also by a panic: or those who go on until then would be waited for for ever.
#[derive(Debug)]
struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How often each of those is answered who ask without processes of their own.
const ANSWERS: usize = 100;

/// How long the daemon takes to answer so many who ask at once, from the connection to the answer, as a hook asks.
fn answers(stage: &Stage, clients: usize, ledger: &mut Ledger) -> Vec<Duration> {
    let find = |name: &str| (name == HOME_VARIABLE).then(|| stage.home().into_os_string());
    let home = Home::find(find, None).expect("an absolute path");
    let ask = |client: usize| {
        let (mut took, mut told) = (Vec::new(), Vec::new());
        for number in 0..ANSWERS {
            let (fact, event) = person::finished_agent(stage, client, number);
            let patience = Patience { connection: PATIENCE, reply: PATIENCE };
            let began = Instant::now();
            let reply = Client::new(&home).ask(&fact, Absence::Start, patience);
            took.push(began.elapsed());
            assert!(matches!(reply, Ok(Reply::Done)), "{reply:?}");
            told.push(event);
        }
        (took, told)
    };
    let everybody: Vec<_> = thread::scope(|scope| {
        let asking: Vec<_> = (0..clients).map(|client| scope.spawn(move || ask(client))).collect();
        asking.into_iter().map(|asking| asking.join().expect("it does not panic")).collect()
    });
    everybody
        .into_iter()
        .flat_map(|(took, told)| {
            ledger.told(told);
            took
        })
        .collect()
}

fn write_fork(project: &Path, name: &str, idle: &str) {
    let forks = project.join(".autofork/forks");
    fs::create_dir_all(&forks).expect("our own folder");
    let text = format!("---\nfork: true\nrun_on:\n  - idle: {idle}\n---\nThe body of {name}.\n");
    // In one step, since it may be read at any time.
    let draft = forks.join("draft");
    fs::write(&draft, text).expect("our own folder");
    fs::rename(draft, forks.join(format!("{name}.md"))).expect("our own folder");
}

/// The process of the daemon that has the lock.
fn daemon(stage: &Stage) -> Option<u32> {
    let lock = fs::read_to_string(stage.home().join("daemon.lock")).ok()?;
    let pid = lock.lines().nth(1)?.parse().ok()?;
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    command.split('\0').any(|word| word == "daemon").then_some(pid)
}

fn kill_daemon(stage: &Stage) -> bool {
    let pid = daemon(stage).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

/// Resident memory of a process, in kilobytes.
fn resident(pid: u32) -> u64 {
    let path: PathBuf = format!("/proc/{pid}/status").into();
    let status = fs::read_to_string(path).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
