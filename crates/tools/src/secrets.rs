//! Secrets (X1): values Windlass knows and nobody else may see.
//!
//! Before anything is recorded, streamed, logged or sent to a model, every known value in it is
//! replaced by `⟦secret:NAME⟧`; also in the forms it takes inside JSON, a URL or base64. Values
//! shorter than eight characters are let through: replacing those would garble ordinary text.
//!
//! ```
//! use windlass_tools::Secrets;
//!
//! let secrets = Secrets::new([("API_KEY", "sk-12345678")]);
//! assert_eq!(secrets.scrub("key=sk-12345678."), "key=⟦secret:API_KEY⟧.");
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use serde_json::Value;
use windlass_vocab::Json;

const SHORTEST: usize = 8;
const MARK: &str = "⟦secret:";

/// The known secrets. Cheap to clone; its `Debug` names them and shows none.
#[derive(Clone, Default)]
pub struct Secrets {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    names: BTreeSet<String>,
    finder: AhoCorasick,
    /// What is looked for, and what stands in for each.
    forms: Vec<String>,
    placeholders: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.inner.iter().flat_map(|inner| &inner.names)).finish()
    }
}

impl Secrets {
    /// Secrets by name and value. White space around a value is not part of it.
    pub fn new<N: Into<String>, V: AsRef<str>>(secrets: impl IntoIterator<Item = (N, V)>) -> Self {
        let (mut names, mut forms, mut placeholders) = (BTreeSet::new(), Vec::new(), Vec::new());
        for (name, value) in secrets {
            let (name, value) = (name.into(), value.as_ref().trim());
            if value.chars().count() < SHORTEST {
                continue;
            }
            for form in forms_of(value) {
                forms.push(form);
                placeholders.push(placeholder(&name));
            }
            names.insert(name);
        }
        if forms.is_empty() {
            return Self::default();
        }
        // Building fails only past 2³¹ states, that is for gigabytes of secrets.
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
        let inner = finder.ok().map(|finder| Arc::new(Inner { names, finder, forms, placeholders }));
        Self { inner }
    }

    /// `text` with every known secret replaced.
    #[must_use]
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match &self.inner {
            Some(inner) if inner.finder.is_match(text) => {
                Cow::Owned(inner.finder.replace_all(text, &inner.placeholders))
            }
            Some(_) | None => Cow::Borrowed(text),
        }
    }

    /// Whether one of them is in these bytes.
    #[must_use]
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.finder.is_match(bytes))
    }

    /// `json` with every known secret replaced; still JSON, even where a secret is a bare number.
    #[must_use]
    pub fn scrub_json(&self, json: &Json) -> Json {
        match self.scrub(json.as_str()) {
            Cow::Borrowed(_) => json.clone(),
            Cow::Owned(text) => Json::parse(&text).unwrap_or_else(|_| Json::from(&self.scrub_value(json.to_value()))),
        }
    }

    fn scrub_value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.scrub(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(|item| self.scrub_value(item)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, member)| (self.scrub(&key).into_owned(), self.scrub_value(member)))
                .collect(),
            Value::Number(number) => match self.scrub(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(text) => Value::String(text),
            },
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// The variables of an environment that children must not inherit: those a secret is named
    /// after, and those with a secret in their value.
    pub fn scrubbed_names(&self, environment: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeSet<OsString> {
        let Some(inner) = &self.inner else {
            return BTreeSet::new();
        };
        let holds = |value: &OsStr| inner.finder.is_match(value.as_encoded_bytes());
        let named = inner.names.iter().map(OsString::from);
        environment.into_iter().filter(|(_, value)| holds(value)).map(|(name, _)| name).chain(named).collect()
    }

    /// A scrubber for text that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamScrubber {
        StreamScrubber { secrets: self.clone(), held: String::new() }
    }
}

/// Whether a text has a placeholder in it: the secret itself is not there, so what would be written
/// is not what was meant.
#[must_use]
pub fn contains_placeholder(text: &str) -> bool {
    text.contains(MARK)
}

/// Names come from outside; what could break out of the placeholder, or out of JSON, is left out.
fn placeholder(name: &str) -> String {
    let name: String = name.chars().filter(|c| c.is_alphanumeric() || "_-.:/ ".contains(*c)).collect();
    format!("{MARK}{name}⟧")
}

/// A key of several lines may be shown in part: its longer lines are secrets too.
const LONG_LINE: usize = 24;

fn forms_of(value: &str) -> BTreeSet<String> {
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
    forms.retain(|form| form.len() >= SHORTEST);
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

/// The characters of a base64 text that come from `value` alone when `shift` bytes stand before it,
/// whatever stands before and after.
fn base64_core(encoding: &data_encoding::Encoding, value: &str, shift: usize) -> Option<String> {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(value.as_bytes());
    let whole = bytes.len() * 8 / 6;
    let text = encoding.encode(&bytes);
    text.get((shift * 8).div_ceil(6)..whole).map(str::to_owned)
}

/// Scrubs text that arrives in pieces: what may be the beginning of a secret is held back until it
/// is known to be one or not. The pieces that come out, joined, are what `scrub` makes of the whole.
#[derive(Clone, Debug)]
pub struct StreamScrubber {
    secrets: Secrets,
    held: String,
}

impl StreamScrubber {
    /// Takes the next piece, gives what can be shown.
    pub fn push<'p>(&mut self, piece: &'p str) -> Cow<'p, str> {
        let Some(inner) = self.secrets.inner.clone() else {
            return Cow::Borrowed(piece);
        };
        self.held.push_str(piece);
        let mut shown = String::new();
        loop {
            let open = inner.first_unfinished(&self.held);
            match inner.finder.find(&self.held).filter(|found| found.start() < open) {
                Some(found) => {
                    shown.push_str(&self.held[..found.start()]);
                    shown.push_str(&inner.placeholders[found.pattern().as_usize()]);
                    self.held.drain(..found.end());
                }
                None => {
                    shown.extend(self.held.drain(..open));
                    return Cow::Owned(shown);
                }
            }
        }
    }

    /// The rest, once nothing more will come.
    #[must_use]
    pub fn finish(&mut self) -> String {
        self.secrets.scrub(&std::mem::take(&mut self.held)).into_owned()
    }
}

impl Inner {
    /// Where in `text` a secret may have begun that more text could complete or lengthen.
    fn first_unfinished(&self, text: &str) -> usize {
        let longest = self.forms.iter().map(String::len).max().unwrap_or(0);
        let earliest = text.len().saturating_sub(longest.saturating_sub(1));
        let begins = |at: &usize| {
            text.is_char_boundary(*at) && {
                let end = &text[*at..];
                self.forms.iter().any(|form| form.len() > end.len() && form.starts_with(end))
            }
        };
        (earliest..text.len()).find(begins).unwrap_or(text.len())
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-\"a/b+c\\d é=1";

    fn secrets() -> Secrets {
        Secrets::new([("KEY", KEY), ("OTHER", "sk-other-key"), ("SHORT", "abc"), ("LONGER", "sk-other-key-and-more")])
    }

    // proves X1
    #[test]
    fn a_secret_is_replaced_in_every_form_it_takes() {
        let json = serde_json::to_string(KEY).unwrap();
        for (text, want) in [
            (KEY.to_owned(), "⟦secret:KEY⟧".to_owned()),
            (format!("x{KEY}y"), "x⟦secret:KEY⟧y".into()),
            (json, "\"⟦secret:KEY⟧\"".into()),
            ("u=sk-%22a%2Fb%2Bc%5Cd%20%C3%A9%3D1".into(), "u=⟦secret:KEY⟧".into()),
            ("u=sk-%22a%2fb%2bc%5cd%20%c3%a9%3d1".into(), "u=⟦secret:KEY⟧".into()),
            ("sk-other-key-and-more sk-other-key".into(), "⟦secret:LONGER⟧ ⟦secret:OTHER⟧".into()),
            ("abc sk-othe".into(), "abc sk-othe".into()),
        ] {
            assert_eq!(secrets().scrub(&text), want, "{text}");
        }
    }

    // proves X1
    #[test]
    fn a_secret_is_found_in_base64_at_any_alignment() {
        for before in ["", "a", "ab", "abc", "user:"] {
            for after in ["", "x", "xy", "xyz"] {
                let plain = format!("{before}sk-other-key{after}");
                for text in [BASE64.encode(plain.as_bytes()), BASE64URL_NOPAD.encode(plain.as_bytes())] {
                    assert!(contains_placeholder(&secrets().scrub(&text)), "{plain}: {text}");
                }
            }
        }
    }

    // proves X1
    #[test]
    fn scrubbed_json_is_still_json() {
        let secrets = Secrets::new([("PIN", "1234567890"), ("KEY", KEY)]);
        for value in [
            serde_json::json!({"a": 1_234_567_890, "b": [KEY], KEY: null}),
            serde_json::json!({"a": format!("<{KEY}>")}),
        ] {
            let scrubbed = secrets.scrub_json(&Json::from(&value));
            assert!(scrubbed.to_value().is_object(), "{scrubbed:?}");
            assert!(contains_placeholder(scrubbed.as_str()) && !scrubbed.as_str().contains("1234567890"));
        }
    }

    // proves X1
    #[test]
    fn a_stream_split_anywhere_reads_as_the_scrubbed_whole() {
        let secrets = secrets();
        let text = format!("sk-other-ke sk-other-key-and-mor sk-other-key-and-more sk- {KEY} sk-o");
        let want = secrets.scrub(&text).into_owned();
        let cuts: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for first in &cuts {
            for second in cuts.iter().filter(|second| *second >= first) {
                let mut stream = secrets.stream();
                let mut got = stream.push(&text[..*first]).into_owned();
                got += &stream.push(&text[*first..*second]);
                got += &stream.push(&text[*second..]);
                got += &stream.finish();
                assert_eq!(got, want, "cut at {first} and {second}");
            }
        }
    }

    // proves X1
    #[test]
    fn a_part_of_a_key_of_several_lines_is_replaced_too() {
        let (first, second) = ("MIIEvQIBADANBgkqhkiG9w0BAQ", "EFAASCBKcwggSjAgEAAoIBAQC7");
        let key = format!("-----BEGIN PRIVATE KEY-----\n{first}\n{second}\n-----END PRIVATE KEY-----\n");
        let secrets = Secrets::new([("PEM", key.as_str())]);
        assert_eq!(secrets.scrub(&key).trim(), "⟦secret:PEM⟧");
        assert_eq!(secrets.scrub(&format!("line 3: {second}")), "line 3: ⟦secret:PEM⟧");
        assert_eq!(secrets.scrub("-----BEGIN PRIVATE KEY-----"), "-----BEGIN PRIVATE KEY-----");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        // proves X1
        #[test]
        fn a_stream_in_any_pieces_reads_as_the_scrubbed_whole(
            pieces in proptest::collection::vec("[ab]{0,5}", 0..12),
        ) {
            let secrets = Secrets::new([("A", "abababab"), ("B", "babbabba"), ("C", "abababababab"), ("D", "aaaaaaaa")]);
            let mut stream = secrets.stream();
            let mut got: String = pieces.iter().map(|piece| stream.push(piece)).collect();
            got += &stream.finish();
            prop_assert_eq!(got, secrets.scrub(&pieces.concat()).into_owned());
        }
    }

    // proves X1
    #[test]
    fn children_inherit_no_variable_with_a_secret_in_it() {
        let environment = [("PATH", "/bin"), ("AUTH", "Bearer sk-other-key"), ("KEY", "anything")];
        let names = secrets().scrubbed_names(environment.map(|(name, value)| (name.into(), value.into())));
        assert!(names.contains(OsStr::new("AUTH")) && names.contains(OsStr::new("KEY")));
        assert!(!names.contains(OsStr::new("PATH")));
    }

    // proves X1
    #[test]
    fn secrets_show_their_names_only() {
        assert_eq!(format!("{:?}", secrets()), r#"{"KEY", "LONGER", "OTHER"}"#);
        assert!(format!("{:?}", secrets().stream()).len() < 100);
    }
}
