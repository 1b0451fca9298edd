//! The schedule, told as stories: what happens in a session, and who is woken when.

mod after;
mod background;
mod guards;
mod pause;
mod session;
mod threshold;
mod ticket;
mod wake;

use super::testing::{Play, seconds};
use super::*;
use crate::ir::{Config, Fork, ForkName, Moment};

fn debounced(debounce: u64) -> Config {
    Config { wake_debounce: seconds(debounce), ..Config::default() }
}

fn after(fork: Fork, names: &[&str]) -> Fork {
    Fork { after: names.iter().map(|name| ForkName::from(*name)).collect(), ..fork }
}

fn tokens(tokens: u64) -> Moment {
    Moment::ContextTokens(tokens.try_into().unwrap())
}

fn gauge(play: &mut Play, tokens: u64) {
    play.event(Event::GaugeRead { session: "s".into(), tokens: Some(tokens), window: WindowSign::None });
}
