//! `[server.tool(k="v", n=5)]`, and several of them between the same brackets.

use serde::de::IgnoredAny;
use windlass_vocab::ReplyCall;

use super::malformed_call::MalformedCall;
use super::scan::{Brackets, Parentheses};
use crate::repair::mend;

/// Whether a tool's name may contain this character.
pub(super) fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_.-/:".contains(c)
}

/// Parses the calls between the brackets of `text`. Returns `None` if it is something else.
pub(super) fn calls(text: &str) -> Option<Result<Vec<ReplyCall>, MalformedCall>> {
    let mut rest = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_name(c))?;
        let (name, behind) = rest.split_at(end);
        if name.is_empty() || !behind.starts_with('(') {
            return None;
        }
        let close = Brackets::new(0, Parentheses::Count).end(behind.as_bytes())?;
        match arguments(&behind[1..close - 1]) {
            Some(arguments) => {
                calls.push(ReplyCall { provider_id: None, name: name.to_owned(), arguments, mended: None });
            }
            None => return Some(Err(unreadable(name))),
        }
        let behind = behind[close..].trim_start();
        rest = match behind.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None if behind.is_empty() => behind,
            None => return None,
        };
    }
    (!calls.is_empty()).then_some(Ok(calls))
}

fn unreadable(name: &str) -> MalformedCall {
    MalformedCall::parse(format!("the arguments of `{name}` must be written name=value, text in double quotes."))
}

/// Returns the arguments as an object. The repair reads `=` as JSON's colon.
fn arguments(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return Some("{}".to_owned());
    }
    if text.starts_with('{') {
        return Some(mend(text).ok()?.text);
    }
    let object = mend(&format!("{{{text}}}")).ok()?.text;
    serde_json::from_str::<IgnoredAny>(&object).ok().map(|_| object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        let calls = calls(text).unwrap().unwrap();
        calls.into_iter().map(|call| (call.name, call.arguments)).collect()
    }

    // proves T4
    #[test]
    fn arguments_between_round_brackets_become_an_object() {
        for (text, arguments) in [
            (r#"[a.b(k="v")]"#, r#"{"k":"v"}"#),
            ("[a.b()]", "{}"),
            ("[a.b(k='v', n=5, x=True, y=None)]", r#"{"k":"v","n":5,"x":true,"y":null}"#),
            (r#"[a.b(k="x) ]", l=[1, 2], o={"a": 1})]"#, r#"{"k":"x) ]","l":[1,2],"o":{"a":1}}"#),
            (r#"[ a.b( k = "v" ) ]"#, r#"{"k":"v"}"#),
            (r#"[a.b({"k": "v"})]"#, r#"{"k":"v"}"#),
            ("[a.b(k=\"one\ntwo\")]", r#"{"k":"one\ntwo"}"#),
            (r#"[a.b(k="C:\Users\x")]"#, r#"{"k":"C:\\Users\\x"}"#),
        ] {
            assert_eq!(read(text), [("a.b".to_owned(), arguments.to_owned())], "{text}");
        }
        assert_eq!(read("[a(x=1), b(y=2)]").len(), 2);
    }

    #[test]
    fn other_brackets_are_no_calls_and_positions_are_not_guessed() {
        for text in ["[a]", "[a](b)", "[a.b(1)", "[]", "[a() b()]", "[(x=1)]", "(a(x=1))"] {
            assert_eq!(calls(text), None, "{text}");
        }
        assert!(calls(r#"[a("b")]"#).unwrap().is_err());
    }
}
