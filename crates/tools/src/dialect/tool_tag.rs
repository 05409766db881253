//! `<tool name="read_file"><path>a.txt</path></tool>`: an element for each argument, with the value as plain text.
//!
//! What small models write instead is read as well: no quotes, arguments as attributes, JSON between the tags, the tool's
//! name as the tag, closing tags that are missing. Nothing has to be escaped, but CDATA and entities may be used.

use serde_json::Value;
use windlass_vocab::{Json, ReplyCall};

use super::malformed_call::MalformedCall;
use super::open_tag::{OpenTag, is_tag_name};
use super::ordered_members::OrderedMembers;
use super::{json, xml};
use crate::repair::mend;

/// Attributes with the tool's name.
const NAMES: &[&str] = &["name", "tool", "tool_name"];
/// Attributes with the name of its server.
const SERVERS: &[&str] = &["server", "server_name"];
/// Elements that hold the other arguments.
const WRAPPERS: &[&str] = &["arguments", "parameters", "params", "args"];
/// Elements whose `name` is that of an argument.
const NAMED: &[&str] = &["parameter", "param", "argument", "arg"];

/// Parses the call whose opening tag has the tool's name as an attribute; `text` is the element without its closing tag.
pub(super) fn call(text: &str) -> Result<ReplyCall, MalformedCall> {
    let tag = OpenTag::parse(text).ok_or_else(|| MalformedCall::parse("the tag <tool> is not whole."))?;
    let named = |keys: &[&str]| tag.attribute(keys).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let name = named(NAMES).ok_or(MalformedCall::MissingField { field: "name" })?;
    let name = match named(SERVERS) {
        Some(server) if !name.contains('.') => format!("{server}.{name}"),
        Some(_) | None => name,
    };
    let given = tag.attributes.iter().filter(|(key, _)| ![NAMES, SERVERS].concat().contains(key));
    let arguments = arguments(&name, given, tag.body)?;
    Ok(ReplyCall { provider_id: None, name, arguments, mended: None })
}

/// Parses the call whose tag is the tool's name. Returns `None` if it is something else.
pub(super) fn call_by_tag(text: &str) -> Option<ReplyCall> {
    let tag = OpenTag::parse(text)?;
    let arguments = arguments(tag.word, tag.attributes.iter(), tag.body).ok()?;
    Some(ReplyCall { provider_id: None, name: tag.word.to_owned(), arguments, mended: None })
}

/// Returns the arguments as JSON text, which may still need repair.
fn arguments<'a>(
    name: &str,
    attributes: impl Iterator<Item = &'a (&'a str, &'a str)>,
    body: &str,
) -> Result<String, MalformedCall> {
    let mut members = OrderedMembers::default();
    members.extend(attributes.map(|(key, value)| ((*key).to_owned(), Value::String(xml::unescaped(value)))));
    let body = body.trim();
    if body.starts_with('{') {
        let object = object(body).ok_or_else(|| {
            MalformedCall::parse(format!("the arguments of `{name}` are not well-formed JSON; write them as elements."))
        })?;
        members.extend(object.0);
    } else if !body.is_empty() && !body.starts_with("</") {
        elements(body, &mut members).ok_or_else(|| {
            let how = "write every argument as an element: <ARGUMENT>value</ARGUMENT>.";
            MalformedCall::parse(format!("the arguments of `{name}` can't be read; {how}"))
        })?;
    }
    Ok(members.to_string())
}

/// Parses JSON as arguments, repaired where needed: the object itself, or that of a call.
fn object(text: &str) -> Option<OrderedMembers> {
    let parsed = |text: &str| serde_json::from_str::<OrderedMembers>(text).ok();
    if let Some(call) = json::calls(text).and_then(|calls| calls.into_iter().next()) {
        return parsed(&call.arguments);
    }
    let members = parsed(text).or_else(|| parsed(&mend(text).ok()?.text))?;
    match members.0.as_slice() {
        [(key, Value::Object(inner))] if WRAPPERS.contains(&key.as_str()) => Some(inner.clone().into()),
        _ => Some(members),
    }
}

/// Adds the elements of `text`; elements of the same name make a list. A stray closing tag ends them. Returns `None` if
/// there is other text between them.
fn elements(text: &str, members: &mut OrderedMembers) -> Option<()> {
    let mut rest = text.trim();
    while !rest.is_empty() && !rest.starts_with("</") {
        let tag = OpenTag::parse(rest)?;
        let (inner, behind) = content(&tag)?;
        rest = behind.trim_start();
        let trimmed = inner.trim();
        if WRAPPERS.contains(&tag.word) && trimmed.starts_with('{') {
            members.extend(object(trimmed)?.0);
        } else if WRAPPERS.contains(&tag.word) && trimmed.starts_with('<') {
            elements(trimmed, members)?;
        } else {
            let key = if NAMED.contains(&tag.word) { tag.attribute(&["name"]).unwrap_or(tag.word) } else { tag.word };
            members.add_text(key, xml::content(inner));
        }
    }
    Some(())
}

/// Returns the content of an element, and the text after it. Without a closing tag of its own it takes the rest, unless
/// another call begins there: then nobody can tell what belongs to which.
fn content<'a>(tag: &OpenTag<'a>) -> Option<(&'a str, &'a str)> {
    let body = tag.body;
    if tag.is_empty {
        return Some(("", body));
    }
    let last = || {
        let at = body.rfind(&format!("</{}>", tag.word))?;
        Some((at, at + tag.word.len() + 3))
    };
    match xml::closing(body, tag.word).or_else(last) {
        Some((end, behind)) => Some((&body[..end], &body[behind..])),
        None if body.contains("<tool ") => None,
        None => Some((without_stray_tag(body), "")),
    }
}

/// Removes the closing tag of another name at the end.
fn without_stray_tag(text: &str) -> &str {
    let stray = text.trim_end().strip_suffix('>').and_then(|inner| inner.rsplit_once("</"));
    match stray {
        Some((before, name)) if !name.is_empty() && name.chars().all(is_tag_name) => before,
        Some(_) | None => text,
    }
}

/// Returns a call as text, so that it is read as it was.
pub(super) fn written(name: &str, arguments: &Json) -> String {
    let members: OrderedMembers = serde_json::from_str(arguments.as_str()).unwrap_or_default();
    let mut text = format!("<tool name=\"{name}\">\n");
    for (key, value) in members.0.iter().filter(|(_, value)| !value.is_null()) {
        if key.is_empty() || !key.chars().all(is_tag_name) || WRAPPERS.contains(&key.as_str()) {
            // Such a name can't be a tag.
            let arguments = arguments.as_str().replace("</", "<\\/");
            return format!("<tool name=\"{name}\">\n{arguments}\n</tool>");
        }
        text.push_str(&element(key, value));
    }
    text + "</tool>"
}

/// Returns an argument as an element: as it is, as CDATA or with entities, the first that is read as the value again.
fn element(key: &str, value: &Value) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let lines = if value.contains('\n') { format!("\n{value}\n") } else { value.clone() };
    let forms = [lines, format!("<![CDATA[{value}]]>")].map(|form| format!("<{key}>{form}</{key}>\n"));
    let is_same = |form: &String| {
        let mut members = OrderedMembers::default();
        let read = elements(form, &mut members).and(members.get(key)?.as_str());
        let hidden = form.contains("<![CDATA[") || !(form.contains("</tool>") || form.contains("<arguments>"));
        Some(hidden && members.0.len() == 1 && read == Some(value.as_str()))
    };
    let plain = forms.into_iter().find(|form| is_same(form) == Some(true));
    plain.unwrap_or_else(|| format!("<{key}>{}</{key}>\n", escaped(&value)))
}

/// Replaces what could be taken for markup, and white space, by entities.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_whitespace() && c != ' ' => out.push_str(&format!("&#{};", u32::from(c))),
            c => out.push(c),
        }
    }
    if out.trim().len() < out.len() { out.replace(' ', "&#32;") } else { out }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> (String, Value) {
        let call =
            call(text.trim_end().strip_suffix("</tool>").unwrap_or(text)).unwrap_or_else(|e| panic!("{text}: {e}"));
        (call.name, serde_json::from_str(&call.arguments).unwrap())
    }

    // proves T4
    #[test]
    fn a_call_has_an_element_for_each_argument() {
        for (text, arguments) in [
            ("<tool name=\"t\"><path>a.txt</path></tool>", json!({"path": "a.txt"})),
            ("<tool name=\"t\">\n<path>\na.txt\n</path>\n</tool>", json!({"path": "a.txt"})),
            ("<tool name='t'><path>a.txt</path></tool>", json!({"path": "a.txt"})),
            ("<tool name=t><path>a.txt</path></tool>", json!({"path": "a.txt"})),
            ("<tool name = \"t\" >\n<path>a.txt</path></tool>", json!({"path": "a.txt"})),
            ("<tool name=\"t\" path=\"a.txt\"/>", json!({"path": "a.txt"})),
            ("<tool name=t path=a.txt/>", json!({"path": "a.txt"})),
            ("<tool name=\"t\" path=\"a&amp;b > c\"></tool>", json!({"path": "a&b > c"})),
            ("<tool name=\"t\" path=\"a\"><n>5</n></tool>", json!({"path": "a", "n": "5"})),
            ("<tool name=\"t\">{\"path\": \"a\"}</tool>", json!({"path": "a"})),
            ("<tool name=\"t\">{'path': 'a',}</tool>", json!({"path": "a"})),
            ("<tool name=\"t\">{\"name\": \"t\", \"arguments\": {\"path\": \"a\"}}</tool>", json!({"path": "a"})),
            ("<tool name=\"t\">{\"arguments\": {\"path\": \"a\"}}</tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><arguments>{\"path\": \"a\"}</arguments></tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><arguments><path>a</path></arguments></tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><parameter name=\"path\">a</parameter></tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><path>a</tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><path>a</file></tool>", json!({"path": "a"})),
            ("<tool name=\"t\"><path>a</path></t>", json!({"path": "a"})),
            ("<tool name=\"t\"></tool>", json!({})),
            ("<tool name=\"t\"/>", json!({})),
            (
                "<tool name=\"t\"><x>if a < b && c > d:\n    go(\"<p>\")</x></tool>",
                json!({"x": "if a < b && c > d:\n    go(\"<p>\")"}),
            ),
            ("<tool name=\"t\"><x>\none\n\ttwo\n</x></tool>", json!({"x": "one\n\ttwo"})),
            ("<tool name=\"t\"><x><![CDATA[a </tool> b]]></x></tool>", json!({"x": "a </tool> b"})),
            ("<tool name=\"t\"><x>a <x> b</x></tool>", json!({"x": "a <x> b"})),
            ("<tool name=\"t\"><x>1 &lt; 2</x></tool>", json!({"x": "1 < 2"})),
            ("<tool name=\"t\"><x>a</x><x>b</x></tool>", json!({"x": ["a", "b"]})),
        ] {
            assert_eq!(read(text), ("t".to_owned(), arguments), "{text}");
        }
        assert_eq!(read("<tool server=\"hub\" name=\"t\"></tool>").0, "hub.t");
        assert_eq!(read("<tool name=\"local.t\"></tool>").0, "local.t");
        let ordered = call("<tool name=\"t\"><path>a</path><new>c</new><all>b</all>").unwrap();
        assert_eq!(ordered.arguments, r#"{"path":"a","new":"c","all":"b"}"#);
        let by_tag = call_by_tag("<read_file>\n<path>a</path>\n").unwrap();
        assert_eq!((by_tag.name.as_str(), by_tag.arguments.as_str()), ("read_file", r#"{"path":"a"}"#));
        assert_eq!(call_by_tag("<read_file path=\"a\"/>").unwrap().arguments, r#"{"path":"a"}"#);
    }

    // proves T4
    #[test]
    fn what_can_not_be_read_is_named() {
        let nested = "<tool name=\"t\"><a>\n<tool name=\"u\">\n<b>1</b>";
        for text in ["<tool name=\"t\">notes.txt", "<tool name=\"t\"><a>1</a> and", "<tool name", nested] {
            assert!(matches!(call(text), Err(MalformedCall::ParseError { .. })), "{text}");
        }
        assert_eq!(call("<tool name=\"\"><a>1</a>"), Err(MalformedCall::MissingField { field: "name" }));
    }

    // proves T4, M6
    #[test]
    fn a_written_call_is_plain_where_it_can_be() {
        let call = |arguments: Value| written("t", &Json::from(&arguments));
        assert_eq!(call(json!({"path": "a.txt", "n": 5})), "<tool name=\"t\">\n<n>5</n>\n<path>a.txt</path>\n</tool>");
        let written_so = Json::parse(r#"{"path":"a.txt","new":"b"}"#).unwrap();
        assert_eq!(written("t", &written_so), "<tool name=\"t\">\n<path>a.txt</path>\n<new>b</new>\n</tool>");
        assert_eq!(call(json!({"x": "a\nb < c\n"})), "<tool name=\"t\">\n<x>\na\nb < c\n\n</x>\n</tool>");
        assert_eq!(call(json!({"x": " a"})), "<tool name=\"t\">\n<x><![CDATA[ a]]></x>\n</tool>");
        assert_eq!(call(json!({"x": "]]> "})), "<tool name=\"t\">\n<x>]]&gt;&#32;</x>\n</tool>");
        assert_eq!(call(json!({"x": null})), "<tool name=\"t\">\n</tool>");
        assert_eq!(call(json!({"a b": "</"})), "<tool name=\"t\">\n{\"a b\":\"<\\/\"}\n</tool>");
    }
}
