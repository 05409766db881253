//! Orders that do not say what they mean: "Delete what is not needed." A small model that gets one picks a file. Such an order
//! changes nothing before a person has said what is meant.
//!
//! An order is taken so where it has a phrase that only the person can fill with meaning, and nothing exact beside it: no
//! number, no quoted text, no path, no explanation behind a colon. How often that is right is measured by
//! `fixtures/judge/orders.jsonl`.

use super::language::{has_phrase, plain};
use super::request::asks_for_more;

/// Whether a request does not say what it means. Where there is only one file, that is meant.
pub(super) fn is_vague_order(request: &str, files: usize) -> bool {
    let is_unclear = || has_phrase(&plain(request), |language| &language.unclear_phrases);
    files > 1 && is_unclear() && !is_exact(request) && !asks_for_more(request)
}

/// Whether a request has something that is exact.
fn is_exact(request: &str) -> bool {
    let is_explained = request.split_once([':', ';']).is_some_and(|(_, after)| after.contains(char::is_alphanumeric));
    is_explained || request.contains(|letter: char| letter.is_numeric() || "\"“”„«»`/_".contains(letter)) || {
        // Within words: a path, and a quoted text.
        let mut words = request.split_whitespace().map(|word| word.trim_matches([',', '.', '!', '?', '(', ')']));
        words.any(|word| word.contains('.') || word.starts_with('\''))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::is_vague_order;

    // proves X4
    #[test]
    fn an_order_is_vague_where_nothing_in_it_is_exact() {
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
            ("Write a better poem about the sea.", false),
            ("Add a licence.", false),
        ] {
            assert_eq!(is_vague_order(request, 3), is_vague, "{request}");
        }
        assert!(!is_vague_order("Tidy it up.", 1), "there is only one file");
    }

    // proves X4: most orders that are unclear are found, and next to none that is clear is questioned
    #[test]
    fn unclear_orders_are_told_from_clear_ones() {
        let lines = include_str!("../../../../fixtures/judge/orders.jsonl").lines();
        let orders: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("an order")).collect();
        let (unclear, clear): (Vec<&Value>, Vec<_>) = orders.iter().partition(|order| order["unclear"] == true);
        let questioned = |orders: &[&Value]| -> Vec<String> {
            let texts = orders.iter().map(|order| {
                let files = order["files"].as_array().expect("files").len();
                (order["request"].as_str().expect("a request"), files)
            });
            texts.filter(|(text, files)| is_vague_order(text, *files)).map(|(text, _)| text.to_owned()).collect()
        };
        let (right, wrong) = (questioned(&unclear), questioned(&clear));
        println!("{} of {} unclear, {} of {} clear: {wrong:?}", right.len(), unclear.len(), wrong.len(), clear.len());
        assert!(unclear.len() >= 80 && clear.len() >= 160);
        assert!(right.len() * 100 >= unclear.len() * 55, "{} of {}", right.len(), unclear.len());
        assert!(wrong.len() * 100 <= clear.len() * 2, "{wrong:?}");
    }
}
