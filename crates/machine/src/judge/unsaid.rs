//! What an order to change something leaves unsaid, by its words alone: what is to be changed ("fix it"), what it is to become
//! ("change the price"), or by what to choose ("delete anything we do not need").
//!
//! A word says something where it is in none of the lists: no verb of an order, no word that most sentences have, none for a
//! thing without a name ("stuff"), and no judgement that only the person can make ("nicer").

use super::language::{LANGUAGES, Language, PhraseList, has_phrase, is_one_of};

/// The most words that say something in an order which has only a judgement beside them: "give the chapter a better title".
const JUDGED: usize = 2;

/// The most words that say something in an order which names a thing and not what becomes of it: "change the price of the tea".
const NAMED: usize = 4;

/// A word of a request, in lower case.
pub(super) struct OrderWord<'a> {
    pub(super) text: &'a str,
    /// Whether a sentence or a part of one ends behind it.
    pub(super) ends: bool,
    pub(super) says: bool,
}

impl OrderWord<'_> {
    pub(super) fn is(&self, list: PhraseList) -> bool {
        is_one_of(self.text, list)
    }

    fn is_person(&self) -> bool {
        self.is(|language| &language.persons)
    }

    pub(super) fn judges(&self) -> bool {
        self.is(|language| &language.judging_words) || self.is(|language| &language.better_words)
    }
}

/// Returns the words of a request in lower case, without what an apostrophe adds to them: "that's", "Ben's".
pub(super) fn words(text: &str) -> Vec<OrderWord<'_>> {
    let mut found = Vec::new();
    let mut before = "";
    for written in text.split_whitespace() {
        let word = written.trim_matches(|letter: char| !letter.is_alphanumeric());
        let (text, is_negation) = match word.split_once('\'') {
            Some((text, added)) => (text, added == "t"),
            None => (word, false),
        };
        if text.is_empty() {
            continue;
        }
        let ends = written.ends_with(['.', ',', ';', ':', '!', '?']);
        found.push(OrderWord { text, ends, says: !is_negation && says_something(text, before) });
        before = text;
    }
    found
}

fn says_something(word: &str, before: &str) -> bool {
    let verbs: [PhraseList; 5] = [
        |language| &language.change_verbs,
        |language| &language.altering_verbs,
        |language| &language.adding_verbs,
        |language| &language.make_verbs,
        |language| &language.reworking_verbs,
    ];
    let judgements: [PhraseList; 2] = [|language| &language.better_words, |language| &language.judging_words];
    let others: [PhraseList; 10] = [
        |language| &language.common_words,
        |language| &language.question_words,
        |language| &language.weak_question_words,
        |language| &language.lead_ins,
        |language| &language.joins,
        |language| &language.pronouns,
        |language| &language.prepositions,
        |language| &language.determiners,
        |language| &language.file_nouns,
        |language| &language.blank_words,
    ];
    let is_in = |lists: &[PhraseList]| lists.iter().any(|list| is_one_of(word, *list));
    // "The list" is a thing, and so is "a note"; "the folder archive" has a name.
    let is_named = is_one_of(before, |language| &language.file_nouns);
    let is_verb = || is_in(&verbs) && !is_one_of(before, |language| &language.determiners);
    is_named && (is_in(&verbs) || is_in(&judgements)) || !is_in(&others) && !is_in(&judgements) && !is_verb()
}

/// Returns how many words say something.
fn said(words: &[OrderWord<'_>]) -> usize {
    words.iter().filter(|word| word.says).count()
}

pub(super) fn joined<'w, 'a: 'w>(words: impl Iterator<Item = &'w OrderWord<'a>>) -> String {
    words.map(|word| word.text).collect::<Vec<&str>>().join(" ")
}

/// Whether an order leaves unsaid what to change, or by what to choose. Its verb is at `verb`.
pub(super) fn leaves_unsaid(words: &[OrderWord<'_>], verb: usize) -> bool {
    let text = joined(words.iter());
    let has_no_way = || !says_how(words);
    refers_back(&text) && !says_result(words, verb)
        || lacks_person(words, verb)
        || chooses(words, verb, |word| word.judges())
        || (judges_only(&text, words, verb) || chooses(words, verb, |word| word.is_person())) && has_no_way()
}

/// Whether an order says how any text or folder is changed, whatever it is about: "the comments".
pub(super) fn says_how(words: &[OrderWord<'_>]) -> bool {
    let is_work = |word: &OrderWord<'_>| {
        let one = word.text.strip_suffix('s').unwrap_or(word.text);
        [word.text, one].into_iter().any(|word| {
            is_one_of(word, |language| &language.work_nouns) || is_one_of(word, |language| &language.file_nouns)
        })
    };
    has_phrase(&joined(words.iter().filter(|word| !is_work(word))), |language| &language.text_words)
}

/// Whether no word of an order says something: "put things where they belong". "Delete everything" does.
pub(super) fn says_nothing(words: &[OrderWord<'_>], verb: usize) -> bool {
    let means_all = |word: &OrderWord<'_>| {
        word.is(|language| &language.all_words) || word.is(|language| &language.everything_words)
    };
    let is_unsure =
        |word: &OrderWord<'_>| !means_all(word) && (word.is(|language| &language.blank_words) || word.judges());
    let rest = words.get(verb + 1..).unwrap_or_default();
    let takes_all = words
        .get(verb)
        .is_some_and(|verb| verb.is(|language| &language.delete_verbs) || verb.is(|language| &language.copy_verbs));
    let is_sure = takes_all && rest.iter().any(means_all) && !rest.iter().any(is_unsure);
    said(words) == 0 && !names_way(words) && !says_how(words) && !says_result(words, verb) && !is_sure
}

/// Whether a request says in which way something is done: "by date", "with prettier".
fn names_way(words: &[OrderWord<'_>]) -> bool {
    words.iter().any(|word| word.is(|language| &language.ways))
}

/// Whether an order refers to what was said before, which nobody here knows: "as discussed", "what she told you".
fn refers_back(text: &str) -> bool {
    has_phrase(text, |language| &language.saying_words)
}

/// Whether an order has a judgement, and beside it a name for what is judged at most: "make the chapters better".
fn judges_only(text: &str, words: &[OrderWord<'_>], verb: usize) -> bool {
    let is_repair = words.get(verb).is_some_and(|verb| verb.is(|language| &language.elsewhere_verbs));
    !is_repair && !names_way(words) && has_phrase(text, |language| &language.better_words) && said(words) <= JUDGED
}

/// Whether an order is about a person that is not named: "move his holiday".
fn lacks_person(words: &[OrderWord<'_>], verb: usize) -> bool {
    let (before, order) = words.split_at(verb);
    said(before) == 0 && order.get(1).is_some_and(|word| word.is(|language| &language.other_persons))
}

/// Whether an order says only by a judgement, or by what somebody knows, which are meant: "the outliers that look wrong".
fn chooses(words: &[OrderWord<'_>], verb: usize, by: impl Fn(&OrderWord<'_>) -> bool) -> bool {
    said(words) <= NAMED && clauses(words, verb).any(|clause| clause.iter().any(&by) && said(clause) == 0)
}

/// Returns what says which are meant, behind the verb of an order: "that look wrong", "we never play".
pub(super) fn clauses<'w, 'a>(words: &'w [OrderWord<'a>], verb: usize) -> impl Iterator<Item = &'w [OrderWord<'a>]> {
    let order = words.get(verb..).unwrap_or_default();
    let end = order.iter().position(|word| word.is(|language| &language.joins));
    let order = order.get(..end.unwrap_or(order.len())).unwrap_or_default();
    let begins = |place: usize| {
        let before = place.checked_sub(1).and_then(|before| order.get(before));
        before.is_some_and(|before| !before.ends && !before.is(|language| &language.reasons))
            && order.get(place).is_some_and(|word| is_as_in_order(word, order, |language| &language.clause_subjects))
    };
    (1..order.len()).filter(move |place| begins(*place)).map(move |place| {
        let rest = order.get(place..).unwrap_or_default();
        let end = rest.iter().position(|word| word.ends).map_or(rest.len(), |end| end + 1);
        rest.get(..end).unwrap_or_default()
    })
}

/// Whether a word is in a list of the language of an order, which its verb tells: "was" is another word in German.
fn is_as_in_order(word: &OrderWord<'_>, order: &[OrderWord<'_>], list: PhraseList) -> bool {
    let verbs: [PhraseList; 3] =
        [|language| &language.change_verbs, |language| &language.altering_verbs, |language| &language.make_verbs];
    let has_verb = |language: &&'static Language| {
        order.first().is_some_and(|verb| verbs.iter().any(|list| list(language).entries().contains(&verb.text)))
    };
    LANGUAGES.into_iter().find(has_verb).is_some_and(|language| list(language).entries().contains(&word.text))
}

/// What an order says behind its verb: the thing, and what becomes of it.
struct ThingAndResult<'w, 'a> {
    thing: &'w [OrderWord<'a>],
    result: &'w [OrderWord<'a>],
}

/// Splits what follows the verb of an order where the words begin for what becomes of the thing: "the price | to ten euros".
fn thing_and_result<'w, 'a>(words: &'w [OrderWord<'a>], verb: usize) -> Option<ThingAndResult<'w, 'a>> {
    let order = words.get(verb..)?;
    let (verb, behind) = order.split_first()?;
    let begins_result = |word: &OrderWord<'_>| {
        is_as_in_order(word, order, |language| &language.result_words)
            // "Rewrite the letter in Spanish."
            || verb.is(|language| &language.reworking_verbs) && word.is(|language| &language.prepositions)
    };
    let end = behind.iter().position(begins_result).unwrap_or(behind.len());
    let (thing, result) = behind.split_at(end);
    Some(ThingAndResult { thing, result })
}

/// Whether an order says what becomes of a thing that is to be changed: "change the greeting to hello".
pub(super) fn says_result(words: &[OrderWord<'_>], verb: usize) -> bool {
    let Some(ThingAndResult { result, .. }) = thing_and_result(words, verb) else { return false };
    let needs_result = words.get(verb).is_some_and(|verb| verb.is(|language| &language.result_verbs));
    needs_result && (said(result) > 0 && !is_any_other(result) || is_name(words.get(verb), result))
}

/// Whether an order names a thing that is to be changed, and not what becomes of it: "change the price", "rename the report",
/// "move the tour to another day", "improve the style".
pub(super) fn lacks_result(words: &[OrderWord<'_>], verb: usize, names_file: impl Fn(&str) -> bool) -> bool {
    let Some(ThingAndResult { thing, result }) = thing_and_result(words, verb) else { return false };
    let is_said = said(words.get(..verb).unwrap_or_default()) > 0
        || said(result) > 0 && !is_any_other(result)
        || is_name(words.get(verb), result)
        || names_file(&joined(result.iter()));
    let is_one = !thing.iter().rev().skip(1).any(|word| word.ends);
    let means_all = words.iter().any(|word| word.is(|language| &language.all_words));
    let is_verb = |list| words.get(verb).is_some_and(|verb| verb.is(list));
    let reworks = is_verb(|language| &language.reworking_verbs) && said(thing) <= JUDGED;
    let changes = is_verb(|language| &language.result_verbs) && is_one && (1..=NAMED).contains(&said(thing));
    !is_said && (reworks || changes && !means_all && !says_how(words))
}

/// Whether what becomes of a thing is a word that says nothing otherwise, without an article: "to hello", "to old".
fn is_name(verb: Option<&OrderWord<'_>>, result: &[OrderWord<'_>]) -> bool {
    let points: [PhraseList; 4] = [
        |language| &language.determiners,
        |language| &language.question_words,
        |language| &language.pronouns,
        |language| &language.other_words,
    ];
    let moves = verb.is_some_and(|verb| verb.is(|language| &language.move_verbs));
    let says_nothing = |word: &OrderWord<'_>| word.judges() || word.is(|language| &language.blank_words);
    result.get(1).is_some_and(|word| !points.iter().any(|list| word.is(*list)) && (moves || !says_nothing(word)))
}

/// Whether what becomes of a thing is only said to be another than before: "to another day", "to the other folder".
fn is_any_other(result: &[OrderWord<'_>]) -> bool {
    let mut words = result.iter().skip(1).skip_while(|word| word.is(|language| &language.determiners));
    said(result) == 1 && words.next().is_some_and(|word| word.is(|language| &language.other_words))
}
