//! autofork
fn main() {}
