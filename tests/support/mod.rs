//! What end-to-end tests share: a mock Messages API that plays a model, a sandbox (home, project, plugin, daemon) of
//! one test's own, and the real client in a pseudo-terminal.
//!
//! Used as `#[path = "../support/mod.rs"] mod support;`. Nothing here leaves the machine: the client gets an empty
//! environment, a made-up key and a loopback address.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

pub(crate) mod client;
pub(crate) mod install;
pub(crate) mod mock_api;
pub(crate) mod processes;
pub(crate) mod sandbox;
