//! `filtered-out`

use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::text::brief;

rule! {
    /// A fork that the tag filters of the configuration switch off.
    ///
    /// A fork with a tag in `disable_tags` does not fire, and when `enable_tags` is not empty, neither does one without a
    /// tag in it. That is what filters are for; it is worth knowing when it was not meant.
    ///
    /// Bad:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [noisy]
    /// ---
    /// Tidy.
    /// ```
    /// ```toml
    /// disable_tags = ["noisy"]
    /// ```
    ///
    /// Good:
    /// ```markdown
    /// ---
    /// fork: true
    /// tags: [noisy]
    /// ---
    /// Tidy.
    /// ```
    "filtered-out", Hint, Tags, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    let (enabled, disabled) = (&graph.config.enable_tags, &graph.config.disable_tags);
    for member in &graph.members {
        let tags = &member.lowered.tags;
        let help = "change the filter in the configuration, or the tags of the fork";
        if let Some((tag, place)) = tags.iter().find(|(tag, _)| disabled.contains(tag)) {
            let message = format!("the configuration disables the tag `{}`; this fork does not fire here", brief(tag.as_str()));
            out.in_file(member.path()).report(&RULE, *place, message).label("disabled").help(help);
        } else if !enabled.is_empty() && !tags.iter().any(|(tag, _)| enabled.contains(tag)) {
            let place = member.lowered.tags_key.unwrap_or_else(|| member.file.fence());
            let message = "the configuration enables other tags only; this fork does not fire here";
            out.in_file(member.path()).report(&RULE, place, message).label("no enabled tag").help(help);
        }
    }
}
