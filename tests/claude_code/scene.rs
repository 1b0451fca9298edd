//! A session with forks, as the scenarios set it up and look at it.

use std::path::Path;
use std::rc::Rc;
use std::thread::sleep;
use std::time::Duration;

use autofork::engine::SessionId;

use crate::support::client::{Client, Permissions, SOON};
use crate::support::install;
use crate::support::mock_api::model::TYPE_MISSING;
use crate::support::mock_api::{Conduct, Kind, MockApi, Request, Scripted};
use crate::support::sandbox::Sandbox;

/// Two deadlines of a fork here, its debounce included, and some more: what did not fire by then will not.
const TWO_DEADLINES: Duration = Duration::from_secs(14);

/// A running session. Prints what happened in it if its test fails.
pub(crate) struct Scene {
    /// Dropped first: the client must be gone before its server and its folders are.
    pub(crate) client: Client,
    pub(crate) api: MockApi,
    pub(crate) sandbox: Rc<Sandbox>,
}

/// Text of a fork's body that stands nowhere else. It is not the first line, which the scripted model's reports quote.
pub(crate) fn body_of(fork: &str) -> String {
    format!("Write one line about the blue heron to the {fork}.")
}

/// A sandbox whose project has these forks, each due after 5 s of quiet, and a debounce of 1 s.
pub(crate) fn sandbox(forks: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".autofork/config.toml", "wake_debounce = \"1s\"\n");
    for fork in forks {
        let body = body_of(fork);
        let text = format!(
            "---\nfork: true\ndescription: Keeps the {fork}\nrun_on:\n  - idle: 5s\n---\nKeep the {fork}.\n\n{body}\nThen stop.\n"
        );
        sandbox.write(&format!(".autofork/forks/{fork}.md"), &text);
    }
    sandbox
}

/// A sandbox without forks, and with this configuration.
pub(crate) fn configured(config: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(".autofork/config.toml", config);
    sandbox
}

/// Gives a sandbox's project a fork with these further keys in its frontmatter, and these stage directions for the
/// model in its body.
pub(crate) fn add_fork(sandbox: &Sandbox, fork: &str, keys: &str, directions: &str) {
    let body = body_of(fork);
    let text = format!("---\nfork: true\n{keys}---\nKeep the {fork}.\n\n{body}\n{directions}\n");
    sandbox.write(&format!(".autofork/forks/{fork}.md"), &text);
}

impl Scene {
    /// A session with these forks and a model of this conduct; `None` if there is no client, which was said.
    pub(crate) fn start(forks: &[&str], conduct: Conduct) -> Option<Self> {
        Self::start_in(sandbox(forks), conduct, Permissions::OfNewUser)
    }

    /// A session in a sandbox that the scenario prepared.
    pub(crate) fn start_in(sandbox: Sandbox, conduct: Conduct, permissions: Permissions) -> Option<Self> {
        Self::start_with(Rc::new(sandbox), conduct, permissions, &[])
    }

    /// Another session in the project of this one. Its model is another one too.
    pub(crate) fn neighbour(&self, conduct: Conduct, permissions: Permissions) -> Option<Self> {
        Self::start_with(Rc::clone(&self.sandbox), conduct, permissions, &[])
    }

    /// Leaves the client as a person does, and starts another one that goes on with the session.
    #[track_caller]
    pub(crate) fn resume(self, session: &SessionId, conduct: Conduct, permissions: Permissions) -> Option<Self> {
        let mut earlier = self;
        assert!(earlier.client.quit(), "the client did not leave by itself");
        Self::start_with(Rc::clone(&earlier.sandbox), conduct, permissions, &["--resume", session.as_str()])
    }

    fn start_with(
        sandbox: Rc<Sandbox>,
        conduct: Conduct,
        permissions: Permissions,
        arguments: &[&str],
    ) -> Option<Self> {
        Some(Self::start_program(&install::client_or_skip()?, sandbox, conduct, permissions, arguments))
    }

    /// A session of an older client; `None` if it is not there, which was said.
    pub(crate) fn start_version(version: &str, sandbox: Sandbox) -> Option<Self> {
        let program = install::client_of_version_or_skip(version)?;
        Some(Self::start_program(&program, Rc::new(sandbox), Conduct::Obedient, Permissions::OfNewUserThen, &[]))
    }

    fn start_program(
        program: &Path,
        sandbox: Rc<Sandbox>,
        conduct: Conduct,
        permissions: Permissions,
        arguments: &[&str],
    ) -> Self {
        let api = MockApi::start(Scripted::new(conduct));
        let client = Client::start(program, &sandbox, &api, permissions, arguments);
        Self { client, api, sandbox }
    }

    /// Types a prompt and waits until the model was asked and its answer is on the screen.
    #[track_caller]
    pub(crate) fn prompt(&mut self, text: &str) {
        self.client.prompt(text);
        let asked = |request: &&Request| request.kind == Kind::Parent && request.newest_text().contains(text);
        let request = self.wait("the prompt's request", |requests| requests.iter().find(asked).cloned());
        self.client.wait_for_screen(&format!("Reply #{}", request.number));
    }

    /// The request of the first, second, ... wake (counted from 1), once it came.
    #[track_caller]
    pub(crate) fn wait_for_wake(&self, number: usize) -> Request {
        self.wait("a wake", |requests| wakes(requests).get(number - 1).cloned())
    }

    /// The first requests of `count` forks, once all came, in the order of their coming.
    #[track_caller]
    pub(crate) fn wait_for_forks(&self, count: usize) -> Vec<Request> {
        self.wait("a fork's request", |requests| Some(forks(requests)).filter(|forks| forks.len() >= count))
    }

    /// The reports that reached the parent, once there are `count`.
    #[track_caller]
    pub(crate) fn wait_for_reports(&self, count: usize) -> Vec<String> {
        self.wait("a report", |requests| Some(reports(requests)).filter(|reports| reports.len() >= count))
    }

    /// What the model was told its tool calls did, once it was told.
    #[track_caller]
    pub(crate) fn wait_for_tool_results(&self, kind: Kind) -> Vec<String> {
        self.wait("a tool result", |requests| {
            let of_kind = requests.iter().filter(|request| request.kind == kind && !request.starts_fork());
            of_kind.map(Request::tool_results).find(|results| !results.is_empty())
        })
    }

    /// Lets two further deadlines pass and checks that the session stayed quiet: no wake, no fork, not one question to
    /// the model.
    #[track_caller]
    pub(crate) fn assert_quiet(&self) {
        self.assert_quiet_for(TWO_DEADLINES);
    }

    /// Checks the same for a time of the scenario's choice.
    #[track_caller]
    pub(crate) fn assert_quiet_for(&self, time: Duration) {
        // The answer to the last request, and the hooks after it, are still on their way; on a busy machine a fork's
        // report too, whose end its hook has told already.
        let mut before = self.api.requests().len();
        for _ in 0..5 {
            sleep(Duration::from_secs(2));
            let known = std::mem::replace(&mut before, self.api.requests().len());
            if known == before {
                break;
            }
        }
        sleep(time);
        let since: Vec<String> = self.api.requests()[before..].iter().map(Request::to_string).collect();
        assert!(since.is_empty(), "the session was to stay quiet, but there came:\n{}", since.join("\n"));
    }

    /// How many wakes there were in the whole session so far.
    pub(crate) fn wakes(&self) -> usize {
        wakes(&self.api.requests()).len()
    }

    /// Checks that exactly this often something happened in the whole session so far.
    #[track_caller]
    pub(crate) fn assert_counts(&self, wanted: Counts) {
        let requests = self.api.requests();
        let counts = Counts {
            wakes: wakes(&requests).len(),
            forks: forks(&requests).len(),
            reports: reports(&requests).len(),
        };
        assert_eq!(counts, wanted);
    }

    /// Checks that nothing on the screen speaks of an error or of a hook that failed.
    #[track_caller]
    pub(crate) fn assert_clean_screen(&self) {
        let screen = self.client.screen();
        for word in ["error", "failed", "hook stopped", "not found"] {
            assert!(!screen.to_lowercase().contains(word), "the screen says {word:?}");
        }
    }

    #[track_caller]
    pub(crate) fn wait<T>(&self, what: &str, look: impl Fn(&[Request]) -> Option<T>) -> T {
        match self.api.wait_for(SOON, look) {
            Some(found) => found,
            None => panic!("{what} was awaited and never came"),
        }
    }
}

/// How often something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) wakes: usize,
    pub(crate) forks: usize,
    pub(crate) reports: usize,
}

/// How often the model was told that there is no subagent of type fork.
pub(crate) fn refusals(requests: &[Request]) -> usize {
    let parents = requests.iter().filter(|request| request.kind == Kind::Parent);
    parents.flat_map(Request::tool_results).filter(|result| result.contains(TYPE_MISSING)).count()
}

fn wakes(requests: &[Request]) -> Vec<Request> {
    requests.iter().filter(|request| request.is_wake()).cloned().collect()
}

fn forks(requests: &[Request]) -> Vec<Request> {
    requests.iter().filter(|request| request.starts_fork()).cloned().collect()
}

fn reports(requests: &[Request]) -> Vec<String> {
    let parents = requests.iter().filter(|request| request.kind == Kind::Parent);
    parents.flat_map(Request::reports).collect()
}

/// The tickets in a text: `af-` and 32 hexadecimal digits.
pub(crate) fn tickets(text: &str) -> Vec<&str> {
    let candidates = text.match_indices("af-").filter_map(|(start, _)| text.get(start..start + 35));
    candidates.filter(|ticket| ticket[3..].bytes().all(|digit| digit.is_ascii_hexdigit())).collect()
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        eprintln!("--- requests\n{}", self.api.transcript());
        eprintln!("--- screen\n{}", self.client.screen());
        eprintln!("--- processes");
        for process in self.sandbox.processes() {
            eprintln!("{:?} {}", process.pid, process.arguments.join(" "));
        }
        let hooks = self.sandbox.recorded_hooks();
        if hooks.is_empty() {
            eprintln!("--- hooks were not recorded; AUTOFORK_TEST_RECORD=1 records them");
        }
        for (event, payload) in hooks {
            eprintln!("--- {event} {payload}");
        }
    }
}
