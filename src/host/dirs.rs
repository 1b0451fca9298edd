//! Where autofork keeps its things: the base folder and the files in it, and the daemon's socket.
//!
//! Hooks, commands and daemon must agree on these places with nothing but their environment to go by, and every
//! variable of it is a stranger's word until it was checked. Nothing is created here except by [`Home::prepare`] and
//! [`Home::prepare_socket`].

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::files::{self, Access};

/// The variable that names another base folder.
pub const HOME_VARIABLE: &str = "AUTOFORK_HOME";

/// The variable that names the folder for sockets of this login.
pub const RUNTIME_VARIABLE: &str = "XDG_RUNTIME_DIR";

/// The longest path a Unix socket can have, in bytes: `sun_path` less its closing zero.
const SOCKET_PATH_LIMIT: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The longest record of a daemon in its lock file: a socket's path and a process's id, each with the end of its line.
const RECORD_LIMIT: u64 = SOCKET_PATH_LIMIT as u64 + 16;

/// The folder for temporary files. Not `TMPDIR`: that differs between a terminal and a desktop's session, and then
/// two processes of one user would not find each other.
const TEMPORARY: &str = "/tmp";

/// The socket's name in the base folder.
const SOCKET_NAME: &str = "daemon.sock";

/// A folder of ours: for nobody else.
const PRIVATE_FOLDER: u32 = 0o700;

/// Why there is no place to keep things in.
#[derive(Debug)]
pub enum HomeError {
    /// Neither the environment nor the user database names an absolute home folder.
    NoHome,
    /// The folder cannot be made or looked at.
    Unusable(PathBuf, io::Error),
    /// Something that is no folder is in the way.
    NotAFolder(PathBuf),
    /// The folder belongs to somebody else.
    NotOurs(PathBuf),
}

impl HomeError {
    /// What a person can do about it.
    pub fn help(&self) -> String {
        match self {
            Self::NoHome => format!("set HOME, or {HOME_VARIABLE} to an absolute path"),
            Self::Unusable(path, _) => format!("make {} a folder that you can write to", path.display()),
            Self::NotAFolder(path) => format!("move {} out of the way", path.display()),
            Self::NotOurs(path) => format!("remove {}, or set {HOME_VARIABLE} to another folder", path.display()),
        }
    }
}

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoHome => f.write_str("there is no home folder"),
            Self::Unusable(path, error) => write!(f, "cannot use {}: {error}", path.display()),
            Self::NotAFolder(path) => write!(f, "{} is not a folder", path.display()),
            Self::NotOurs(path) => write!(f, "{} belongs to another user", path.display()),
        }
    }
}

impl std::error::Error for HomeError {}

/// The places of one base folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    base: PathBuf,
    socket: PathBuf,
}

impl Home {
    /// The places that the environment of this process names.
    pub fn from_env() -> Result<Self, HomeError> {
        Self::find(|name| std::env::var_os(name), std::env::home_dir())
    }

    /// The places that `variable` names, with `home` as the user's home folder.
    pub fn find(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Result<Self, HomeError> {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute(HOME_VARIABLE)
            .or_else(|| home.filter(|home| home.is_absolute()).map(|home| home.join(".autofork")))
            .ok_or(HomeError::NoHome)?;
        let runtime = absolute(RUNTIME_VARIABLE).filter(|path| fs::metadata(path).is_ok_and(|it| is_our_folder(&it)));
        let socket = socket_path(&base, runtime.as_deref());
        Ok(Self { base, socket })
    }

    /// The base folder.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The daemon's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Where the daemon's socket is if it cannot be at its proper place: in the base folder.
    pub fn fallback_socket(&self) -> Option<PathBuf> {
        let path = self.base.join(SOCKET_NAME);
        (path != self.socket && path.as_os_str().len() <= SOCKET_PATH_LIMIT).then_some(path)
    }

    /// The file whose lock makes a daemon the only one. It holds the path of the daemon's socket, for clients whose
    /// environment leads them elsewhere, and the daemon's process, for those who find nobody there.
    pub fn lock(&self) -> PathBuf {
        self.base.join("daemon.lock")
    }

    /// The daemon's log.
    pub fn log(&self) -> PathBuf {
        self.base.join("daemon.log")
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.base.join("journal.db")
    }

    /// Where the running daemon says that its socket is, if it says so.
    pub fn recorded_socket(&self) -> Option<PathBuf> {
        let recorded = self.recorded()?;
        let path = Path::new(std::ffi::OsStr::from_bytes(parse_record(&recorded)?.0)).to_owned();
        (path.is_absolute() && path.as_os_str().len() <= SOCKET_PATH_LIMIT).then_some(path)
    }

    /// The process that the daemon which was here last says it is.
    pub fn recorded_pid(&self) -> Option<u32> {
        parse_record(&self.recorded()?)?.1
    }

    /// Whether there is a socket. One at which nobody listens was left by a daemon that was killed; one that leaves takes
    /// it along.
    pub fn has_socket_left(&self) -> bool {
        let is_socket = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        is_socket(&self.socket) || self.recorded_socket().is_some_and(|path| is_socket(&path))
    }

    /// What a daemon records in the lock file.
    pub fn record(socket: &Path, pid: u32) -> Vec<u8> {
        [socket.as_os_str().as_bytes(), format!("\n{pid}\n").as_bytes()].concat()
    }

    fn recorded(&self) -> Option<Vec<u8>> {
        let mut recorded = Vec::new();
        files::open(&self.lock(), Access::Read).ok()?.take(RECORD_LIMIT).read_to_end(&mut recorded).ok()?;
        Some(recorded)
    }

    /// The folder that would have to be written to and cannot be: the base folder or, where that is still to be made, the
    /// nearest one above it.
    pub fn unwritable(&self) -> Option<&Path> {
        let there = self.base.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok())?;
        let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(there, wanted).is_err().then_some(there)
    }

    /// What keeps a daemon from being started here, if that shows from outside.
    pub fn obstacle(&self) -> Option<String> {
        if let Ok(base) = fs::metadata(&self.base)
            && !is_our_folder(&base)
        {
            return Some(format!("{} is not a folder of yours", self.base.display()));
        }
        if let Some(folder) = self.unwritable() {
            return Some(format!("{} cannot be written to", folder.display()));
        }
        for path in [self.lock(), self.journal()] {
            if let Some(error) = files::obstacle(&path) {
                return Some(format!("{} cannot be used: {error}", path.display()));
            }
        }
        let is_in_the_way =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_socket());
        let blocked = is_in_the_way(&self.socket) && self.fallback_socket().is_none_or(|path| is_in_the_way(&path));
        blocked.then(|| format!("{} is in the way of the socket", self.socket.display()))
    }

    /// Makes the base folder and closes it to others. It may be a symbolic link: people keep it among their dotfiles.
    pub fn prepare(&self) -> Result<(), HomeError> {
        make_folder(&self.base)?;
        close_folder(&self.base, fs::metadata(&self.base))
    }

    /// Makes the folder of the socket, which must really be a folder and ours: below the folder for temporary files
    /// anybody could have put a link of that name.
    pub fn prepare_socket(&self) -> Result<(), HomeError> {
        match self.socket.parent() {
            Some(folder) if folder != self.base => {
                make_folder(folder)?;
                close_folder(folder, fs::symlink_metadata(folder))
            }
            _ => Ok(()),
        }
    }

    /// Removes the folder of the socket if it is one of ours below the folder for temporary files, and empty.
    pub fn tidy_socket(&self) {
        if let Some(folder) = self.socket.parent()
            && folder == short_socket_folder()
        {
            // Not empty: another base folder's daemon is there.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The socket's path and the process in a record. The path may hold the end of a line.
fn parse_record(recorded: &[u8]) -> Option<(&[u8], Option<u32>)> {
    let whole = recorded.strip_suffix(b"\n")?;
    let at = whole.iter().rposition(|byte| *byte == b'\n');
    let pid = at.and_then(|at| Some((at, std::str::from_utf8(&whole[at + 1..]).ok()?.parse().ok()?)));
    Some(pid.map_or((whole, None), |(at, pid)| (&whole[..at], Some(pid))))
}

fn make_folder(path: &Path) -> Result<(), HomeError> {
    match DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(path) {
        // Something else of that name: what it is comes out when it is looked at.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(HomeError::Unusable(path.to_owned(), error))
        }
        _ => Ok(()),
    }
}

fn close_folder(path: &Path, metadata: io::Result<Metadata>) -> Result<(), HomeError> {
    let metadata = metadata.map_err(|error| HomeError::Unusable(path.to_owned(), error))?;
    if !metadata.is_dir() {
        return Err(HomeError::NotAFolder(path.to_owned()));
    }
    if !is_our_folder(&metadata) {
        return Err(HomeError::NotOurs(path.to_owned()));
    }
    if metadata.mode() & 0o077 != 0 {
        let closed = Permissions::from_mode(metadata.mode() & 0o700);
        fs::set_permissions(path, closed).map_err(|error| HomeError::Unusable(path.to_owned(), error))?;
    }
    Ok(())
}

fn is_our_folder(metadata: &Metadata) -> bool {
    metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw()
}

/// In the folder for sockets of this login if there is one, else in the base folder; under a short name below the
/// folder for temporary files if neither path is short enough for a socket.
fn socket_path(base: &Path, runtime: Option<&Path>) -> PathBuf {
    let name = format!("{:016x}.sock", fnv1a(base.as_os_str().as_bytes()));
    let in_runtime = runtime.map(|runtime| runtime.join("autofork").join(&name));
    in_runtime
        .into_iter()
        .chain([base.join(SOCKET_NAME)])
        .find(|path| path.as_os_str().len() <= SOCKET_PATH_LIMIT)
        .unwrap_or_else(|| short_socket_folder().join(&name))
}

fn short_socket_folder() -> PathBuf {
    Path::new(TEMPORARY).join(format!("autofork-{}", rustix::process::geteuid().as_raw()))
}

/// A hash that is the same in every version of this program, which the standard library's does not promise to be.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn find(variables: &[(&str, &Path)], home: &str) -> Home {
        let lookup = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_os_str().to_owned())
        };
        Home::find(lookup, Some(home.into())).unwrap()
    }

    #[test]
    fn the_base_folder_is_the_users_unless_another_is_named_absolutely() {
        assert_eq!(find(&[], "/home/me").base(), Path::new("/home/me/.autofork"));
        assert_eq!(find(&[(HOME_VARIABLE, Path::new("/else"))], "/home/me").base(), Path::new("/else"));
        assert_eq!(find(&[(HOME_VARIABLE, Path::new("else"))], "/home/me").base(), Path::new("/home/me/.autofork"));
        assert_eq!(find(&[(HOME_VARIABLE, Path::new(""))], "/home/me").base(), Path::new("/home/me/.autofork"));
        assert!(matches!(Home::find(|_| None, Some("relative".into())), Err(HomeError::NoHome)));
        assert!(matches!(Home::find(|_| None, None), Err(HomeError::NoHome)));
    }

    #[test]
    fn the_socket_is_in_the_runtime_folder_only_if_that_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let home = find(&[(RUNTIME_VARIABLE, folder.path())], "/home/me");
        assert_eq!(home.socket().parent().unwrap(), folder.path().join("autofork"));
        for stranger in ["/", "/nowhere/at/all", "relative", "/dev/null"] {
            if rustix::process::geteuid().is_root() && stranger == "/" {
                continue;
            }
            let home = find(&[(RUNTIME_VARIABLE, Path::new(stranger))], "/home/me");
            assert_eq!(home.socket(), Path::new("/home/me/.autofork/daemon.sock"), "{stranger}");
        }
    }

    #[test]
    fn a_path_over_the_limit_gets_a_short_name_of_its_own() {
        let deep = |letter: &str| format!("/{}", letter.repeat(SOCKET_PATH_LIMIT));
        let first = find(&[], &deep("a"));
        let second = find(&[], &deep("b"));
        for home in [&first, &second] {
            assert!(home.socket().starts_with("/tmp"), "{home:?}");
            assert!(home.socket().as_os_str().len() <= SOCKET_PATH_LIMIT);
        }
        assert_ne!(first.socket(), second.socket());
        assert_eq!(first, find(&[], &deep("a")));
        let exact = "/".to_owned() + &"x".repeat(SOCKET_PATH_LIMIT - "/".len() - "/.autofork/daemon.sock".len());
        assert!(find(&[], &exact).socket().starts_with(&exact));
        assert!(find(&[], &(exact + "x")).socket().starts_with("/tmp"));
    }

    #[test]
    fn folders_are_made_for_us_alone_and_links_are_refused_for_the_socket() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("base");
        let home = find(&[(HOME_VARIABLE, &base), (RUNTIME_VARIABLE, folder.path())], "/home/me");
        home.prepare().unwrap();
        assert_eq!(fs::metadata(&base).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&base, Permissions::from_mode(0o755)).unwrap();
        home.prepare().unwrap();
        assert_eq!(fs::metadata(&base).unwrap().mode() & 0o777, 0o700, "closed again");

        home.prepare_socket().unwrap();
        let sockets = folder.path().join("autofork");
        assert_eq!(fs::metadata(&sockets).unwrap().mode() & 0o777, 0o700);
        fs::remove_dir(&sockets).unwrap();
        symlink(&base, &sockets).unwrap();
        assert!(matches!(home.prepare_socket(), Err(HomeError::NotAFolder(_))));
    }

    #[test]
    fn the_recorded_socket_must_be_a_whole_line_with_an_absolute_path() {
        let folder = tempfile::tempdir().unwrap();
        let home = find(&[(HOME_VARIABLE, folder.path())], "/home/me");
        assert_eq!(home.recorded_socket(), None);
        for (content, path) in
            [("/run/x.sock\n", Some("/run/x.sock")), ("/run/x.sock", None), ("x.sock\n", None), ("", None)]
        {
            fs::write(home.lock(), content).unwrap();
            assert_eq!(home.recorded_socket().as_deref(), path.map(Path::new), "{content:?}");
            assert_eq!(home.recorded_pid(), None);
        }
        for path in ["/run/x.sock", "/run/with\nan end of line/12\n34.sock"] {
            fs::write(home.lock(), Home::record(Path::new(path), 4242)).unwrap();
            assert_eq!(home.recorded_socket().as_deref(), Some(Path::new(path)));
            assert_eq!(home.recorded_pid(), Some(4242));
        }
        let file = fs::File::create(home.lock()).unwrap();
        file.set_len(1 << 40).unwrap();
        assert_eq!(home.recorded_socket(), None, "it is not read to its end");
        fs::remove_file(home.lock()).unwrap();
        symlink("/dev/zero", home.lock()).unwrap();
        assert_eq!(home.recorded_socket(), None);
        assert!(home.obstacle().unwrap().contains("symbolic link"));
    }
}
