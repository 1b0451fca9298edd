//! The rules, one file each: what it finds, why that matters, a bad and a good example, and the check.
//!
//! The doc comment of a rule's constant is its documentation: `explain`, the pages, hovers and SARIF print it, and its
//! examples are tests. Most checks are called where the value in question is lowered, and give the value that stands
//! in for a bad one; the others look at a whole file, at the configuration or at all forks of a project, and are listed
//! here.

use super::file::ForkFile;
use super::findings::Findings;
use super::graph::Graph;
use crate::diagnostic::Rule;

/// Defines a rule's constant; its doc comment is kept as the rule's documentation.
macro_rules! rule {
    ($(#[doc = $doc:literal])+ $name:literal, $level:ident, $category:ident, $fixes:ident) => {
        $(#[doc = $doc])+
        pub static RULE: $crate::diagnostic::Rule = $crate::diagnostic::Rule {
            name: $name,
            level: $crate::diagnostic::Level::$level,
            category: $crate::diagnostic::Category::$category,
            fixes: $crate::diagnostic::Fixes::$fixes,
            docs: &[$($doc),+],
        };
    };
}

macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every rule, in the order of the documentation.
        pub static ALL: &[&Rule] = &[$(&$module::RULE),+];
    };
}

rules! {
    unclosed_frontmatter, malformed_fence, frontmatter_not_first, invalid_encoding, cr_line_endings, too_large, unreadable,
    yaml_syntax, tab_indent, invisible_character, duplicate_key, frontmatter_not_mapping, yaml_limits, comment_cuts_value,
    document_end_in_frontmatter,
    missing_marker, marker_not_boolean, unknown_key, ignored_key, invalid_type, comma_list, invalid_boolean,
    unsupported_moment, unknown_moment, malformed_moment, moment_not_listed, percent_sign, invalid_duration,
    nonportable_duration, invalid_threshold, never_fires, redundant_moment, unreachable_threshold, idle_disabled,
    idle_beyond_timeout,
    unknown_fork, self_dependency, dependency_cycle, never_together,
    invalid_tag, filtered_out, unused_tag,
    invalid_name, shadowed_fork, duplicate_name, too_deep,
    empty_body, missing_companion, same_file, spawns_agents,
    toml_syntax, config_unknown_key, config_ignored_key, config_invalid_value, config_global_only, config_key_in_table,
    unused_suppression,
}

/// The rule of that name.
pub fn find(name: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.name == name).copied()
}

/// The names nearest to one that no rule has.
pub fn suggest(name: &str) -> Option<&'static str> {
    super::near::nearest(name, ALL.iter().map(|rule| rule.name))
}

/// A check of one file.
type FileCheck = fn(&ForkFile, &mut Findings);

/// Checks of a file that cannot be read as a fork, or does not say that it is one.
pub(super) const SYNTAX_CHECKS: &[FileCheck] = &[
    unreadable::check,
    too_large::check,
    invalid_encoding::check,
    unclosed_frontmatter::check,
    malformed_fence::check,
    yaml_syntax::check,
    yaml_limits::check,
    tab_indent::check,
    invisible_character::check,
    frontmatter_not_mapping::check,
    missing_marker::check,
    marker_not_boolean::check,
];

/// Checks of a fork that was read.
pub(super) const FORK_CHECKS: &[FileCheck] = &[
    frontmatter_not_first::check,
    cr_line_endings::check,
    document_end_in_frontmatter::check,
    comment_cuts_value::check,
    unreachable_threshold::check,
    invalid_name::check,
    empty_body::check,
    spawns_agents::check,
];

/// A check of all forks that may fire at one launch folder, and of the configuration there.
type GraphCheck = fn(&Graph<'_>, &mut Findings);

/// Checks of all forks together.
pub(super) const GRAPH_CHECKS: &[GraphCheck] = &[
    redundant_moment::check,
    idle_disabled::check,
    idle_beyond_timeout::check,
    unknown_fork::check,
    dependency_cycle::check,
    never_together::check,
    filtered_out::check,
    unused_tag::check,
    missing_companion::check,
    same_file::check,
];
