//! Lines and their ends: LF, CRLF and a lone CR each end one.

/// The lines of a text with their ends.
pub fn lines(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let next = memchr::memchr2(b'\n', b'\r', text.as_bytes());
        let end = next.map_or(text.len(), |at| at + if text[at..].starts_with("\r\n") { 2 } else { 1 });
        let (line, rest) = text.split_at(end);
        text = rest;
        (!line.is_empty()).then_some(line)
    })
}

/// The line end that a text uses: its first.
pub fn line_end(text: &str) -> &'static str {
    match memchr::memchr2(b'\n', b'\r', text.as_bytes()).map(|at| &text.as_bytes()[at..]) {
        Some([b'\r', b'\n', ..]) => "\r\n",
        Some([b'\r', ..]) => "\r",
        _ => "\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let all = |text| lines(text).collect::<Vec<_>>();
        assert_eq!(all("a\r\nb\rc\n\nd"), ["a\r\n", "b\r", "c\n", "\n", "d"]);
        assert_eq!(all(""), [""; 0]);
        assert_eq!(["a\r\nb\n", "a\rb\r\n", "a\nb\r", "a"].map(line_end), ["\r\n", "\r", "\n", "\n"]);
    }
}
