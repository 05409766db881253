//! The words of a message by which passages are found. Nothing in a message is FTS5 syntax: a word consists of letters,
//! digits and the signs that join the parts of names and paths, and each is quoted.

use std::collections::HashSet;

use super::common_words::COMMON_WORDS;

/// Only this much of a long message is looked at, from its start and from its end: pasted text stands between.
const LONGEST_PART: usize = 8 * 1024;
/// Words that are looked for at most, half of them from the start of the message.
const MOST_WORDS: usize = 32;
/// A longer word is no word of a language or a program.
const LONGEST_WORD: usize = 64;

/// The words that passages are found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchWords {
    words: Vec<SearchWord>,
    /// How many words it has, without the parts of names.
    whole_words: usize,
}

/// A word to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchWord {
    text: String,
    kind: WordKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordKind {
    Plain,
    /// A name of a program or a path: `retry_after`, `src/main.rs`, `costLimit`. One is as telling as two plain words.
    Name,
}

impl SearchWord {
    /// Returns the word as an FTS5 string, which has no syntax of its own. The index splits a name into its parts and
    /// looks for them in this order.
    pub(super) fn phrase(&self) -> String {
        format!("\"{}\"", self.text.replace('"', "\"\""))
    }

    pub(super) fn weight(&self) -> u32 {
        match self.kind {
            WordKind::Plain => 1,
            WordKind::Name => 2,
        }
    }
}

impl SearchWords {
    /// Takes the words of a message that can tell one passage from another.
    #[must_use]
    pub fn of(message: &str) -> Self {
        let mut known = HashSet::new();
        let (start, end) = ends(message);
        let names = [start, end].into_iter().flat_map(tokens).filter(|token| is_telling(token));
        let mut names: Vec<&str> = names.filter(|token| known.insert(token.to_lowercase())).collect();
        if names.len() > MOST_WORDS {
            names.drain(MOST_WORDS / 2..names.len() - MOST_WORDS / 2);
        }
        let whole_words = names.len();
        let mut words: Vec<SearchWord> =
            names.iter().map(|token| SearchWord { text: (*token).to_owned(), kind: kind(token) }).collect();
        let parts = names.iter().filter(|token| token.contains(is_joiner)).flat_map(|token| token.split(is_joiner));
        for part in parts.filter(|part| is_telling(part)).take(MOST_WORDS) {
            if known.insert(part.to_lowercase()) {
                words.push(SearchWord { text: part.to_owned(), kind: WordKind::Plain });
            }
        }
        Self { words, whole_words }
    }

    /// Whether there is no word to look for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn words(&self) -> &[SearchWord] {
        &self.words
    }

    /// Returns the weight of the words that a passage must have: a quarter of them, at least two, at most four.
    pub(super) fn least_weight(&self) -> u32 {
        match u32::try_from(self.whole_words).unwrap_or(u32::MAX) {
            0 | 1 => self.words.first().map_or(1, SearchWord::weight),
            words => words.div_ceil(4).clamp(2, 4),
        }
    }
}

/// Returns the start and the end of a long message; a short one whole, and nothing.
fn ends(message: &str) -> (&str, &str) {
    if message.len() <= 2 * LONGEST_PART {
        return (message, "");
    }
    let start = message.floor_char_boundary(LONGEST_PART);
    let end = message.ceil_char_boundary(message.len() - LONGEST_PART);
    (&message[..start], &message[end..])
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_joiner(c)).map(|token| token.trim_matches(is_joiner))
}

/// Whether the sign joins the parts of names and paths.
fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '.' | '/' | ':' | '-')
}

fn is_telling(token: &str) -> bool {
    // One letter of a language that is written without spaces can be a word; of others it is none.
    let is_long_enough = token.len() > 2 || token.chars().count() == 2 && token.chars().any(char::is_numeric);
    is_long_enough && token.len() <= LONGEST_WORD && COMMON_WORDS.binary_search(&&*token.to_lowercase()).is_err()
}

fn kind(token: &str) -> WordKind {
    let inside = token.trim_start_matches(char::is_uppercase);
    let is_camel = inside.len() < token.len() && inside.contains(char::is_uppercase)
        || token.starts_with(char::is_lowercase) && token.contains(char::is_uppercase);
    // A sentence may join two words by a dash or a slash; that is no name.
    let is_joined = token.contains(['_', '.']) || token.contains("::") || token.matches('/').count() > 1;
    if is_camel || is_joined { WordKind::Name } else { WordKind::Plain }
}
