//! The styles of what people read. Where they would not be shown, they are left out when it is written.

#![cfg_attr(not(feature = "daemon"), allow(dead_code, reason = "sessions use most of them"))]

use anstyle::{AnsiColor, Style};

/// What the eye is to find first.
pub(super) const BOLD: Style = Style::new().bold();
/// What is there for those who look for it.
pub(super) const DIM: Style = Style::new().dimmed();
/// What is well, or to come.
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
/// What stands in the way.
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// What went wrong.
pub(super) const RED: Style = AnsiColor::Red.on_default();
/// What is under way.
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();
