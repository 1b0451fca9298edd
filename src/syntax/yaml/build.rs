//! From the parser's events to the tree, aliases expanded within bounds.

use std::collections::HashMap;

use granit_parser::{Event, ScalarStyle, StructureStyle, Tag};

use super::fault::{self, Context, Fault, FaultKind};
use super::{Entry, Layout, Node, Scalar, Style, Value};
use crate::text::Span;

/// How large a tree may get. An alias counts as all that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Collections within collections.
    pub depth: usize,
    /// Nodes, keys included.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 32, nodes: 10_000 }
    }
}

/// A tree and what stands around it.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) root: Option<Node>,
    pub(super) comments: Vec<Span>,
    pub(super) unknown_aliases: Vec<Fault>,
}

/// Parses `text`, which begins at `base`, to its end or its first fault.
pub(super) fn build(text: &str, base: usize, limits: Limits) -> Result<Built, Fault> {
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        // Deeper than our own limit, which also counts what aliases bring in; these keep the parser itself in bounds.
        flow_nesting_limit: 64,
        block_nesting_limit: 64,
        max_buffered_comment_events: 100_000,
    };
    let mut builder = Builder { text, base, limits, ..Builder::default() };
    for event in granit_parser::Parser::new_from_str_with_options(text, options) {
        match event {
            Ok((event, span)) => {
                let range = span.byte_range().unwrap_or_default();
                builder.event(event, Span::new(range.start, range.end).shifted(base))?;
            }
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(text.len());
                return Err(fault::explain(error.kind(), at, &builder.context()));
            }
        }
    }
    Ok(builder.built)
}

#[derive(Default)]
struct Builder<'a> {
    text: &'a str,
    base: usize,
    limits: Limits,
    open: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    documents: usize,
    built: Built,
    /// The last scalar or alias that was read.
    last_scalar: Option<Span>,
    /// The bracketed collection that was closed last.
    last_closed: Option<Span>,
}

struct Open {
    node: Node,
    anchor: usize,
    key: Option<Node>,
    /// Nodes before this one.
    nodes_before: usize,
    /// The deepest nesting inside.
    height: usize,
}

struct Anchored {
    node: Node,
    nodes: usize,
    height: usize,
}

impl Builder<'_> {
    fn context(&self) -> Context<'_> {
        let opened = self.open.iter().rev().find(|open| layout(&open.node.value) == Some(Layout::Flow));
        Context {
            text: self.text,
            base: self.base,
            last_scalar: self.last_scalar,
            last_closed: self.last_closed,
            open_bracket: opened.map(|open| open.node.span),
            unknown_alias: self.built.unknown_aliases.last().map(|fault| fault.span),
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Fault::new(FaultKind::SecondDocument, span));
                }
            }
            Event::Comment(..) => self.built.comments.push(span),
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, span)?;
                self.last_scalar = Some(span);
                let scalar = scalar(text.into_owned(), style, tag.as_deref(), span);
                let node = Node { span, alias: None, value: Value::Scalar(scalar) };
                self.finish(node, anchor, 1, 0);
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(span, anchor, Value::List(Vec::new(), layout_of(style)))?;
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(span, anchor, Value::Map(Vec::new(), layout_of(style)))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(id) => self.alias(id, span)?,
            Event::UnresolvedAlias(name) => {
                self.count(1, span)?;
                self.last_scalar = Some(span);
                self.built.unknown_aliases.push(Fault::new(FaultKind::UnknownAlias(name.into_owned()), span));
                let scalar = Scalar { text: String::new(), style: Style::Plain };
                self.finish(Node { span, alias: None, value: Value::Scalar(scalar) }, 0, 1, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes { Err(Fault::new(FaultKind::TooManyNodes, span)) } else { Ok(()) }
    }

    fn open(&mut self, span: Span, anchor: usize, value: Value) -> Result<(), Fault> {
        let nodes_before = self.nodes;
        self.count(1, span)?;
        if self.open.len() >= self.limits.depth {
            return Err(Fault::new(FaultKind::TooDeep, span));
        }
        let node = Node { span, alias: None, value };
        self.open.push(Open { node, anchor, key: None, nodes_before, height: 0 });
        Ok(())
    }

    fn close(&mut self, end: Span) {
        let Some(mut open) = self.open.pop() else { return };
        match layout(&open.node.value) {
            Some(Layout::Flow) => {
                open.node.span = open.node.span.to(end);
                self.last_closed = Some(open.node.span);
            }
            // The parser puts the end of a block past the line end; the last word inside is the better one.
            _ => {
                if let Some(last) = last_child(&open.node.value) {
                    open.node.span.end = last.alias.unwrap_or(last.span).end.max(open.node.span.start);
                }
            }
        }
        let nodes = self.nodes - open.nodes_before;
        self.finish(open.node, open.anchor, nodes, open.height + 1);
    }

    fn alias(&mut self, id: usize, span: Span) -> Result<(), Fault> {
        self.last_scalar = Some(span);
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(Fault::new(FaultKind::AliasInItself, span));
        };
        let (nodes, height) = (anchored.nodes, anchored.height);
        if self.open.len() + height > self.limits.depth {
            return Err(Fault::new(FaultKind::TooDeep, span));
        }
        // Counted before it is copied: an alias may stand for more than there is memory.
        self.count(nodes, span)?;
        let mut node = self.anchors[&id].node.clone();
        brought_by(&mut node, span);
        self.finish(node, 0, nodes, height);
        Ok(())
    }

    /// Puts a finished node where it belongs.
    fn finish(&mut self, node: Node, anchor: usize, nodes: usize, height: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored { node: node.clone(), nodes, height });
        }
        let Some(parent) = self.open.last_mut() else {
            self.built.root.get_or_insert(node);
            return;
        };
        parent.height = parent.height.max(height);
        match &mut parent.node.value {
            Value::List(items, _) => items.push(node),
            Value::Map(entries, _) => match parent.key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => parent.key = Some(node),
            },
            Value::Scalar(_) => {}
        }
    }
}

fn brought_by(node: &mut Node, alias: Span) {
    node.alias = Some(alias);
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::List(items, _) => items.iter_mut().for_each(|item| brought_by(item, alias)),
        Value::Map(entries, _) => {
            for entry in entries {
                brought_by(&mut entry.key, alias);
                brought_by(&mut entry.value, alias);
            }
        }
    }
}

fn last_child(value: &Value) -> Option<&Node> {
    match value {
        Value::Scalar(_) => None,
        Value::List(items, _) => items.last(),
        Value::Map(entries, _) => {
            entries.last().map(|entry| if entry.value.span.is_empty() { &entry.key } else { &entry.value })
        }
    }
}

fn layout(value: &Value) -> Option<Layout> {
    match value {
        Value::Scalar(_) => None,
        Value::List(_, layout) | Value::Map(_, layout) => Some(*layout),
    }
}

fn layout_of(style: StructureStyle) -> Layout {
    match style {
        StructureStyle::Block => Layout::Block,
        StructureStyle::Flow => Layout::Flow,
    }
}

fn scalar(text: String, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Scalar {
    // An absent value comes as a tilde without extent.
    let text = if span.is_empty() && style == ScalarStyle::Plain { String::new() } else { text };
    let style = match style {
        ScalarStyle::Plain if tag.is_some_and(|tag| tag.is_yaml_core_schema_tag("str")) => Style::Quoted,
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        _ => Style::Quoted,
    };
    Scalar { text, style }
}
