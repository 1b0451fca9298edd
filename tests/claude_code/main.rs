//! The real client against a mock API: see the modules.
