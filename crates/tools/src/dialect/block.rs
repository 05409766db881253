//! `<tool>` blocks, and the tags that small models use instead of them.
//!
//! ```text
//! <tool>
//! <server_name>local</server_name>
//! <tool_name>read_file</tool_name>
//! <arguments>{"path": "a.txt"}</arguments>
//! </tool>
//! ```

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use windlass_vocab::ReplyCall;

use super::malformed_call::MalformedCall;
use super::{json, xml};
use crate::repair::mend;

const CDATA: &str = "<![CDATA[";

/// Parses the calls of a block; `inner` is the text between its tags. The server may be missing where the tool's name
/// alone is known.
pub(super) fn calls(inner: &str, knows: &dyn Fn(&str) -> bool) -> Result<Vec<ReplyCall>, MalformedCall> {
    let inner = inner.trim();
    if inner.starts_with('{') {
        return json::calls(inner)
            .ok_or_else(|| MalformedCall::parse("what stands in <tool> is no call that can be read."));
    }
    let begin = memmem::find(inner.as_bytes(), b"<arguments>");
    let head = &inner[..begin.unwrap_or(inner.len())];
    let given = begin.map(|begin| &inner[begin + "<arguments>".len()..]);
    let end = given.and_then(|given| memmem::rfind(given.as_bytes(), b"</arguments>"));
    let tail = given.zip(end).map_or("", |(given, end)| &given[end..]);
    let named = |element: &Element| match element.text_in(head)? {
        None => element.text_in(tail),
        Some(text) => Ok(Some(text)),
    };
    let missing = |element: &Element| MalformedCall::MissingField { field: element.name };
    let (server, tool) = (named(&SERVER)?, named(&NAME)?.ok_or_else(|| missing(&NAME)));
    let name = match (server, tool?) {
        (_, tool) if tool.contains('.') => tool,
        (Some(server), tool) => format!("{server}.{tool}"),
        (None, tool) if knows(&tool) => tool,
        (None, _) => return Err(missing(&SERVER)),
    };
    let arguments = match (given, end) {
        (None, _) => String::new(),
        (Some(given), Some(end)) => arguments(&given[..end])?,
        (Some(given), None) => unclosed(given)?,
    };
    Ok(vec![ReplyCall { provider_id: None, name, arguments, mended: None }])
}

/// An element with text content.
struct Element {
    name: &'static str,
    open: &'static str,
    close: &'static str,
}

const SERVER: Element = Element { name: "server_name", open: "<server_name>", close: "</server_name>" };
const NAME: Element = Element { name: "tool_name", open: "<tool_name>", close: "</tool_name>" };

impl Element {
    /// Returns its text, or `None` if it is absent or empty.
    fn text_in(&self, text: &str) -> Result<Option<String>, MalformedCall> {
        let Some(begin) = memmem::find(text.as_bytes(), self.open.as_bytes()) else { return Ok(None) };
        let inner = &text[begin + self.open.len()..];
        let end = inner.find('<').filter(|end| inner[*end..].starts_with(self.close));
        let Some(end) = end else { return Err(MalformedCall::parse(format!("{} is not closed.", self.open))) };
        let text = xml::content(&inner[..end]);
        Ok((!text.is_empty()).then_some(text))
    }
}

/// Parses arguments whose closing tag is missing: accepted if they are complete otherwise.
fn unclosed(text: &str) -> Result<String, MalformedCall> {
    let cut = || MalformedCall::parse("<arguments> is not closed; the call was cut off.");
    let text = text.trim();
    let whole = serde_json::from_str::<Map<String, Value>>(text).is_ok()
        || xml::members(text).is_some_and(|all| !all.is_empty());
    if whole { arguments(text) } else { Err(cut()) }
}

/// Returns the arguments as JSON text, which may still need repair.
fn arguments(text: &str) -> Result<String, MalformedCall> {
    let text = text.trim();
    let text = text.strip_prefix(CDATA).and_then(|rest| rest.strip_suffix("]]>")).unwrap_or(text).trim();
    if text.is_empty() {
        return Ok(String::new());
    }
    if text.starts_with('<') {
        let members =
            xml::members(text).ok_or_else(|| MalformedCall::parse("the elements in <arguments> don't add up."))?;
        return Ok(Value::Object(members).to_string());
    }
    let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { return Ok(text.to_owned()) };
    let plain = xml::unescaped(text);
    if serde_json::from_str::<IgnoredAny>(&plain).is_ok() {
        return Ok(plain);
    }
    let Err(fault) = mend(text) else { return Ok(text.to_owned()) };
    let fault = fault.message().unwrap_or_else(|| error.to_string());
    Err(MalformedCall::parse(format!("what stands in <arguments> is neither well-formed JSON nor elements: {fault}.")))
}

/// Parses the calls in a tag that small models put around them.
pub(super) fn wrapped(inner: &str) -> Result<Vec<ReplyCall>, MalformedCall> {
    let inner = inner.trim();
    if inner.starts_with('<') {
        return function(inner).map(|call| vec![call]);
    }
    json::calls(inner)
        .ok_or_else(|| MalformedCall::parse("what stands in the tag is no JSON with `name` and `arguments`."))
}

/// Parses `<function=name>` with JSON or `<parameter=key>` in it.
pub(super) fn function(text: &str) -> Result<ReplyCall, MalformedCall> {
    let broken = || MalformedCall::parse("<function=…> is not whole.");
    let text = text.trim().strip_prefix("<function=").ok_or_else(broken)?;
    let (name, inner) = text.split_once('>').ok_or_else(broken)?;
    let (inner, behind) = inner.split_once("</function>").unwrap_or((inner, ""));
    if !behind.trim().is_empty() {
        return Err(MalformedCall::parse("something stands behind </function>: write one call at a time."));
    }
    let inner = inner.trim();
    let name = name.trim().trim_matches('"').to_owned();
    let arguments =
        if inner.starts_with("<parameter") { parameters(inner).ok_or_else(broken)? } else { arguments(inner)? };
    Ok(ReplyCall { provider_id: None, name, arguments, mended: None })
}

fn parameters(text: &str) -> Option<String> {
    let mut members = Map::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, inner) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, behind) = inner.split_once("</parameter>")?;
        let key = key.trim().trim_matches('"').to_owned();
        if members.insert(key, Value::String(xml::content(value))).is_some() {
            return None;
        }
        rest = behind.trim_start();
    }
    Some(Value::Object(members).to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn calls(inner: &str) -> Result<Vec<ReplyCall>, MalformedCall> {
        super::calls(inner, &|name| name == "unique")
    }

    fn block(arguments: &str) -> String {
        format!("<server_name>s</server_name>\n<tool_name>t</tool_name>\n<arguments>{arguments}</arguments>")
    }

    // proves T4
    #[test]
    fn arguments_are_json_or_elements() {
        for (text, want) in [
            (r#"{"a": 1}"#, json!({"a": 1})),
            ("\n{\"a\": 1}\n", json!({"a": 1})),
            ("<![CDATA[{\"a\": \"x < y && z\"}]]>", json!({"a": "x < y && z"})),
            ("<a>1</a><b>x & y</b>", json!({"a": "1", "b": "x & y"})),
            ("<a><![CDATA[</arguments>]]></a>", json!({"a": "</arguments>"})),
            (r#"{"a": "x && y"}"#, json!({"a": "x && y"})),
            ("{&quot;a&quot;: &quot;x &amp; y&quot;}", json!({"a": "x & y"})),
            (r#"{"a": "</arguments> in a text"}"#, json!({"a": "</arguments> in a text"})),
        ] {
            let calls = calls(&block(text)).unwrap();
            assert_eq!(calls[0].name, "s.t");
            assert_eq!(serde_json::from_str::<Value>(&calls[0].arguments).unwrap(), want, "{text}");
        }
        assert_eq!(calls(&block("")).unwrap()[0].arguments, "");
        assert_eq!(calls("<server_name>s</server_name><tool_name>t</tool_name>").unwrap()[0].arguments, "");
        // Repaired later, with the repair recorded.
        assert_eq!(calls(&block("{'a': 1,}")).unwrap()[0].arguments, "{'a': 1,}");
    }

    // proves T4
    #[test]
    fn what_is_missing_or_broken_is_named() {
        let missing = |field| Err(MalformedCall::MissingField { field });
        assert_eq!(calls("<tool_name>t</tool_name>"), missing("server_name"));
        assert_eq!(calls("<tool_name>unique</tool_name>").unwrap()[0].name, "unique");
        assert_eq!(calls("<server_name>s</server_name>"), missing("tool_name"));
        assert_eq!(calls("<server_name>s</server_name><tool_name> </tool_name>"), missing("tool_name"));
        for broken in [
            "<server_name>s</server_name><tool_name>t",
            "<server_name>s<tool_name>t</tool_name>",
            &block("{\"a\": \"half"),
            &block("plain words"),
            &block(r#"{"a": "x"}{"a": "y"}"#),
            &block("{\"a\": \"x\"}\n{\"b\": \"y\"}"),
            &block("<a>1"),
            "<server_name>s</server_name><tool_name>t</tool_name><arguments>{\"a\": 1",
            "{\"a\": 1}",
        ] {
            assert!(matches!(calls(broken), Err(MalformedCall::ParseError { .. })), "{broken}");
        }
        let whole = "<server_name>s</server_name><tool_name>t</tool_name><arguments>{\"a\": 1}";
        assert_eq!(calls(whole).unwrap()[0].arguments, "{\"a\": 1}");
    }

    // proves T4
    #[test]
    fn the_tags_of_small_models_are_read() {
        let calls = wrapped("\n{\"name\": \"t\", \"arguments\": {\"a\": 1}}\n").unwrap();
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("t", "{\"a\": 1}"));
        let call = function("<function=t>{\"a\": 1}</function>").unwrap();
        assert_eq!((call.name.as_str(), call.arguments.as_str()), ("t", "{\"a\": 1}"));
        let call =
            function("<function=t>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\nx\ny\n</parameter>\n</function>");
        assert_eq!(call.unwrap().arguments, r#"{"a":"1","b":"x\ny"}"#);
        assert!(wrapped("{\"a\": 1}").is_err());
        assert!(function("<function=t>words</function>").is_err());
        // Neither a value nor a call is dropped silently.
        assert!(function("<function=t><parameter=a>1</parameter><parameter=a>2</parameter></function>").is_err());
        assert!(wrapped("<function=t>{}</function>\n<function=u>{}</function>").is_err());
    }
}
