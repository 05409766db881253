//! Writes JSON directly, for messages: every turn writes some. Constant JSON goes out as it is, strings are escaped.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use windlass_vocab::json_text;

/// Writes constant JSON.
pub(crate) fn write(out: &mut impl BufMut, json: &str) {
    out.put_slice(json.as_bytes());
}

/// Writes constant JSON, and then a string.
pub(crate) fn write_string(out: &mut impl BufMut, before: &str, text: &str) {
    write(out, before);
    json_text(text, |piece| out.put_slice(piece));
}

/// Writes a comma if an element of a list of objects stands at the end of `out`.
pub(crate) fn separate(out: &mut BytesMut) {
    if ends_with_object(out) {
        write(out, ",");
    }
}

/// Whether an object ends `written`, so that the next element of its list needs a comma: a message may have written
/// none.
pub(crate) fn ends_with_object(written: &[u8]) -> bool {
    written.last() == Some(&b'}')
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
