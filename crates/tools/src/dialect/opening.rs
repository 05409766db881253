//! Recognizes the beginning of a call from the first characters of it, so that text that can't become a call is
//! displayed at once.

use super::accepted_forms::CallForms;
use super::json::{FirstKey, first_key};
use super::lines;
use super::offered_tools::OfferedTools;
use super::open_tag::is_tag_name;
use super::script_language::ScriptLanguage;

/// Whether a text opens a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallOpening {
    /// No call.
    No,
    /// Undecided until more text arrives.
    More,
    /// A call of this form, unless the rest of the text contradicts.
    Yes(CallForm),
}

/// The form of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallForm {
    /// A `<tool>` block.
    Block,
    /// `<tool name="…">` with an element for each argument.
    ToolTag {
        /// The length of the tag's word.
        word: usize,
    },
    /// The same with the tool's name as the tag.
    NameTag {
        /// The length of the tag's word.
        word: usize,
    },
    /// JSON or a function in a tag, with its closing tag.
    Wrapped(&'static str),
    /// `<function=name>`.
    Function,
    /// Bare JSON, and whether it has named an offered tool.
    Json(NamesTool),
    /// `[server.tool(k="v")]`.
    Bracket,
    /// The same without the square brackets.
    Parentheses,
    /// `Tool:` and `Arguments:`.
    Lines {
        /// Where the arguments begin, counted from the beginning of the call.
        arguments: usize,
    },
    /// A fenced block in a language that can be run.
    Script {
        /// Its language.
        language: ScriptLanguage,
        /// How far its fence is indented.
        indent: usize,
    },
}

/// Whether the beginning of a call names an offered tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamesTool {
    Yes,
    NotYet,
}

/// The maximum length of names and of white space in the beginning of a call.
const SHORT: usize = 128;

pub(super) const TOOL: &str = "<tool>";
pub(super) const TOOL_CLOSE: &str = "</tool>";
const FUNCTION: &str = "<function=";
/// Tags whose `name` is that of a tool.
const NAMED_TAGS: &[&str] = &["tool", "tool_call", "function"];

/// Tags that small models put around JSON, and their closing tags.
const WRAPPERS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<tools>", "</tools>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
];

/// Checks whether `text`, which is at the beginning of a line, opens a call.
pub(super) fn find_opening(text: &str, forms: CallForms, tools: &dyn OfferedTools) -> CallOpening {
    match text.as_bytes().first() {
        None => CallOpening::More,
        Some(b'<') => tag(text, forms, tools),
        Some(b'{') if forms.json => object(text, tools),
        Some(b'[') => list(text, forms, tools),
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'*' => match parentheses(text, forms, tools) {
            CallOpening::No if forms.lines => lines::find_opening(text, tools),
            opening => opening,
        },
        Some(_) => CallOpening::No,
    }
}

/// Checks whether `text` begins with the name of a tool and its arguments in parentheses. Names begin with a small letter:
/// the first word of a sentence is displayed at once.
fn parentheses(text: &str, forms: CallForms, tools: &dyn OfferedTools) -> CallOpening {
    if !forms.bracket || !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        return CallOpening::No;
    }
    let name = text.find(|c: char| !super::bracket::is_name(c)).map_or(text, |end| &text[..end]);
    match text.as_bytes().get(name.len()) {
        _ if name.is_empty() || name.len() > SHORT => CallOpening::No,
        None => CallOpening::More,
        Some(b'(') if tools.knows(name) => CallOpening::Yes(CallForm::Parentheses),
        Some(_) => CallOpening::No,
    }
}

/// Checks whether `text`, which begins with `<`, opens a call.
pub(super) fn tag(text: &str, forms: CallForms, tools: &dyn OfferedTools) -> CallOpening {
    match (fixed_tag(text, forms), forms.tag) {
        (CallOpening::No, true) => element(text, tools),
        (CallOpening::More, true) => match element(text, tools) {
            CallOpening::No | CallOpening::More => CallOpening::More,
            yes @ CallOpening::Yes(_) => yes,
        },
        (opening, _) => opening,
    }
}

/// Checks whether `text` begins with a tag that has the name of a tool, as its `name` or as its word.
fn element(text: &str, tools: &dyn OfferedTools) -> CallOpening {
    let inner = &text[1..];
    let word = inner.find(|c: char| !is_tag_name(c)).map_or(inner, |end| &inner[..end]);
    let behind = &inner[word.len()..];
    if word.len() > SHORT || (word.is_empty() && !behind.is_empty()) {
        return CallOpening::No;
    }
    if behind.is_empty() {
        return CallOpening::More;
    }
    let trimmed = behind.trim_start();
    let gap = behind.len() - trimmed.len();
    if gap > SHORT {
        return CallOpening::No;
    }
    if NAMED_TAGS.contains(&word) && gap > 0 {
        return name_attribute(trimmed, word.len());
    }
    match behind.as_bytes().first() {
        Some(b'>') => {}
        Some(b'/') if behind == "/" => return CallOpening::More,
        Some(b'/') if behind.starts_with("/>") => {}
        Some(byte) if byte.is_ascii_whitespace() => {}
        Some(_) | None => return CallOpening::No,
    }
    if tools.knows(word) { CallOpening::Yes(CallForm::NameTag { word: word.len() }) } else { CallOpening::No }
}

/// Checks whether `text`, which follows the word of a tag, gives a name.
fn name_attribute(text: &str, word: usize) -> CallOpening {
    let key = text.find(|c: char| !is_tag_name(c)).map_or(text, |end| &text[..end]);
    let is_known = |known: &&str| *known == key || (key.len() == text.len() && known.starts_with(key));
    if !["name", "tool_name", "tool", "server", "server_name"].iter().any(is_known) {
        return CallOpening::No;
    }
    let behind = text[key.len()..].trim_start();
    match behind.as_bytes().first() {
        _ if text.len() - key.len() - behind.len() > SHORT => CallOpening::No,
        None => CallOpening::More,
        Some(b'=') => CallOpening::Yes(CallForm::ToolTag { word }),
        Some(_) => CallOpening::No,
    }
}

/// Checks for the tags that are the same for every tool.
fn fixed_tag(text: &str, forms: CallForms) -> CallOpening {
    if forms.block
        && let Some(inner) = text.strip_prefix(TOOL)
    {
        return within(inner, &["<server_name>", "<tool_name>", "<arguments>", "{"], CallForm::Block);
    }
    if forms.json {
        if let Some(name) = text.strip_prefix(FUNCTION) {
            return match name.as_bytes().iter().take(SHORT).position(|byte| matches!(byte, b'>' | b'<' | b'\n')) {
                Some(end) if end > 0 && name.as_bytes()[end] == b'>' => CallOpening::Yes(CallForm::Function),
                Some(_) => CallOpening::No,
                None if name.len() < SHORT => CallOpening::More,
                None => CallOpening::No,
            };
        }
        for (open, close) in WRAPPERS {
            if let Some(inner) = text.strip_prefix(open) {
                return within(inner, &["{", "[", FUNCTION], CallForm::Wrapped(close));
            }
        }
    }
    let tags = forms.block.then_some(TOOL).into_iter();
    let wrappers = WRAPPERS.iter().map(|(open, _)| *open).chain([FUNCTION]).filter(|_| forms.json);
    if tags.chain(wrappers).any(|tag| tag.starts_with(text)) { CallOpening::More } else { CallOpening::No }
}

/// Checks whether one of `begins` follows, after white space.
fn within(inner: &str, begins: &[&str], kind: CallForm) -> CallOpening {
    let trimmed = inner.trim_start();
    if inner.len() - trimmed.len() > SHORT {
        return CallOpening::No;
    }
    if begins.iter().any(|begin| trimmed.starts_with(begin)) {
        return CallOpening::Yes(kind);
    }
    if begins.iter().any(|begin| begin.starts_with(trimmed)) { CallOpening::More } else { CallOpening::No }
}

/// Checks an object: it is a call if a call may have its first key, and if a tool named by that key is offered.
fn object(text: &str, tools: &dyn OfferedTools) -> CallOpening {
    // Braces may be doubled.
    let text = text.strip_prefix('{').filter(|inner| inner.starts_with('{')).unwrap_or(text);
    match first_key(text) {
        FirstKey::More => CallOpening::More,
        FirstKey::Name(name) if tools.knows(name) => CallOpening::Yes(CallForm::Json(NamesTool::Yes)),
        FirstKey::Other => CallOpening::Yes(CallForm::Json(NamesTool::NotYet)),
        FirstKey::Name(_) | FirstKey::No => CallOpening::No,
    }
}

fn list(text: &str, forms: CallForms, tools: &dyn OfferedTools) -> CallOpening {
    let inner = &text[1..];
    let trimmed = inner.trim_start();
    if inner.len() - trimmed.len() > SHORT {
        return CallOpening::No;
    }
    match trimmed.as_bytes().first() {
        None => CallOpening::More,
        Some(b'{') if forms.json => object(trimmed, tools),
        Some(_) if !forms.bracket => CallOpening::No,
        Some(_) => {
            let end = trimmed.find(|c: char| !super::bracket::is_name(c)).unwrap_or(trimmed.len());
            let (name, behind) = trimmed.split_at(end);
            match behind.as_bytes().first() {
                _ if name.is_empty() || name.len() > SHORT => CallOpening::No,
                None => CallOpening::More,
                Some(b'(') if tools.knows(name) => CallOpening::Yes(CallForm::Bracket),
                Some(_) => CallOpening::No,
            }
        }
    }
}
