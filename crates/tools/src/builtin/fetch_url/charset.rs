//! Decodes bytes to text: UTF-8 and Windows-1252, which covers nearly all of the web.

/// A decoded text and, if it may be wrong, the encoding that was assumed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DecodedText {
    pub(super) text: String,
    pub(super) doubt: Option<String>,
}

/// How many bytes are searched for the page's own charset declaration.
const SEARCHED: usize = 1024;

/// Decodes `bytes` in the charset that the server or the page declares; without one, as UTF-8 if that is valid, else as
/// Windows-1252.
pub(super) fn decode(bytes: &[u8], named: Option<&str>) -> DecodedText {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return lossy(rest, None);
    }
    let named = named.map(str::to_owned).or_else(|| named_in_page(bytes)).map(|name| name.trim().to_ascii_lowercase());
    match named.as_deref() {
        None => match std::str::from_utf8(bytes) {
            Ok(text) => DecodedText { text: text.to_owned(), doubt: None },
            Err(error) if error.error_len().is_none() => lossy(bytes, None),
            Err(_) => DecodedText { text: western(bytes), doubt: None },
        },
        Some("utf-8" | "utf8" | "us-ascii" | "ascii") => lossy(bytes, None),
        Some("iso-8859-1" | "latin1" | "iso8859-1" | "windows-1252" | "cp1252" | "iso-8859-15") => {
            DecodedText { text: western(bytes), doubt: None }
        }
        Some(other) => lossy(bytes, Some(other)),
    }
}

fn lossy(bytes: &[u8], named: Option<&str>) -> DecodedText {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let doubt = named.map(|name| {
        let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        format!("the server names the letters `{name}`, which are not known here; read as UTF-8")
    });
    DecodedText { text, doubt }
}

/// Returns the charset of `<meta charset=…>`, or of its `content` attribute.
fn named_in_page(bytes: &[u8]) -> Option<String> {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED)]).to_ascii_lowercase();
    let (_, meta) = beginning.split_once("<meta")?;
    let (_, name) = meta.split_once("charset")?;
    let name = name.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let name: String = name.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    (!name.is_empty()).then_some(name)
}

/// The characters 0x80 to 0x9f of Windows-1252, which differ from Unicode. Browsers decode Latin-1 this way too.
const HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn western(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::decode;

    // proves T10
    #[test]
    fn letters_are_read_as_named_or_as_they_look() {
        for (bytes, named, want) in [
            ("grüße".as_bytes(), None, "grüße"),
            (b"gr\xfc\xdfe \x80", None, "grüße €"),
            (b"gr\xfc\xdfe", Some("ISO-8859-1"), "grüße"),
            ("grüße".as_bytes(), Some("latin1"), "grÃ¼ÃŸe"),
            (b"gr\xfc", Some("utf-8"), "gr\u{fffd}"),
            (b"\xef\xbb\xbfa", Some("latin1"), "a"),
            (b"<meta charset='windows-1252'>\x93a\x94", None, "<meta charset='windows-1252'>“a”"),
            // Cut in the middle of a character.
            (b"gr\xc3", None, "gr\u{fffd}"),
        ] {
            assert_eq!(decode(bytes, named).text, want, "{named:?}");
        }
        assert!(decode(b"a", Some("shift_jis")).doubt.unwrap().contains("shift_jis"));
    }
}
