//! The plugin folder in the eyes of the client itself.

use crate::support::client::{Client, SOON};
use crate::support::install;
use crate::support::mock_api::{Conduct, MockApi, Scripted};
use crate::support::sandbox::Sandbox;

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
