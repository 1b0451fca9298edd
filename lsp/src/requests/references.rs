//! `textDocument/references`: where a fork is waited for, and where a tag is used.

use std::collections::BTreeSet;
use std::path::PathBuf;

use autofork::ir::{ForkName, Tag};
use autofork::text::Span;
use gen_lsp_types as lsp;

use super::Refusal;
use super::target::{self, Target};
use crate::view::{View, owner};

/// The request.
pub(crate) fn references(
    view: &View<'_>,
    params: &lsp::ReferenceParams,
) -> Result<Option<Vec<lsp::Location>>, Refusal> {
    let place = &params.text_document_position_params;
    let Some(file) = view.file(&place.text_document.uri) else { return Ok(None) };
    let mut places = match target::at(&file, file.text.offset(place.position)) {
        Some(Target::After(name, _)) => match file.named(name) {
            Some(listed) => waiting_for(view, name, &listed.path),
            None => named(view, name),
        },
        Some(Target::Tag(tag, _)) => tagged(view, tag),
        Some(Target::Fence(_)) => match file.fork_file() {
            Some(fork) => waiting_for(view, &fork.file.name, &file.path),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    if params.context.include_declaration {
        let declared = match target::at(&file, file.text.offset(place.position)) {
            Some(Target::After(name, _)) => file.named(name).map(|listed| listed.path.clone()),
            Some(Target::Fence(_)) => Some(file.path.clone()),
            _ => None,
        };
        let fence = |path: &PathBuf| view.file_at(path).and_then(|file| file.fork_file()?.file.opening());
        places.extend(declared.map(|path| (path.clone(), fence(&path).unwrap_or(Span::at(0)))));
    }
    Ok(Some(places.into_iter().map(|(path, span)| view.location(&path, span)).collect()))
}

/// Places in files.
pub(crate) type Places = BTreeSet<(PathBuf, Span)>;

/// The names in `after` that mean the fork in one file, in every project that sees it.
pub(crate) fn waiting_for(view: &View<'_>, name: &ForkName, path: &std::path::Path) -> Places {
    let means_it = |linkage: &autofork::db::Linkage| owner(linkage, name).is_some_and(|listed| listed.path == path);
    collect(view, means_it, |file| {
        file.after_names().filter(|(other, _)| *other == name).map(|(_, span)| span).collect()
    })
}

/// The names in `after` that mean nothing that there is.
fn named(view: &View<'_>, name: &ForkName) -> Places {
    collect(
        view,
        |_| true,
        |file| file.after_names().filter(|(other, _)| *other == name).map(|(_, span)| span).collect(),
    )
}

/// The uses of a tag, in fork files and in the configuration that filters and throttles by it.
fn tagged(view: &View<'_>, tag: &Tag) -> Places {
    let in_forks = |file: &autofork::compile::ForkFile| {
        file.tag_words().filter(|(other, _)| *other == tag).map(|(_, span)| span).collect()
    };
    let mut found = collect(view, |_| true, in_forks);
    for layer in view.shared.scopes.iter().flat_map(|scope| view.snapshot.config_layers(scope)) {
        let places = layer.tag_words().filter(|(other, _)| *other == tag);
        found.extend(places.map(|(_, span)| (layer.source.path().to_path_buf(), span)));
    }
    found
}

fn collect(
    view: &View<'_>,
    wanted: impl Fn(&autofork::db::Linkage) -> bool,
    places: impl Fn(&autofork::compile::ForkFile) -> Vec<Span>,
) -> Places {
    let mut found = Places::new();
    for (scope, linkage) in view.linkages().filter(|(_, linkage)| wanted(linkage)) {
        for listed in &linkage.linked.listing {
            if let Some(file) = view.snapshot.fork_file(scope, &listed.path) {
                found.extend(places(&file.file).into_iter().map(|span| (listed.path.clone(), span)));
            }
        }
    }
    found
}
