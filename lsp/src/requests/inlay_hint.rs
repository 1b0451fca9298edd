//! `textDocument/inlayHint`: what defaults come to, and the throttles that a fork's tags bring.

use autofork::ir::Moment;
use gen_lsp_types as lsp;

use super::Refusal;
use super::hover::origin;
use super::words::{length, number};
use crate::view::View;

/// The request.
pub(crate) fn inlay_hint(
    view: &View<'_>,
    params: &lsp::InlayHintParams,
) -> Result<Option<Vec<lsp::InlayHint>>, Refusal> {
    let Some(file) = view.file(&params.text_document.uri) else { return Ok(None) };
    let Some(fork) = file.fork_file().map(|file| &file.file) else { return Ok(None) };
    let config = &file.linkage.config;
    let (start, end) = (file.text.offset(params.range.start), file.text.offset(params.range.end));
    let mut hints = Vec::new();
    let mut hint = |offset: usize, label: String, tooltip: String| {
        if start <= offset && offset <= end {
            hints.push(lsp::InlayHint {
                tooltip: Some(lsp::Tooltip::String(tooltip)),
                padding_left: Some(true),
                ..lsp::InlayHint::new(
                    file.text.position(offset),
                    lsp::Label::String(label),
                    None,
                    None,
                    None,
                    None,
                    None,
                    None,
                )
            });
        }
    };
    for written in fork.written_moments() {
        let place = written.value.or(written.name).or_else(|| fork.opening());
        let Some(place) = place else { continue };
        match written.moment {
            Moment::Idle(None) => {
                let quiet = match config.config.deadline(written.moment) {
                    Some(quiet) => length(quiet),
                    None => "off".to_owned(),
                };
                let name = if written.name.is_some() { "" } else { "idle: " };
                let origin = origin(config, "default_idle_deadline");
                hint(place.end(), format!("{name}{quiet}"), format!("`default_idle_deadline`, {origin}"));
            }
            Moment::ContextUsed(percent) => {
                let of = |window: u64| number(window / 100 * u64::from(percent.get()));
                let tooltip = format!("{} tokens of a window of 200k, {} of 1M", of(200_000), of(1_000_000));
                hint(place.end(), format!("{} of 200k", of(200_000)), tooltip);
            }
            Moment::ContextLeft(left) => {
                let at = 200_000_u64.saturating_sub(left.get());
                hint(
                    place.end(),
                    format!("at {} of 200k", number(at)),
                    "the window is 200k tokens, or 1M".to_owned(),
                );
            }
            Moment::Idle(Some(_)) | Moment::ContextTokens(_) => {}
        }
    }
    for (tag, span) in fork.tag_words() {
        if let Some(gap) = config.config.tag_throttles.get(tag) {
            let origin = origin(config, &format!("tag_throttles.{tag}"));
            let tooltip = format!("one run of any fork with this tag in that time; `[tag_throttles]`, {origin}");
            hint(span.end(), format!("every {}", length(*gap)), tooltip);
        }
    }
    Ok(Some(hints))
}
