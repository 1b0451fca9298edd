//! Durations: `90`, `30m`, `2 h`, `1h30m`; and what was probably meant by other spellings.

use pest::Parser as _;
use pest::iterators::Pair;

use crate::ir::Seconds;

use grammar::{Grammar, Rule};

/// The generated parser; its rules are documented in the grammar.
mod grammar {
    #![allow(missing_docs)]

    #[derive(pest_derive::Parser)]
    #[grammar = "../grammar/duration.pest"]
    pub(super) struct Grammar;
}

/// A duration that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration {
    /// How long it is.
    pub length: Seconds,
    /// How it was written.
    pub form: Form,
}

/// How a duration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A number, alone or with one unit: every reader of the fork format knows it.
    Simple,
    /// Several units, as in `1h30m`.
    Compound,
}

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing.
    Empty,
    /// It is below zero.
    Negative,
    /// It has a fraction.
    Fraction,
    /// A number starts with a zero.
    LeadingZero,
    /// A unit is written in capital letters.
    Capital,
    /// It is finer than seconds.
    Milliseconds,
    /// A unit is spelt out or unknown.
    Unit,
    /// It is written like the time of day.
    Clock,
    /// Its units are not in order, largest first.
    Order,
    /// It is longer than ten years.
    TooLong,
    /// It is something else altogether.
    Other,
}

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Why.
    pub reason: Reason,
    /// What was probably meant, as every reader of the format knows it.
    pub suggestion: Option<String>,
}

const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, Fault> {
    common(text).map_or_else(|| parse_any(text), Ok)
}

/// A number and a unit, as in `30m`: nearly every duration is written so, and needs no grammar to be read.
fn common(text: &str) -> Option<Duration> {
    let unit = text.chars().next_back()?;
    let (_, size) = UNITS.iter().find(|(known, _)| *known == unit)?;
    let number = super::whole_number(&text[..text.len() - 1])?;
    let length = number.checked_mul(*size).and_then(Seconds::new)?;
    Some(Duration { length, form: Form::Simple })
}

/// Reads a duration in any of its forms.
fn parse_any(text: &str) -> Result<Duration, Fault> {
    if let Ok(mut pairs) = Grammar::parse(Rule::duration, text)
        && let Some(duration) = pairs.next().and_then(|pair| pair.into_inner().next())
    {
        return read(&duration);
    }
    Err(guess(text))
}

/// The shortest portable spelling of a length: a number and the largest unit that divides it.
pub fn spell(length: Seconds) -> String {
    let seconds = length.get();
    let unit = UNITS.iter().find(|(_, size)| seconds > 0 && seconds.is_multiple_of(*size));
    unit.map_or_else(|| "0s".to_owned(), |(unit, size)| format!("{}{unit}", seconds / size))
}

fn read(duration: &Pair<'_, Rule>) -> Result<Duration, Fault> {
    let form = if duration.as_rule() == Rule::compound { Form::Compound } else { Form::Simple };
    let parts: Vec<(&str, char)> = match duration.as_rule() {
        Rule::seconds => vec![(duration.as_str().trim(), 's')],
        _ => duration.clone().into_inner().map(part).collect(),
    };
    let fault = |reason, suggestion| Fault { reason, suggestion };
    let mut total = Some(0_u64);
    let mut zeros = false;
    for (digits, unit) in &parts {
        zeros |= digits.len() > 1 && digits.starts_with('0');
        let number = digits.parse::<u64>().ok();
        total = number.and_then(|n| n.checked_mul(size(*unit))).and_then(|part| total?.checked_add(part));
    }
    let Some(length) = total.and_then(Seconds::new) else { return Err(fault(Reason::TooLong, None)) };
    let suggestion = Some(if duration.as_rule() == Rule::seconds { length.get().to_string() } else { spell(length) });
    if zeros {
        return Err(fault(Reason::LeadingZero, suggestion));
    }
    if !parts.is_sorted_by(|left, right| size(left.1) > size(right.1)) {
        return Err(fault(Reason::Order, suggestion));
    }
    Ok(Duration { length, form })
}

fn part(part: Pair<'_, Rule>) -> (&str, char) {
    let mut digits = "";
    let mut unit = 's';
    for token in part.into_inner() {
        match token.as_rule() {
            Rule::digits => digits = token.as_str(),
            _ => unit = token.as_str().chars().next().unwrap_or('s'),
        }
    }
    (digits, unit)
}

fn size(unit: char) -> u64 {
    UNITS.iter().find(|(known, _)| *known == unit).map_or(1, |(_, size)| *size)
}

/// What a text that is no duration was probably meant to be.
fn guess(text: &str) -> Fault {
    if text.trim().is_empty() {
        return Fault { reason: Reason::Empty, suggestion: None };
    }
    let other = Fault { reason: Reason::Other, suggestion: None };
    // A long text was not meant as a duration, and guessing is not worth its time.
    let Some(guess) =
        Some(text).filter(|text| text.len() <= 64).and_then(|text| Grammar::parse(Rule::guess, text).ok())
    else {
        return other;
    };
    let mut reason = Reason::Other;
    let mut total = Some(0.0_f64);
    for token in guess.flatten() {
        match token.as_rule() {
            Rule::sign if token.as_str() == "-" => reason = Reason::Negative,
            Rule::clock => {
                reason = Reason::Clock;
                total = clock(token.as_str());
                break;
            }
            Rule::measured => {
                let (length, why) = measured(&token);
                total = total.zip(length).map(|(total, length)| total + length);
                if reason == Reason::Other {
                    reason = why;
                }
            }
            _ => {}
        }
    }
    // Ten years are far below 2^53: the number is exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let length = total.filter(|seconds| *seconds >= 0.0 && *seconds < 1e15).map(|seconds| seconds.ceil() as u64);
    let suggestion = length.filter(|seconds| *seconds > 0).and_then(Seconds::new).map(spell);
    Fault { reason, suggestion }
}

/// Hours and minutes, and seconds if there are three parts.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<f64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts[..] {
        [hours, minutes] => Some(hours * 3600.0 + minutes * 60.0),
        [hours, minutes, seconds] => Some(hours * 3600.0 + minutes * 60.0 + seconds),
        _ => None,
    }
}

fn measured(token: &Pair<'_, Rule>) -> (Option<f64>, Reason) {
    let (mut number, mut unit) = (None, (Some(1.0), Reason::Other));
    let mut fraction = Reason::Other;
    for part in token.clone().into_inner() {
        match part.as_rule() {
            Rule::fraction => {
                fraction = Reason::Fraction;
                number = part.as_str().replace(',', ".").parse::<f64>().ok();
            }
            Rule::digits => number = part.as_str().parse::<f64>().ok(),
            _ => unit = unit_of(part.as_str()),
        }
    }
    let reason = if unit.1 == Reason::Other || unit.1 == Reason::Unit { fraction } else { unit.1 };
    let reason = if reason == Reason::Other { unit.1 } else { reason };
    (number.zip(unit.0).map(|(number, size)| number * size), reason)
}

/// The seconds in a unit as people write it, and what is wrong with writing it so.
fn unit_of(word: &str) -> (Option<f64>, Reason) {
    let lower = word.trim_end_matches('.').to_ascii_lowercase();
    let size = match lower.as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "wk" | "week" | "weeks" => 604_800.0,
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => 0.001,
        _ => return (None, Reason::Unit),
    };
    let reason = match (lower.as_str(), word.len()) {
        ("ms", _) => Reason::Milliseconds,
        ("s" | "m" | "h" | "d", 1) if word != lower => Reason::Capital,
        ("s" | "m" | "h" | "d", 1) => Reason::Other,
        _ if size < 1.0 => Reason::Milliseconds,
        _ => Reason::Unit,
    };
    (Some(size), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        parse(text).ok().map(|duration| duration.length.get())
    }

    fn fault(text: &str) -> (Reason, Option<String>) {
        let fault = parse(text).expect_err(text);
        (fault.reason, fault.suggestion)
    }

    #[test]
    fn numbers_and_units_are_read() {
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("0"), Some(0));
        assert_eq!(seconds("30m"), Some(1_800));
        assert_eq!(seconds(" 2 h "), Some(7_200));
        assert_eq!(seconds("3d"), Some(259_200));
        assert_eq!(parse("1h30m"), Ok(Duration { length: Seconds::minutes(90), form: Form::Compound }));
    }

    #[test]
    fn what_needs_no_grammar_is_read_as_the_grammar_reads_it() {
        for text in ["30m", "1s", "7d", "3650d", "2h", "0s", "00s", "030m", "+3m", "m", "", "3651d", "1h30m", "3é"] {
            if let Some(duration) = common(text) {
                assert_eq!(parse_any(text), Ok(duration), "{text}");
            }
        }
        assert!(common("30m").is_some() && common("+3m").is_none() && common("3651d").is_none());
    }

    #[test]
    fn other_spellings_are_refused_with_what_was_meant() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(fault("30M"), (Reason::Capital, some("30m")));
        assert_eq!(fault("1.5h"), (Reason::Fraction, some("90m")));
        assert_eq!(fault("500ms"), (Reason::Milliseconds, some("1s")));
        assert_eq!(fault("1:30"), (Reason::Clock, some("90m")));
        assert_eq!(fault("-5m"), (Reason::Negative, some("5m")));
        assert_eq!(fault("0090"), (Reason::LeadingZero, some("90")));
        assert_eq!(fault("030m"), (Reason::LeadingZero, some("30m")));
        assert_eq!(fault("30 minutes"), (Reason::Unit, some("30m")));
        assert_eq!(fault("1 hour and 30 minutes"), (Reason::Unit, some("90m")));
        assert_eq!(fault("2w"), (Reason::Unit, some("14d")));
        assert_eq!(fault("30m1h"), (Reason::Order, some("90m")));
        assert_eq!(fault("soon"), (Reason::Other, None));
        assert_eq!(fault(""), (Reason::Empty, None));
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(fault("99999999999999999999999999d").0, Reason::TooLong);
        assert_eq!(fault("11000d").0, Reason::TooLong);
        assert_eq!(seconds("3650d"), Some(Seconds::MAX.get()));
        assert_eq!(fault("99999999999999999999.5 weeks").1, None);
    }
}
