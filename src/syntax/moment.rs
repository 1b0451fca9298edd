//! Moments written as one text, and the values of thresholds.

use std::num::NonZeroU64;

use pest::Parser as _;

use crate::ir::Percent;

use grammar::{Grammar, Rule};

/// The generated parser; its rules are documented in the grammar.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/moment.pest"]
    pub(super) struct Grammar;
}

/// A moment written as one text: a name, and perhaps a value that was meant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MomentText<'a> {
    /// The name.
    pub name: &'a str,
    /// The rest.
    pub value: Option<&'a str>,
}

/// Reads a moment written as one text; none if it does not even start with a name.
pub fn parse(text: &str) -> Option<MomentText<'_>> {
    let pair = Grammar::parse(Rule::moment, text).ok()?.next()?;
    let mut found = MomentText { name: "", value: None };
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::name => found.name = part.as_str(),
            Rule::value => found.value = Some(part.as_str()),
            _ => {}
        }
    }
    Some(found)
}

/// A percentage that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PercentText {
    /// With its sign.
    Signed(Percent),
    /// Without: a number that is read as percent.
    Bare(Percent),
}

/// Reads a whole percentage from 1 to 100.
pub fn percent(text: &str) -> Option<PercentText> {
    // Nearly every percentage is written so, and needs no grammar to be read.
    if let Some(number) = text.strip_suffix('%').and_then(super::whole_number) {
        return u8::try_from(number).ok().and_then(Percent::new).map(PercentText::Signed);
    }
    let pair = Grammar::parse(Rule::percent, text).ok()?.next()?;
    let (mut number, mut signed) = (None, false);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::whole => number = part.as_str().parse().ok().and_then(Percent::new),
            Rule::percent_sign => signed = true,
            _ => {}
        }
    }
    number.map(|number| if signed { PercentText::Signed(number) } else { PercentText::Bare(number) })
}

/// Reads a positive whole number of tokens.
pub fn tokens(text: &str) -> Option<NonZeroU64> {
    Grammar::parse(Rule::tokens, text).ok()?;
    text.trim_matches([' ', '\t']).parse().ok()
}

/// What was probably meant by something like `150k` or `150_000`.
pub fn tokens_meant(text: &str) -> Option<NonZeroU64> {
    let pair = Grammar::parse(Rule::token_guess, text).ok()?.next()?;
    let (mut digits, mut scale) = ("", 1.0_f64);
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::guess_digits => digits = part.as_str(),
            Rule::scale if part.as_str().eq_ignore_ascii_case("k") => scale = 1e3,
            Rule::scale => scale = 1e6,
            _ => {}
        }
    }
    let plain: String = digits.chars().filter(|c| !matches!(c, '_' | '\'')).collect();
    // A comma or point before three digits groups thousands, before fewer it is a fraction.
    let grouped = plain.split([',', '.']).skip(1).all(|group| group.len() == 3);
    let number: f64 = if grouped { plain.replace([',', '.'], "") } else { plain.replace(',', ".") }.parse().ok()?;
    let count = number * scale;
    // Below 2^53 and without a fraction the number is exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    ((1.0..1e15).contains(&count) && count.fract() == 0.0).then(|| NonZeroU64::new(count as u64)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_may_come_with_its_value_in_one_text() {
        let moment = |name, value| Some(MomentText { name, value });
        assert_eq!(parse("idle"), moment("idle", None));
        assert_eq!(parse("idle: 15m"), moment("idle", Some("15m")));
        assert_eq!(parse(" idle=15 m "), moment("idle", Some("15 m")));
        assert_eq!(parse("15m"), None);
    }

    #[test]
    fn percentages_are_whole_and_from_1_to_100() {
        let percentage = |number| Percent::new(number).unwrap();
        assert_eq!(percent("80%"), Some(PercentText::Signed(percentage(80))));
        assert_eq!(percent("80"), Some(PercentText::Bare(percentage(80))));
        for bad in ["0%", "101%", "080%", "80.5%", "-1%", "eighty", "1e1%"] {
            assert_eq!(percent(bad), None, "{bad}");
        }
    }

    #[test]
    fn token_counts_are_plain_digits() {
        assert_eq!(tokens("150000").map(NonZeroU64::get), Some(150_000));
        for bad in ["0", "0150", "150k", "1_000", "1e5", "-3", "18446744073709551616"] {
            assert_eq!(tokens(bad), None, "{bad}");
        }
        for (text, meant) in [("150k", 150_000), ("150_000", 150_000), ("150,000", 150_000), ("1.5M", 1_500_000)] {
            assert_eq!(tokens_meant(text).map(NonZeroU64::get), Some(meant), "{text}");
        }
    }
}
