//! Agent files that take the name `fork` away from the client's own subagent type.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::finding::{Check, Finding};
use crate::cli::sessions::words;
use crate::project::{Disk, EntryKind, FileSystem};
use crate::syntax::{envelope, yaml};

/// The name that must be the client's own.
const FORK: &str = "fork";

/// No agent file of a person is longer.
const LIMIT: usize = 1024 * 1024;

const AGENTS: Check = Check {
    name: "agent-files",
    why: "an agent named `fork` is started in place of a fork: one that knows nothing of the conversation",
};

/// Checks every agent file below these folders, at any depth.
pub(super) fn check(folders: &[PathBuf]) -> Vec<Finding> {
    let mut walk = Walk::default();
    for folder in folders {
        walk.folder(folder);
    }
    if walk.shadows.is_empty() {
        return vec![AGENTS.ok(match walk.files {
            0 => "no agent files, so none takes the name `fork`".to_owned(),
            files => format!("none of {files} agent files takes the name `fork`"),
        })];
    }
    let finding = |(path, by): (PathBuf, By)| {
        let how = match by {
            By::FileName => "its file name",
            By::Field => "its `name:`",
        };
        let found = format!("{} takes the name `fork`, by {how}", words::path(&path));
        let remedy = match by {
            By::FileName => "rename the file (`fork-helper.md` would do) and its `name:`, or remove it",
            By::Field => "give it another `name:`, or remove it",
        };
        AGENTS.problem(found, remedy).at(path)
    };
    walk.shadows.into_iter().map(finding).collect()
}

/// By what a file takes the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    FileName,
    Field,
}

#[derive(Debug, Default)]
struct Walk {
    /// Real paths that were visited, since links may lead in circles.
    seen: HashSet<PathBuf>,
    files: usize,
    shadows: Vec<(PathBuf, By)>,
}

impl Walk {
    fn folder(&mut self, top: &Path) {
        let mut open = vec![top.to_path_buf()];
        while let Some(folder) = open.pop() {
            let Ok(real) = Disk.real_path(&folder) else { continue };
            if !self.seen.insert(real) {
                continue;
            }
            let mut entries = Disk.list(&folder).unwrap_or_default();
            entries.sort_by(|left, right| left.name.cmp(&right.name));
            for entry in entries {
                let path = folder.join(&entry.name);
                match Disk.metadata(&path).map(|found| found.kind) {
                    Ok(EntryKind::Folder) => open.push(path),
                    Ok(EntryKind::File) if path.extension().is_some_and(|extension| extension == "md") => {
                        self.file(path);
                    }
                    _ => {}
                }
            }
        }
    }

    fn file(&mut self, path: PathBuf) {
        self.files += 1;
        let text = Disk.read(&path, LIMIT).unwrap_or_default();
        if let Some(by) = shadows(&path, &String::from_utf8_lossy(&text)) {
            self.shadows.push((path, by));
        }
    }
}

fn shadows(path: &Path, text: &str) -> Option<By> {
    if path.file_stem().is_some_and(|stem| stem == FORK) {
        return Some(By::FileName);
    }
    (name_field(text)? == FORK).then_some(By::Field)
}

/// The `name:` of an agent file. One whose frontmatter is no YAML may still have one for the client, which reads
/// leniently; so there its line is taken as it stands.
fn name_field(text: &str) -> Option<String> {
    let frontmatter = envelope::split(text).frontmatter;
    if let Some(root) = yaml::parse(text, frontmatter).root {
        let entry = root.entries()?.iter().find(|entry| entry.key.scalar().is_some_and(|key| key.text == "name"))?;
        return Some(entry.value.scalar()?.text.trim().to_owned());
    }
    let value = frontmatter.of(text).lines().find_map(|line| line.strip_prefix("name:"))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_taken_by_the_file_or_by_its_field() {
        let by = |file: &str, text: &str| shadows(Path::new(file), text);
        assert_eq!(by("fork.md", "---\nname: other\n---\n"), Some(By::FileName));
        assert_eq!(by("fork.md", ""), Some(By::FileName));
        assert_eq!(by("copy.md", "---\nname: fork\n---\n"), Some(By::Field));
        assert_eq!(by("copy.md", "---\ndescription: x\nname: \"fork\" # mine\n---\n"), Some(By::Field));
        assert_eq!(by("copy.md", "---\nname: fork\ntools: [\n---\n"), Some(By::Field), "no YAML");
        for harmless in ["---\nname: fork-helper\n---\n", "---\n---\nname: fork\n", "name: fork\n", "# fork\n", ""] {
            assert_eq!(by("fork-helper.md", harmless), None, "{harmless:?}");
        }
    }
}
