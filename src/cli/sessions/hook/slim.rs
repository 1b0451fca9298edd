//! Making a process small that only waits: hundreds of hooks may be parked for hours.

use std::fs;

use rustix::mm::{Advice, madvise};

/// Gives the pages of code back that were needed until now. Most of what a parked hook has in memory is code that it
/// shares with all others and will not run again; what it needs after all comes back from its file.
pub(super) fn give_code_back() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, end) in maps.lines().filter_map(code) {
        // SAFETY: the range is a whole mapping of this process, as the system has just told, and none is ever unmapped
        // here. It can be read and executed and not be written, so every page of it is as it is in its file, and that
        // is where the system takes it from again: giving it back changes no byte that anybody sees.
        let _ = unsafe { madvise(std::ptr::with_exposed_provenance_mut(start), end - start, Advice::LinuxDontNeed) };
    }
}

/// The range of addresses on a line of `maps`, if it is code that comes from a file.
fn code(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let is_of_file = fields.nth(3).is_some_and(|path| path.starts_with('/'));
    let parse = |text| usize::from_str_radix(text, 16).ok();
    (permissions == "r-xp" && is_of_file).then_some((parse(start)?, parse(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_from_files_is_given_back() {
        let kept = [
            "55d0c7a00000-55d0c7c00000 r--p 00000000 fe:00 6154863                    /usr/bin/autofork",
            "55d0c7c00000-55d0c7d00000 rw-p 00200000 fe:00 6154863                    /usr/bin/autofork",
            "7fff8fa18000-7fff8fa1a000 r-xp 00000000 00:00 0                          [vdso]",
            "7fff8fa18000-7fff8fa1a000 rwxp 00000000 00:00 0",
            "",
        ];
        assert_eq!(kept.iter().find_map(|line| code(line)), None);
        let given =
            "55d0c7a00000-55d0c7c00000 r-xp 00218000 fe:00 6154863                    /opt/with blank/autofork";
        assert_eq!(code(given), Some((0x55d0_c7a0_0000, 0x55d0_c7c0_0000)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_given_back_is_there_when_it_is_needed() {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(maps.lines().filter_map(code).count() > 0, "this test has code:\n{maps}");
        give_code_back();
        assert_eq!(format!("{:?}", code("1-2 r-xp 0 0 0 /a")), "Some((1, 2))");
    }
}
