//! `yaml-limits`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;
use crate::syntax::yaml::FaultKind;

rule! {
    /// Frontmatter that is nested more than 32 deep, or has more than 10 000 nodes once its aliases are written out.
    ///
    /// A few lines of aliases can stand for more text than there is memory. Nothing past the limit is read, and the fork
    /// does not fire.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [a]
    /// ---
    /// Tidy.
    /// ```
    "yaml-limits", Error, Yaml, None
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Broken {
        return;
    }
    for fault in &file.yaml().faults {
        let (message, label) = match fault.kind {
            FaultKind::TooDeep => ("this frontmatter is nested more than 32 deep", "the 33rd level"),
            FaultKind::TooManyNodes => ("this frontmatter stands for more than 10 000 nodes", "past the limit"),
            _ => continue,
        };
        out.report(&RULE, fault.span, format!("{message}; the fork is broken and does not fire"))
            .label(label)
            .help("write the few values that a fork needs without lists in lists, and without chains of aliases");
    }
}
