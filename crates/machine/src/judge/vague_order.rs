//! Orders that do not say exactly what to change: "Delete what is not needed." A small model that gets one picks a file. Such
//! an order changes nothing before a person has said what is meant.
//!
//! An order counts as one where it has a phrase whose meaning only the person knows, or where the text of every file is known
//! and none of its words is in them; and nothing exact beside it: no number, no quoted text, no path or name of a program, no
//! explanation behind a colon. `fixtures/judge/orders.jsonl` has orders with and without such phrases; many that are unclear
//! are not found.

use windlass_vocab::WorkspaceOverview;

use super::language::{PhraseList, has_phrase, is_one_of, plain};
use super::named_files::has_word_of_path;
use super::topic::{shares_topic, topic_words};

/// Whether a request does not say exactly what to change. Where there is only one file, that is meant.
pub(super) fn is_vague_order(request: &str, files: usize) -> bool {
    let text = plain(request);
    files > 1 && is_unclear(&text) && alters(&text) && !is_exact(request)
}

/// Whether a request orders a change of what is there by words that are not in these files, and that do not say how any text
/// is changed ("remove the comments") or that all files are meant. Nothing is said where a text is not known, or where files may
/// be ignored.
pub(super) fn names_nothing(request: &str, overview: &WorkspaceOverview) -> bool {
    let text = plain(request);
    overview.has_every_text()
        && overview.files.len() > 1
        && first_verb_changes(&text)
        && !is_exact(request)
        && !request.contains([':', '@', '#'])
        && !has_phrase(&text, |language| &language.text_words)
        && !has_phrase(&text, |language| &language.all_words)
        && !has_phrase(&text, |language| &language.everywhere_words)
        && !overview.files.iter().any(|file| has_word_of_path(&text, &file.path))
        && !shares_topic(&without_orders(&text), overview)
}

/// Whether the first verb of a request asks for a change of what is there, and means nothing else: "set up", "make" and "get"
/// may ask for something new.
fn first_verb_changes(text: &str) -> bool {
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let is_verb = |word: &&str| {
        let is_known = |list: PhraseList| is_one_of(word, list);
        is_known(|language| &language.change_verbs)
            || is_known(|language| &language.altering_verbs)
            || is_known(|language| &language.make_verbs)
    };
    let changes = |word: &str| {
        is_one_of(word, |language| &language.change_verbs)
            && !is_one_of(word, |language| &language.adding_verbs)
            && !is_one_of(word, |language| &language.ambiguous_verbs)
    };
    words().find(is_verb).is_some_and(changes)
}

/// Returns a request without the words for what is to be done, which a text may have by chance.
fn without_orders(text: &str) -> String {
    let lists: [PhraseList; 6] = [
        |language| &language.change_verbs,
        |language| &language.altering_verbs,
        |language| &language.adding_verbs,
        |language| &language.make_verbs,
        |language| &language.lead_ins,
        |language| &language.file_nouns,
    ];
    let is_order = |word: &&str| lists.iter().any(|list| is_one_of(word, *list));
    topic_words(text).filter(|word| !is_order(word)).collect::<Vec<&str>>().join(" ")
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
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::{is_vague_order, names_nothing};

    fn overview(files: &[(&str, &str)]) -> WorkspaceOverview {
        let file = |(path, text): &(&str, &str)| OverviewFile {
            path: (*path).to_owned(),
            size: 10,
            text: Some((*text).to_owned()),
            origin: None,
        };
        WorkspaceOverview { files: files.iter().map(file).collect(), ..WorkspaceOverview::default() }
    }

    // proves X4
    #[test]
    fn an_order_names_nothing_where_no_file_has_its_words() {
        let files = [("tides.txt", "high water at noon\n"), ("boats/list.csv", "name,berth\nAnna,4\n")];
        for (request, names) in [
            ("Please fix the figures.", true),
            ("Remove what my uncle wrote.", true),
            ("Correct the spelling mistakes.", false),
            ("Make a folder called reports.", false),
            ("Set up a virtual environment.", false),
            ("Merge all files into one.", false),
            ("Delete the folder boats.", false),
            ("Update the list.", false),
            ("Delete the markdown files.", false),
            ("Fix the tide.", false),
            ("Remove Anna.", false),
            ("Move the boats.", false),
            ("Remove the empty lines.", false),
            ("Set the fee to 5.", false),
            ("Fix the figures: round them.", false),
            ("Which figures are wrong?", false),
            ("Add a licence.", false),
        ] {
            assert_eq!(names_nothing(request, &overview(&files)), names, "{request}");
        }
        assert!(!names_nothing("Fix the figures.", &overview(&files[..1])), "there is only one file");
        let mut unread = overview(&files);
        unread.files[0].text = None;
        assert!(!names_nothing("Fix the figures.", &unread), "a text is not known");
    }

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
}
