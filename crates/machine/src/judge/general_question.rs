//! Questions that the files of the workspace have nothing to do with: "What is the capital of Portugal?". A small model
//! that is shown files beside one answers from them, whatever they are about.

use windlass_vocab::WorkspaceOverview;

use super::language::{all, begins_with, contains_words, has_phrase, is_one_of, plain};
use super::named_files::{has_word_of_path, is_file_name, name_tokens, sentences, unquoted};
use super::orders::Sentence;
use super::reference::{points_at_known, points_at_work, refers_to_files};
use super::request::{RequestKind, read_request};
use super::topic::{shares_topic, topic_words};
use super::unsaid::words;

/// Whether a request is a question about none of these files: it names none, has no word for files or for what is the
/// person's own ("my longest run"), and none of its words is in a name or a text, unless it asks about the word itself, or by
/// its form about things of a kind and not about those in the files: "Why do cats purr?"
pub(super) fn is_general_question(request: &str, overview: &WorkspaceOverview) -> bool {
    let files = overview.files.iter().map(|file| file.path.clone()).collect();
    let reading = read_request(request, &files);
    let lower = plain(request);
    let is_advice = reading.is_advice || has_phrase(&lower, |language| &language.advice_phrases);
    let is_about_own = !is_advice && has_phrase(&lower, |language| &language.own_words);
    let asks = reading.kind == RequestKind::Question || is_advice || asks_at_end(request) || asks_for_text(request);
    let names_file = request.split_whitespace().any(|word| name_tokens(word).any(is_file_name));
    if reading.kind == RequestKind::Change || reading.is_about_files || is_about_own || names_file || !asks {
        return false;
    }
    let is_greeting = begins_with(&lower, |language| &language.talk);
    let is_about_word = word_asked_about(&lower).is_some_and(|word| !explains(overview, word));
    let has_topic = is_greeting || has_topic(&lower);
    is_about_word
        || is_calculation(&lower)
        || translates_quoted(request) && !names_file_in_words(request, overview)
        || has_phrase(&lower, |language| &language.talk_texts) && !refers_to_files(request, overview)
        || has_topic
            && !shares_topic(&lower, overview)
            && !points_at_work(&lower)
            && (is_advice || !points_at_known(request))
        || is_about_kind(&lower) && !refers_to_files(request, overview)
}

/// Whether a question in lower case says what it is about. "Is anything wrong?" and "Who has the most?" are about what is at hand.
fn has_topic(question: &str) -> bool {
    let words = words(question);
    let compares = words.iter().any(|word| word.is(|language| &language.degree_words));
    words.iter().filter(|word| word.says).count() > usize::from(compares)
}

/// Whether a request orders nothing and ends with a question: "hey, a silly one, is a tomato a fruit?"
fn asks_at_end(request: &str) -> bool {
    let is_question = |(_, last): (&str, &str)| Sentence::new(last).is_question();
    request.rsplit_once(',').is_some_and(is_question)
        && sentences(request).all(|sentence| Sentence::new(sentence).orders().is_empty())
}

/// Whether a request asks for words in reply: "explain …", "could you tell me …", "write me a limerick", "convert 5 miles".
fn asks_for_text(request: &str) -> bool {
    let lower = plain(request);
    let begins = |list| sentences(request).any(|sentence| Sentence::new(sentence).begins_with(list));
    // "Explain the code" is about the files.
    let is_definite = || {
        let (_, after) = all(|language| &language.text_requests).find_map(|phrase| lower.split_once(phrase))?;
        let first = after.split_whitespace().next()?;
        Some(is_one_of(first, |language| &language.definite_words) && !is_about_kind(&lower))
    };
    let asks_for_talk = begins(|language| &language.text_makers) && has_phrase(&lower, |language| &language.talk_texts);
    asks_for_talk || is_calculation(&lower) || begins(|language| &language.text_requests) && is_definite() != Some(true)
}

/// Whether all of a question in lower case are figures and what is done with them: "what is 18 percent of 240".
fn is_calculation(question: &str) -> bool {
    let is_number = |word: &str| word.starts_with(|letter: char| letter.is_ascii_digit());
    let is_operator = |word: &str| is_one_of(word, |language| &language.operators);
    let mut words = topic_words(question).peekable();
    words.peek().is_some()
        && words.all(|word| is_number(word) || is_operator(word))
        && question.contains(char::is_numeric)
}

/// Whether a request is to translate a text that it quotes.
fn translates_quoted(request: &str) -> bool {
    let is_quote = |word: &str| word.starts_with(['"', '\'', '\u{201c}', '\u{201e}', '\u{2018}', '\u{ab}']);
    has_phrase(&plain(request), |language| &language.translating) && request.split_whitespace().any(is_quote)
}

/// Whether a request has a word of a file's name, but in quotes: "in both minutes".
fn names_file_in_words(request: &str, overview: &WorkspaceOverview) -> bool {
    let text = plain(&unquoted(request));
    overview.files.iter().any(|file| has_word_of_path(&text, &file.path))
}

/// Whether a question in lower case is about things of a kind, by its form: "what is a fugue", "does a marathon have …".
fn is_about_kind(question: &str) -> bool {
    has_phrase(question, |language| &language.kind_phrases) && !has_phrase(question, |language| &language.prices)
}

/// Returns the word that a question in lower case is about: "What does RSVP mean?", "How do you spell Porto?"
fn word_asked_about(question: &str) -> Option<&str> {
    let framed = |frame: &'static str| {
        let (before, after) = frame.split_once('*')?;
        let rest = question.split_once(before)?.1;
        let (word, rest) = if after.is_empty() { (rest, "") } else { rest.split_once(after)? };
        // "What does it mean in the table?" is about the table.
        let is_about_thing = rest.split_whitespace().any(|word| is_one_of(word, |language| &language.definite_words));
        single_word(word).filter(|_| !is_about_thing)
    };
    let defined = |frame: &'static str| {
        let (before, after) = frame.split_once('*')?;
        let question = question.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        single_word(question.strip_suffix(after)?.rsplit_once(before)?.1)
    };
    let spoken_of = |phrase: &str| single_word(question.split_once(phrase)?.1);
    let framed = all(|language| &language.word_questions).find_map(framed);
    let defined = || all(|language| &language.definitions).find_map(defined);
    framed.or_else(defined).or_else(|| all(|language| &language.about_words).find_map(spoken_of))
}

/// Returns the word that is all of a text, beside "actually" and the like.
fn single_word(text: &str) -> Option<&str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| !is_one_of(word, |language| &language.fillers));
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
        contains_words(&plain(stem_of(&file.path)), word) || followed.any(is_explained)
    })
}

/// Returns a path without the ending of its name: what JSON is, `data.json` does not explain.
fn stem_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
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
            ("How do ports differ from airports?", true),
            ("hey, one more, does a port ever sleep?", true),
            ("What is 5 percent of 240?", true),
            ("Is anything wrong?", false),
            ("Who has the most?", false),
            ("How many eggs does the recipe need?", false),
            ("Write me a limerick about a port.", true),
            ("Write a program about a port.", false),
            ("Explain the code.", false),
            ("Explain what JSON is.", true),
            ("What does a port cost?", false),
        ] {
            assert_eq!(is_general_question(request, &overview), is_general, "{request}");
        }
    }
}
