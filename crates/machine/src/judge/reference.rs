//! Whether a question points at something that the files have, or only shares words with them: "When does the tour begin?" is
//! about theirs, "How long is a tour?" about tours.

use windlass_vocab::WorkspaceOverview;

use super::language::{is_one_of, plain};
use super::topic::{has_word, tells_topic, texts_of};

/// The most words back to one that points at a noun: "the public tour".
const BACK: usize = 2;

/// Whether a request points at something in the files by a word that they share: "the tour", "Anna", "bed 2"; or at work: "the
/// list".
pub(super) fn refers_to_files(request: &str, overview: &WorkspaceOverview) -> bool {
    let texts = texts_of(overview, plain);
    let written = split(request);
    let lower = plain(request);
    let words = split(&lower);
    let is_name = |place: usize| {
        let is_capital = written.get(place).is_some_and(|word| word.starts_with(char::is_uppercase));
        place > 0 && is_capital || !request.contains(char::is_uppercase) && has_name(overview, words[place])
    };
    let refers = |(place, word): (usize, &&str)| {
        let is_shared = || tells_topic(word) && texts.iter().any(|text| has_word(text, word));
        let points = || is_pointed_at(&words, place) || is_numbered(&words, place);
        let is_day = || is_one_of(word, |language| &language.calendar_words);
        is_shared() && (points() || is_day() || is_name(place))
    };
    points_at_work(&lower) || words.iter().enumerate().any(refers)
}

/// Whether a question points at something that it takes for known and that is not known everywhere: "How many eggs does the
/// recipe need?", but not "the sky", "the Nile", "the capital of", "the longest river".
pub(super) fn points_at_known(question: &str) -> bool {
    let words = split(question);
    let is_known = |(place, word): (usize, &&str)| {
        let is_own_kind = is_one_of(&plain(word), |language| &language.unique_things)
            || word.starts_with(char::is_uppercase)
            || word.ends_with("est");
        let is_explained = words.get(place + 1).is_some_and(|next| matches!(*next, "of" | "between" | "von"));
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        let is_the = before.is_some_and(|before| plain(before) == "the");
        is_the && !is_own_kind && !is_explained
    };
    words.iter().enumerate().any(is_known)
}

/// Whether a request in lower case is about work at hand: "the list", "this code".
pub(super) fn points_at_work(request: &str) -> bool {
    let is_work = |word: &str| {
        is_one_of(word, |language| &language.work_nouns)
            || word.strip_suffix('s').is_some_and(|one| is_one_of(one, |language| &language.work_nouns))
    };
    let words = split(request);
    words.iter().enumerate().any(|(place, word)| is_work(word) && is_pointed_at(&words, place))
}

fn split(text: &str) -> Vec<&str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// Whether a word stands behind "the" or the like.
fn is_pointed_at(words: &[&str], place: usize) -> bool {
    let before = words.get(place.saturating_sub(BACK)..place).unwrap_or_default();
    before.iter().any(|word| is_one_of(word, |language| &language.definite_words))
}

/// Whether a number stands behind a word: "bed 2".
fn is_numbered(words: &[&str], place: usize) -> bool {
    words.get(place + 1).is_some_and(|next| next.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Whether the files have a word in lower case as a name: with a capital letter, and not where a line begins.
fn has_name(overview: &WorkspaceOverview, word: &str) -> bool {
    let is_name = |found: &&str| found.starts_with(char::is_uppercase) && plain(found) == word;
    let texts = texts_of(overview, str::to_owned);
    texts.iter().flat_map(|text| text.lines()).any(|line| split(line).iter().skip(1).any(is_name))
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::refers_to_files;

    // proves T2
    #[test]
    fn a_shared_word_refers_to_the_files_where_it_is_definite_or_a_name() {
        let text = Some("Public tour: Sunday, by Jo\nbed 2: leeks\n".to_owned());
        let file = OverviewFile { path: "tours.txt".to_owned(), size: 10, text, origin: None };
        let overview = WorkspaceOverview { files: vec![file], ..WorkspaceOverview::default() };
        for (request, refers) in [
            ("When is the public tour?", true),
            ("How long does a tour take?", false),
            ("How do you grow leeks?", false),
            ("How do I reach Jo?", true),
            ("how do i reach jo", true),
            ("What grows in bed 2?", true),
            ("How do I improve the list?", true),
        ] {
            assert_eq!(refers_to_files(request, &overview), refers, "{request}");
        }
    }
}
