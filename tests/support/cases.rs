//! Reading the cases of `tests/cases`.

/// Files, what is reported about them, and what becomes of them.
#[derive(Default)]
pub(crate) struct Case {
    pub(crate) title: String,
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) expect: Vec<String>,
    pub(crate) becomes: Vec<String>,
    pub(crate) is_config: bool,
}

/// The cases in a document.
pub(crate) fn cases(document: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.to_owned(), ..Case::default() });
        }
        let (Some(info), Some(case)) = (line.strip_prefix("```"), cases.last_mut()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let owned = || block.iter().map(|line| (*line).to_owned()).collect();
        match info.split_once(' ') {
            Some((_, path)) => case.files.push(file(path, &block)),
            None if info == "expect" => case.expect = owned(),
            None => {
                case.is_config = info == "config";
                case.becomes = block.iter().map(|line| normal(line)).collect();
            }
        }
    }
    cases
}

/// A file's path and bytes from the line above its block and the block.
fn file(info: &str, block: &[&str]) -> (String, Vec<u8>) {
    let text: String = block.iter().flat_map(|line| [*line, "\n"]).collect();
    if let Some(path) = info.strip_suffix(" escaped") {
        return (path.to_owned(), unescaped(&text));
    }
    if let Some((path, length)) = info.split_once(" repeated ") {
        let length: usize = length.parse().expect("a number of bytes");
        let mut bytes = text.trim_end().as_bytes().to_vec();
        bytes.resize(length, *bytes.last().expect("a last byte"));
        return (path.to_owned(), bytes);
    }
    (info.to_owned(), text.into_bytes())
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let escape = rest.chars().next().expect("something after a backslash");
        rest = &rest[escape.len_utf8()..];
        match escape {
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            '\n' => {}
            'x' => {
                bytes.push(u8::from_str_radix(&rest[..2], 16).expect("two digits"));
                rest = &rest[2..];
            }
            'u' => {
                let (code, after) = rest[1..].split_once('}').expect("a brace");
                let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).expect("a character");
                bytes.extend(character.to_string().as_bytes());
                rest = after;
            }
            other => bytes.extend(other.to_string().as_bytes()),
        }
    }
    bytes.extend(rest.as_bytes());
    bytes
}

/// JSON in a line brought to one spelling.
pub(crate) fn normal(line: &str) -> String {
    let Some(start) = line.find('{') else { return line.to_owned() };
    let value: serde_json::Value = serde_json::from_str(&line[start..]).expect("JSON");
    format!("{}{value}", &line[..start])
}
