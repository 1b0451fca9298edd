//! The forks and configurations that a schedule edits its way through.

use std::sync::Arc;

use crate::ir::{Body, Config, Fork, ForkName, Moment, Overlap, Program, Seconds};

/// The one fork whose runs may overlap, under every choice.
pub(super) const OVERLAPS: &str = "late";

fn seconds(seconds: u64) -> Seconds {
    Seconds::new(seconds).unwrap_or(Seconds::ZERO)
}

fn idle(length: u64) -> Moment {
    Moment::Idle(Some(seconds(length)))
}

fn tokens(tokens: u64) -> Moment {
    Moment::ContextTokens(tokens.try_into().unwrap_or(std::num::NonZeroU64::MIN))
}

fn fork(name: &str, run_on: &[Moment], throttle: u64, after: &[&str], tags: &[&str]) -> Fork {
    Fork {
        name: name.into(),
        path: format!("/a/.autofork/forks/{name}.md").into(),
        description: None,
        run_on: run_on.to_vec(),
        throttle: (throttle > 0).then(|| seconds(throttle)),
        after: after.iter().map(|name| ForkName::from(*name)).collect(),
        overlap: (name == OVERLAPS).into(),
        tags: tags.iter().map(|tag| (*tag).into()).collect(),
        body: Body::default(),
    }
}

/// The program that a number chooses: a bit for each fork, and some more for how it is edited and configured. Zero
/// is every fork under a plain configuration.
pub(super) fn program(choice: u64) -> Program {
    let edited = choice & (1 << 20) != 0;
    let by = |usual, other| if edited { other } else { usual };
    let all = [
        fork("at-once", &[idle(0)], 0, &[], &[]),
        fork("early", &[idle(by(5, 2))], 60, &[], &[]),
        fork("tagged", &[idle(7)], 0, &[], &["notes"]),
        fork(OVERLAPS, &[idle(30)], by(10, 0), &[], &["notes"]),
        fork("behind", &[idle(5), Moment::Idle(None)], 20, &["early", "at-once"], &["notes"]),
        fork("last", &[idle(6)], 0, if edited { &["early"] } else { &["behind", "early"] }, &[]),
        fork(
            "full",
            &[tokens(100), tokens(200), Moment::ContextLeft(5.try_into().unwrap_or(std::num::NonZeroU64::MIN))],
            0,
            &[],
            &[],
        ),
        fork("both", &[idle(9), tokens(150)], 15, &["full"], &["noisy"]),
        fork("bare", &[Moment::Idle(None)], 0, &[], if edited { &["noisy"] } else { &["notes", "noisy"] }),
        fork("never", &[], 0, &[], &[]),
    ];
    let left_out = |place: usize| choice & (1 << place) != 0;
    let forks = all.into_iter().enumerate().filter(|(place, _)| !left_out(*place)).map(|(_, fork)| Arc::new(fork));
    Program::new(config(choice >> 24), forks)
}

fn config(choice: u64) -> Config {
    let mut config = Config { wake_debounce: seconds(if choice & 1 == 0 { 0 } else { 3 }), ..Config::default() };
    if choice & 2 == 0 {
        config.tag_throttles.insert("notes".into(), seconds(40));
    }
    if choice & 4 != 0 {
        config.background_hold = false;
    }
    config.background_hold_timeout = seconds(if choice & 8 == 0 { 25 } else { 0 });
    config.session_timeout = seconds(if choice & 0x30 == 0x30 { 0 } else { 12_000 });
    config.default_idle_deadline = seconds(if choice & 0xc0 == 0xc0 { 0 } else { 12 });
    config.wake_in_plan_mode = choice & 0x300 == 0x300;
    if choice & 0x1c00 == 0x1c00 {
        config.disable_tags.insert("noisy".into());
    }
    if choice & 0xe000 == 0xe000 {
        config.enable_tags.insert("notes".into());
    }
    config
}

/// Whether two runs of the fork may be under way at once.
pub(super) fn may_overlap(fork: &ForkName) -> Overlap {
    (fork.as_str() == OVERLAPS).into()
}
