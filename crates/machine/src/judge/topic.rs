//! The topic of a request: whether its words are those of the workspace's files.

use windlass_vocab::WorkspaceOverview;

use super::language::{contains_words, is_one_of, plain};

/// Shorter words have to stand in a text as they are.
const SHORTEST: usize = 4;

/// Whether a word of a request, in lower case, that says what it is about is in the name or the text of a file.
pub(super) fn shares_topic(request: &str, overview: &WorkspaceOverview) -> bool {
    let texts = overview.files.iter().flat_map(|file| [Some(&file.path), file.text.as_ref()]).flatten();
    let texts: Vec<String> = texts.map(|text| plain(text)).collect();
    topic_words(request).any(|word| texts.iter().any(|text| has_word(text, word)))
}

/// Returns the words of a request, in lower case, that say what it is about.
pub(super) fn topic_words(request: &str) -> impl Iterator<Item = &str> {
    request.split(|letter: char| !letter.is_alphanumeric()).filter(|word| tells_topic(word))
}

/// Whether a text has a word, or a form of it.
fn has_word(text: &str, word: &str) -> bool {
    if word.chars().count() < SHORTEST { contains_words(text, word) } else { text.contains(stem(word)) }
}

/// Whether a word says what a request is about.
fn tells_topic(word: &str) -> bool {
    let is_known = |list| is_one_of(word, list);
    let is_common = is_known(|language| &language.common_words)
        || is_known(|language| &language.question_words)
        || is_known(|language| &language.weak_question_words);
    !is_common && word.chars().count() > 1
}

/// Returns a word without the end that its forms differ in: "cherries", "eggs".
fn stem(word: &str) -> &str {
    let letters = word.chars().count();
    if letters <= SHORTEST {
        return word.strip_suffix('s').unwrap_or(word);
    }
    let kept = if word.ends_with("ies") { letters - 3 } else { letters.saturating_sub(2).max(SHORTEST) };
    word.char_indices().nth(kept).map_or(word, |(end, _)| &word[..end])
}
