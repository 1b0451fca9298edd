//! `fmt`.

use crate::program::Sandbox;

const MESSY: &str = "---\ntags: [a]\n# why\nfork: true\nrun_on: [idle: 15m]\n---\nBring LOG.md up to date.\n";
const TIDY: &str = "---\n# why\nfork: true\nrun_on:\n  - idle: 15m\ntags: [a]\n---\nBring LOG.md up to date.\n";

#[test]
fn fmt_brings_a_frontmatter_in_order_and_check_only_tells() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", MESSY);
    let path = sandbox.project().join(".autofork/forks/x.md");
    let read = || std::fs::read_to_string(&path).expect("a file");
    let run = sandbox.run(&["fmt", "--check"]);
    assert_eq!((run.code, run.out.as_str()), (1, ".autofork/forks/x.md has another form.\n"));
    assert_eq!(read(), MESSY);
    let run = sandbox.run(&["fmt", ".autofork/forks/x.md"]);
    assert_eq!((run.code, run.out.as_str()), (0, "Formatted .autofork/forks/x.md.\n"));
    assert_eq!(read(), TIDY);
    let run = sandbox.run(&["fmt", "--check"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
}

#[test]
fn fmt_leaves_other_files_alone_when_one_is_named() {
    let sandbox = Sandbox::new();
    sandbox.fork("x.md", MESSY);
    sandbox.fork("y.md", MESSY);
    assert_eq!(sandbox.run(&["fmt", ".autofork/forks/x.md"]).code, 0);
    let other = std::fs::read_to_string(sandbox.project().join(".autofork/forks/y.md")).expect("a file");
    assert_eq!(other, MESSY);
    assert_eq!(sandbox.run(&["fmt", "nowhere"]).code, 2);
}
