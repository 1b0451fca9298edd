//! The scenario file: TOML to steps, with the place of everything that is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::expect::{Expectation, Expected};
use crate::compile::nearest;
use crate::engine::{Outcome, Reason, StartSource};
use crate::ir::{ForkName, Seconds, Tag};
use crate::syntax::duration;

/// Something that is wrong with a scenario, at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the file that are at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// A scenario, ready to be played.
#[derive(Debug)]
pub struct Scenario {
    /// What it shows.
    pub title: Option<String>,
    /// The folder that forks come from, relative to the scenario's own.
    pub forks_from: Option<PathBuf>,
    /// Forks written in the scenario itself, by name.
    pub forks: BTreeMap<String, String>,
    /// The configuration, as the text of a `config.toml`.
    pub config: String,
    pub(super) sessions: BTreeMap<String, Setup>,
    pub(super) runs: BTreeMap<ForkName, RunSetup>,
    pub(super) steps: Vec<Step>,
}

/// What is special about a session.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setup {
    /// Goes on with that conversation.
    pub(super) conversation: Option<String>,
    pub(super) enable_tags: Option<BTreeSet<Tag>>,
    pub(super) disable_tags: Option<BTreeSet<Tag>>,
}

/// How runs of a fork go.
#[derive(Debug, Clone)]
pub(super) struct RunSetup {
    pub(super) takes: Seconds,
    /// How it ends; `None`: the model never starts it.
    pub(super) ends: Option<Outcome>,
    pub(super) report: String,
}

impl Default for RunSetup {
    fn default() -> Self {
        Self { takes: Seconds::minutes(1), ends: Some(Outcome::Completed), report: "Done.".to_owned() }
    }
}

#[derive(Debug)]
pub(super) struct Step {
    /// After the beginning.
    pub(super) at: Seconds,
    pub(super) session: String,
    pub(super) what: Doing,
}

#[derive(Debug)]
pub(super) enum Doing {
    Start(StartSource, Option<u64>),
    Prompt(Option<bool>),
    Stop { tasks: Vec<String>, plan: Option<bool> },
    Interrupt,
    HookGoes,
    HookReturns,
    TaskEnds(String),
    Gauge(u64),
    End,
    Restart,
    Write(String, String),
    Remove(String),
    Configure(String),
    Expect(Expectation),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Option<String>,
    forks_from: Option<PathBuf>,
    #[serde(default)]
    forks: BTreeMap<String, String>,
    #[serde(default)]
    config: toml::Table,
    #[serde(default)]
    sessions: BTreeMap<String, Setup>,
    #[serde(default)]
    runs: BTreeMap<String, RawRun>,
    steps: Vec<Spanned<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    takes: Option<Spanned<String>>,
    ends: Option<Spanned<String>>,
    report: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    at: Spanned<String>,
    session: Option<String>,
    #[serde(rename = "do")]
    act: Option<Spanned<String>>,
    expect: Option<Spanned<String>>,
    source: Option<Spanned<String>>,
    tokens: Option<u64>,
    tasks: Option<Vec<String>>,
    task: Option<String>,
    plan: Option<bool>,
    fork: Option<Spanned<OneOrMany>>,
    text: Option<String>,
    config: Option<toml::Table>,
    because: Option<Spanned<String>>,
    until: Option<Spanned<String>>,
    since: Option<Spanned<String>>,
    within: Option<Spanned<String>>,
    times: Option<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

const ACTS: [&str; 15] = [
    "start",
    "prompt",
    "stop",
    "turn",
    "interrupt",
    "hook_goes",
    "hook_returns",
    "task_ends",
    "gauge",
    "end",
    "restart",
    "write",
    "remove",
    "configure",
    "clear",
];

const EXPECTATIONS: [&str; 4] = ["fires", "silent", "waits", "due"];

/// The session of a step that names none.
pub(super) const MAIN: &str = "main";

impl Scenario {
    /// Reads a scenario, or says everything that is wrong with the first step that is.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let file: File = toml::from_str(text).map_err(|error| Fault {
            span: error.span().unwrap_or(0..0),
            message: error.message().to_owned(),
            help: None,
        })?;
        let mut steps = Vec::new();
        let mut last = Seconds::ZERO;
        for raw in file.steps {
            let span = raw.span();
            let raw = raw.into_inner();
            let at = length(&raw.at)?;
            if at < last {
                return Err(fault(&raw.at, "a step is earlier than the one before it").help("put the steps in order"));
            }
            last = at;
            let session = raw.session.clone().unwrap_or_else(|| MAIN.to_owned());
            for what in doings(raw, at, span)? {
                steps.push(Step { at, session: session.clone(), what });
            }
        }
        let runs =
            file.runs.into_iter().map(|(fork, raw)| Ok((name(&fork), run(raw)?))).collect::<Result<_, Fault>>()?;
        Ok(Self {
            title: file.title,
            forks_from: file.forks_from,
            forks: file.forks,
            config: file.config.to_string(),
            sessions: file.sessions,
            runs,
            steps,
        })
    }
}

impl Fault {
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

fn name(name: &str) -> ForkName {
    crate::compile::fork_name(name)
}

fn fault<T>(at: &Spanned<T>, message: impl Into<String>) -> Fault {
    Fault { span: at.span(), message: message.into(), help: None }
}

fn length(text: &Spanned<String>) -> Result<Seconds, Fault> {
    duration::parse(text.get_ref()).map(|duration| duration.length).map_err(|_| {
        fault(text, format!("`{}` is no length of time", text.get_ref()))
            .help("write it as `90`, `30m`, `2h` or `1h30m`")
    })
}

fn unknown(word: &Spanned<String>, what: &str, known: &[&'static str]) -> Fault {
    let help = match nearest(word.get_ref(), known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", known.join(", ")),
    };
    fault(word, format!("`{}` is no {what}", word.get_ref())).help(help)
}

fn run(raw: RawRun) -> Result<RunSetup, Fault> {
    let usual = RunSetup::default();
    let takes = raw.takes.as_ref().map(length).transpose()?.unwrap_or(usual.takes);
    let ends = match raw.ends.as_ref().map(|word| word.get_ref().as_str()) {
        None | Some("completed") => Some(Outcome::Completed),
        Some("failed") => Some(Outcome::Failed),
        Some("killed") => Some(Outcome::Killed),
        Some("lost") => Some(Outcome::Lost),
        Some("never_started") => None,
        Some(_) => {
            let known = ["completed", "failed", "killed", "lost", "never_started"];
            return Err(raw
                .ends
                .as_ref()
                .map_or_else(|| unreachable!(), |word| unknown(word, "end of a run", &known)));
        }
    };
    Ok(RunSetup { takes, ends, report: raw.report.unwrap_or(usual.report) })
}

/// What a step of the file comes to: one thing, or two for a whole turn.
fn doings(raw: RawStep, at: Seconds, span: Range<usize>) -> Result<Vec<Doing>, Fault> {
    match (&raw.act, &raw.expect) {
        (Some(act), None) => {
            let act = act.clone();
            doing(&act, raw)
        }
        (None, Some(expected)) => {
            let expected = expected.clone();
            Ok(vec![Doing::Expect(expectation(&expected, raw, at, span)?)])
        }
        _ => Err(Fault {
            span,
            message: "a step has either a `do` or an `expect`".to_owned(),
            help: Some("for example { at = \"0s\", do = \"turn\" }".to_owned()),
        }),
    }
}

fn doing(act: &Spanned<String>, raw: RawStep) -> Result<Vec<Doing>, Fault> {
    let needs = |what: &str| fault(act, format!("`{}` needs `{what}`", act.get_ref()));
    let one_fork = |fork: Option<Spanned<OneOrMany>>| match fork.map(Spanned::into_inner) {
        Some(OneOrMany::One(fork)) => Ok(fork),
        _ => Err(needs("fork")),
    };
    let stop = |tasks: Option<Vec<String>>, plan| Doing::Stop { tasks: tasks.unwrap_or_default(), plan };
    Ok(match act.get_ref().as_str() {
        "start" => {
            let source = match raw.source.as_ref().map(|word| word.get_ref().as_str()) {
                None | Some("startup") => StartSource::Startup,
                Some("resume") => StartSource::Resume,
                Some("clear") => StartSource::Clear,
                Some("compact") => StartSource::Compact,
                Some(_) => {
                    let known = ["startup", "resume", "clear", "compact"];
                    let word = raw.source.as_ref();
                    return Err(
                        word.map_or_else(|| needs("source"), |word| unknown(word, "source of a start", &known))
                    );
                }
            };
            vec![Doing::Start(source, raw.tokens)]
        }
        "clear" => vec![Doing::Start(StartSource::Clear, None)],
        "prompt" => vec![Doing::Prompt(raw.plan)],
        "stop" => vec![stop(raw.tasks, raw.plan)],
        "turn" => vec![Doing::Prompt(raw.plan), stop(raw.tasks, raw.plan)],
        "interrupt" => vec![Doing::Interrupt],
        "hook_goes" => vec![Doing::HookGoes],
        "hook_returns" => vec![Doing::HookReturns],
        "task_ends" => vec![Doing::TaskEnds(raw.task.ok_or_else(|| needs("task"))?)],
        "gauge" => vec![Doing::Gauge(raw.tokens.ok_or_else(|| needs("tokens"))?)],
        "end" => vec![Doing::End],
        "restart" => vec![Doing::Restart],
        "write" => vec![Doing::Write(one_fork(raw.fork)?, raw.text.ok_or_else(|| needs("text"))?)],
        "remove" => vec![Doing::Remove(one_fork(raw.fork)?)],
        "configure" => vec![Doing::Configure(raw.config.ok_or_else(|| needs("config"))?.to_string())],
        _ => return Err(unknown(act, "thing to do", &ACTS)),
    })
}

fn expectation(
    expected: &Spanned<String>,
    raw: RawStep,
    at: Seconds,
    span: Range<usize>,
) -> Result<Expectation, Fault> {
    let needs = |what: &str| fault(expected, format!("`{}` needs `{what}`", expected.get_ref()));
    let forks: Vec<ForkName> = match raw.fork.ok_or_else(|| needs("fork"))?.into_inner() {
        OneOrMany::One(fork) => vec![name(&fork)],
        OneOrMany::Many(forks) => forks.iter().map(|fork| name(fork)).collect(),
    };
    let until = raw.until.as_ref().map(length).transpose()?;
    let what = match expected.get_ref().as_str() {
        "fires" => Expected::Fires {
            within: raw.within.as_ref().map(length).transpose()?.unwrap_or(Seconds::ZERO),
            times: raw.times,
        },
        "silent" => Expected::Silent { since: raw.since.as_ref().map(length).transpose()? },
        "waits" => {
            let because = raw.because.ok_or_else(|| needs("because"))?;
            let known = Reason::NAMES.iter().find(|name| *name == because.get_ref());
            let because = known.ok_or_else(|| unknown(&because, "reason", &Reason::NAMES))?;
            Expected::Waits { because, until }
        }
        "due" => Expected::Due { until: until.ok_or_else(|| needs("until"))? },
        _ => return Err(unknown(expected, "expectation", &EXPECTATIONS)),
    };
    let session = raw.session.unwrap_or_else(|| MAIN.to_owned());
    Ok(Expectation { at, session, forks, what, span })
}
