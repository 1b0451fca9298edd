//! `config-global-only`

use crate::compile::findings::Findings;
use crate::text::Span;

rule! {
    /// A setting in a project's configuration that counts only in the user's own.
    ///
    /// There is one daemon for all projects, so one project cannot say when it leaves.
    ///
    /// Bad:
    /// ```toml
    /// quiet_period = "10m"
    /// ```
    ///
    /// Good:
    /// ```toml user/config.toml
    /// quiet_period = "10m"
    /// ```
    "config-global-only", Warn, Config, None
}

pub(crate) fn check(key: &str, span: Span, out: &mut Findings) {
    out.report(&RULE, span, format!("`{key}` counts only in the user's own configuration; here it is ignored"))
        .label("ignored here")
        .help(format!("move `{key}` to `~/.autofork/config.toml`"));
}
