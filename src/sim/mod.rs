//! Playing a host.
