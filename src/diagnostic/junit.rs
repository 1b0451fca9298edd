//! The format `junit`: a test report, one failed test for each finding.

use std::io::{self, Write};

use super::Report;
use crate::text::visible;

/// Writes an XML document.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let failures = report.diagnostics.len();
    let tests = failures.max(1);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="autofork" tests="{tests}" failures="{failures}" errors="0">"#)?;
    writeln!(out, r#"  <testsuite name="check" tests="{tests}" failures="{failures}" errors="0" disabled="0">"#)?;
    for found in report.diagnostics {
        let path = escaped(&report.path(&found.path));
        let place = report.range(&found.path, found.span).map(|(start, _)| start);
        let line = place.map(|place| format!(r#" line="{}""#, place.line)).unwrap_or_default();
        let message = escaped(&found.message);
        let place = place.map(|place| format!(":{}:{}", place.line, place.column)).unwrap_or_default();
        let help = found.help.as_ref().map(|help| format!("\n{}", escaped(help))).unwrap_or_default();
        writeln!(out, r#"    <testcase name="{}" classname="{path}" file="{path}"{line}>"#, found.rule.name)?;
        writeln!(
            out,
            r#"      <failure message="{message}" type="{}">{path}{place}: {message}{help}</failure>"#,
            found.level
        )?;
        writeln!(out, "    </testcase>")?;
    }
    if failures == 0 {
        writeln!(out, r#"    <testcase name="nothing found" classname="check"/>"#)?;
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

/// A text for XML: without controls, which XML cannot hold, and with its own characters escaped.
fn escaped(text: &str) -> String {
    let text = visible(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
