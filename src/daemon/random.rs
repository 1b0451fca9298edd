//! Tokens that nobody can guess: from the operating system's randomness.

use std::fs::File;
use std::io::{self, Read};

use crate::host::protocol::Token;

/// The operating system's source of randomness.
#[derive(Debug)]
pub(super) struct Random(File);

impl Random {
    pub(super) fn open() -> io::Result<Self> {
        File::open("/dev/urandom").map(Self)
    }

    pub(super) fn token(&mut self) -> io::Result<Token> {
        let mut bits = [0; 16];
        self.0.read_exact(&mut bits)?;
        Ok(Token::from_bits(u128::from_ne_bytes(bits)))
    }
}
