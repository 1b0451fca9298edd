//! Our reading of YAML beside that of another reader, on documents made up for it.
//!
//! The other one is serde-saphyr with the core schema's booleans. What both can read, both must read alike.

use std::fmt;

use autofork::syntax::yaml::{self, Node, Plain};
use autofork::text::Span;
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A value without its place. Numbers are only known to be numbers: no rule of ours wants more.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Null,
    Boolean(bool),
    Number,
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Boolean(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Number)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Value::Map(map))
    }
}

fn ours(text: &str) -> Option<Value> {
    let parsed = yaml::parse(text, Span::new(0, text.len()));
    parsed.faults.is_empty().then(|| parsed.root.as_ref().map_or(Value::Null, value))
}

fn value(node: &Node) -> Value {
    match &node.value {
        yaml::Value::Scalar(scalar) => match scalar.plain() {
            Plain::Null => Value::Null,
            Plain::Boolean(value) => Value::Boolean(value),
            Plain::Number => Value::Number,
            Plain::Text => Value::Text(scalar.text.clone()),
        },
        yaml::Value::List(items, _) => Value::List(items.iter().map(value).collect()),
        yaml::Value::Map(entries, _) => {
            Value::Map(entries.iter().map(|entry| (value(&entry.key), value(&entry.value))).collect())
        }
    }
}

fn theirs(text: &str) -> Option<Value> {
    let options = serde_yaml::options! { strict_booleans: true, underscored_numbers_as_strings: true };
    serde_yaml::from_str_with_options(text, options).ok()
}

const SCALARS: [&str; 40] = [
    "word",
    "two words",
    "true",
    "False",
    "TRUE",
    "yes",
    "no",
    "on",
    "off",
    "y",
    "null",
    "~",
    "",
    "0",
    "42",
    "-7",
    "1.5",
    "1e3",
    "0x1f",
    "0o17",
    "1_000",
    "1:30",
    "2026-01-01",
    "15m",
    "80%",
    "\"quoted\"",
    "\"a\\tb\\u00e9\"",
    "'it''s'",
    "\"true\"",
    "'12'",
    "http://x.y/z",
    "a#b",
    "a:b",
    "- x",
    "整理 🧹",
    "!!str 12",
    "\"\\\"\"",
    "x\\y",
    "\"\"",
    ".5",
];

fn scalar() -> impl Strategy<Value = String> {
    prop::sample::select(SCALARS.to_vec()).prop_map(str::to_owned)
}

/// Something on one line in brackets, or a scalar.
fn flow() -> impl Strategy<Value = String> {
    let leaf =
        scalar().prop_filter("fits between brackets", |text| !text.starts_with(['-', '!']) && !text.is_empty());
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(inner, 0..3).prop_map(|items| {
                let entries: Vec<_> = items.iter().enumerate().map(|(n, item)| format!("k{n}: {item}")).collect();
                format!("{{{}}}", entries.join(", "))
            }),
        ]
    })
}

/// Lines that make up one value, the first of them behind a key or a dash.
fn block() -> impl Strategy<Value = Vec<String>> {
    let text = |lines: &'static [&'static str]| Just(lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    let leaf = prop_oneof![
        6 => scalar().prop_map(|text| vec![text]),
        3 => flow().prop_map(|text| vec![text]),
        1 => text(&["|", "one", "", "two"]),
        1 => text(&[">-", "folded", "text"]),
        1 => text(&["text that", "goes on"]),
        1 => text(&["word # a comment"]),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| collection(&items, |_| "- ".to_owned())),
            prop::collection::vec(inner, 1..4).prop_map(|items| collection(&items, |n| format!("key{n}: "))),
        ]
    })
}

fn collection(items: &[Vec<String>], head: impl Fn(usize) -> String) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (n, item) in items.iter().enumerate() {
        let head = head(n);
        lines.push(format!("{head}{}", item[0]).trim_end().to_owned());
        lines.extend(item[1..].iter().map(|line| if line.is_empty() { String::new() } else { format!("  {line}") }));
    }
    lines
}

fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(block(), 1..5).prop_map(|items| {
        let lines = collection(&items, |n| format!("key{n}: "));
        format!("{}\n", lines[1..].join("\n"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_read_alike(text in document()) {
        prop_assert_eq!(ours(&text), theirs(&text), "{}", text);
    }

    #[test]
    fn any_text_gives_a_tree_or_faults_within_it(text in "[ a:\\-\\[\\]{},#'\"|>&*!%@`\\\\\n\t\u{a0}é]{0,60}") {
        let parsed = yaml::parse(&text, Span::new(0, text.len()));
        for fault in &parsed.faults {
            prop_assert!(fault.span.end() <= text.len() && text.is_char_boundary(fault.span.start()));
        }
        prop_assert!(parsed.faults.is_empty() || parsed.root.is_none());
    }
}
