//! `unused-tag`

use crate::compile::config::Layer;
use crate::compile::findings::Findings;
use crate::compile::graph::Graph;
use crate::compile::near::nearest;
use crate::text::brief;

rule! {
    /// A tag in the project's configuration that no fork has.
    ///
    /// The line has no effect. If the tag is in `enable_tags` alone, no fork fires at all.
    ///
    /// Bad:
    /// ```toml
    /// disable_tags = ["nightly"]
    /// ```
    ///
    /// Good:
    /// ```toml
    /// disable_tags = ["nightly"]
    /// ```
    /// ```markdown
    /// ---
    /// fork: false
    /// tags: [nightly]
    /// ---
    /// Tidy.
    /// ```
    "unused-tag", Warn, Tags, None
}

pub(crate) fn check(graph: &Graph<'_>, out: &mut Findings) {
    let project = graph.layers.iter().filter(|layer| layer.layer == Layer::Project);
    for layer in project {
        for tag in layer.tags() {
            if graph.tags.contains(tag.value.as_str()) {
                continue;
            }
            let message = format!("no fork has the tag `{}`; this has no effect", brief(tag.value.as_str()));
            let draft = out.in_file(layer.source.path()).report(&RULE, tag.span, message).label("on no fork");
            match nearest(tag.value.as_str(), graph.tags.iter().copied()) {
                Some(meant) => draft.help(format!("did you mean `{}`?", brief(meant))),
                None => draft.help("remove it, or give the tag to a fork"),
            };
        }
    }
}
