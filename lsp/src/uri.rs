//! File URIs to paths and back.

use std::path::{Path, PathBuf};

use autofork::{platform, project};
use gen_lsp_types::Uri;

/// The path of a file URI, without `.` and `..`; none of any other.
pub fn to_path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let digits = [left.next()?, left.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(project::cleaned(&platform::path_of_uri(bytes)?))
}

/// The file URI of an absolute path.
pub fn of_path(path: &Path) -> Uri {
    let mut uri = "file://".to_owned();
    for byte in platform::uri_of_path(path) {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let digits = [byte >> 4, byte & 15].map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)]));
            uri.extend(['%', digits[0], digits[1]]);
        }
    }
    Uri(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_way_there_and_back() {
        for path in ["/a/b.md", "/mit leer/ü/50%.md", "/#?/[x].md"] {
            assert_eq!(to_path(&of_path(Path::new(path))), Some(PathBuf::from(path)));
        }
        let odd = platform::path_of_uri(b"/a/\xff.md".to_vec()).unwrap();
        assert_eq!(to_path(&of_path(&odd)), Some(odd));
    }

    #[test]
    fn what_is_no_file_has_no_path() {
        for uri in ["untitled:Untitled-1", "http://x/y", "file://", "file:///%zz", "", "file:///a%2"] {
            assert_eq!(to_path(&Uri(uri.to_owned())), None, "{uri}");
        }
        assert_eq!(to_path(&Uri("file://host/a/../b".to_owned())), Some(PathBuf::from("/b")));
    }
}
