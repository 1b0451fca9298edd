//! From folders to files: roots, layers of configuration, discovery.
//!
//! All access to files goes through [`FileSystem`], so that the same code runs on a disk and in memory. Nothing in here
//! reads the environment or a clock.

mod discover;
mod disk;
mod fs;
mod memory;
mod roots;
mod unsaved;

pub(crate) use discover::reason;
pub use discover::{Candidate, Discovered, MAX_DEPTH, MAX_ENTRIES, discover};
pub use disk::Disk;
pub use fs::{Entry, EntryKind, FileSystem, Metadata, Stamp};
pub use memory::Memory;
pub use roots::{
    Role, Root, UserDirs, below_root, cleaned, config_paths, named_by, project_of, project_root, projects_below,
    role_of, roots,
};
pub use unsaved::WithUnsaved;
