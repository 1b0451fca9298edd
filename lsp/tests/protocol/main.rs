//! The server as its clients see it: through the protocol, over the connection in memory and as the real binary.

mod client;

mod actions;
mod cases;
mod diagnostics;
mod display;
mod lifecycle;
mod meaning;
mod navigation;
mod robustness;
