//! Orders that do not say which files they mean: "Delete what is not needed." A small model that gets one picks a file. Such
//! an order changes nothing before a person has said what is meant.

use super::language::{is_one_of, plain};
use super::request::only_alters;

/// Whether a request orders only to delete, move or alter what is there, and none of its words says what. Where there is only
/// one file, that is meant.
pub(super) fn is_vague_order(request: &str, files: usize) -> bool {
    let lower = plain(request);
    let mut words =
        lower.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').filter(|word| !word.is_empty());
    files > 1 && only_alters(request) && words.all(says_nothing)
}

/// Whether a word says nothing about which files are meant.
fn says_nothing(word: &str) -> bool {
    is_one_of(word, |language| language.vague_words) || is_one_of(word, |language| language.altering_verbs)
}

#[cfg(test)]
mod tests {
    use super::is_vague_order;

    // proves X4
    #[test]
    fn an_order_is_vague_where_no_word_says_what_is_meant() {
        for (request, is_vague) in [
            ("Delete what is not needed.", true),
            ("Move everything to the right place.", true),
            ("Please change it back to how it was before.", true),
            ("Undo that.", true),
            ("Lösche alles, was nicht gebraucht wird.", true),
            ("Undo that.\nI mean: set a.txt back to old.", false),
            ("Delete the prices.", false),
            ("Delete a/prices.csv.", false),
            ("Remove the duplicate lines.", false),
            ("Delete the empty lines.", false),
            ("Replace tabs with spaces.", false),
            ("Change everything to upper case.", false),
            ("Swap the columns.", false),
            ("Entferne die doppelten Zeilen.", false),
            ("Move every file into a folder docs.", false),
            ("Write a poem about the sea.", false),
            ("Add a licence.", false),
        ] {
            assert_eq!(is_vague_order(request, 3), is_vague, "{request}");
        }
        assert!(!is_vague_order("Delete it.", 1), "there is only one");
    }
}
