//! `tab-indent`

use crate::compile::file::{FileKind, ForkFile};
use crate::compile::findings::Findings;
use crate::syntax::yaml::FaultKind;
use crate::text::Span;

rule! {
    /// A tab in the indentation of the frontmatter.
    ///
    /// YAML takes only blanks for indentation, since nobody agrees on the width of a tab. The fork does not fire.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    /// 	- idle
    /// ---
    /// Tidy.
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// run_on:
    ///   - idle
    /// ---
    /// Tidy.
    /// ```
    "tab-indent", Error, Yaml, Some
}

pub(crate) fn check(file: &ForkFile, out: &mut Findings) {
    if file.kind != FileKind::Broken {
        return;
    }
    for fault in file.yaml().faults.iter().filter(|fault| fault.kind == FaultKind::Tab) {
        let rest = &file.text()[fault.span.start()..];
        let tabs = rest.len() - rest.trim_start_matches('\t').len();
        let span = Span::new(fault.span.start(), fault.span.start() + tabs);
        out.report(&RULE, fault.span, "YAML is indented with blanks, not with tabs; the fork is broken and does not fire")
            .label("a tab")
            .help("write two blanks for the tab")
            .safe("write two blanks for each tab", span, "  ".repeat(tabs));
    }
}
