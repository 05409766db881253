//! Questions that the files of the workspace have nothing to do with: "What is the capital of Portugal?". A small model
//! that is shown files beside one answers from them, whatever they are about.

use windlass_vocab::WorkspaceOverview;

use super::language::{begins_with, contains_words, has_phrase, plain};
use super::request::{RequestKind, read_request};
use super::topic::{shares_topic, topic_words};

/// Whether a request is a question about none of these files: it names none, has no word for files, and none of its words
/// is in a name or a text, unless it asks about the word itself.
pub(super) fn is_general_question(request: &str, overview: &WorkspaceOverview) -> bool {
    let files = overview.files.iter().map(|file| file.path.clone()).collect();
    let reading = read_request(request, &files);
    if reading.kind != RequestKind::Question || reading.is_about_files {
        return false;
    }
    let lower = plain(request);
    let is_greeting = begins_with(&lower, |language| &language.talk);
    word_asked_about(&lower).is_some_and(|word| !explains(overview, word))
        || (is_greeting || topic_words(&lower).next().is_some()) && !shares_topic(&lower, overview)
}

/// Returns the word that a question in lower case is about: "What does RSVP mean?", "How do you spell Porto?"
fn word_asked_about(question: &str) -> Option<&str> {
    let words: Vec<&str> =
        question.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["what", "does", word, "mean"]
        | ["what", "does", word, "stand", "for"]
        | ["was", "bedeutet" | "heißt", word] => Some(word),
        [.., word] if has_phrase(question, |language| &language.about_words) => Some(word),
        [..] => None,
    }
}

/// Whether a file may explain a word: its name has it, or what follows the word in a text does.
fn explains(overview: &WorkspaceOverview, word: &str) -> bool {
    let is_explained = |after: &str| {
        let after = after.trim_start();
        let verbs = ["means", "stands", "is "];
        after.starts_with([':', '=', '(', ',', '-', '–', '|']) || verbs.iter().any(|verb| after.starts_with(verb))
    };
    overview.files.iter().any(|file| {
        let text = plain(file.text.as_deref().unwrap_or_default());
        let mut followed = text.match_indices(word).map(|(at, _)| &text[at + word.len()..]);
        contains_words(&plain(&file.path), word) || followed.any(is_explained)
    })
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::is_general_question;

    // proves T2, C1
    #[test]
    fn a_question_is_general_where_no_file_has_its_words() {
        let file = |path: &str, text: &str| OverviewFile {
            path: path.to_owned(),
            size: 10,
            text: Some(text.to_owned()),
            origin: None,
        };
        let files = vec![file("trips.txt", "Porto 2019\nFaro 2021\n"), file("mail.ini", "host = a\nport = 143\n")];
        let overview = WorkspaceOverview { files, ..WorkspaceOverview::default() };
        for (request, is_general) in [
            ("What is the capital of Portugal?", true),
            ("Hello, how are you today?", true),
            ("How many minutes are in two hours?", true),
            ("On which port does the server listen?", false),
            ("When was the trip to Faro?", false),
            ("What happened in 2019?", false),
            ("What is in mail.ini?", false),
            ("What is the sum?", false),
            ("How old is Bo?", true),
            ("What does Faro mean?", true),
            ("What does the port in mail mean for the host?", false),
            ("What does port mean?", false),
            ("What does mail stand for?", false),
            ("Which word in the trips rhymes with Porto?", false),
            ("What's here?", false),
            ("How old is the moon? Just tell me here.", true),
            ("How do you spell Porto?", true),
            ("Was bedeutet Faro?", true),
            ("What is the a?", false),
            ("Which of the files is the oldest?", false),
            ("Change the port to 25.", false),
        ] {
            assert_eq!(is_general_question(request, &overview), is_general, "{request}");
        }
    }
}
