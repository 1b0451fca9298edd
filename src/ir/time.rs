//! Instants and lengths of time, with checked arithmetic only.

use serde::{Deserialize, Serialize};

/// The longest duration that fork files and configuration may name: ten years of 365 days, in seconds.
const TEN_YEARS: u64 = 10 * 365 * 24 * 60 * 60;

/// A length of time in whole seconds, from 0 to ten years.
///
/// The bound is what makes all later arithmetic safe: no sum of an instant and a `Seconds` can overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Seconds(u64);

impl Seconds {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length: ten years.
    pub const MAX: Self = Self(TEN_YEARS);

    /// A length of `seconds`, or `None` above ten years.
    pub const fn new(seconds: u64) -> Option<Self> {
        if seconds <= TEN_YEARS { Some(Self(seconds)) } else { None }
    }

    /// A length of `minutes`; for constants, so it saturates at [`Seconds::MAX`].
    pub const fn minutes(minutes: u64) -> Self {
        match minutes.checked_mul(60) {
            Some(seconds) if seconds <= TEN_YEARS => Self(seconds),
            _ => Self::MAX,
        }
    }

    /// The number of seconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether this is no time at all, which several settings read as "off" or "at once".
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl TryFrom<u64> for Seconds {
    type Error = String;

    fn try_from(seconds: u64) -> Result<Self, Self::Error> {
        Self::new(seconds).ok_or_else(|| format!("{seconds} seconds are more than ten years"))
    }
}

impl From<Seconds> for u64 {
    fn from(length: Seconds) -> Self {
        length.0
    }
}

/// For people: `45s`, `15m`, `1h 30m`, `2d`. Two units at the most; what is below them is not shown.
impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m"), (1, "s")];
        let Some(first) = units.iter().position(|(size, _)| self.0 >= *size) else {
            return f.write_str("0s");
        };
        let (size, unit) = units[first];
        write!(f, "{}{unit}", self.0 / size)?;
        if let Some((next, unit)) = units.get(first + 1) {
            let rest = (self.0 % size) / next;
            if rest > 0 {
                write!(f, " {rest}{unit}")?;
            }
        }
        Ok(())
    }
}

/// An instant: milliseconds since the Unix epoch, as the caller's clock tells it. Never read from a clock in here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(i64);

impl Time {
    /// The instant `millis` milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The instant `length` later, at most the end of time.
    #[must_use]
    pub const fn after(self, length: Seconds) -> Self {
        // A length is at most ten years, so its milliseconds fit an i64.
        #[allow(clippy::cast_possible_wrap)]
        Self(self.0.saturating_add((length.0 * 1000) as i64))
    }

    /// The time from `earlier` to this instant in whole seconds, rounded down; none if `earlier` is later.
    pub fn since(self, earlier: Self) -> Seconds {
        let millis = self.0.saturating_sub(earlier.0).max(0);
        Seconds(u64::try_from(millis / 1000).unwrap_or(0).min(TEN_YEARS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_well() {
        let show = |seconds| Seconds::new(seconds).unwrap().to_string();
        assert_eq!(show(0), "0s");
        assert_eq!(show(45), "45s");
        assert_eq!(show(900), "15m");
        assert_eq!(show(5400), "1h 30m");
        assert_eq!(show(3605), "1h");
        assert_eq!(show(2 * 86_400), "2d");
    }

    #[test]
    fn more_than_ten_years_cannot_be_said() {
        assert!(Seconds::new(TEN_YEARS).is_some());
        assert!(Seconds::new(TEN_YEARS + 1).is_none());
        assert!(serde_json::from_str::<Seconds>("18446744073709551615").is_err());
    }

    #[test]
    fn instants_never_wrap() {
        let end = Time::from_millis(i64::MAX);
        assert_eq!(end.after(Seconds::MAX), end);
        assert_eq!(Time::from_millis(0).since(end), Seconds::ZERO);
        assert_eq!(end.since(Time::from_millis(i64::MIN)), Seconds::MAX);
    }
}
