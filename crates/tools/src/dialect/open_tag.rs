//! Opening tags with attributes, as forgiving as small models need: quotes may be single or missing.

/// The opening tag at the beginning of a text.
#[derive(Debug)]
pub(super) struct OpenTag<'a> {
    /// The word after `<`.
    pub(super) word: &'a str,
    /// Its attributes, as they are written.
    pub(super) attributes: Vec<(&'a str, &'a str)>,
    /// Whether it closes itself: `<a/>`.
    pub(super) is_empty: bool,
    /// The text after it.
    pub(super) body: &'a str,
}

impl<'a> OpenTag<'a> {
    /// Parses the tag. Returns `None` if `text` does not begin with a whole one.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (word, mut rest) = name(text.strip_prefix('<')?)?;
        let mut attributes = Vec::new();
        loop {
            let behind = rest.trim_start();
            if let Some(body) = behind.strip_prefix('>') {
                return Some(Self { word, attributes, is_empty: false, body });
            }
            if let Some(body) = behind.strip_prefix("/>") {
                return Some(Self { word, attributes, is_empty: true, body });
            }
            // Attributes stand apart.
            if behind.len() == rest.len() && !rest.starts_with([',', ';']) && attributes.is_empty() {
                return None;
            }
            let (key, behind) = name(behind.trim_start_matches([',', ';']).trim_start())?;
            let behind = behind.trim_start().strip_prefix('=')?.trim_start();
            let (value, behind) = value(behind);
            attributes.push((key, value));
            rest = behind;
        }
    }

    /// Returns the value of the first of these attributes that there is.
    pub(super) fn attribute(&self, keys: &[&str]) -> Option<&'a str> {
        let found = keys.iter().find_map(|key| self.attributes.iter().find(|(known, _)| known == key));
        found.map(|(_, value)| *value)
    }
}

/// Whether a tag or an attribute may have this character in its name.
pub(super) fn is_tag_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:".contains(c)
}

/// Splits off the name at the beginning of `text`.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !is_tag_name(c)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// Splits off the value of an attribute. A quote that is not closed ends with the tag.
fn value(text: &str) -> (&str, &str) {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    if let Some((value, behind)) = quote.and_then(|quote| text[1..].split_once(quote)) {
        return (value, behind);
    }
    let text = if quote.is_some() { &text[1..] } else { text };
    let end = text.find(|c: char| c == '>' || (quote.is_none() && c.is_whitespace())).unwrap_or(text.len());
    let (value, behind) = text.split_at(end);
    match value.strip_suffix('/') {
        Some(value) if behind.starts_with('>') => (value, &text[value.len()..]),
        Some(_) | None => (value, behind),
    }
}
