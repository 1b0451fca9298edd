//! The plugin folder in the eyes of the client itself.

use crate::support::client::{Client, SOON};
use crate::support::install;
use crate::support::mock_api::{Answer, Conduct, MockApi, Model, Request, Scripted};
use crate::support::sandbox::Sandbox;

use serde_json::json;

#[test]
fn the_clients_own_validator_accepts_the_plugin() {
    let Some(program) = install::client_or_skip() else {
        return;
    };
    let sandbox = Sandbox::new();
    let api = MockApi::start(Scripted::new(Conduct::Obedient));
    let folder = sandbox.plugin().to_string_lossy().into_owned();
    let mut client = Client::spawn(&program, &sandbox, &api, &["plugin", "validate", &folder]);
    assert!(client.wait_for_end(SOON));
    let screen = client.screen();
    assert!(screen.contains("Validation passed"), "{screen}");
}

/// A model that writes a faulty fork, waits a little, touches it, waits again, and is done.
struct Author {
    path: String,
}

impl Model for Author {
    fn answer(&self, request: &Request) -> Answer {
        let results = request.messages().iter().filter_map(|message| message["content"].as_array()).flatten();
        let done = results.filter(|block| block["type"] == "tool_result").count();
        let wait = json!({ "command": "sleep 5", "description": "wait" });
        let text = "---\nfork: true\nthrotle: 1h\n---\nTidy.\n";
        match done {
            0 => Answer::calls("Write", [json!({ "file_path": self.path, "content": text })]),
            2 => Answer::calls(
                "Edit",
                [json!({ "file_path": self.path, "old_string": "Tidy.", "new_string": "Tidy up." })],
            ),
            1 | 3 => Answer::calls("Bash", [wait]),
            _ => Answer::text("Done."),
        }
    }
}

#[test]
fn the_session_sees_what_is_wrong_with_a_fork_that_it_wrote() {
    let Some(program) = install::client_or_skip() else {
        return;
    };
    let sandbox = Sandbox::new();
    if !sandbox.binary().with_file_name("autofork-lsp").is_file() {
        eprintln!("skipped: the language server was not built; `cargo test --workspace` does it");
        return;
    }
    let path = sandbox.project().join(".autofork/forks/tidy.md");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let api = MockApi::start(Author { path: path.to_string_lossy().into_owned() });
    let plugin = sandbox.plugin().to_string_lossy().into_owned();
    let arguments = ["-p", "go", "--plugin-dir", &plugin, "--allowedTools", "Write,Edit,Bash"];
    let mut client = Client::spawn(&program, &sandbox, &api, &arguments);
    let seen = api.wait_for(SOON, |requests| {
        let texts = requests.iter().map(Request::all_text);
        // Said by the client as what the language server found, and not by a hook of ours.
        let said = |text: &str| {
            let (_, rest) = text.split_once("<new-diagnostics>")?;
            rest.split_once("</new-diagnostics>").map(|(found, _)| found.to_owned())
        };
        texts.filter_map(|text| said(&text)).find(|found| found.contains("no key `throtle`"))
    });
    assert!(seen.is_some(), "no diagnostics came: {}", api.transcript());
    client.wait_for_end(SOON);
}
