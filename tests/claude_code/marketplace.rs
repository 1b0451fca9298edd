//! The checkout as a marketplace, in the eyes of the client itself: added, installed, used, removed.
