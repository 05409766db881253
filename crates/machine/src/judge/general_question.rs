//! Questions that the files of the workspace have nothing to do with: "What is the capital of Portugal?". A small model
//! that is shown files beside one answers from them, whatever they are about.

use windlass_vocab::WorkspaceOverview;

use super::language::{begins_with, contains_words, is_one_of, plain};
use super::request::{RequestKind, read_request};

/// Shorter words have to stand in a text as they are.
const SHORTEST: usize = 4;

/// Whether a request is a question about none of these files: it names none, has no word for files, and none of its words
/// is in a name or a text.
pub(super) fn is_general_question(request: &str, overview: &WorkspaceOverview) -> bool {
    let files = overview.files.iter().map(|file| file.path.clone()).collect();
    let reading = read_request(request, &files);
    if reading.kind != RequestKind::Question || reading.is_about_files {
        return false;
    }
    let lower = plain(request);
    let is_greeting = begins_with(&lower, |language| &language.talk);
    (is_greeting || topic_words(&lower).next().is_some()) && !shares_topic(&lower, overview)
}

/// Whether a word of a request, in lower case, that says what it is about is in the name or the text of a file.
fn shares_topic(request: &str, overview: &WorkspaceOverview) -> bool {
    let texts = overview.files.iter().flat_map(|file| [Some(&file.path), file.text.as_ref()]).flatten();
    let texts: Vec<String> = texts.map(|text| plain(text)).collect();
    topic_words(request).any(|word| texts.iter().any(|text| has_word(text, word)))
}

fn topic_words(request: &str) -> impl Iterator<Item = &str> {
    request.split(|letter: char| !letter.is_alphanumeric()).filter(|word| tells_topic(word))
}

/// Whether a text has a word, or a form of it.
fn has_word(text: &str, word: &str) -> bool {
    if word.chars().count() < SHORTEST { contains_words(text, word) } else { text.contains(stem(word)) }
}

/// Whether a word says what a question is about.
fn tells_topic(word: &str) -> bool {
    let is_known = |list| is_one_of(word, list);
    let is_common = is_known(|language| &language.common_words)
        || is_known(|language| &language.question_words)
        || is_known(|language| &language.weak_question_words);
    !is_common && word.chars().count() > 1
}

/// Returns a word without the end that its forms differ in.
fn stem(word: &str) -> &str {
    let letters = word.chars().count();
    let kept = letters.saturating_sub(2).max(SHORTEST);
    word.char_indices().nth(kept).map_or(word, |(end, _)| &word[..end])
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
            ("What is the a?", false),
            ("Which of the files is the oldest?", false),
            ("Change the port to 25.", false),
        ] {
            assert_eq!(is_general_question(request, &overview), is_general, "{request}");
        }
    }
}
