//! The base folder and the socket: whose they are, and who else may use them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::finding::{Check, Finding};
use crate::cli::sessions::words;
use crate::host::dirs::{HOME_VARIABLE, Home};

const VARIABLE: Check = Check {
    name: "autofork-home",
    why: "hooks run in folders of their own, so only an absolute path leads all of them to the same place",
};
const BASE: Check = Check {
    name: "base-folder",
    why: "journal and log hold what sessions were told and what their forks reported, for nobody else to read",
};
const SOCKET: Check = Check {
    name: "socket",
    why: "whoever can connect to the socket can wake sessions, and whoever can replace it is told what they say",
};

/// Permissions of anybody but the owner.
const OTHERS: u32 = 0o077;

/// What is to say of the variable that names the base folder.
pub(super) fn check_variable(value: Option<OsString>) -> Option<Finding> {
    let value = value.filter(|value| !value.is_empty())?;
    let shown = words::path(Path::new(&value));
    Some(if Path::new(&value).is_absolute() {
        VARIABLE.ok(format!("{HOME_VARIABLE} names {shown}"))
    } else {
        VARIABLE.warn(
            format!("{HOME_VARIABLE} is relative and ignored: {shown}"),
            format!("set {HOME_VARIABLE} to an absolute path, or unset it"),
        )
    })
}

/// Checks the places of one base folder.
pub(super) fn check(home: &Home) -> Vec<Finding> {
    let mut findings = base(home);
    findings.extend(socket(home.socket(), home.base()));
    findings
}

fn base(home: &Home) -> Vec<Finding> {
    let path = home.base();
    let shown = words::path(path);
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound && home.unwritable().is_none() => {
            return vec![BASE.ok(format!("{shown} is not there yet; the first daemon makes it")).at(path)];
        }
        Err(error) => {
            let remedy = format!("make {shown} a folder that you can write to");
            return vec![BASE.problem(format!("{shown} cannot be used: {error}"), remedy).at(path)];
        }
    };
    if let Some(finding) = not_ours(BASE, path, &found) {
        return vec![finding];
    }
    if home.unwritable().is_some() {
        return vec![
            BASE.problem(format!("{shown} cannot be written to"), format!("chmod u+rwx {}", quoted(path))).at(path),
        ];
    }
    let files = [home.journal(), home.log(), home.lock()];
    let open = std::iter::once(path.to_path_buf()).chain(files);
    let mut findings: Vec<Finding> = open.filter_map(|path| open_to_others(BASE, &path)).collect();
    if findings.is_empty() {
        findings.push(BASE.ok(format!("{shown} is yours alone")).at(path));
    }
    findings
}

fn socket(socket: &Path, base: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(folder) = socket.parent().filter(|folder| *folder != base)
        && let Ok(found) = fs::symlink_metadata(folder)
    {
        findings.extend(not_ours(SOCKET, folder, &found).or_else(|| open_to_others(SOCKET, folder)));
    }
    let shown = words::path(socket);
    match fs::symlink_metadata(socket) {
        Err(_) if findings.is_empty() => findings.push(SOCKET.ok(format!("{shown} is where it will be")).at(socket)),
        Err(_) => {}
        Ok(found) if !found.file_type().is_socket() => findings.push(
            SOCKET
                .problem(format!("{shown} is no socket"), "remove what is there; the next daemon makes a new one")
                .at(socket),
        ),
        Ok(found) if found.uid() != ours() => findings.push(
            SOCKET.problem(format!("{shown} belongs to another user"), "see who made it, and remove it").at(socket),
        ),
        Ok(_) => match open_to_others(SOCKET, socket) {
            Some(finding) => findings.push(finding),
            None => findings.push(SOCKET.ok(format!("{shown} is yours alone")).at(socket)),
        },
    }
    findings
}

fn not_ours(check: Check, path: &Path, found: &Metadata) -> Option<Finding> {
    let shown = words::path(path);
    if !found.is_dir() {
        return Some(
            check.problem(format!("{shown} is not a folder"), format!("move {shown} out of the way")).at(path),
        );
    }
    let remedy = format!("remove it, or set {HOME_VARIABLE} to another folder");
    (found.uid() != ours()).then(|| check.problem(format!("{shown} belongs to another user"), remedy).at(path))
}

fn open_to_others(check: Check, path: &Path) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.mode() & 0o777;
    (mode & OTHERS != 0).then(|| {
        check
            .warn(
                format!("{} is open to other users (mode {mode:03o})", words::path(path)),
                format!("chmod go= {}", quoted(path)),
            )
            .at(path)
    })
}

fn ours() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A path that a shell takes for one word.
fn quoted(path: &Path) -> String {
    quoted_text(path.as_os_str())
}

fn quoted_text(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_relative_variable_is_ignored_and_said_so() {
        let level = |value: &str| check_variable(Some(value.into())).map(|finding| finding.level);
        assert_eq!(check_variable(None), None);
        assert_eq!(level(""), None);
        assert_eq!(level("/absolute"), Some(Level::Ok));
        assert_eq!(level("some/where"), Some(Level::Warn));
    }

    #[test]
    fn what_others_may_use_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base");
        let variable = |name: &str| (name == HOME_VARIABLE).then(|| base.clone().into_os_string());
        let home = Home::find(variable, None).unwrap();
        let levels = || check(&home).into_iter().map(|finding| finding.level).collect::<Vec<_>>();
        assert_eq!(levels(), [Level::Ok, Level::Ok], "nothing is there");
        home.prepare().unwrap();
        assert_eq!(levels(), [Level::Ok, Level::Ok]);
        fs::write(home.journal(), "").unwrap();
        fs::set_permissions(home.journal(), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(levels(), [Level::Warn, Level::Ok]);
        fs::write(home.socket(), "no socket").unwrap();
        assert_eq!(levels(), [Level::Warn, Level::Problem]);
        fs::remove_dir_all(&base).unwrap();
        fs::write(&base, "no folder").unwrap();
        assert_eq!(levels(), [Level::Problem, Level::Ok]);
    }

    #[test]
    fn a_remedy_can_be_pasted_whatever_the_folder_is_called() {
        assert_eq!(quoted(Path::new("/home/me/.autofork")), "/home/me/.autofork");
        assert_eq!(quoted(Path::new("/a b/$(c)'d")), r"'/a b/$(c)'\''d'");
    }
}
