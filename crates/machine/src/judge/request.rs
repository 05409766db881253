//! Reads a request: what it asks for, and which files it is about. Only what the person wrote is read, and only the
//! records say which files exist.

use std::collections::BTreeSet;

use super::language::{
    all, begins_with, contains_words, has_phrase, is_extension, is_file_without_ending, is_no_file, is_one_of, plain,
};
use crate::file_names::{base_name, may_mean, meant_file};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A change of files.
    Change,
    /// An answer, and nothing else.
    Question,
    /// Anything else: talk, a text, work whose kind the words do not show.
    Other,
}

/// What is read from a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestReading {
    pub(crate) kind: RequestKind,
    /// Files that exist and that the request names, in its order.
    pub(crate) existing: Vec<String>,
    /// Files that it asks to be written, by the names it uses.
    pub(crate) to_write: Vec<String>,
    /// Files that exist and that an order to change something names.
    pub(crate) to_change: Vec<String>,
    /// Of these, the ones that it asks to be moved away or renamed.
    pub(crate) to_move: Vec<String>,
    /// Set when its orders only move, rename or delete.
    pub(crate) only_moves_or_deletes: bool,
    /// Set when text answers it: a request for advice.
    pub(crate) is_advice: bool,
    /// Set when it is mere talk: it begins so, orders nothing and is not about files.
    pub(crate) is_talk: bool,
    /// Set when it is about the files of the workspace, by its words or by names.
    pub(crate) is_about_files: bool,
    /// Set when a listing of files may answer it.
    pub(crate) is_about_listing: bool,
    /// Set when it asks for an answer that is computed: how many, which has most.
    pub(crate) is_about_figures: bool,
    /// Set when it may be about more files than it names: "everywhere".
    pub(crate) is_about_all: bool,
    /// Set when it may ask for files to be moved or renamed.
    pub(crate) may_move: bool,
    /// Set when it may ask for files to be deleted.
    pub(crate) may_delete: bool,
}

/// The most files that a pattern such as `*.txt` stands for.
const PATTERN_FILES: usize = 20;

/// Reads a request, given the files that are known to exist.
pub(crate) fn read_request(text: &str, files: &BTreeSet<String>) -> RequestReading {
    let lower = plain(text);
    let mut reading = RequestReading {
        kind: RequestKind::Other,
        existing: existing_files(text, files),
        to_write: Vec::new(),
        to_change: Vec::new(),
        to_move: Vec::new(),
        only_moves_or_deletes: true,
        is_advice: false,
        is_talk: false,
        is_about_files: false,
        is_about_listing: has_phrase(&lower, |language| &language.listing_words),
        is_about_figures: has_phrase(&lower, |language| &language.computing_words),
        is_about_all: has_phrase(&lower, |language| &language.all_words)
            || has_phrase(&lower, |language| &language.everywhere_words),
        may_move: has_phrase(&lower, |language| &language.moving_words),
        may_delete: has_phrase(&lower, |language| &language.deleting_words),
    };
    // Whether a sentence before only speaks of a file: "a.py has a mistake."
    let (mut asks, mut orders, mut speaks_of_file) = (false, false, false);
    for text in sentences(text) {
        let sentence = Sentence::new(text);
        reading.is_advice |= sentence.is_advice();
        if sentence.is_question() {
            asks = true;
            continue;
        }
        speaks_of_file |= sentence.orders().is_empty() && !existing_files(text, files).is_empty();
        for order in sentence.orders() {
            orders = true;
            let targets = order.targets(files);
            if order.is_change(&reading.existing, &targets) || speaks_of_file && order.changes_what_was_named() {
                reading.kind = RequestKind::Change;
            }
            reading.only_moves_or_deletes &= order.moves_or_deletes();
            reading.to_move.extend(order.moved_files(files));
            reading.to_change.extend(order.files_to_change(&reading.existing, &targets));
            reading.to_write.extend(targets);
        }
    }
    reading.only_moves_or_deletes &= orders;
    reading.to_write.sort();
    reading.to_write.dedup();
    if reading.kind == RequestKind::Other && asks && !orders {
        reading.kind = RequestKind::Question;
    }
    let by_words =
        has_phrase(&lower, |language| &language.places) || has_phrase(&lower, |language| &language.file_nouns);
    reading.is_about_files =
        by_words || !reading.existing.is_empty() || !reading.to_write.is_empty() || reading.kind == RequestKind::Change;
    reading.is_talk = reading.kind == RequestKind::Other
        && !reading.is_about_files
        && begins_with(lower.trim_start(), |language| &language.talk);
    reading
}

/// Returns the files that exist and that the text names: by path, by file name or by a pattern such as `*.txt`. A file
/// that is named only to be excluded is left out.
pub(super) fn existing_files(text: &str, files: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for clause in sentences(text).flat_map(clauses) {
        // A word such as "not" excludes the names behind it.
        let excluded = |before: &str| has_phrase(&plain(before), |language| &language.exclusions);
        let mut rest = clause;
        for token in name_tokens(clause) {
            rest = rest.split_once(token).map_or("", |(_, after)| after);
            let before = &clause[..clause.len() - rest.len()];
            found.extend(meant(token, files).filter(|_| !excluded(before)).cloned());
        }
        if !excluded(clause) {
            found.extend(by_pattern(clause, files));
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|path| seen.insert(path.clone()));
    found
}

/// Returns the file that a word of a request means.
pub(super) fn meant<'f>(token: &str, files: &'f BTreeSet<String>) -> Option<&'f String> {
    if token.contains(['.', '/']) || is_file_without_ending(token) {
        return meant_file(token, files);
    }
    // Another word in lower case is a word, even where a file has that name.
    meant_file(token, files).filter(|path| *path == token && !token.chars().any(char::is_lowercase))
}

/// Returns the files that `*.txt`, or `all .txt files`, stands for.
fn by_pattern(clause: &str, files: &BTreeSet<String>) -> Vec<String> {
    let lower = plain(clause);
    let for_all =
        has_phrase(&lower, |language| &language.all_words) || has_phrase(&lower, |language| &language.files_words);
    let ending = lower.split(|letter: char| letter.is_whitespace() || "`'\",()".contains(letter)).find_map(|token| {
        let ending = token.strip_prefix("*.").or_else(|| token.strip_prefix('.').filter(|_| for_all))?;
        let ending = ending.trim_end_matches(['.', ',', ':', '?', '!']);
        is_extension(ending).then(|| format!(".{ending}"))
    });
    let Some(ending) = ending else { return Vec::new() };
    let named: Vec<String> = files.iter().filter(|path| path.to_lowercase().ends_with(&ending)).cloned().collect();
    if named.len() <= PATTERN_FILES { named } else { Vec::new() }
}

/// Returns the words of a text that may be names of files, without quotes and punctuation around them.
pub(super) fn name_tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| {
        letter.is_whitespace() || "`'\"\u{201c}\u{201d}\u{2018}\u{2019}(),;[]{}<>=".contains(letter)
    })
    .filter(|token| !token.contains("://") && !token.contains('@'))
    .map(|token| token.trim_start_matches("./").trim_end_matches(['.', ':', '?', '!', '*', '/']))
    .filter(|token| !token.is_empty())
}

/// Whether a word is the name of a file by its ending.
fn is_file_name(token: &str) -> bool {
    let base = base_name(token);
    let Some((stem, ending)) = base.rsplit_once('.') else { return false };
    let ending = ending.to_lowercase();
    !stem.is_empty() && is_extension(&ending) && !is_no_file(&token.to_lowercase())
}

/// Splits a text into sentences and lines. A full stop within a name does not end one.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.trim().is_empty() {
                return None;
            }
            let ends = rest.char_indices().find(|(at, letter)| {
                let after = rest.get(at + letter.len_utf8()..).unwrap_or_default();
                matches!(letter, '.' | '!' | '?' | ';') && (after.is_empty() || after.starts_with([' ', '\t']))
            });
            let end = ends.map_or(rest.len(), |(at, letter)| at + letter.len_utf8());
            let (sentence, after) = rest.split_at(end);
            rest = after;
            Some(sentence.trim())
        })
    })
}

/// Splits a sentence at commas and at words such as `but`.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(", ").flat_map(|part| {
        // The word stays with what it excludes.
        let first = |word: &str| part.find(&format!(" {word} "));
        let at = all(|language| &language.clause_words).filter_map(first).min().unwrap_or(part.len());
        let (before, after) = part.split_at(at);
        [before, after]
    })
}

/// A sentence of a request.
struct Sentence<'a> {
    /// Its words: in lower case, and as written.
    words: Vec<(String, &'a str)>,
    ends_asking: bool,
}

impl<'a> Sentence<'a> {
    fn new(text: &'a str) -> Self {
        let marks = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '*' | '•' | '.' | ')' | ' ' | '#');
        let text = text.trim_start_matches(marks);
        let words = text.split_whitespace().map(|word| (bare(word), word)).collect();
        Self { words, ends_asking: text.trim_end().ends_with('?') }
    }

    fn text_from(&self, start: usize) -> String {
        let words: Vec<&str> = self.words.iter().skip(start).map(|(word, _)| word.as_str()).collect();
        words.join(" ")
    }

    /// Returns how many words at the start leave what follows an order.
    fn lead_in(&self) -> usize {
        let mut start = 0;
        loop {
            let rest = self.text_from(start);
            let leads = |lead: &&str| rest.strip_prefix(lead).is_some_and(|after| after.starts_with(' '));
            let words = all(|language| &language.lead_ins).filter(leads).map(|lead| lead.split(' ').count()).max();
            let Some(words) = words else { return start };
            start += words;
        }
    }

    fn is_advice(&self) -> bool {
        (0..=self.lead_in()).any(|start| begins_with(&self.text_from(start), |language| &language.advice))
    }

    fn is_question(&self) -> bool {
        let lead = self.lead_in();
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

    /// Returns the orders of the sentence: verbs at its beginning, or joined to what is before them.
    fn orders(&self) -> Vec<Order<'_, 'a>> {
        let lead = self.lead_in();
        let mut places: Vec<(usize, OrderVerb)> = Vec::new();
        for place in lead..self.words.len() {
            let joined = place == lead
                || self.words.get(place.wrapping_sub(1)).is_some_and(|(word, written)| {
                    written.ends_with([',', ':']) || is_one_of(word, |language| &language.joins)
                });
            if let Some(verb) = self.verb_at(place).filter(|_| joined) {
                places.push((place, verb));
            }
        }
        let ends = places.iter().skip(1).map(|(place, _)| *place).chain([self.words.len()]);
        places
            .iter()
            .zip(ends)
            .map(|((start, verb), end)| Order { sentence: self, verb: *verb, start: *start, end })
            .collect()
    }
}

/// Returns a word in lower case, without punctuation around it.
fn bare(word: &str) -> String {
    plain(word).trim_matches(|letter: char| "`\"\u{201c}\u{201d}(),:;!?.".contains(letter)).to_owned()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderVerb {
    Change,
    Make,
}

/// An order of a request: a verb and what follows it.
struct Order<'s, 'a> {
    sentence: &'s Sentence<'a>,
    verb: OrderVerb,
    start: usize,
    end: usize,
}

impl Order<'_, '_> {
    fn words(&self) -> &[(String, &str)] {
        self.sentence.words.get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the names of files that the order asks to be written.
    fn targets(&self, files: &BTreeSet<String>) -> Vec<String> {
        let words = self.words();
        let renames = words.first().is_some_and(|(verb, _)| is_one_of(verb, |language| &language.move_verbs));
        if self.verb == OrderVerb::Change && !renames {
            return Vec::new();
        }
        let writes = words.first().is_some_and(|(verb, _)| is_one_of(verb, |language| &language.write_verbs));
        let mut found = Vec::new();
        for (place, (_, written)) in words.iter().enumerate().skip(1) {
            let Some(token) = name_tokens(written).next().filter(|token| is_file_name(token)) else { continue };
            let before = words.get(place - 1).map_or("", |(word, _)| word.as_str());
            let into = is_one_of(before, |language| &language.target_into);
            let is_target = if meant(token, files).is_some() {
                into && writes
            } else if renames {
                into
            } else {
                place == 1 || is_one_of(before, |language| &language.target_before)
            };
            if is_target {
                found.push(token.to_owned());
            }
        }
        found
    }

    /// Whether it asks for a change of what was spoken of before: "fix it".
    fn changes_what_was_named(&self) -> bool {
        let object = self.words().get(1).map_or("", |(word, _)| word.as_str());
        self.verb == OrderVerb::Change && is_one_of(object, |language| &language.pronouns)
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
    fn moves_or_deletes(&self) -> bool {
        self.moves() || is_one_of(self.verb_word(), |language| &language.delete_verbs)
    }

    /// Returns the files that it asks to be moved away or renamed: those right behind the verb. "Move the heading of a.md" does
    /// not move a file.
    fn moved_files(&self, files: &BTreeSet<String>) -> Vec<String> {
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

    /// Returns the files of these that an order to change something names.
    fn files_to_change(&self, existing: &[String], targets: &[String]) -> Vec<String> {
        if self.verb == OrderVerb::Make {
            return Vec::new();
        }
        let tokens = self.words().iter().flat_map(|(_, written)| name_tokens(written));
        let named = tokens.filter(|token| !targets.iter().any(|target| target == token));
        let files: BTreeSet<String> = existing.iter().cloned().collect();
        named.filter_map(|token| meant(token, &files)).cloned().collect()
    }

    /// Whether the order asks for a change of files.
    fn is_change(&self, existing: &[String], targets: &[String]) -> bool {
        let text = self.words().iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(" ");
        let words = || self.words().iter().skip(1).map(|(word, _)| word.as_str());
        let is_noun = |word: &str| is_one_of(word, |language| &language.file_nouns);
        let names_file = self
            .words()
            .iter()
            .any(|(_, written)| name_tokens(written).any(|token| existing.iter().any(|path| may_mean(token, path))));
        if all(|language| &language.exclusions).any(|word| contains_words(&text, word)) && !names_file {
            return false;
        }
        match self.verb {
            OrderVerb::Change => names_file || !targets.is_empty() || words().any(is_noun),
            OrderVerb::Make => {
                let is_relative = |word: &&str| is_one_of(word, |language| &language.relatives);
                let direct = words().take_while(|word| !is_relative(word)).collect::<Vec<_>>();
                let verb = self.words().first().map_or("", |(word, _)| word.as_str());
                let makes_files = is_one_of(verb, |language| &language.file_verbs);
                !targets.is_empty() || (makes_files && direct.into_iter().any(is_noun))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{RequestKind, read_request};

    fn files() -> BTreeSet<String> {
        ["prices.txt", "config.json", "src/main.py", "notes/a.txt", "notes/b.txt", "Makefile"].map(String::from).into()
    }

    // proves S1
    #[test]
    fn requests_are_read_by_their_orders_and_not_by_their_nouns() {
        use RequestKind::{Change, Other, Question};
        for (request, kind) in [
            ("Change the port in config.json to 8080.", Change),
            ("Please rename prices.txt to costs.txt", Change),
            ("Can you fix the bug in main.py?", Change),
            ("Create a file called out.txt with the word hi.", Change),
            ("Collect the totals into totals.csv", Change),
            ("Read prices.txt and write the total to total.txt", Change),
            ("Delete all files that are empty.", Change),
            ("Set the timeout to 30 in config.json, then tell me the old value.", Change),
            ("prices.txt is wrong. Please correct what is missing.", Change),
            ("Tick off the milk in prices.txt", Change),
            ("src/main.py has a mistake. Fix it.", Change),
            ("Summarise src/main.py and add your opinion.", Other),
            ("Translate prices.txt into German and correct it for me in your answer.", Other),
            ("Sort prices.txt by price and show me the top three.", Other),
            ("What is the price of apples in prices.txt?", Question),
            ("How many lines does src/main.py have?", Question),
            ("Does config.json mention a port?", Question),
            ("What would happen if I delete prices.txt?", Question),
            ("Write a haiku about rain.", Other),
            ("Write a Python function that deletes a file", Other),
            ("Explain how to rename a file", Other),
            ("Add up the numbers in prices.txt", Other),
            ("Summarise src/main.py", Other),
            ("Hello!", Other),
            ("Write a summary of prices.txt", Other),
        ] {
            assert_eq!(read_request(request, &files()).kind, kind, "{request}");
        }
    }

    // proves S1
    #[test]
    fn files_are_named_by_path_by_name_and_by_pattern() {
        for (request, existing, to_write) in [
            ("Compare `prices.txt` with main.py.", vec!["prices.txt", "src/main.py"], vec![]),
            ("Put the sum of prices.txt into sum.txt", vec!["prices.txt"], vec!["sum.txt"]),
            ("Change x to y in all .txt files", vec!["notes/a.txt", "notes/b.txt", "prices.txt"], vec![]),
            ("Update config.json but not prices.txt.", vec!["config.json"], vec![]),
            ("Write a node.js server", vec![], vec![]),
            ("Rename prices.txt to costs.txt", vec!["prices.txt"], vec!["costs.txt"]),
            ("See https://example.com/prices.txt", vec![], vec![]),
        ] {
            let reading = read_request(request, &files());
            assert_eq!((reading.existing, reading.to_write), (strings(&existing), strings(&to_write)), "{request}");
        }
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
