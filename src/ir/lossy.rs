//! Paths in JSON: as text, with a replacement character for what is not UTF-8. JSON has no other way to say a path,
//! and a journal that cannot be written would cost more than a path that cannot be read back.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    String::deserialize(deserializer).map(PathBuf::from)
}
