//! Orders that do not say exactly what to change: "Delete what is not needed." A small model that gets one picks a file. Such
//! an order changes nothing before a person has said what is meant.
//!
//! An order counts as one where it has a phrase whose meaning only the person knows, and nothing exact beside it: no number,
//! no quoted text, no path or name of a program, no explanation behind a colon. `fixtures/judge/orders.jsonl` has orders with
//! and without such phrases; many that are unclear are not found.

use super::language::{has_phrase, is_one_of, plain};

/// Whether a request does not say exactly what to change. Where there is only one file, that is meant.
pub(super) fn is_vague_order(request: &str, files: usize) -> bool {
    let text = plain(request);
    files > 1 && is_unclear(&text) && alters(&text) && !is_exact(request)
}

fn is_unclear(text: &str) -> bool {
    has_phrase(text, |language| &language.unclear_phrases)
}

/// Whether the first verb of a request asks for a change of what is there, and not for something new.
fn alters(text: &str) -> bool {
    let verb_alters = |word: &str| {
        let adds =
            || is_one_of(word, |language| &language.adding_verbs) || is_one_of(word, |language| &language.make_verbs);
        if is_one_of(word, |language| &language.altering_verbs) {
            Some(true)
        } else if adds() {
            Some(false)
        } else {
            is_one_of(word, |language| &language.change_verbs).then_some(true)
        }
    };
    text.split(|letter: char| !letter.is_alphanumeric()).find_map(verb_alters) == Some(true)
}

/// Whether a request has something that is exact.
fn is_exact(request: &str) -> bool {
    let is_explained =
        |(before, after): (&str, &str)| is_unclear(&plain(before)) && after.contains(char::is_alphanumeric);
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
            ("Write something better about the sea.", false),
            ("Delete the files that are not needed and list them.", true),
            ("Task: tidy up this folder.", true),
            ("Tidy up: sort the names.", false),
            ("Give calcTotal a better name.", false),
            ("Can you tell me what is not needed?", false),
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
        assert!(unclear.len() >= 80 && clear.len() >= 200);
        assert!(right.len() >= 35, "{} of {}", right.len(), unclear.len());
        assert!(wrong.len() * 100 <= clear.len() * 2, "{wrong:?}");
    }
}
