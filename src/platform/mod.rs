//! What the operating systems do differently, as far as the compiler and the language server meet it.
//!
//! The daemon and the hooks need Unix and say so themselves; nothing else outside this room does. The part for other
//! systems uses the standard library alone and is compiled for the tests everywhere, so that it cannot rot unseen.

#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code, unreachable_pub, reason = "compiled for its tests"))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::{become_program, file_number, is_same_folder, modified, open, owner, path_of_uri, uri_of_path, user};
#[cfg(unix)]
pub use unix::{become_program, file_number, is_same_folder, modified, open, owner, path_of_uri, uri_of_path, user};
