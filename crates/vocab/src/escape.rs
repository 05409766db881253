//! Writes text as a JSON string. Most text needs few escapes, so it is scanned many bytes at a time.

/// Bytes scanned together: as many as the compiler turns into one vector comparison.
const TOGETHER: usize = 32;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Passes `text` as a JSON string to `put`, in pieces: with quotes, and escaped as `serde_json` does it.
pub fn json_text(text: &str, mut put: impl FnMut(&[u8])) {
    let mut rest = text.as_bytes();
    put(b"\"");
    while let Some(place) = first_special(rest) {
        put(&rest[..place]);
        put_escaped(rest[place], &mut put);
        rest = &rest[place + 1..];
    }
    put(rest);
    put(b"\"");
}

/// Appends `text` as a JSON string.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.reserve(text.len() + 2);
    json_text(text, |piece| bytes.extend_from_slice(piece));
}

const fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// Returns the position of the first byte that must be escaped.
fn first_special(text: &[u8]) -> Option<usize> {
    let chunks = text.chunks_exact(TOGETHER);
    // No early exit inside the chunk, so that the compiler vectorises the comparison.
    let plain = |chunk: &&[u8]| !chunk.iter().fold(false, |special, byte| special | is_special(*byte));
    let begins = chunks.take_while(plain).count() * TOGETHER;
    text[begins..].iter().position(|byte| is_special(*byte)).map(|place| begins + place)
}

fn put_escaped(byte: u8, put: &mut impl FnMut(&[u8])) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        other => {
            let [high, low] = [other >> 4, other & 15].map(|digit| DIGITS[usize::from(digit)]);
            return put(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    put(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::put_text;

    fn check(text: &str) {
        let mut bytes = Vec::new();
        put_text(&mut bytes, text);
        assert_eq!(String::from_utf8(bytes).unwrap(), serde_json::to_string(text).unwrap());
    }

    #[test]
    fn text_is_escaped_as_serde_json_does_it_wherever_a_special_character_stands() {
        for special in (0..=0x100).filter_map(char::from_u32).chain(['\u{2028}', '⟦', '😀']) {
            for before in 0..70 {
                let text = format!("{}{special}{}", "a".repeat(before), "é".repeat(before % 7));
                check(&text);
                check(&format!("{text}{special}{special}{text}"));
            }
        }
        check("");
    }
}
