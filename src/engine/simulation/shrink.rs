//! Making a failing schedule short: steps are left out as long as it still fails.

/// The shortest schedule found that still fails, and how it does.
pub(super) fn shrink<S: Clone>(
    steps: Vec<S>,
    message: String,
    attempt: impl Fn(&[S]) -> Result<(), String>,
) -> (Vec<S>, String) {
    let (mut steps, mut message) = (steps, message);
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut start = 0;
        let mut shorter = false;
        while start < steps.len() {
            let end = (start + size).min(steps.len());
            let mut fewer = steps[..start].to_vec();
            fewer.extend_from_slice(&steps[end..]);
            match attempt(&fewer) {
                Err(still) => {
                    (steps, message) = (fewer, still);
                    shorter = true;
                }
                Ok(()) => start = end,
            }
        }
        // One more time through at the finest grain, as long as that helps.
        if size > 1 || !shorter {
            size /= 2;
        }
    }
    (steps, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_steps_that_matter_are_left() {
        let attempt = |steps: &[u32]| {
            let breaks = steps.contains(&17) && steps.contains(&61);
            if breaks { Err(format!("{} steps", steps.len())) } else { Ok(()) }
        };
        let (steps, message) = shrink((0..100).collect(), String::new(), attempt);
        assert_eq!((steps, message.as_str()), (vec![17, 61], "2 steps"));
    }
}
