//! Questions that the files of the workspace have nothing to do with: "What is the capital of Portugal?". A small model
//! that is shown files beside one answers from them, whatever they are about.

use windlass_vocab::WorkspaceOverview;

use super::language::{all, begins_with, contains_words, has_phrase, plain};
use super::request::{RequestKind, read_request};
use super::topic::{shares_topic, topic_words};

/// Whether a request is a question about none of these files: it names none, has no word for files or for what is the
/// person's own ("my longest run"), and none of its words is in a name or a text, unless it asks about the word itself.
pub(super) fn is_general_question(request: &str, overview: &WorkspaceOverview) -> bool {
    let files = overview.files.iter().map(|file| file.path.clone()).collect();
    let reading = read_request(request, &files);
    let lower = plain(request);
    let is_about_own = !reading.is_advice && has_phrase(&lower, |language| &language.own_words);
    if reading.kind != RequestKind::Question || reading.is_about_files || is_about_own {
        return false;
    }
    let is_greeting = begins_with(&lower, |language| &language.talk);
    word_asked_about(&lower).is_some_and(|word| !explains(overview, word))
        || (is_greeting || topic_words(&lower).next().is_some()) && !shares_topic(&lower, overview)
}

/// Returns the word that a question in lower case is about: "What does RSVP mean?", "How do you spell Porto?"
fn word_asked_about(question: &str) -> Option<&str> {
    let framed = |frame: &'static str| {
        let (before, after) = frame.split_once('*')?;
        let question = question.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        single_word(question.strip_prefix(before)?.strip_suffix(after)?)
    };
    let spoken_of = |phrase: &str| single_word(question.split_once(phrase)?.1);
    let framed = all(|language| &language.word_questions).find_map(framed);
    framed.or_else(|| all(|language| &language.about_words).find_map(spoken_of))
}

/// Returns the word that is all of a text.
fn single_word(text: &str) -> Option<&str> {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().filter(|_| words.next().is_none())
}

/// Whether a file may explain a word: its name has it, or what follows the word in a text does.
fn explains(overview: &WorkspaceOverview, word: &str) -> bool {
    let is_explained = |after: &str| {
        let after = after.trim_start();
        after.starts_with([':', '=', '(', ',', '-', '–', '|'])
            || begins_with(after, |language| &language.explaining_verbs)
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
            ("What was my longest run?", false),
            ("How many bottles do we have altogether?", false),
            ("Which presents do I still have to buy?", false),
            ("How do I get limescale off my tap?", true),
            ("How do you spell the name of the first trip?", false),
            ("What is the a?", false),
            ("Which of the files is the oldest?", false),
            ("Change the port to 25.", false),
        ] {
            assert_eq!(is_general_question(request, &overview), is_general, "{request}");
        }
    }
}
