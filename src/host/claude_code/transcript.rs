//! The transcript: how much of the context a conversation uses, read from the file that the client keeps of it.
//!
//! The file is JSON, one record a line, appended to, up to some hundred megabytes. Each byte is read once: a reader
//! remembers how far it got, and a line counts only when its end is there. A record that is unknown, broken or of
//! absurd length is no error, it just tells nothing. Nothing of what people and models said is kept.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use memchr::{memchr, memmem};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::engine::WindowSign;

/// The longest line that is looked at, in bytes. The records that matter hold one message of a model's; a longer line
/// is a tool's output.
const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// How much is read at once, in bytes.
const CHUNK: usize = 256 * 1024;

/// The model id of records that the client writes itself, in place of an answer.
const SYNTHETIC: &str = "<synthetic>";

/// How an id names a model with a large context window.
const LARGE_MARK: &str = "[1m]";

/// What a transcript says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Tokens in the context; `None` if the transcript does not tell.
    pub tokens: Option<u64>,
    /// What the models' ids say of the context window.
    pub window: WindowSign,
}

/// A transcript, and how far it was read.
#[derive(Debug, Clone)]
pub struct Transcript {
    offset: u64,
    file: Option<FileId>,
    reading: Reading,
}

impl Default for Transcript {
    fn default() -> Self {
        Self { offset: 0, file: None, reading: Reading { tokens: None, window: WindowSign::None } }
    }
}

impl Transcript {
    /// Reads what has been added to the file at `path` since the last call, and returns what the whole file says. A
    /// file that was replaced or has become shorter is read anew.
    ///
    /// # Errors
    /// When the file cannot be read; what was known before is kept.
    pub fn read(&mut self, path: &Path) -> io::Result<Reading> {
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        let id = FileId::of(&metadata);
        if self.file != Some(id) || metadata.len() < self.offset {
            *self = Self { file: Some(id), ..Self::default() };
        }
        if metadata.len() > self.offset {
            file.seek(SeekFrom::Start(self.offset))?;
            self.take_lines(BufReader::with_capacity(CHUNK, file))?;
        }
        Ok(self.reading)
    }

    /// Takes in all whole lines of `input`, which begins where the last call ended.
    fn take_lines(&mut self, mut input: impl BufRead) -> io::Result<()> {
        // The beginning of a line that one chunk did not hold, and its whole length so far.
        let mut begun: Vec<u8> = Vec::new();
        let mut length = 0;
        loop {
            let chunk = match input.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let Some(end) = memchr(b'\n', chunk) else {
                let read = chunk.len();
                length += read;
                if length <= LONGEST_LINE {
                    begun.extend_from_slice(chunk);
                }
                input.consume(read);
                continue;
            };
            let rest = &chunk[..end];
            length += rest.len();
            if begun.is_empty() && length == rest.len() {
                self.take_line(rest);
            } else if length <= LONGEST_LINE {
                begun.extend_from_slice(rest);
                self.take_line(&begun);
            }
            input.consume(end + 1);
            self.offset += length as u64 + 1;
            begun.clear();
            length = 0;
        }
    }

    fn take_line(&mut self, line: &[u8]) {
        // Most lines are tools' outputs and need not be parsed. A record that matters has one of these words in it.
        let may_matter = |word: &[u8]| memmem::find(line, word).is_some();
        if !may_matter(b"\"usage\"") && !may_matter(b"compact_boundary") {
            return;
        }
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else { return };
        match (record.r#type.as_deref(), record.subtype.as_deref()) {
            (Some("assistant"), _) => self.take_answer(&record),
            (Some("system"), Some("compact_boundary")) => {
                self.reading.tokens = record.compact.and_then(|compact| compact.post_tokens);
            }
            _ => {}
        }
    }

    fn take_answer(&mut self, record: &Record<'_>) {
        let Some(message) = &record.message else { return };
        if record.sidechain == Some(true)
            || record.api_error == Some(true)
            || message.model.as_deref() == Some(SYNTHETIC)
        {
            return;
        }
        if message.model.as_deref().map(window_of) == Some(WindowSign::Large) {
            self.reading.window = WindowSign::Large;
        }
        let Some(usage) = &message.usage else { return };
        let parts = [usage.input, usage.cache_read, usage.cache_creation];
        let total = parts.into_iter().flatten().fold(0_u64, u64::saturating_add);
        if total > 0 {
            self.reading.tokens = Some(total);
        }
    }
}

/// Opens a file without waiting: a pipe of that name would keep its reader for ever.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        options.custom_flags(nonblocking);
    }
    options.open(path)
}

/// What a model's id says of its context window.
pub(super) fn window_of(model: &str) -> WindowSign {
    if model.contains(LARGE_MARK) { WindowSign::Large } else { WindowSign::None }
}

/// What of a record is looked at.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default, rename = "type")]
    r#type: Option<std::borrow::Cow<'a, str>>,
    #[serde(borrow, default)]
    subtype: Option<std::borrow::Cow<'a, str>>,
    #[serde(default, rename = "isSidechain")]
    sidechain: Option<bool>,
    #[serde(default, rename = "isApiErrorMessage")]
    api_error: Option<bool>,
    #[serde(borrow, default)]
    message: Option<Message<'a>>,
    #[serde(default, rename = "compactMetadata")]
    compact: Option<Compact>,
    #[serde(default)]
    #[allow(dead_code, reason = "its content is checked to be JSON and thrown away")]
    content: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, default)]
    model: Option<std::borrow::Cow<'a, str>>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct TokenUsage {
    #[serde(default, rename = "input_tokens")]
    input: Option<u64>,
    #[serde(default, rename = "cache_read_input_tokens")]
    cache_read: Option<u64>,
    #[serde(default, rename = "cache_creation_input_tokens")]
    cache_creation: Option<u64>,
}

#[derive(Deserialize)]
struct Compact {
    #[serde(default, rename = "postTokens")]
    post_tokens: Option<u64>,
}

/// Tells a file from another that has taken its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    /// A line with an answer whose context has so many tokens.
    fn answer(tokens: u64) -> String {
        let usage =
            json!({"input_tokens": 10, "cache_read_input_tokens": tokens - 10, "cache_creation_input_tokens": 0});
        json!({"type": "assistant", "message": {"model": "claude-opus-5-5", "usage": usage}}).to_string() + "\n"
    }

    /// What a transcript says after each of these pieces was appended.
    fn check(pieces: &[&str], expected: &[Option<u64>]) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut transcript = Transcript::default();
        for (piece, expected) in pieces.iter().zip(expected) {
            file.write_all(piece.as_bytes()).unwrap();
            assert_eq!(transcript.read(file.path()).unwrap().tokens, *expected, "after {piece:?}");
            assert_eq!(Transcript::default().read(file.path()).unwrap().tokens, *expected, "all at once");
        }
    }

    #[test]
    fn the_last_answer_counts() {
        check(&["", &answer(100), &answer(50), "\n"], &[None, Some(100), Some(50), Some(50)]);
    }

    #[test]
    fn a_half_line_counts_when_its_end_arrives() {
        let line = answer(200);
        let (begin, end) = line.split_at(40);
        check(&[&answer(100), begin, end], &[Some(100), Some(100), Some(200)]);
    }

    #[test]
    fn what_is_no_answer_of_the_conversation_does_not_count() {
        let with = |more: serde_json::Value| {
            let mut record: serde_json::Value = serde_json::from_str(&answer(999)).unwrap();
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            record.to_string() + "\n"
        };
        let synthetic = answer(999).replace("claude-opus-5-5", SYNTHETIC);
        let nothing = answer(999).replace("989", "0").replace("10", "0");
        let others = [
            with(json!({"isSidechain": true})),
            with(json!({"isApiErrorMessage": true})),
            with(json!({"type": "user"})),
            synthetic,
            nothing,
            "not json, with \"usage\"\n".to_owned(),
            "{\"type\":\"assistant\",\"message\":{\"usage\":\"many\"}}\n".to_owned(),
            "{\"kind\": \"turn\", \"tokens\": {\"usage\": 90000}}\n".to_owned(),
        ];
        for other in others {
            check(&[&answer(100), &other], &[Some(100), Some(100)]);
        }
        check(&[&answer(100), &with(json!({"forkedFrom": {"sessionId": "s"}}))], &[Some(100), Some(999)]);
    }

    #[test]
    fn a_compaction_sets_the_gauge() {
        let boundary = |metadata: serde_json::Value| {
            json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}).to_string() + "\n"
        };
        check(&[&answer(100), &boundary(json!({"preTokens": 100, "postTokens": 30}))], &[Some(100), Some(30)]);
        check(&[&answer(100), &boundary(json!({})), &answer(7_000)], &[Some(100), None, Some(7_000)]);
    }

    #[test]
    fn a_large_window_is_seen() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(answer(100).replace("opus-5-5", "opus-5-5[1m]").as_bytes()).unwrap();
        file.write_all(answer(100).as_bytes()).unwrap();
        assert_eq!(Transcript::default().read(file.path()).unwrap().window, WindowSign::Large);
    }

    #[test]
    fn a_file_that_was_cut_or_replaced_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut transcript = Transcript::default();
        std::fs::write(&path, answer(100) + &answer(200)).unwrap();
        assert_eq!(transcript.read(&path).unwrap().tokens, Some(200));
        std::fs::write(&path, answer(50)).unwrap();
        assert_eq!(transcript.read(&path).unwrap().tokens, Some(50));
        let other = folder.path().join("other.jsonl");
        std::fs::write(&other, answer(70) + &answer(80) + "\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert_eq!(transcript.read(&path).unwrap().tokens, Some(80));
        std::fs::remove_file(&path).unwrap();
        assert!(transcript.read(&path).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_keeps_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        assert!(Transcript::default().read(&path).is_err());
    }

    #[test]
    fn a_line_of_absurd_length_and_bad_bytes_are_passed_over() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(answer(100).as_bytes()).unwrap();
        let long = answer(999).replace("claude-opus-5-5", &"x".repeat(LONGEST_LINE + CHUNK));
        file.write_all(long.as_bytes()).unwrap();
        file.write_all(b"\"usage\" \xff\xfe\n").unwrap();
        let mut transcript = Transcript::default();
        assert_eq!(transcript.read(file.path()).unwrap().tokens, Some(100));
        // A line longer than a chunk, and shorter than is looked at, counts.
        let model = "y".repeat(3 * CHUNK);
        file.write_all(answer(300).replace("claude-opus-5-5", &model).as_bytes()).unwrap();
        file.write_all(answer(400).as_bytes()).unwrap();
        assert_eq!(transcript.read(file.path()).unwrap().tokens, Some(400));
        assert_eq!(transcript.offset, file.as_file().metadata().unwrap().len());
    }
}
