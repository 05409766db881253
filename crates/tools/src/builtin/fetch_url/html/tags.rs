//! Splits HTML into text and tags. Drops what browsers don't display (scripts, styles, comments).

use std::borrow::Cow;

/// A part of a page.
pub(super) enum HtmlPiece<'a> {
    /// Text, with its entities decoded.
    Text(Cow<'a, str>),
    Tag(HtmlTag<'a>),
}

/// A tag. Names are in lower case.
pub(super) enum HtmlTag<'a> {
    Open { name: String, attributes: &'a str },
    Close { name: String },
}

impl HtmlTag<'_> {
    /// Returns the value of an attribute of an opening tag.
    pub(super) fn attribute(&self, wanted: &str) -> Option<String> {
        let Self::Open { attributes, .. } = self else { return None };
        let mut rest = *attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/' || c == '=');
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let (value, after) = value(after);
            if name.eq_ignore_ascii_case(wanted) {
                return Some(unescaped(value).into_owned());
            }
            rest = after;
        }
    }
}

/// Splits off the value of an attribute, if an equals sign follows; returns it and the rest.
fn value(text: &str) -> (&str, &str) {
    let Some(text) = text.trim_ascii_start().strip_prefix('=') else { return ("", text) };
    let text = text.trim_ascii_start();
    match text.chars().next() {
        Some(quote @ ('"' | '\'')) => text[1..].split_once(quote).unwrap_or((&text[1..], "")),
        Some(_) | None => text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len())),
    }
}

/// Elements whose content is skipped.
const SKIPPED_ELEMENTS: &[&str] =
    &["script", "style", "template", "svg", "math", "iframe", "object", "canvas", "select"];

/// Splits a page.
pub(super) fn pieces(html: &str) -> HtmlPieces<'_> {
    HtmlPieces { rest: html }
}

pub(super) struct HtmlPieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for HtmlPieces<'a> {
    type Item = HtmlPiece<'a>;

    fn next(&mut self) -> Option<HtmlPiece<'a>> {
        while !self.rest.is_empty() {
            let text = self.text();
            if !text.is_empty() {
                return Some(HtmlPiece::Text(unescaped(text)));
            }
            if let Some(tag) = self.markup() {
                return Some(HtmlPiece::Tag(tag));
            }
        }
        None
    }
}

impl<'a> HtmlPieces<'a> {
    /// Returns the text up to the next tag.
    fn text(&mut self) -> &'a str {
        let (mut end, bytes) = (0, self.rest.as_bytes());
        while let Some(at) = self.rest[end..].find('<') {
            end += at;
            // `a < b` is text.
            if bytes.get(end + 1).is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next)) {
                return self.take(end);
            }
            end += 1;
        }
        self.take(self.rest.len())
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    /// Skips to after the next `end`; without one the page ends.
    fn skip_past(&mut self, end: &str) {
        self.rest = self.rest.find(end).map_or("", |at| &self.rest[at + end.len()..]);
    }

    /// Returns the tag that begins with `<` here; `None` if it is not displayed.
    fn markup(&mut self) -> Option<HtmlTag<'a>> {
        if let Some(comment) = self.rest.strip_prefix("<!--") {
            self.rest = comment;
            // `<!-->` is a complete comment.
            if let Some(after) = comment.strip_prefix('>').or_else(|| comment.strip_prefix("->")) {
                self.rest = after;
            } else {
                self.skip_past("-->");
            }
            return None;
        }
        let closes = self.rest.starts_with("</");
        let named = if closes { &self.rest[2..] } else { &self.rest[1..] };
        if !named.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.skip_past(">");
            return None;
        }
        let length = named.find(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>').unwrap_or(named.len());
        let (name, after) = named.split_at(length);
        let name = name.to_ascii_lowercase();
        let Some(end) = tag_end(after) else {
            self.rest = "";
            return None;
        };
        self.rest = &after[end + 1..];
        if closes {
            return Some(HtmlTag::Close { name });
        }
        if SKIPPED_ELEMENTS.contains(&name.as_str()) && !after[..end].ends_with('/') {
            self.skip_element(&name);
            return None;
        }
        Some(HtmlTag::Open { name, attributes: &after[..end] })
    }

    /// Skips to after the closing tag of this name; without one the page ends.
    fn skip_element(&mut self, name: &str) {
        loop {
            self.skip_past("</");
            if self.rest.is_empty() {
                return;
            }
            let behind = self.rest.get(name.len()..).unwrap_or_default();
            let named = self.rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
            if named && behind.starts_with(|c: char| c == '>' || c == '/' || c.is_ascii_whitespace()) {
                return self.skip_past(">");
            }
        }
    }
}

/// Returns the end of the tag with these attributes: the first `>` outside of quotes.
fn tag_end(attributes: &str) -> Option<usize> {
    let (mut quote, mut before) = (None, b' ');
    for (at, byte) in attributes.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            // A quote counts only at the beginning of a value.
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            (None | Some(_), _) => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    None
}

const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("times", "×"),
    ("deg", "°"),
    ("euro", "€"),
    ("pound", "£"),
    ("sect", "§"),
    ("para", "¶"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("agrave", "à"),
    ("ccedil", "ç"),
    ("ntilde", "ñ"),
    ("oslash", "ø"),
    ("aring", "å"),
    ("thinsp", " "),
    ("ensp", " "),
    ("emsp", " "),
    ("shy", ""),
    ("zwnj", ""),
    ("zwj", ""),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("plusmn", "±"),
    ("frac12", "½"),
];
/// The length of the longest entity.
const LONGEST_ENTITY: usize = 12;

/// Decodes the entities in `text`; unknown ones stay as they are.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match entity(rest) {
            Some((meaning, length)) => {
                out.push_str(&meaning);
                rest = &rest[length..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the entity at the beginning of `text`, which follows an `&`, and its length.
fn entity(text: &str) -> Option<(Cow<'static, str>, usize)> {
    let name =
        text.bytes().take(LONGEST_ENTITY).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    let closed = text.as_bytes().get(name) == Some(&b';');
    let length = name + usize::from(closed);
    let name = &text[..name];
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        let letter = number.ok().and_then(char::from_u32).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
        return Some((letter.to_string().into(), length));
    }
    let found = ENTITIES.iter().find(|(known, _)| *known == name)?;
    // `&copy` in a URL is more often a parameter.
    (closed || matches!(name, "amp" | "lt" | "gt" | "quot")).then_some((found.1.into(), length))
}
