//! The forms of a secret: plain, and encoded in JSON, a URL or base64.

use std::collections::BTreeSet;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use serde_json::Value;

use super::SHORTEST_SECRET;

/// A key of several lines may be shown in part, so its lines of at least this length are secrets too.
const LONG_LINE: usize = 24;

pub(super) fn forms_of(value: &str) -> BTreeSet<String> {
    let lines = value.lines().map(str::trim).filter(|line| line.len() >= LONG_LINE && !line.starts_with("-----"));
    lines.chain([value]).flat_map(forms_of_piece).collect()
}

fn forms_of_piece(value: &str) -> BTreeSet<String> {
    let json = Value::from(value).to_string();
    let mut forms = BTreeSet::from([value.to_owned(), json[1..json.len() - 1].to_owned()]);
    forms.insert(percent(value, "0123456789ABCDEF"));
    forms.insert(percent(value, "0123456789abcdef"));
    for shift in 0..3 {
        forms.extend(base64_core(&BASE64_NOPAD, value, shift));
        forms.extend(base64_core(&BASE64URL_NOPAD, value, shift));
    }
    forms.retain(|form| form.len() >= SHORTEST_SECRET);
    forms
}

fn percent(value: &str, digits: &str) -> String {
    let digits = digits.as_bytes();
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push(char::from(digits[usize::from(byte >> 4)]));
            text.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    text
}

/// Returns the characters of a base64 text that depend on `value` alone when `shift` bytes precede it,
/// regardless of the bytes before and after.
fn base64_core(encoding: &data_encoding::Encoding, value: &str, shift: usize) -> Option<String> {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(value.as_bytes());
    let whole = bytes.len() * 8 / 6;
    let text = encoding.encode(&bytes);
    text.get((shift * 8).div_ceil(6)..whole).map(str::to_owned)
}
