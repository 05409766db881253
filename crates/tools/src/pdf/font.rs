//! What the codes of a font in a PDF mean as text.

use hayro_syntax::object::{Array, Dict, Name, Object, Stream};

use super::cmap::CodeMap;
use super::glyph_names::{MAC_ROMAN, WINDOWS, glyph_text};

/// A font, as far as text needs it.
#[derive(Debug)]
pub(super) struct FontCodes {
    map: Option<CodeMap>,
    /// Whether its codes name glyphs of a composite font, which only `map` can turn into text.
    composite: bool,
    /// The text of each code of a simple font.
    simple: Vec<Option<String>>,
}

impl FontCodes {
    pub(super) fn new(font: &Dict<'_>) -> Self {
        let stream = font.get::<Stream<'_>>(&b"ToUnicode"[..]);
        let map = stream.and_then(|stream| stream.decoded().ok().map(|data| CodeMap::parse(&data)));
        let composite = font.get::<Name<'_>>(&b"Subtype"[..]).is_some_and(|kind| kind.as_str() == "Type0");
        Self { map, composite, simple: if composite { Vec::new() } else { simple(font) } }
    }

    /// Appends the text of a string in this font.
    pub(super) fn append(&self, codes: &[u8], text: &mut String) {
        let usual = if self.composite { 2 } else { 1 };
        let length = self.map.as_ref().and_then(|map| map.code_bytes).filter(|_| self.composite).unwrap_or(usual);
        for code in codes.chunks(length) {
            let number = code.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte));
            let mapped = self.map.as_ref().and_then(|map| map.text(number));
            let simple = usize::try_from(number).ok().and_then(|place| self.simple.get(place)?.as_deref());
            text.push_str(mapped.or(simple).unwrap_or_default());
        }
    }
}

/// Returns the texts of a simple font's codes, by its encoding.
fn simple(font: &Dict<'_>) -> Vec<Option<String>> {
    let encoding = font.get::<Dict<'_>>(&b"Encoding"[..]);
    let base = match &encoding {
        Some(encoding) => encoding.get::<Name<'_>>(&b"BaseEncoding"[..]),
        None => font.get::<Name<'_>>(&b"Encoding"[..]),
    };
    let high = if base.is_some_and(|name| name.as_str() == "MacRomanEncoding") { MAC_ROMAN } else { WINDOWS };
    let ascii = (0u8..0x80).map(|code| (code >= 0x20).then(|| char::from(code).to_string()));
    let mut texts: Vec<Option<String>> = ascii.chain(high.chars().map(|c| Some(c.to_string()))).collect();
    let differences = encoding.and_then(|encoding| encoding.get::<Array<'_>>(&b"Differences"[..]));
    let mut place = 0;
    for item in differences.iter().flat_map(Array::iter::<Object<'_>>) {
        match item {
            Object::Number(number) => place = usize::try_from(number.as_i64()).unwrap_or(usize::MAX),
            Object::Name(name) => {
                if let (Some(slot), Some(text)) = (texts.get_mut(place), glyph_text(name.as_str())) {
                    *slot = Some(text);
                }
                place = place.saturating_add(1);
            }
            _ => {}
        }
    }
    texts
}
