//! The sentences of a request, and the orders in them: a verb at the beginning of a sentence, or joined to what is before it,
//! with what follows it.

use std::collections::BTreeSet;

use super::language::{PhraseList, all, begins_with, is_one_of, plain};
use super::named_files::{by_pattern, is_file_name, meant, name_tokens};
use crate::file_names::may_mean;

/// The most words between "all" and "files".
const QUALIFIERS: usize = 2;

/// A sentence of a request.
pub(super) struct Sentence<'a> {
    /// Its words: in lower case, and as written.
    words: Vec<(String, &'a str)>,
    ends_asking: bool,
}

impl<'a> Sentence<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let marks = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '*' | '•' | '.' | ')' | ' ' | '#');
        let text = text.trim_start_matches(marks);
        let words = text.split_whitespace().map(|word| (bare(word), word)).collect();
        Self { words, ends_asking: text.trim_end().ends_with('?') }
    }

    fn text_from(&self, start: usize) -> String {
        let words: Vec<&str> = self.words.iter().skip(start).map(|(word, _)| word.as_str()).collect();
        words.join(" ")
    }

    /// Returns where the lead-in ends that begins at this word; what follows it is an order, as it would be without.
    fn lead_in_from(&self, mut start: usize) -> usize {
        loop {
            let rest = self.text_from(start);
            let leads = |lead: &&str| rest.strip_prefix(lead).is_some_and(|after| after.starts_with(' '));
            let words = all(|language| &language.lead_ins).filter(leads).map(|lead| lead.split(' ').count()).max();
            let Some(words) = words else { return start };
            start += words;
        }
    }

    pub(super) fn is_advice(&self) -> bool {
        (0..=self.lead_in_from(0)).any(|start| begins_with(&self.text_from(start), |language| &language.advice))
    }

    pub(super) fn is_question(&self) -> bool {
        let lead = self.lead_in_from(0);
        let is_you = |word: &String| is_one_of(word, |language| &language.addresses);
        let asks_you = self.words.iter().take(lead).any(|(word, _)| is_you(word));
        let first = self.words.get(lead).map_or("", |(word, _)| word.as_str());
        let strong = is_one_of(first, |language| &language.question_words);
        let weak = is_one_of(first, |language| &language.weak_question_words);
        // "Do" is also a word before an order.
        let did = self.words.first().is_some_and(|(word, _)| is_one_of(word, |language| &language.weak_question_words));
        // An order may follow: "What I want: replace …".
        let orders_nothing = || self.orders().is_empty();
        // "On which port …?"
        let asks = || self.words.iter().any(|(word, _)| is_one_of(word, |language| &language.question_words));
        !asks_you && ((strong && orders_nothing()) || (self.ends_asking && (weak || did || asks() && orders_nothing())))
    }

    fn verb_at(&self, place: usize) -> Option<OrderVerb> {
        let word = self.words.get(place).map(|(word, _)| word.as_str())?;
        let phrase = self.text_from(place);
        if begins_with(&phrase, |language| &language.other_meanings) {
            return None;
        }
        if is_one_of(word, |language| &language.change_verbs) {
            return Some(OrderVerb::Change);
        }
        is_one_of(word, |language| &language.make_verbs).then_some(OrderVerb::Make)
    }

    /// Whether it begins with a place: "In a.txt, …".
    fn begins_with_place(&self) -> bool {
        let opening = self.words.get(self.lead_in_from(0)).map_or("", |(word, _)| word.as_str());
        is_one_of(opening, |language| &language.prepositions)
    }

    /// Returns the orders of the sentence: verbs at its beginning, joined to what is before them, or behind a place.
    pub(super) fn orders(&self) -> Vec<Order<'_, 'a>> {
        let begins_with_place = self.begins_with_place();
        let joins = |(word, written): &(String, &str)| {
            written.ends_with([',', ':'])
                || is_one_of(word, |language| &language.joins)
                || begins_with_place && name_tokens(written).any(is_file_name)
        };
        let joined = self.words.iter().enumerate().filter(|(_, word)| joins(word)).map(|(place, _)| place + 1);
        let starts: BTreeSet<usize> = joined.chain([0]).map(|place| self.lead_in_from(place)).collect();
        let places: Vec<(usize, OrderVerb)> =
            starts.into_iter().filter_map(|place| Some((place, self.verb_at(place)?))).collect();
        let ends = places.iter().skip(1).map(|(place, _)| *place).chain([self.words.len()]);
        let first = places.first().map_or(0, |(place, _)| *place);
        let order = |((start, verb), end): (&(usize, OrderVerb), usize)| {
            let before = if *start == first { 0 } else { *start };
            Order { sentence: self, verb: *verb, before, start: *start, end }
        };
        places.iter().zip(ends).map(order).collect()
    }
}

/// Returns a word in lower case, without punctuation around it.
fn bare(word: &str) -> String {
    plain(word).trim_matches(|letter: char| "`\"\u{201c}\u{201d}(),:;!?.".contains(letter)).to_owned()
}

/// Whether the words before this one say that a file which exists gets this name: "a.txt becomes b.txt".
fn is_renamed_there(words: &[(String, &str)], place: usize, files: &BTreeSet<String>) -> bool {
    let [.., (_, file), (verb, _)] = words.get(..place).unwrap_or_default() else { return false };
    is_one_of(verb, |language| &language.renamed_by) && name_tokens(file).any(|token| meant(token, files).is_some())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderVerb {
    Change,
    Make,
}

/// An order of a request: a verb and what follows it.
pub(super) struct Order<'s, 'a> {
    sentence: &'s Sentence<'a>,
    verb: OrderVerb,
    /// Where the words begin that lead to it: those of no order, at the start of the sentence.
    before: usize,
    start: usize,
    end: usize,
}

impl Order<'_, '_> {
    fn words(&self) -> &[(String, &str)] {
        self.sentence.words.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the words that may name what it changes: its own, and those before it that say where ("In a.txt, set …") or
    /// what is spoken of ("a.txt is old, change it").
    fn naming_words(&self) -> &[(String, &str)] {
        let start =
            if self.sentence.begins_with_place() || self.changes_what_was_named() { self.before } else { self.start };
        self.sentence.words.get(start..self.end).unwrap_or_default()
    }

    /// Returns the names of files that the order asks to be written.
    pub(super) fn targets(&self, files: &BTreeSet<String>) -> Vec<String> {
        let words = self.words();
        let renames = is_one_of(self.verb_word(), |language| &language.move_verbs);
        if self.verb == OrderVerb::Change && !renames {
            return Vec::new();
        }
        let writes = is_one_of(self.verb_word(), |language| &language.write_verbs);
        let mut found = Vec::new();
        for (place, (_, written)) in words.iter().enumerate().skip(1) {
            let Some(token) = name_tokens(written).next().filter(|token| is_file_name(token)) else { continue };
            let before = words.get(place - 1).map_or("", |(word, _)| word.as_str());
            let into = is_one_of(before, |language| &language.target_into);
            let is_target = if meant(token, files).is_some() {
                into && writes
            } else if renames {
                into || is_renamed_there(words, place, files)
            } else {
                place == 1 || is_one_of(before, |language| &language.target_before)
            };
            if is_target {
                found.push(token.to_owned());
            }
        }
        found
    }

    /// Whether it asks for a change of what was spoken of before: "fix it", "fix the script".
    pub(super) fn changes_what_was_named(&self) -> bool {
        let word = |place: usize| self.words().get(place).map_or("", |(word, _)| word.as_str());
        let is_pronoun = is_one_of(word(1), |language| &language.pronouns);
        let is_work = is_one_of(word(1), |language| &language.before_names)
            && is_one_of(word(2), |language| &language.work_nouns);
        self.verb == OrderVerb::Change && (is_pronoun || is_work)
    }

    fn verb_word(&self) -> &str {
        self.words().first().map_or("", |(verb, _)| verb.as_str())
    }

    /// Whether the files that it names are moved away or renamed.
    fn moves(&self) -> bool {
        is_one_of(self.verb_word(), |language| &language.move_verbs)
            && !is_one_of(self.verb_word(), |language| &language.copy_verbs)
    }

    /// Whether it moves, renames or deletes.
    pub(super) fn moves_or_deletes(&self) -> bool {
        self.moves() || self.deletes()
    }

    /// Returns the files that it asks to be moved away or renamed: those right behind the verb. "Move the heading of a.md" does
    /// not move a file.
    pub(super) fn moved_files(&self, files: &BTreeSet<String>) -> Vec<String> {
        let is_filler = |word: &str| {
            is_one_of(word, |language| &language.joins) || is_one_of(word, |language| &language.before_names)
        };
        let named = |(word, written): &(String, &str)| {
            // "a.py's" is about something in the file.
            let is_whole = |token: &&str| !written.contains(&format!("{token}'")) || written.starts_with('\'');
            let path = name_tokens(written).next().filter(is_whole).and_then(|token| meant(token, files));
            (path.is_some() || is_filler(word)).then(|| path.cloned())
        };
        let words = self.words().iter().skip(1).filter(|_| self.moves());
        words.map_while(named).flatten().collect()
    }

    fn deletes(&self) -> bool {
        is_one_of(self.verb_word(), |language| &language.delete_verbs)
    }

    /// Whether it asks for files to be deleted that it does not name, and says which: "delete all empty files", "remove everything
    /// but a.txt". Nobody means every file there is.
    pub(super) fn deletes_unnamed(&self) -> bool {
        let words: Vec<&str> = self.words().iter().skip(1).map(|(word, _)| word.as_str()).collect();
        let Some((first, rest)) = words.split_first().filter(|_| self.deletes()) else { return false };
        let is = |list: PhraseList| move |word: &&str| is_one_of(word, list);
        let limits = |words: &[&str]| {
            words.iter().any(is(|language| &language.exclusions)) || words.iter().any(is(|language| &language.limits))
        };
        let noun = rest.iter().take(QUALIFIERS + 1).position(is(|language| &language.file_nouns));
        let is_qualified = |noun: usize| !rest.iter().take(noun).all(is(|language| &language.before_names));
        let is_all = is_one_of(first, |language| &language.all_words);
        let is_everything = is_one_of(first, |language| &language.everything_words);
        is_everything && limits(rest) || is_all && (noun.is_some_and(is_qualified) || limits(rest))
    }

    /// Returns the files that it asks to be deleted by a pattern, where nothing says that only some are meant.
    pub(super) fn files_deleted_by_pattern(&self, sentence: &str, files: &BTreeSet<String>) -> Vec<String> {
        let is_limit = |(word, _): &(String, &str)| {
            is_one_of(word, |language| &language.exclusions) || is_one_of(word, |language| &language.relatives)
        };
        let is_sure = self.deletes() && !self.words().iter().skip(1).any(is_limit);
        if is_sure { by_pattern(sentence, files) } else { Vec::new() }
    }

    /// Whether it may have to be carried out in another file than the one that it names.
    pub(super) fn may_be_elsewhere(&self) -> bool {
        is_one_of(self.verb_word(), |language| &language.elsewhere_verbs)
    }

    /// Returns the files of these that an order to change something names.
    pub(super) fn files_to_change(&self, existing: &[String], targets: &[String]) -> Vec<String> {
        if self.verb == OrderVerb::Make || is_one_of(self.verb_word(), |language| &language.copy_verbs) {
            return Vec::new();
        }
        let tokens = self.naming_words().iter().flat_map(|(_, written)| name_tokens(written));
        let named = tokens.filter(|token| !targets.iter().any(|target| target == token));
        let files: BTreeSet<String> = existing.iter().cloned().collect();
        named.filter_map(|token| meant(token, &files)).cloned().collect()
    }

    /// Whether it names a folder as one: "move them to old/".
    fn names_folder(&self) -> bool {
        let is_folder = |written: &str| {
            let name = written.trim_end_matches(['.', ',', '!', '?', ';', ')', '`', '"']);
            name.len() > 1 && name.ends_with('/') && !name.contains("://")
        };
        self.words().iter().skip(1).any(|(_, written)| is_folder(written))
    }

    /// Whether the order asks for a change of files.
    pub(super) fn is_change(&self, existing: &[String], targets: &[String]) -> bool {
        // What is excluded is not what is changed: "… but no file".
        let excludes = |word: &&str| is_one_of(word, |language| &language.exclusions);
        let words = || self.words().iter().skip(1).map(|(word, _)| word.as_str()).take_while(|word| !excludes(word));
        let is_noun = |word: &str| is_one_of(word, |language| &language.file_nouns);
        let names_file = self
            .naming_words()
            .iter()
            .any(|(_, written)| name_tokens(written).any(|token| existing.iter().any(|path| may_mean(token, path))));
        match self.verb {
            OrderVerb::Change => names_file || !targets.is_empty() || words().any(is_noun) || self.names_folder(),
            OrderVerb::Make => {
                let is_relative = |word: &&str| is_one_of(word, |language| &language.relatives);
                let direct = words().take_while(|word| !is_relative(word)).collect::<Vec<_>>();
                let makes_files = is_one_of(self.verb_word(), |language| &language.file_verbs);
                !targets.is_empty() || (makes_files && direct.into_iter().any(is_noun))
            }
        }
    }
}
