//! The language server for fork and config files. It has no code yet: see the README beside it.
