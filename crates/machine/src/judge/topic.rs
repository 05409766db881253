//! The topic of a request: whether its words are those of the workspace's files.

use windlass_vocab::WorkspaceOverview;

use super::language::{contains_words, is_one_of, plain};

/// Shorter words have to stand in a text as they are.
const SHORTEST: usize = 4;

/// The letters that are left of the name of a day or a month: "Tue".
const CALENDAR: usize = 3;

/// Whether a word of a request, in lower case, that says what it is about is in the name or the text of a file.
pub(super) fn shares_topic(request: &str, overview: &WorkspaceOverview) -> bool {
    let texts = texts_of(overview, plain);
    topic_words(request).any(|word| texts.iter().any(|text| has_word(text, word)))
}

/// Returns the words of a request, in lower case, that say what it is about.
pub(super) fn topic_words(request: &str) -> impl Iterator<Item = &str> {
    request.split(|letter: char| !letter.is_alphanumeric()).filter(|word| tells_topic(word))
}

/// Returns the paths and texts of all files, each in a form.
pub(super) fn texts_of(overview: &WorkspaceOverview, form: fn(&str) -> String) -> Vec<String> {
    let texts = overview.files.iter().flat_map(|file| [Some(&file.path), file.text.as_ref()]).flatten();
    texts.map(|text| form(text)).collect()
}

/// Whether a text has a word, or a form of it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let has_form = if word.chars().count() < SHORTEST { has_short(text, word) } else { text.contains(stem(word)) };
    has_form || is_one_of(word, |language| &language.calendar_words) && has_short_form(text, word)
}

/// Whether a text has the short form of the name of a day or a month.
fn has_short_form(text: &str, word: &str) -> bool {
    word.char_indices().nth(CALENDAR).is_some_and(|(end, _)| contains_words(text, &word[..end]))
}

/// Whether a text has a short word, or its plural.
fn has_short(text: &str, word: &str) -> bool {
    contains_words(text, word) || contains_words(text, &format!("{word}s"))
}

/// Whether a word says what a request is about.
pub(super) fn tells_topic(word: &str) -> bool {
    let is_known = |list| is_one_of(word, list);
    let is_common = is_known(|language| &language.common_words)
        || is_known(|language| &language.question_words)
        || is_known(|language| &language.weak_question_words);
    !is_common && word.chars().count() > 1
}

/// Returns a word without the end that its forms differ in: "cherries", "eggs", "printing".
fn stem(word: &str) -> &str {
    let letters = word.chars().count();
    if letters <= SHORTEST {
        return word.strip_suffix('s').unwrap_or(word);
    }
    let is_long = word.ends_with("ies") || word.ends_with("ing") && letters > SHORTEST + 2;
    let kept = if is_long { letters - 3 } else { letters.saturating_sub(2).max(SHORTEST) };
    word.char_indices().nth(kept).map_or(word, |(end, _)| &word[..end])
}
