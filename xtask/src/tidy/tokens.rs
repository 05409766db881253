//! Splits Rust source into tokens, without comments, string literals and code for tests only.

/// The tokens of a source file: words and signs; `::` is one sign.
pub(super) fn tokens(source: &str) -> Vec<&str> {
    without_tests(&scanned(source))
}

/// All tokens; comments and quoted literals are skipped.
fn scanned(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            match raw_text(&rest[..length], &rest[length..]) {
                Some(text) => length + text,
                None => {
                    tokens.push(&rest[..length]);
                    length
                }
            }
        } else {
            match passed_over(rest) {
                Some(length) => length,
                None => {
                    let length = if rest.starts_with("::") { 2 } else { first.len_utf8() };
                    if !first.is_whitespace() {
                        tokens.push(&rest[..length]);
                    }
                    length
                }
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// The length of a comment, string literal or character literal at the start of `rest`; `None` if there is none.
pub(super) fn passed_over(rest: &str) -> Option<usize> {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return Some(until("\n", 2));
    }
    if rest.starts_with("/*") {
        return Some(until("*/", 2));
    }
    if let Some(text) = rest.strip_prefix('"') {
        return Some(1 + quoted(text, '"'));
    }
    let inner = rest.strip_prefix('\'')?;
    // `'a` is a lifetime, `'a'` and `'\n'` are characters.
    let is_character = inner.starts_with('\\') || inner.chars().nth(1) == Some('\'');
    Some(1 + if is_character { quoted(inner, '\'') } else { 0 })
}

/// The length up to and including the closing quote.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of a raw string literal after its prefix `word` (`r` or `br`); `rest` starts at its first quote or `#`.
pub(super) fn raw_text(word: &str, rest: &str) -> Option<usize> {
    let hashes = rest.chars().take_while(|c| *c == '#').count();
    let text = rest[hashes..].strip_prefix('"').filter(|_| matches!(word, "r" | "br"))?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(hashes + 1 + text.find(&end).map_or(text.len(), |at| at + end.len()))
}

/// Removes items after `#[cfg(test)]`, each up to its `;`, its `,` or the end of its block.
fn without_tests<'s>(tokens: &[&'s str]) -> Vec<&'s str> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        if rest.starts_with(&MARK) {
            rest = &rest[MARK.len()..];
            rest = &rest[item(rest)..];
        } else {
            kept.push(*first);
            rest = &rest[1..];
        }
    }
    kept
}

/// The number of tokens of the item at the start.
fn item(tokens: &[&str]) -> usize {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => open += 1,
            "}" if open == 1 => return at + 1,
            "}" | ")" | "]" => open = open.saturating_sub(1),
            ";" | "," if open == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_texts_and_characters_are_no_words() {
        for (source, expected) in [
            ("use a::b; // use c::d;\nx", "use a :: b ; x"),
            ("f(\"use \\\" c::d\", '\"', 'a', '\\'', b'x') g", "f ( , , , , b ) g"),
            ("r#\"use \" c\"# br\"x\" r", "r"),
            ("/* a */ fn f<'a>(x: &'a str)", "fn f < a > ( x : & a str )"),
        ] {
            assert_eq!(tokens(source).join(" "), expected, "{source}");
        }
    }

    #[test]
    fn what_only_tests_have_is_left_out() {
        for (source, expected) in [
            ("a #[cfg(test)] mod tests { use b; fn c() {} } d", "a d"),
            ("a #[cfg(test)] #[path = \"x.rs\"] mod tests; d", "a d"),
            ("a { #[cfg(test)] x: [u8; 3], d }", "a { d }"),
            ("#[cfg(debug_assertions)] a", "# [ cfg ( debug_assertions ) ] a"),
        ] {
            assert_eq!(tokens(source).join(" "), expected, "{source}");
        }
    }
}
