//! `run_on`: the moments.

use super::items;
use crate::compile::file::ForkFile;
use crate::compile::findings::Findings;
use crate::compile::keys::{MOMENTS, UNSUPPORTED_MOMENTS};
use crate::compile::rules;
use crate::ir::Moment;
use crate::syntax::yaml::{Entry, Node, Place, Plain, Scalar, Value};
use crate::text::Span;

/// The moments of a fork with their places.
#[derive(Debug, Default)]
pub(crate) struct RunOn {
    /// The value of `run_on`; none if the default stands in for it.
    pub(crate) value: Option<Place>,
    /// Each moment, and where its name and its value stand.
    pub(crate) moments: Vec<(Moment, MomentPlace)>,
}

/// Where a moment stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MomentPlace {
    /// Its name; none if the default stands in for a missing `run_on`.
    pub(crate) name: Option<Place>,
    /// Its value; none if it has none.
    pub(crate) value: Option<Place>,
    /// The lines that hold it and nothing else, to remove it.
    pub(crate) lines: Option<Span>,
}

impl RunOn {
    /// Bare `idle`, which stands in for a `run_on` that is missing or no list of moments.
    fn default_moment() -> Self {
        let place = MomentPlace { name: None, value: None, lines: None };
        Self { value: None, moments: vec![(Moment::Idle(None), place)] }
    }
}

/// Lowers `run_on`.
pub(super) fn run_on(file: &ForkFile, entry: Option<&Entry>, out: &mut Findings) -> RunOn {
    let Some(entry) = entry else { return RunOn::default_moment() };
    let value = &entry.value;
    let is_other = value.scalar().is_some_and(|scalar| scalar.plain() != Plain::Text);
    if is_other {
        rules::invalid_type::check_run_on(entry, out);
        return RunOn::default_moment();
    }
    let mut run_on = RunOn { value: Some(value.place()), moments: Vec::new() };
    match &value.value {
        Value::List(..) => {
            for item in items(value) {
                lower_item(file, item, &mut run_on, out);
            }
        }
        Value::Scalar(_) => {
            lower_item(file, value, &mut run_on, out);
            if !run_on.moments.is_empty() {
                rules::moment_not_listed::check(file, entry, out);
            }
        }
        Value::Map(entries, _) => {
            for moment in first_of_each(entries) {
                lower_pair(file, moment, moment.key.place(), &mut run_on, out);
            }
            if !run_on.moments.is_empty() {
                rules::moment_not_listed::check(file, entry, out);
            }
        }
    }
    run_on
}

/// One item of the list.
fn lower_item(file: &ForkFile, item: &Node, run_on: &mut RunOn, out: &mut Findings) {
    match &item.value {
        Value::Scalar(scalar) => lower_text(file, item, scalar, run_on, out),
        Value::List(..) => rules::malformed_moment::check_list(item, out),
        Value::Map(entries, layout) => {
            if entries.is_empty() {
                rules::malformed_moment::check_list(item, out);
            }
            for (index, moment) in first_of_each(entries).enumerate() {
                if index > 0 {
                    rules::malformed_moment::check_surplus(file, moment, (entries, *layout), out);
                }
                lower_pair(file, moment, item.place(), run_on, out);
            }
        }
    }
}

/// A moment without a value.
fn lower_text(file: &ForkFile, item: &Node, scalar: &Scalar, run_on: &mut RunOn, out: &mut Findings) {
    let place = item.place();
    if rules::invisible_character::check_words(file, item, "moment", "it is ignored", out) {
        return;
    }
    match scalar.text.trim() {
        "idle" => run_on.push(file, Moment::Idle(None), place, None, place),
        name if MOMENTS.contains(&name) => rules::malformed_moment::check_bare(item, name, out),
        name if UNSUPPORTED_MOMENTS.contains(&name) => {
            rules::unsupported_moment::check(file, place, place, name, out);
        }
        _ if scalar.plain() == Plain::Null => rules::invalid_type::check_moment(item, out),
        _ => rules::unknown_moment::check_text(item, scalar, out),
    }
}

/// A moment with a value.
fn lower_pair(file: &ForkFile, pair: &Entry, item: Place, run_on: &mut RunOn, out: &mut Findings) {
    let place = pair.key.place();
    let Some(name) = pair.key.scalar() else {
        rules::malformed_moment::check_list(&pair.key, out);
        return;
    };
    if rules::invisible_character::check_words(file, &pair.key, "moment", "it is ignored", out) {
        return;
    }
    let value = pair.value.place();
    match name.text.as_str() {
        "idle" => {
            if let Some(moment) = rules::invalid_duration::check_idle(file, &pair.value, out) {
                let value = (!pair.value.is_null()).then_some(value);
                run_on.push(file, moment, place, value, item);
            }
        }
        name if MOMENTS.contains(&name) => {
            if let Some(moment) = rules::invalid_threshold::check(file, name, pair, item, out) {
                run_on.push(file, moment, place, Some(value), item);
            }
        }
        name if UNSUPPORTED_MOMENTS.contains(&name) => rules::unsupported_moment::check(file, place, item, name, out),
        name => rules::unknown_moment::check_name(&pair.key, name, out),
    }
}

impl RunOn {
    fn push(&mut self, file: &ForkFile, moment: Moment, name: Place, value: Option<Place>, item: Place) {
        let lines = rules::unsupported_moment::item_lines(file, item.span);
        self.moments.push((moment, MomentPlace { name: Some(name), value, lines }));
    }
}

/// Of several entries with one key the first counts; the others are reported as such.
fn first_of_each(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    entries
        .iter()
        .enumerate()
        .filter(|(index, entry)| {
            let same = |other: &Entry| other.key.scalar().is_some() && other.key.value == entry.key.value;
            !entries[..*index].iter().any(same)
        })
        .map(|(_, entry)| entry)
}
