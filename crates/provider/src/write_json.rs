//! Writes JSON directly, for messages: every turn writes some. Constant JSON goes out as it is, strings are escaped.

use std::borrow::Cow;

use bytes::BufMut;
use windlass_vocab::{CallId, json_text};

/// Writes constant JSON.
pub(crate) fn write(out: &mut impl BufMut, json: &str) {
    out.put_slice(json.as_bytes());
}

/// Writes constant JSON, and then a string.
pub(crate) fn write_string(out: &mut impl BufMut, before: &str, text: &str) {
    write(out, before);
    json_text(text, |piece| out.put_slice(piece));
}

/// Returns the id of a call on the wire: the provider's own, else one of ours.
pub(crate) fn wire_id(call: CallId, provider_id: Option<&str>) -> Cow<'_, str> {
    match provider_id {
        Some(id) if !id.is_empty() => Cow::Borrowed(id),
        _ => Cow::Owned(format!("call_{}_{}_{}", call.run, call.turn, call.index)),
    }
}

/// Returns the id of a call for a wire that accepts only letters, digits, `_` and `-`. An id with anything else, given
/// by another provider, is replaced by ours, which is unique in the history.
pub(crate) fn legal_wire_id(call: CallId, provider_id: Option<&str>) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    wire_id(call, provider_id.filter(|id| id.len() <= LONGEST && id.bytes().all(fits)))
}

/// Returns a valid tool name. A model may have called a tool by an invalid name, and a history that repeats it
/// literally would be refused from then on.
pub(crate) fn wire_name(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 64;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits) {
        return Cow::Borrowed(name);
    }
    let legal: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(LONGEST).collect();
    Cow::Owned(if legal.is_empty() { "unknown".into() } else { legal })
}
