//! The engine by itself: `ir` and `engine`, compiled from their own files and optimised even in a development build.
//!
//! That this builds at all shows that the engine needs nothing but `ir`, serde and the standard library; `serde_json`
//! is the simulation's, which writes its journal with it.

#[path = "../../src/engine/mod.rs"]
pub mod engine;
#[path = "../../src/ir/mod.rs"]
pub mod ir;
