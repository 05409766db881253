//! Reads a request: what it asks for, and which files it is about. Only what the person wrote is read, and only the
//! records say which files exist.

use std::collections::BTreeSet;

use super::language::{begins_with, has_phrase, plain};
use super::named_files::{existing_files, has_pattern, sentences};
use super::orders::Sentence;

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
    /// Files that exist and that it surely asks to be moved away, renamed or deleted.
    pub(crate) to_remove: Vec<String>,
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
    /// Set when it may be about more files than it names: "everywhere", "all files".
    pub(crate) is_about_all: bool,
    /// The same, where a pattern such as `*.txt` does not name them.
    pub(crate) is_about_unnamed: bool,
    /// Set when it speaks of several files that neither names nor a pattern tell.
    pub(crate) is_about_several: bool,
    /// Set when it may ask for files to be moved or renamed.
    pub(crate) may_move: bool,
    /// Set when it may ask for files whose content is then in other files: moved, renamed, converted.
    pub(crate) may_replace_files: bool,
    /// Set when it may ask for files to be deleted.
    pub(crate) may_delete: bool,
    /// Set when it asks for files to be deleted that it does not name: "all files", "everything".
    pub(crate) deletes_unnamed: bool,
    /// Set when what it asks for may have to be done in another file than those that it names: "fix the test in a.py".
    pub(crate) may_be_elsewhere: bool,
    /// Set when it may ask for files to be copied or merged, which leaves some of those that it names as they are.
    pub(crate) may_copy: bool,
}

impl RequestReading {
    /// Returns the files that exist and that it asks to be changed; those that it names, where it asks for a change and
    /// names no other file to write.
    pub(crate) fn meant(&self) -> &[String] {
        match self.kind {
            RequestKind::Change if !self.to_change.is_empty() => &self.to_change,
            RequestKind::Change if self.to_write.is_empty() => &self.existing,
            RequestKind::Change | RequestKind::Question | RequestKind::Other => &[],
        }
    }

    /// Whether the files that it asks to be changed are surely all that are to be changed.
    pub(crate) fn says_where(&self) -> bool {
        let names_all = !self.to_change.is_empty() && self.to_write.is_empty();
        names_all && !self.is_about_all && !self.is_about_several && !self.may_be_elsewhere && !self.may_copy
    }
}

/// Reads a request, given the files that are known to exist.
pub(crate) fn read_request(text: &str, files: &BTreeSet<String>) -> RequestReading {
    let lower = plain(text);
    let mut reading = RequestReading {
        kind: RequestKind::Other,
        existing: existing_files(text, files),
        to_write: Vec::new(),
        to_change: Vec::new(),
        to_remove: Vec::new(),
        only_moves_or_deletes: true,
        is_advice: false,
        is_talk: false,
        is_about_files: false,
        is_about_listing: has_phrase(&lower, |language| &language.listing_words),
        is_about_figures: has_phrase(&lower, |language| &language.computing_words),
        is_about_all: has_phrase(&lower, |language| &language.all_words)
            || has_phrase(&lower, |language| &language.everywhere_words),
        is_about_unnamed: has_phrase(&lower, |language| &language.everywhere_words)
            || has_phrase(&lower, |language| &language.all_words) && !has_pattern(text),
        is_about_several: has_phrase(&lower, |language| &language.several_words) && !has_pattern(text),
        may_move: has_phrase(&lower, |language| &language.moving_words),
        may_replace_files: has_phrase(&lower, |language| &language.replacing_words),
        may_delete: has_phrase(&lower, |language| &language.deleting_words),
        deletes_unnamed: false,
        may_be_elsewhere: false,
        may_copy: has_phrase(&lower, |language| &language.copy_verbs),
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
        let named = existing_files(text, files);
        let is_statement = sentence.orders().is_empty() && !named.is_empty();
        speaks_of_file |= is_statement;
        if is_statement && has_phrase(&plain(text), |language| &language.demands) {
            orders = true;
            reading.kind = RequestKind::Change;
            reading.only_moves_or_deletes = false;
            reading.to_change.extend(named);
        }
        for order in sentence.orders() {
            orders = true;
            let targets = order.targets(files);
            if order.is_change(&reading.existing, &targets) || speaks_of_file && order.changes_what_was_named() {
                reading.kind = RequestKind::Change;
            }
            reading.only_moves_or_deletes &= order.moves_or_deletes();
            reading.to_remove.extend(order.moved_files(files));
            reading.to_remove.extend(order.files_deleted_by_pattern(text, files));
            reading.deletes_unnamed |= order.deletes_unnamed();
            reading.may_be_elsewhere |= order.may_be_elsewhere();
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
    let names_place =
        has_phrase(&lower, |language| &language.places) && !has_phrase(&lower, |language| &language.in_answer);
    let by_words = names_place || has_phrase(&lower, |language| &language.file_nouns);
    reading.is_about_files =
        by_words || !reading.existing.is_empty() || !reading.to_write.is_empty() || reading.kind == RequestKind::Change;
    reading.is_talk = reading.kind == RequestKind::Other
        && !reading.is_about_files
        && begins_with(lower.trim_start(), |language| &language.talk);
    reading
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{RequestKind, read_request};

    fn files() -> BTreeSet<String> {
        let others = ["Makefile", "leave.csv", "do-not-delete.csv"];
        let texts = ["prices.txt", "config.json", "src/main.py", "notes/a.txt", "notes/b.txt"];
        texts.into_iter().chain(others).map(String::from).collect()
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
            ("In config.json, set the port to 80.", Change),
            ("Please, in prices.txt, change 3 to 4", Change),
            ("In prices.txt change 3 to 4.", Change),
            ("The port in config.json was set to 80, can you change it to 8080?", Change),
            ("I see which line in main.py fails, can you fix it?", Change),
            ("Correct this file: prices.txt", Change),
            ("Ändere nur in config.json den Port.", Change),
            ("The port has to be 8080 in config.json.", Change),
            ("Every apple in prices.txt becomes a pear. config.json stays.", Change),
            ("src/main.py crashes. Fix the script please.", Change),
            ("Look at the prices and move the old ones to archive/.", Change),
            ("Delete all files that are not empty.", Change),
            ("Remove the files that don't end in .bak.", Change),
            ("Create list.txt without duplicates.", Change),
            ("Füge in prices.txt eine Zeile hinzu.", Change),
            ("prices.txt stays as it is.", Other),
            ("I read prices.txt, add your opinion.", Other),
            ("Was steht in config.json?", Question),
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
            ("Set x to 1 in config.json. Hands off prices.txt! src/main.py stays.", vec!["config.json"], vec![]),
            ("Change the days in leave.csv and in prices.txt", vec!["leave.csv", "prices.txt"], vec![]),
            ("Delete do-not-delete.csv, not prices.txt", vec!["do-not-delete.csv"], vec![]),
            ("Write a node.js server", vec![], vec![]),
            ("Rename prices.txt to costs.txt", vec!["prices.txt"], vec!["costs.txt"]),
            ("Rename them: prices.txt becomes costs.txt, and so on.", vec!["prices.txt"], vec!["costs.txt"]),
            ("Rename them by title: one on rain becomes rain.txt.", vec![], vec![]),
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
