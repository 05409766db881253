//! The words and phrases by which the judge reads requests and replies, as data: one row for each language. They only
//! ever add to evidence from the records; `tests.rs` measures how often judgements by them are right.
//!
//! Entries are separated by `; ` and in lower case, with straight apostrophes. A phrase matches whole words.

mod english;
mod german;

use std::sync::OnceLock;

use self::english::ENGLISH;
use self::german::GERMAN;

/// A list of phrases. It is split once: a request is compared with thousands of them.
pub(super) struct Phrases {
    joined: &'static str,
    entries: OnceLock<Vec<&'static str>>,
}

impl Phrases {
    const fn new(joined: &'static str) -> Self {
        Self { joined, entries: OnceLock::new() }
    }

    pub(super) fn entries(&self) -> &[&'static str] {
        self.entries.get_or_init(|| self.joined.split("; ").filter(|phrase| !phrase.is_empty()).collect())
    }
}

/// What the judge knows of a language.
pub(super) struct Language {
    /// Verbs that ask for a change of what is there.
    pub(super) change_verbs: Phrases,
    /// Verbs that ask for something new; they mean a file only where one is named.
    pub(super) make_verbs: Phrases,
    /// Of these, the ones whose result goes into a file that may exist.
    pub(super) write_verbs: Phrases,
    /// Verbs that give a file another name or place.
    pub(super) move_verbs: Phrases,
    /// Verbs that may leave the file that they name as it is.
    pub(super) copy_verbs: Phrases,
    /// Verbs that ask for files to be deleted.
    pub(super) delete_verbs: Phrases,
    /// Verbs for work that may have to be done in another file than the one that is named.
    pub(super) elsewhere_verbs: Phrases,
    /// Verbs that are in no list above, or in `make_verbs`, and may ask for a change of what is there: "tidy", "put".
    pub(super) altering_verbs: Phrases,
    /// Verbs that are in no list above, or in `change_verbs`, and ask for something new: "add".
    pub(super) adding_verbs: Phrases,
    /// Of the verbs that ask for a change, the ones that may mean something new: "set up".
    pub(super) ambiguous_verbs: Phrases,
    /// Phrases in orders to change what is there whose meaning only the person knows: "what is not needed", "a better name".
    pub(super) unclear_phrases: Phrases,
    /// Words of orders that say how any text or folder is changed, whatever it is about: "the comments", "upper case".
    pub(super) text_words: Phrases,
    /// Verbs that ask for a new file where a word for one follows them.
    pub(super) file_verbs: Phrases,
    /// Verbs of these lists with what may follow them and makes them mean something else.
    pub(super) other_meanings: Phrases,
    /// Words before a verb that leave it an order.
    pub(super) lead_ins: Phrases,
    /// Words in a lead-in that make a question of it an order: "can you".
    pub(super) addresses: Phrases,
    /// Words that join an order to the one before it.
    pub(super) joins: Phrases,
    /// Words that stand for what was spoken of before: "fix it".
    pub(super) pronouns: Phrases,
    /// Words before a place: "In a.txt, change …", "the files in old".
    pub(super) prepositions: Phrases,
    /// Words between the names of one list.
    pub(super) list_words: Phrases,
    /// Words between a verb and the names of files that it is about.
    pub(super) before_names: Phrases,
    /// Words before the name of a file that is to be written.
    pub(super) target_before: Phrases,
    /// The same, where the file may exist already.
    pub(super) target_into: Phrases,
    /// Words of sentences that ask for a text to be replaced.
    pub(super) replace_verbs: Phrases,
    /// Words between a text and the one that replaces it: "becomes".
    pub(super) replaced_by: Phrases,
    /// Words for things in a text that have a name: "function".
    pub(super) named_things: Phrases,
    /// What else stands for something spoken of before, behind an article: "fix the script".
    pub(super) work_nouns: Phrases,
    /// Statements that ask for a change: "has to be".
    pub(super) demands: Phrases,
    /// Words between a file's name and its new one: "a.txt becomes b.txt".
    pub(super) renamed_by: Phrases,
    /// Words of statements that ask for none: "stays".
    pub(super) stays: Phrases,
    /// Words for files and folders.
    pub(super) file_nouns: Phrases,
    /// Words after which a noun is no longer what the verb is about.
    pub(super) relatives: Phrases,
    /// Words that begin a question.
    pub(super) question_words: Phrases,
    /// Words that begin a question only where it ends with a question mark.
    pub(super) weak_question_words: Phrases,
    /// Words that do not say what a question is about.
    pub(super) common_words: Phrases,
    /// Phrases of questions about a word, which no file answers: "the plural of".
    pub(super) about_words: Phrases,
    /// Words for what is the person's own, which only files may tell.
    pub(super) own_words: Phrases,
    /// Questions about a word, which is the `*`: "what does * mean".
    pub(super) word_questions: Phrases,
    /// Verbs behind a word that a text explains.
    pub(super) explaining_verbs: Phrases,
    /// The beginning of requests for advice, which text answers.
    pub(super) advice: Phrases,
    /// The beginning of requests that are mere talk.
    pub(super) talk: Phrases,
    /// Words for the place where the work is.
    pub(super) places: Phrases,
    /// Phrases with such a word that mean the conversation: "tell me here".
    pub(super) in_answer: Phrases,
    /// Words that exclude the files named behind them.
    pub(super) exclusions: Phrases,
    /// Words behind a name that exclude it.
    pub(super) negations_behind: Phrases,
    /// Of the words that exclude, the ones that exclude what a clause is about when they begin it: "don't sort the lines of".
    pub(super) negations: Phrases,
    /// Words that may stand between one that excludes and the name: "without touching".
    pub(super) exclusion_fillers: Phrases,
    /// Phrases with such words that exclude nothing: "don't forget".
    pub(super) inclusions: Phrases,
    /// Of the words that exclude, the ones that begin a clause without a comma.
    pub(super) clause_words: Phrases,
    /// Words of requests that a listing answers, without reading files.
    pub(super) listing_words: Phrases,
    /// Words of questions whose answer is computed.
    pub(super) computing_words: Phrases,
    /// Words for several files.
    pub(super) files_words: Phrases,
    /// Words for every file of a kind.
    pub(super) all_words: Phrases,
    /// Words behind a noun that say which of them are meant.
    pub(super) limits: Phrases,
    /// Words for all that is there, behind a verb.
    pub(super) everything_words: Phrases,
    /// Words for files beside those that a request names.
    pub(super) several_words: Phrases,
    /// Words of requests that may be about files that they do not name.
    pub(super) everywhere_words: Phrases,
    /// Words of requests that may ask for files to be moved or renamed.
    pub(super) moving_words: Phrases,
    /// Words of requests that may ask for files whose content is then in other files: moved, renamed, converted.
    pub(super) replacing_words: Phrases,
    /// Words of requests that may ask for files to be deleted.
    pub(super) deleting_words: Phrases,
    /// Reasons why nothing was done or found, in a reply.
    pub(super) grounds: Phrases,
    /// Refusals, in a reply.
    pub(super) refusals: Phrases,
    /// Denials of being able to reach files at all, in a reply.
    pub(super) no_access: Phrases,
    /// Phrases that hand the work back to the person.
    pub(super) hands_back: Phrases,
    /// Questions for leave to do what was asked for.
    pub(super) asks_leave: Phrases,
    /// The beginning of a sentence that announces a step, whatever comes before it.
    pub(super) announces: Phrases,
    /// The beginning of a sentence that may announce a step.
    pub(super) may_announce: Phrases,
    /// Verbs of steps that need a call.
    pub(super) step_verbs: Phrases,
    /// Polite closing words, which announce nothing.
    pub(super) closings: Phrases,
    /// Claims of a change, in a reply.
    pub(super) claims: Phrases,
}

/// Every language, English first.
pub(super) static LANGUAGES: [&Language; 2] = [&ENGLISH, &GERMAN];

/// Selects a list of a language.
pub(super) type PhraseList = fn(&'static Language) -> &'static Phrases;

/// The languages' entries of one list.
pub(super) fn all(list: PhraseList) -> impl Iterator<Item = &'static str> {
    LANGUAGES.into_iter().flat_map(move |language| list(language).entries()).copied()
}

/// Whether a word is in a list.
pub(super) fn is_one_of(word: &str, list: PhraseList) -> bool {
    all(list).any(|known| known == word)
}

/// Whether a text, in lower case with straight apostrophes, has one of the phrases of a list, as whole words.
pub(super) fn has_phrase(text: &str, list: PhraseList) -> bool {
    let starts: Vec<&str> = word_starts(text).collect();
    all(list).any(|phrase| starts.iter().any(|rest| begins_with_words(rest, phrase)))
}

/// Whether a text begins with one of the phrases of a list.
pub(super) fn begins_with(text: &str, list: PhraseList) -> bool {
    all(list).any(|phrase| begins_with_words(text, phrase))
}

/// Whether `text` has `phrase` between ends of words.
pub(super) fn contains_words(text: &str, phrase: &str) -> bool {
    word_starts(text).any(|rest| begins_with_words(rest, phrase))
}

/// Returns a text from each place on where a word may begin: most phrases are told apart by their first letter there, which is
/// much less work than to search for each.
fn word_starts(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    let starts =
        text.char_indices().filter(move |(_, letter)| !std::mem::replace(&mut before, *letter).is_alphanumeric());
    starts.map(|(at, _)| &text[at..])
}

/// Whether a text begins with `phrase`, and a word ends there.
fn begins_with_words(text: &str, phrase: &str) -> bool {
    // Most are told apart by their first letter, without a comparison of texts.
    text.as_bytes().first() == phrase.as_bytes().first() && text.strip_prefix(phrase).is_some_and(is_end_of_word)
}

fn is_end_of_word(after: &str) -> bool {
    after.chars().next().is_none_or(|letter| !letter.is_alphanumeric())
}

/// Returns a text in lower case, with straight apostrophes.
pub(super) fn plain(text: &str) -> String {
    text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'")
}

/// Endings of file names. A name with another ending is a file only where it exists.
const EXTENSIONS: &str = "txt; md; csv; tsv; json; jsonl; yaml; yml; toml; ini; cfg; conf; log; py; js; ts; tsx; jsx; rs; go; \
    java; c; h; cpp; hpp; cs; sh; bash; bat; ps1; html; htm; css; scss; xml; sql; rb; php; tex; rst; env; \
    lock; svg; bak; out; dat; list; properties; gradle; kt; swift; lua; pl; r; ipynb; pdf; rules; tmp; old; \
    orig";

/// Names of files without an ending, which are no words of a sentence.
const FILES_WITHOUT_ENDING: &str = "Makefile; Dockerfile";

/// Names with such an ending that are no files.
const NOT_FILES: &str = "node.js; vue.js; next.js; nuxt.js; react.js; three.js; d3.js; express.js; chart.js; discord.js; \
    socket.io; asp.net; e.g; i.e; p5.js; angular.js; moment.js; ember.js; backbone.js; alpine.js";

/// Whether a word has the ending of a file's name, without the dot.
pub(super) fn is_extension(ending: &str) -> bool {
    EXTENSIONS.split("; ").any(|known| known == ending)
}

/// Whether a word is the name of a file that has no ending.
pub(super) fn is_file_without_ending(word: &str) -> bool {
    FILES_WITHOUT_ENDING.split("; ").any(|known| known == word)
}

/// Whether a word that ends like a file's name is none, in lower case.
pub(super) fn is_no_file(word: &str) -> bool {
    NOT_FILES.split("; ").any(|known| known == word)
}
