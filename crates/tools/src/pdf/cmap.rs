//! The map from the codes of a font to text that a PDF carries with the font (`ToUnicode`).

use std::collections::HashMap;

/// The most codes of a map: no font has more.
const MOST_CODES: usize = 65_536;

/// A map from codes to text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CodeMap {
    texts: HashMap<u32, String>,
    /// The bytes of a code, where the map says so.
    pub(super) code_bytes: Option<usize>,
}

/// What the map consists of.
enum MapToken<'a> {
    Word(&'a [u8]),
    /// Hexadecimal digits, as bytes.
    Bytes(Vec<u8>),
    Open,
    Close,
}

impl CodeMap {
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut before: Vec<MapToken<'_>> = Vec::new();
        let mut rest = data;
        while let Some((token, after)) = next_token(rest) {
            rest = after;
            let MapToken::Word(word) = token else {
                before.push(token);
                continue;
            };
            match word {
                b"endcodespacerange" => map.code_bytes = map.code_bytes.or(first_length(&before)),
                b"endbfchar" => map.add_chars(&before),
                b"endbfrange" => map.add_ranges(&before),
                _ => {}
            }
            before.clear();
        }
        map
    }

    pub(super) fn text(&self, code: u32) -> Option<&str> {
        self.texts.get(&code).map(String::as_str)
    }

    fn add(&mut self, code: u32, text: String) {
        if self.texts.len() < MOST_CODES {
            self.texts.insert(code, text);
        }
    }

    fn add_chars(&mut self, tokens: &[MapToken<'_>]) {
        for pair in tokens.chunks_exact(2) {
            if let [MapToken::Bytes(code), MapToken::Bytes(text)] = pair {
                self.add(number(code), utf16(text));
            }
        }
    }

    /// Adds ranges: first and last code, and the text of the first, or a list with the text of each.
    fn add_ranges(&mut self, tokens: &[MapToken<'_>]) {
        let mut tokens = tokens.iter();
        while let (Some(MapToken::Bytes(first)), Some(MapToken::Bytes(last))) = (tokens.next(), tokens.next()) {
            let codes = number(first)..=number(last).min(number(first).saturating_add(0xffff));
            match tokens.next() {
                Some(MapToken::Bytes(text)) => {
                    for (offset, code) in codes.enumerate() {
                        self.add(code, utf16(&raised(text, offset)));
                    }
                }
                Some(MapToken::Open) => {
                    for code in codes {
                        match tokens.next() {
                            Some(MapToken::Bytes(text)) => self.add(code, utf16(text)),
                            Some(MapToken::Open | MapToken::Close | MapToken::Word(_)) | None => break,
                        }
                    }
                    let _ = tokens.find(|token| matches!(token, MapToken::Close));
                }
                Some(MapToken::Close | MapToken::Word(_)) | None => return,
            }
        }
    }
}

fn first_length(tokens: &[MapToken<'_>]) -> Option<usize> {
    match tokens.first() {
        Some(MapToken::Bytes(bytes)) => Some(bytes.len()).filter(|length| (1..=4).contains(length)),
        Some(MapToken::Word(_) | MapToken::Open | MapToken::Close) | None => None,
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Returns a text whose last byte, with those before it, is raised by `offset`.
fn raised(text: &[u8], offset: usize) -> Vec<u8> {
    let mut raised = text.to_vec();
    let mut carry = offset;
    for byte in raised.iter_mut().rev() {
        carry += usize::from(*byte);
        *byte = u8::try_from(carry & 0xff).unwrap_or_default();
        carry >>= 8;
    }
    raised
}

fn utf16(bytes: &[u8]) -> String {
    if let [only] = bytes {
        return char::from(*only).to_string();
    }
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// Returns the next token, and what follows it.
fn next_token(data: &[u8]) -> Option<(MapToken<'_>, &[u8])> {
    let start = data.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != 0)?;
    let data = &data[start..];
    match data[0] {
        b'[' => Some((MapToken::Open, &data[1..])),
        b']' => Some((MapToken::Close, &data[1..])),
        b'<' if data.get(1) != Some(&b'<') => {
            let end = data.iter().position(|byte| *byte == b'>').unwrap_or(data.len());
            let digits: Vec<u8> = data[1..end]
                .iter()
                .filter_map(|byte| char::from(*byte).to_digit(16))
                .map(|digit| digit as u8)
                .collect();
            let bytes = digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect();
            Some((MapToken::Bytes(bytes), data.get(end + 1..).unwrap_or_default()))
        }
        _ => {
            let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b']' | b'<');
            let end = data.iter().skip(1).position(is_end).map_or(data.len(), |at| at + 1);
            Some((MapToken::Word(&data[..end]), &data[end..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CodeMap;

    #[test]
    fn chars_ranges_and_lists_map_codes_to_text() {
        let map = CodeMap::parse(
            b"1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n\
              2 beginbfchar\n<0001> <0041>\n<0002> <D83DDE00>\nendbfchar\n\
              2 beginbfrange\n<0010> <0012> <00FF>\n<0020> <0021> [<0066> <00660069>]\nendbfrange",
        );
        let found: Vec<Option<&str>> =
            [1, 2, 0x10, 0x11, 0x12, 0x13, 0x20, 0x21].into_iter().map(|code| map.text(code)).collect();
        let expected = ["A", "😀", "ÿ", "Ā", "ā"].map(Some);
        assert_eq!(found[..5], expected);
        assert_eq!(found[5..], [None, Some("f"), Some("fi")]);
        assert_eq!(map.code_bytes, Some(2));
    }

    #[test]
    fn a_broken_map_is_read_as_far_as_it_goes() {
        for data in [&b"beginbfrange <00> <FFFFFFFF> <0041> endbfrange"[..], b"<", b"endbfchar", b"<41 endbfchar", b""]
        {
            assert!(CodeMap::parse(data).texts.len() <= 65_536);
        }
    }
}
