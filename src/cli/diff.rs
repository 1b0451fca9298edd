//! What differs between two texts, as a unified diff.
//!
//! One algorithm, named outright: the crate's own front door to all of them costs half a megabyte of binary.

use std::fmt::Write;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, DiffOp, group_diff_ops};

use crate::text::lines;

/// How many lines are shown around each change.
const CONTEXT: usize = 3;

/// The unified diff from `old` to `new` under these names; empty if they are the same.
pub(super) fn unified((old_name, old): (&str, &str), (new_name, new): (&str, &str)) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old).collect(), lines(new).collect());
    let mut text = String::new();
    for hunk in group_diff_ops(changes(&old, &new), CONTEXT).iter().filter(|hunk| !hunk.is_empty()) {
        if text.is_empty() {
            let _ = write!(text, "--- {old_name}\n+++ {new_name}\n");
        }
        let _ = writeln!(text, "{}", UnifiedHunkHeader::new(hunk));
        for change in hunk.iter().flat_map(|op| op.iter_changes(&*old, &*new)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            let line = change.value();
            text.push(sign);
            text.push_str(line);
            if !line.ends_with(['\n', '\r']) {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

fn changes(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    // Capturing never fails.
    let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
    found.into_inner().into_inner().into_ops()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_what_stands_around_them() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nend";
        let new = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nend\n";
        insta::assert_snapshot!(unified(("a/x", old), ("b/x", new)), @r"
        --- a/x
        +++ b/x
        @@ -1,5 +1,5 @@
         1
        -2
        +two
         3
         4
         5
        @@ -10,4 +10,4 @@
         10
         11
         12
        -end
        \ No newline at end of file
        +end
        ");
        assert_eq!(unified(("a", old), ("b", old)), "");
    }

    #[test]
    fn it_says_what_the_crate_itself_says() {
        for (old, new) in [("a\nb\nc\n", "a\nc\nd\n"), ("", "x"), ("x\r\ny", "x\ry"), ("a\na\na\n", "a\na\n")] {
            let diff = similar::TextDiff::from_lines(old, new);
            let theirs = diff.unified_diff().header("a", "b").to_string();
            assert_eq!(unified(("a", old), ("b", new)), theirs, "{old:?} {new:?}");
        }
    }
}
