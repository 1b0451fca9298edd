//! Which of several known words was probably meant.

/// The candidate that `word` is probably a misspelling of: the same but for case, hyphens and a plural, or few letters
/// away.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let folded = fold(word);
    let length = folded.chars().count();
    // Short words are close to everything: one letter in three may be wrong, two at the most.
    let allowed = (length / 3).min(2);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(&folded, &fold(candidate));
        let closer = best.is_none_or(|(known, _)| distance < known);
        if distance <= allowed && closer && (distance > 0 || candidate != word) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

fn fold(word: &str) -> String {
    word.trim().to_lowercase().replace(['-', ' '], "_")
}

/// The number of letters to add, drop, change or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let change = usize::from(left[i - 1] != right[j - 1]);
            let mut cost = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_near_and_other_words_are_not() {
        let known = ["throttle", "tags", "run_on", "idle", "context_tokens"];
        for (word, meant) in [
            ("throtle", Some("throttle")),
            ("Tags", Some("tags")),
            ("run-on", Some("run_on")),
            ("runs_on", Some("run_on")),
            ("idel", Some("idle")),
            ("context_token", Some("context_tokens")),
            ("owner", None),
            ("x", None),
            ("y", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
    }
}
