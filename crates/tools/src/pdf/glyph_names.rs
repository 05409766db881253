//! Names of glyphs, and encodings of simple fonts.

/// The characters from 0x80 on in the encoding of Windows. Codes without a character have a blank.
pub(super) const WINDOWS: &str = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";

/// The characters from 0x80 on in the encoding of the Macintosh.
pub(super) const MAC_ROMAN: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}\
ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Names that are no letter, with their characters.
const NAMES: &[(&str, &str)] = &[
    ("space", " "),
    ("exclam", "!"),
    ("quotedbl", "\""),
    ("numbersign", "#"),
    ("dollar", "$"),
    ("percent", "%"),
    ("ampersand", "&"),
    ("quotesingle", "'"),
    ("parenleft", "("),
    ("parenright", ")"),
    ("asterisk", "*"),
    ("plus", "+"),
    ("comma", ","),
    ("hyphen", "-"),
    ("minus", "−"),
    ("period", "."),
    ("slash", "/"),
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("colon", ":"),
    ("semicolon", ";"),
    ("less", "<"),
    ("equal", "="),
    ("greater", ">"),
    ("question", "?"),
    ("at", "@"),
    ("bracketleft", "["),
    ("backslash", "\\"),
    ("bracketright", "]"),
    ("asciicircum", "^"),
    ("underscore", "_"),
    ("grave", "`"),
    ("braceleft", "{"),
    ("bar", "|"),
    ("braceright", "}"),
    ("asciitilde", "~"),
    ("quoteleft", "‘"),
    ("quoteright", "’"),
    ("quotedblleft", "“"),
    ("quotedblright", "”"),
    ("quotesinglbase", "‚"),
    ("quotedblbase", "„"),
    ("guillemotleft", "«"),
    ("guillemotright", "»"),
    ("endash", "–"),
    ("emdash", "—"),
    ("bullet", "•"),
    ("ellipsis", "…"),
    ("dagger", "†"),
    ("section", "§"),
    ("degree", "°"),
    ("Euro", "€"),
    ("sterling", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("copyright", "©"),
    ("registered", "®"),
    ("trademark", "™"),
    ("multiply", "×"),
    ("divide", "÷"),
    ("plusminus", "±"),
    ("mu", "µ"),
    ("fi", "fi"),
    ("fl", "fl"),
    ("ff", "ff"),
    ("ffi", "ffi"),
    ("ffl", "ffl"),
    ("germandbls", "ß"),
    ("ae", "æ"),
    ("AE", "Æ"),
    ("oe", "œ"),
    ("OE", "Œ"),
    ("oslash", "ø"),
    ("Oslash", "Ø"),
    ("dotlessi", "ı"),
    ("lslash", "ł"),
    ("Lslash", "Ł"),
    ("eth", "ð"),
    ("thorn", "þ"),
];

/// Names of accents behind a letter, with the combining character.
const ACCENTS: &[(&str, char)] = &[
    ("acute", '\u{301}'),
    ("grave", '\u{300}'),
    ("circumflex", '\u{302}'),
    ("dieresis", '\u{308}'),
    ("tilde", '\u{303}'),
    ("ring", '\u{30a}'),
    ("cedilla", '\u{327}'),
    ("caron", '\u{30c}'),
    ("ogonek", '\u{328}'),
    ("breve", '\u{306}'),
    ("macron", '\u{304}'),
    ("dotaccent", '\u{307}'),
    ("hungarumlaut", '\u{30b}'),
];

/// Returns the text of a glyph by its name; `None` for a name that says nothing.
pub(super) fn glyph_text(name: &str) -> Option<String> {
    let name = name.split_once('.').map_or(name, |(base, _)| base);
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return Some(only.to_string());
    }
    if let Some((_, text)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some((*text).to_owned());
    }
    let hex = name.strip_prefix("uni").or_else(|| name.strip_prefix('u')).filter(|hex| hex.len() >= 4);
    if let Some(c) = hex.and_then(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?)) {
        return Some(c.to_string());
    }
    let letter = name.chars().next().filter(char::is_ascii_alphabetic)?;
    let accent = ACCENTS.iter().find(|(known, _)| *known == &name[1..])?.1;
    Some(format!("{letter}{accent}"))
}

#[cfg(test)]
mod tests {
    use super::{MAC_ROMAN, WINDOWS, glyph_text};

    #[test]
    fn encodings_have_a_character_for_each_code() {
        assert_eq!((WINDOWS.chars().count(), MAC_ROMAN.chars().count()), (128, 128));
        assert_eq!((WINDOWS.chars().nth(0x69), MAC_ROMAN.chars().nth(0x0e)), (Some('é'), Some('é')));
    }

    #[test]
    fn a_glyph_is_read_by_its_name() {
        for (name, text) in
            [("A", "A"), ("zero", "0"), ("a.sc", "a"), ("uni00E9", "é"), ("eacute", "e\u{301}"), ("ffi", "ffi")]
        {
            assert_eq!(glyph_text(name).as_deref(), Some(text), "{name}");
        }
        for name in ["", "g12", "uniD800", "éacute", "xacutely"] {
            assert_eq!(glyph_text(name), None, "{name}");
        }
    }
}
