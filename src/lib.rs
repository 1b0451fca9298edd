//! autofork
