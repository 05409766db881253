//! What a call begins with, judged on the little that has come of it: so text that can't become a call
//! is shown at once.

use super::json::{Key, key};
use super::lines;
use super::spoken::Forms;

/// What a beginning may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// No call.
    No,
    /// More of the text must come to tell.
    More,
    /// A call of this kind, unless its rest says otherwise.
    Yes(Kind),
}

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A `<tool>` block.
    Block,
    /// JSON or a function in a tag; the tag that closes it.
    Wrapped(&'static str),
    /// `<function=name>`.
    Function,
    /// Bare JSON, and whether it has named a tool that is offered.
    Json(Named),
    /// `[server.tool(k="v")]`.
    Bracket,
    /// `Tool:` and `Arguments:`; where the arguments begin.
    Lines {
        /// Counted from the beginning.
        arguments: usize,
    },
}

/// Whether the beginning names a tool that is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Yes,
    NotYet,
}

/// White space within a beginning, and names, are not longer than this.
const SHORT: usize = 128;

pub(super) const TOOL: &str = "<tool>";
pub(super) const TOOL_CLOSE: &str = "</tool>";
const FUNCTION: &str = "<function=";

/// Tags that small models put round JSON, and what closes them.
const WRAPPERS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
];

/// What `text`, which stands at the beginning of a line, may be.
pub(super) fn sight(text: &str, forms: Forms, knows: &dyn Fn(&str) -> bool) -> Sight {
    match text.as_bytes().first() {
        None => Sight::More,
        Some(b'<') => tag(text, forms),
        Some(b'{') if forms.json => object(text, knows),
        Some(b'[') => list(text, forms, knows),
        Some(byte) if forms.lines && (byte.is_ascii_alphabetic() || *byte == b'*') => lines::sight(text, knows),
        Some(_) => Sight::No,
    }
}

/// What `text`, which begins with `<`, may be.
pub(super) fn tag(text: &str, forms: Forms) -> Sight {
    if forms.block
        && let Some(inner) = text.strip_prefix(TOOL)
    {
        return within(inner, &["<server_name>", "<tool_name>", "<arguments>", "{"], Kind::Block);
    }
    if forms.json {
        if let Some(name) = text.strip_prefix(FUNCTION) {
            return match name.as_bytes().iter().take(SHORT).position(|byte| matches!(byte, b'>' | b'<' | b'\n')) {
                Some(end) if end > 0 && name.as_bytes()[end] == b'>' => Sight::Yes(Kind::Function),
                Some(_) => Sight::No,
                None if name.len() < SHORT => Sight::More,
                None => Sight::No,
            };
        }
        for (open, close) in WRAPPERS {
            if let Some(inner) = text.strip_prefix(open) {
                return within(inner, &["{", "[", FUNCTION], Kind::Wrapped(close));
            }
        }
    }
    let tags = forms.block.then_some(TOOL).into_iter();
    let wrappers = WRAPPERS.iter().map(|(open, _)| *open).chain([FUNCTION]).filter(|_| forms.json);
    if tags.chain(wrappers).any(|tag| tag.starts_with(text)) { Sight::More } else { Sight::No }
}

/// Whether one of `begins` follows, white space aside.
fn within(inner: &str, begins: &[&str], kind: Kind) -> Sight {
    let trimmed = inner.trim_start();
    if inner.len() - trimmed.len() > SHORT {
        return Sight::No;
    }
    if begins.iter().any(|begin| trimmed.starts_with(begin)) {
        return Sight::Yes(kind);
    }
    if begins.iter().any(|begin| begin.starts_with(trimmed)) { Sight::More } else { Sight::No }
}

/// An object is a call if its first key is one of a call's, and names a tool where it names one.
fn object(text: &str, knows: &dyn Fn(&str) -> bool) -> Sight {
    match key(text) {
        Key::More => Sight::More,
        Key::Name(name) if knows(name) => Sight::Yes(Kind::Json(Named::Yes)),
        Key::Other => Sight::Yes(Kind::Json(Named::NotYet)),
        Key::Name(_) | Key::No => Sight::No,
    }
}

fn list(text: &str, forms: Forms, knows: &dyn Fn(&str) -> bool) -> Sight {
    let inner = &text[1..];
    let trimmed = inner.trim_start();
    if inner.len() - trimmed.len() > SHORT {
        return Sight::No;
    }
    match trimmed.as_bytes().first() {
        None => Sight::More,
        Some(b'{') if forms.json => object(trimmed, knows),
        Some(_) if !forms.bracket => Sight::No,
        Some(_) => {
            let end = trimmed.find(|c: char| !super::bracket::is_name(c)).unwrap_or(trimmed.len());
            let (name, behind) = trimmed.split_at(end);
            match behind.as_bytes().first() {
                _ if name.is_empty() || name.len() > SHORT => Sight::No,
                None => Sight::More,
                Some(b'(') if knows(name) => Sight::Yes(Kind::Bracket),
                Some(_) => Sight::No,
            }
        }
    }
}
