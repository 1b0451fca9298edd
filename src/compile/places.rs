//! Where the parts of fork and configuration files are, for editors.

use crate::compile::config::ConfigLayer;
use crate::compile::file::ForkFile;
use crate::ir::{Fork, ForkName, Moment, Tag};
use crate::syntax::yaml::Place;
use crate::text::Span;
use std::sync::Arc;

/// A moment as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenMoment {
    /// What it is.
    pub moment: Moment,
    /// Its name; none for the moment that stands in for a missing `run_on`.
    pub name: Option<Span>,
    /// Its value.
    pub value: Option<Span>,
}

fn words(place: Place) -> Span {
    place.words.unwrap_or(place.span)
}

impl ForkFile {
    /// What it comes to, if it is a fork.
    pub fn fork(&self) -> Option<&Arc<Fork>> {
        self.lowered.as_ref().map(|lowered| lowered.fork(self))
    }

    /// The opening fence, or the line that was meant as one.
    pub fn opening(&self) -> Option<Span> {
        self.envelope.opening.map(|fence| fence.span)
    }

    /// The closing fence.
    pub fn closing(&self) -> Option<Span> {
        self.envelope.closing.map(|fence| fence.span)
    }

    /// What lies between the fences.
    pub fn frontmatter(&self) -> Span {
        self.envelope.frontmatter
    }

    /// The instructions.
    pub fn body(&self) -> Span {
        self.envelope.body
    }

    /// The names in `after`, each with the words that spell it. An anchor's words may be there several times.
    pub fn after_names(&self) -> impl Iterator<Item = (&ForkName, Span)> {
        self.lowered.iter().flat_map(|lowered| &lowered.after).map(|(name, place)| (name, words(*place)))
    }

    /// The tags, each with the words that spell it.
    pub fn tag_words(&self) -> impl Iterator<Item = (&Tag, Span)> {
        self.lowered.iter().flat_map(|lowered| &lowered.tags).map(|(tag, place)| (tag, words(*place)))
    }

    /// The moments, as they are written.
    pub fn written_moments(&self) -> impl Iterator<Item = WrittenMoment> {
        self.moments().iter().map(|(moment, place)| WrittenMoment {
            moment: *moment,
            name: place.name.map(words),
            value: place.value.map(words),
        })
    }

    /// The throttle, if there is a good one.
    pub fn throttle_words(&self) -> Option<Span> {
        self.lowered.as_ref().and_then(|lowered| lowered.throttle_words)
    }

    /// The files that the instructions say to read or to write, each with its place. The path is as written, blanks
    /// decoded: relative to the folder of the fork, or else to the project.
    pub fn file_mentions(&self) -> impl Iterator<Item = (&str, Span)> {
        let mentions = self.lowered.iter().map(|lowered| &lowered.mentions);
        mentions.flat_map(|found| found.reads.iter().chain(&found.writes)).map(|(path, span)| (path.as_str(), *span))
    }
}

impl ConfigLayer {
    /// The tags in its filters and throttles, each with the words that spell it.
    pub fn tag_words(&self) -> impl Iterator<Item = (&Tag, Span)> {
        self.tags().map(|tag| (&tag.value, tag.span))
    }
}
