//! Recognizes files that are not text.

/// How many bytes of a file are examined.
pub(crate) const SAMPLE: usize = 8 * 1024;

const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "an ELF program"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// Returns the kind of binary file that begins with `sample`; `None` for text.
pub(crate) fn binary(sample: &[u8]) -> Option<&'static str> {
    let known = KINDS.iter().find(|(magic, _)| sample.starts_with(magic)).map(|(_, kind)| *kind);
    match known {
        // Text may begin with these bytes as well.
        Some("bzip2 data" | "a Windows program" | "a RIFF file (WebP, WAV or AVI)" | "a GIF image")
            if !sample.contains(&0) =>
        {
            None
        }
        Some(kind) => Some(kind),
        None if sample.contains(&0) => Some("binary data"),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::binary;

    #[test]
    fn text_is_told_from_other_things() {
        assert_eq!(binary(b"\x89PNG\r\n"), Some("a PNG image"));
        assert_eq!(binary(b"a\0b"), Some("binary data"));
        assert_eq!(binary(b"MZ is how this text begins"), None);
        assert_eq!(binary("é".as_bytes()), None);
        assert_eq!(binary(b""), None);
    }
}
