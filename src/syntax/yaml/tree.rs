//! The tree.

use crate::text::Span;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its words in the file. For a block list this starts at its first dash.
    pub span: Span,
    /// The alias that brought it here, if one did: its words then stand elsewhere.
    pub alias: Option<Span>,
    /// What it is.
    pub value: Value,
}

/// Where to point for something: its place, and its words if an alias brought them from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where it takes effect.
    pub span: Span,
    /// Where its words stand, if that is elsewhere.
    pub words: Option<Span>,
}

impl Place {
    /// A place whose words stand right there.
    pub fn here(span: Span) -> Self {
        Self { span, words: None }
    }
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text, or nothing.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>, Layout),
    /// A mapping, entries in the order of the file, repeated keys included.
    Map(Vec<Entry>, Layout),
}

/// One key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// The value.
    pub value: Node,
}

/// How a collection is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// On lines of its own, by indentation.
    Block,
    /// Between brackets.
    Flow,
}

/// A text as YAML understands it, escapes resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text.
    pub text: String,
    /// How it is written.
    pub style: Style,
}

/// How a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes: it may be a number, a boolean or nothing.
    Plain,
    /// In quotes, or tagged as text.
    Quoted,
    /// As a block after `|` or `>`.
    Block,
}

/// What an unquoted scalar is in YAML's core schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number.
    Number,
    /// A text.
    Text,
}

impl Scalar {
    /// What it is in YAML's core schema.
    pub fn plain(&self) -> Plain {
        if self.style != Style::Plain {
            return Plain::Text;
        }
        match self.text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Plain::Null,
            "true" | "True" | "TRUE" => Plain::Boolean(true),
            "false" | "False" | "FALSE" => Plain::Boolean(false),
            text if is_number(text) => Plain::Number,
            _ => Plain::Text,
        }
    }
}

impl Node {
    /// Where to point for it.
    pub fn place(&self) -> Place {
        match self.alias {
            Some(alias) => Place { span: alias, words: Some(self.span) },
            None => Place::here(self.span),
        }
    }

    /// The scalar, if it is one.
    pub fn scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The entries, if it is a mapping.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Map(entries, _) => Some(entries),
            _ => None,
        }
    }

    /// Whether it is nothing.
    pub fn is_null(&self) -> bool {
        self.scalar().is_some_and(|scalar| scalar.plain() == Plain::Null)
    }

    /// The boolean, if it is one.
    pub fn boolean(&self) -> Option<bool> {
        match self.scalar()?.plain() {
            Plain::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// What it is, for people: `a list`.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::List(..) => "a list",
            Value::Map(..) => "a mapping",
            Value::Scalar(scalar) => match scalar.plain() {
                Plain::Null => "empty",
                Plain::Boolean(_) => "a boolean",
                Plain::Number => "a number",
                Plain::Text => "text",
            },
        }
    }
}

/// Numbers of the core schema: decimal, octal with `0o`, hexadecimal with `0x`, and floating point.
fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(octal) = text.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let fraction = match mantissa.split_once('.') {
        Some((whole, rest)) => {
            (digits(whole) && (rest.is_empty() || digits(rest))) || (whole.is_empty() && digits(rest))
        }
        None => digits(mantissa),
    };
    fraction && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Plain {
        Scalar { text: text.to_owned(), style: Style::Plain }.plain()
    }

    #[test]
    fn the_core_schema_decides() {
        for text in ["true", "True", "TRUE"] {
            assert_eq!(plain(text), Plain::Boolean(true));
        }
        for text in ["yes", "on", "no", "y", "1:30", "1_000", "2026-01-01", "tRue", "0b1", ".", "e5", "-"] {
            assert_eq!(plain(text), Plain::Text, "{text}");
        }
        for text in ["0", "-7", "007", "0o17", "0xff", "1.5", "1.", ".5", "1e3", "-.inf", ".nan"] {
            assert_eq!(plain(text), Plain::Number, "{text}");
        }
        for text in ["", "~", "null"] {
            assert_eq!(plain(text), Plain::Null);
        }
    }
}
