//! What a rule is, apart from how it checks.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Works, but could be better.
    Hint,
    /// Probably not what was meant.
    Warn,
    /// Does not work.
    Error,
}

impl Level {
    /// The level's name, as configuration and JSON spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "hint" => Ok(Self::Hint),
            "warn" => Ok(Self::Warn),
            "error" => Ok(Self::Error),
            _ => Err(format!("`{name}` is not a level: hint, warn or error")),
        }
    }
}

/// What part of a file a rule looks at; `docs/rules.md` is ordered by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// The file as a whole and the fences around its frontmatter.
    Envelope,
    /// YAML syntax.
    Yaml,
    /// The marker and the other keys.
    Keys,
    /// The moments of `run_on`, and durations.
    Moments,
    /// The order of forks.
    After,
    /// Labels and their filters.
    Tags,
    /// Names of forks and where they are found.
    Names,
    /// What a fork is told to do.
    Body,
    /// `config.toml`.
    Config,
    /// Comments that switch rules off.
    Suppressions,
}

impl Category {
    /// A heading for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Envelope => "Envelope",
            Self::Yaml => "YAML",
            Self::Keys => "Marker and keys",
            Self::Moments => "Moments and durations",
            Self::After => "Order",
            Self::Tags => "Tags",
            Self::Names => "Names",
            Self::Body => "Body",
            Self::Config => "Configuration",
            Self::Suppressions => "Suppressions",
        }
    }
}

/// Whether a rule's findings come with a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fixes {
    /// Never.
    None,
    /// Where one can be made out.
    Some,
}

/// A rule: its name, its weight and its documentation. Names are a contract: they stand in configuration files and
/// suppressions.
#[derive(Debug)]
pub struct Rule {
    /// The name, in kebab case.
    pub name: &'static str,
    /// The level of its findings, unless one says otherwise or configuration does.
    pub level: Level,
    /// The part of a file it looks at.
    pub category: Category,
    /// Whether its findings come with a fix.
    pub fixes: Fixes,
    /// The documentation in Markdown, line by line, each with the blank that follows `///` in the source.
    pub docs: &'static [&'static str],
}

/// Where this program's repository is on the web: what the build was told, as that of a release is, else what the package
/// says. Empty if nobody says it.
pub(super) const REPOSITORY: &str = match option_env!("AUTOFORK_REPOSITORY") {
    Some(address) => address,
    None => env!("CARGO_PKG_REPOSITORY"),
};

impl Rule {
    /// The documentation in Markdown: what it finds, why that matters, a bad and a good example.
    pub fn documentation(&self) -> String {
        let mut text = String::new();
        for line in self.docs {
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
        }
        text
    }

    /// What it finds: the documentation's first paragraph, on one line.
    pub fn summary(&self) -> String {
        let lines = self.docs.iter().map(|line| line.trim());
        lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Where its documentation is on the web, if it is known where the repository is.
    pub fn link(&self) -> Option<String> {
        self.link_below(REPOSITORY)
    }

    fn link_below(&self, repository: &str) -> Option<String> {
        let repository = repository.trim_end_matches('/');
        (!repository.is_empty()).then(|| format!("{repository}/blob/main/docs/rules.md#{}", self.name))
    }
}

/// A rule is its name.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Rule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_links_to_its_part_of_the_page_where_the_repository_is_known() {
        let rule =
            Rule { name: "odd", level: Level::Warn, category: Category::Envelope, fixes: Fixes::None, docs: &[] };
        let link = "https://host.example/o/r/blob/main/docs/rules.md#odd".to_owned();
        assert_eq!(rule.link_below("https://host.example/o/r/"), Some(link));
        assert_eq!(rule.link_below(""), None);
    }
}
