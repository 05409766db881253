//! Arguments written as elements: `<path>a.txt</path>`.
//!
//! The content of an element is taken as text, even if it contains markup, because a file may well be a page of HTML.
//! Once the schema of the tool is known, a value that must be an object or a list is parsed again as elements. Entities
//! are decoded, a stray ampersand stands for itself, and CDATA is taken literally.

use serde_json::{Map, Value};

const CDATA: &str = "<![CDATA[";

/// Parses the elements in `text` as an object; as a list, if all have the same name and there are several or the name
/// is that of a list item. Returns `None` if there is anything else between them.
pub(crate) fn elements(text: &str) -> Option<Value> {
    let found = children(text)?;
    let first = found.first()?.0;
    let alike = found.iter().all(|(name, _)| *name == first);
    if alike && (found.len() > 1 || ["item", "element", "value"].contains(&first)) {
        return Some(Value::Array(found.into_iter().map(|(_, inner)| Value::String(content(inner))).collect()));
    }
    Some(Value::Object(object(found)))
}

/// Parses the elements in `text` as an object with text values; elements of the same name make a list.
pub(crate) fn members(text: &str) -> Option<Map<String, Value>> {
    children(text).map(object)
}

fn object(found: Vec<(&str, &str)>) -> Map<String, Value> {
    let mut members = Map::new();
    for (name, inner) in found {
        add_member(&mut members, name, content(inner));
    }
    members
}

/// Adds a member; members of the same name make a list.
pub(super) fn add_member(members: &mut Map<String, Value>, name: &str, text: String) {
    let value = Value::String(text);
    match members.get_mut(name) {
        None => {
            members.insert(name.to_owned(), value);
        }
        Some(Value::Array(all)) => all.push(value),
        Some(one) => *one = Value::Array(vec![one.take(), value]),
    }
}

/// Splits `text` into its elements, each with name and content.
fn children(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, inner, behind) = element(rest)?;
        found.push((name, inner));
        rest = behind.trim_start();
    }
    Some(found)
}

/// Splits off the element at the beginning of `text`: its name, its content, the rest of the text.
pub(crate) fn element(text: &str) -> Option<(&str, &str, &str)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(|c: char| !is_name(c))?;
    let (name, inner) = inner.split_at(end);
    if name.is_empty() {
        return None;
    }
    if let Some(behind) = inner.trim_start().strip_prefix("/>") {
        return Some((name, "", behind));
    }
    let inner = inner.strip_prefix('>')?;
    let (to, behind) = closing(inner, name)?;
    Some((name, &inner[..to], &inner[behind..]))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.:".contains(c)
}

/// Returns where the element `name` ends, and where the text after its closing tag begins. A nested element of the same
/// name has its own closing tag.
pub(super) fn closing(text: &str, name: &str) -> Option<(usize, usize)> {
    let mut at = 0;
    let mut deep = 0usize;
    while let Some(found) = text[at..].find('<') {
        at += found;
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix(CDATA) {
            at += CDATA.len() + inner.find("]]>")?;
        } else if rest.strip_prefix("</").is_some_and(|tag| is_tag(tag, name)) {
            if deep == 0 {
                return Some((at, at + name.len() + 3));
            }
            deep -= 1;
        } else if is_tag(&rest[1..], name) {
            deep += 1;
        }
        at += 1;
    }
    None
}

fn is_tag(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.starts_with('>'))
}

/// Returns the text of an element.
pub(crate) fn content(inner: &str) -> String {
    let trimmed = inner.trim();
    if let Some(data) = trimmed.strip_prefix(CDATA).and_then(|rest| rest.strip_suffix("]]>"))
        && !data.contains("]]>")
    {
        return data.to_owned();
    }
    let text = if inner.trim_matches([' ', '\t']).contains('\n') { without_outer_breaks(inner) } else { trimmed };
    // Entities are decoded only in content without markup: markup is taken literally.
    if text.contains('<') { text.replace(CDATA, "").replace("]]>", "") } else { unescaped(text) }
}

/// Removes the line breaks next to the tags, and nothing else.
fn without_outer_breaks(text: &str) -> &str {
    let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
    let body = text.trim_end_matches([' ', '\t']);
    let body = body.strip_suffix('\n').map(|body| body.strip_suffix('\r').unwrap_or(body));
    match body {
        // A single line is a value, not a multi-line text.
        Some(line) if !line.contains('\n') => line.trim(),
        Some(body) => body,
        None => text,
    }
}

/// Decodes entities; an ampersand that begins none stands for itself.
pub(crate) fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match entity(rest) {
            Some((c, len)) => {
                out.push(c);
                rest = &rest[len..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.as_bytes().iter().take(12).position(|byte| *byte == b';')?;
    let name = &text[1..end];
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let code = name.strip_prefix('#')?;
            let hex = code.strip_prefix(['x', 'X']).map(|digits| u32::from_str_radix(digits, 16));
            char::from_u32(hex.unwrap_or_else(|| code.parse()).ok()?)?
        }
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves T4
    #[test]
    fn elements_become_members_and_their_content_stays_text() {
        for (text, want) in [
            ("<path>a.txt</path>", json!({"path": "a.txt"})),
            (" <a>1</a>\n <b> two words </b> ", json!({"a": "1", "b": "two words"})),
            ("<a>x &amp; y &lt; z & w &nosuch; &#65;&#x42;</a>", json!({"a": "x & y < z & w &nosuch; AB"})),
            ("<a><![CDATA[x < y && z </a>]]></a>", json!({"a": "x < y && z </a>"})),
            ("<a>\n<![CDATA[one\ntwo]]>\n</a>", json!({"a": "one\ntwo"})),
            ("<content>\nline 1\n  line 2\n</content>", json!({"content": "line 1\n  line 2"})),
            ("<html><p>Hi &amp; bye</p></html>", json!({"html": "<p>Hi &amp; bye</p>"})),
            ("<a><a>in</a></a>", json!({"a": "<a>in</a>"})),
            ("<p>1</p><p>2</p><q/>", json!({"p": ["1", "2"], "q": ""})),
            ("<path>\n  a.txt\n</path>", json!({"path": "a.txt"})),
        ] {
            assert_eq!(members(text).map(Value::Object), Some(want), "{text}");
        }
    }

    #[test]
    fn what_is_not_made_of_elements_is_none() {
        for text in ["plain", "<a>1", "<a>1</b>", "<a>1</a> and", "<a x=\"1\">2</a>", "<>1</>", "<a"] {
            assert_eq!(members(text), None, "{text}");
        }
    }

    #[test]
    fn items_are_a_list() {
        assert_eq!(elements("<item>a</item><item>b</item>"), Some(json!(["a", "b"])));
        assert_eq!(elements("<item>a</item>"), Some(json!(["a"])));
        assert_eq!(elements("<n>1</n>"), Some(json!({"n": "1"})));
        assert_eq!(elements(""), None);
    }
}
