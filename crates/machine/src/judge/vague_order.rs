//! Orders that do not say exactly what to change: "Delete what is not needed." A small model that gets one picks a file. Such
//! an order changes nothing before a person has said what is meant.
//!
//! An order counts as one where it has a phrase whose meaning only the person knows, or leaves unsaid what to change, what it is
//! to become or by what to choose (`unsaid`), or where the files leave that open (`unclear_beside`); and nothing exact beside
//! it: no number, no quoted text, no path or name of a program, no explanation behind a colon. `fixtures/judge/orders*.jsonl`
//! have orders of both kinds; of those that are unclear some are not found.

use std::collections::BTreeSet;

use super::language::{has_phrase, plain};
use super::named_files::{has_word_of_path, is_file_name, name_tokens, sentences};
use super::orders::Sentence;
use super::unsaid::{OrderWord, lacks_result, leaves_unsaid, says_nothing, words};

/// The most bytes of a request that is read for what it leaves unsaid: a longer one says something.
pub(super) const LONGEST: usize = 400;

/// A word in place of the name of a file.
const PLAIN_NAME: &str = "filename";

/// Whether a request does not say exactly what to change. Where there is only one file, that is meant.
pub(super) fn is_vague_order(request: &str, files: &BTreeSet<String>) -> bool {
    if request.len() > LONGEST {
        return false;
    }
    let text = plain(request);
    let words = words(&text);
    let Some(verb) = altering_verb(&words).filter(|_| files.len() > 1 && !only_asks(request)) else { return false };
    let names_file = |text: &str| files.iter().any(|path| has_word_of_path(text, path));
    let is_unclear =
        || has_unclear_phrase(&text) || leaves_unsaid(&words, verb) || !names_file(&text) && says_nothing(&words, verb);
    !is_exact(request) && is_unclear() || is_left_open(&without_file_names(request), names_file)
}

/// Whether a request, without names of files, does not say what is to become of what it names.
fn is_left_open(request: &str, names_file: impl Fn(&str) -> bool) -> bool {
    let text = plain(request);
    let words = words(&text);
    !is_exact(request)
        && !request.contains(':')
        && altering_verb(&words).is_some_and(|verb| lacks_result(&words, verb, names_file))
}

/// Whether every sentence of a request is a question.
fn only_asks(request: &str) -> bool {
    sentences(request).all(|sentence| Sentence::new(sentence).is_question())
}

/// Returns a request with a plain word in place of each name of a file, which has marks of its own.
fn without_file_names(request: &str) -> String {
    let word = |word| if name_tokens(word).any(is_file_name) { PLAIN_NAME } else { word };
    request.split_whitespace().map(word).collect::<Vec<&str>>().join(" ")
}

fn has_unclear_phrase(text: &str) -> bool {
    has_phrase(text, |language| &language.unclear_phrases)
}

/// Returns the place of the first verb of a request, where it asks for a change of what is there, and not for something new.
pub(super) fn altering_verb(words: &[OrderWord<'_>]) -> Option<usize> {
    let alters = |word: &OrderWord<'_>| {
        let adds = || word.is(|language| &language.adding_verbs) || word.is(|language| &language.make_verbs);
        if word.is(|language| &language.altering_verbs) {
            Some(true)
        } else if adds() {
            Some(false)
        } else {
            word.is(|language| &language.change_verbs).then_some(true)
        }
    };
    let (verb, alters) = words.iter().enumerate().find_map(|(place, word)| Some((place, alters(word)?)))?;
    alters.then_some(verb)
}

/// Whether a request has something that is exact.
pub(super) fn is_exact(request: &str) -> bool {
    let is_explained =
        |(before, after): (&str, &str)| has_unclear_phrase(&plain(before)) && after.contains(char::is_alphanumeric);
    let is_name = |word: &str| {
        let mut letters = word.chars().zip(word.chars().skip(1));
        word.contains('.') || letters.any(|(one, next)| one.is_lowercase() && next.is_uppercase())
    };
    request.contains(|letter: char| letter.is_numeric() || "\"“”„«»‘`/_".contains(letter))
        || request.split_once([':', ';']).is_some_and(is_explained)
        || request
            .split_whitespace()
            .any(|word| word.starts_with('\'') || is_name(word.trim_end_matches(['.', ',', '!', '?'])))
}

#[cfg(test)]
mod tests {
    use super::is_vague_order;

    // proves X4
    #[test]
    fn an_order_is_vague_where_nothing_in_it_is_exact() {
        let three = ["plan.md", "a.txt", "b/c.txt"].map(String::from).into();
        for (request, is_vague) in [
            ("Delete what is not needed.", true),
            ("Move everything to the right place.", true),
            ("Please change it back to how it was before.", true),
            ("Undo that.", true),
            ("Lösche alles, was nicht gebraucht wird.", true),
            ("Undo that.\nI mean: set a.txt back to old.", false),
            ("Delete the prices.", false),
            ("Delete a/prices.csv, it isn't needed.", false),
            ("Give calc a better name, 'total'.", false),
            ("Remove the duplicate lines.", false),
            ("Replace tabs with spaces.", false),
            ("Change everything to upper case.", false),
            ("Entferne die doppelten Zeilen.", false),
            ("Move every file into a folder docs.", false),
            ("Write something better about the sea.", false),
            ("Delete the files that are not needed and list them.", true),
            ("Task: tidy up this folder.", true),
            ("Tidy up: sort the names.", false),
            ("Give calcTotal a better name.", false),
            ("Can you tell me what is not needed?", false),
            ("Add a licence.", false),
            ("Put things where they belong.", true),
            ("Delete everything.", false),
            ("Sort by name.", false),
            ("Make the chapters better.", true),
            ("Make the retry logic better by using a queue.", false),
            ("Change the price.", true),
            ("Change the price to ten euros.", false),
            ("Move the tour to another day.", true),
            ("Move the tour to Friday.", false),
            ("Raise the prices in a.txt.", true),
            ("Rename the plan to next.md.", false),
            ("Move the letters into the folder archive.", false),
            ("Rewrite the letter in Spanish.", false),
            ("Do it as discussed.", true),
            ("Remove the games that look wrong.", true),
            ("Remove him from the list.", true),
            ("Ada has moved, change her address to Mill Lane.", false),
            ("Change hi to hello.", false),
            ("As discussed, rename total to sum.", false),
            ("Correct the path of the image.", false),
            ("Ändere den Preis.", true),
            ("Ändere den Preis auf zehn Euro.", false),
        ] {
            assert_eq!(is_vague_order(request, &three), is_vague, "{request}");
        }
        assert!(!is_vague_order("Tidy it up.", &[String::from("plan.md")].into()), "there is only one file");
    }
}
