//! The terms by which tools and requests are compared.
//!
//! A word gives up to three: itself without its ending, its first letters (so that `historic` meets `history` in any
//! language that puts endings last), and the groups of related words it belongs to (so that `euro` meets `currency`).

use std::collections::HashMap;
use std::sync::LazyLock;

/// A term of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Term {
    /// A word without its ending.
    Stem(String),
    /// The first letters of a word.
    Start(String),
    /// A group of related words, by its line in the list.
    Group(usize),
}

/// How many letters the start of a word has; a shorter word has none.
const START: usize = 5;

/// Words of requests and descriptions that say nothing of what is wanted.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for", "from", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "me", "my", "of", "on", "or", "please", "that", "the", "their", "them",
    "there", "these", "this", "those", "to", "was", "we", "what", "which", "who", "will", "with", "would", "you",
    "your",
];

/// The groups that a word belongs to, by its stem.
static GROUPS: LazyLock<HashMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (line, words) in include_str!("related_words.txt").lines().enumerate() {
        words.split_whitespace().for_each(|word| groups.entry(stem(word)).or_default().push(line));
    }
    groups
});

/// A word of a text.
pub(super) struct ReadWord {
    /// What it is compared by; nothing for a common word.
    pub(super) terms: Vec<Term>,
    /// How many words it counts as: in scripts without spaces between words, two letters are about one.
    pub(super) length: usize,
}

/// Returns the terms of a text, with repetitions.
pub(super) fn terms(text: &str) -> Vec<Term> {
    read_words(text).into_iter().flat_map(|word| word.terms).collect()
}

/// Returns the words of a text.
pub(super) fn read_words(text: &str) -> Vec<ReadWord> {
    let read = |word: &String| {
        let terms = if COMMON.contains(&word.as_str()) { Vec::new() } else { word_terms(word) };
        let length = if word.starts_with(is_unspaced) { word.chars().count().div_ceil(2) } else { 1 };
        ReadWord { terms, length }
    };
    words(text).iter().map(read).collect()
}

fn word_terms(word: &str) -> Vec<Term> {
    let stem = stem(word);
    let start = word.char_indices().nth(START - 1).map(|(at, last)| &word[..at + last.len_utf8()]);
    let groups = GROUPS.get(stem).into_iter().flatten().map(|group| Term::Group(*group));
    let own = [Term::Stem(stem.to_owned())];
    own.into_iter().chain(start.map(|start| Term::Start(start.to_owned()))).chain(groups).collect()
}

/// Whether a letter belongs to a script that puts no spaces between words: Thai to Burmese, Khmer, kana and Chinese characters.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits a text or a name into words, in lower case: `createIssue` and `create_issue` are two words each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let begins =
            c.is_uppercase() && (before.is_lowercase() || before.is_numeric()) || is_unspaced(c) != is_unspaced(before);
        if (!c.is_alphanumeric() || begins) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns a word without the endings of plurals and verbs. Words need not come out as words, only alike.
fn stem(word: &str) -> &str {
    let long = |rest: &&str, least: usize| rest.chars().nth(least - 1).is_some();
    let mut stem = word;
    if !stem.ends_with("ss") {
        stem = stem.strip_suffix('s').filter(|rest| long(rest, 3)).unwrap_or(stem);
    }
    let verb = stem.strip_suffix("ing").or_else(|| stem.strip_suffix("ed")).filter(|rest| long(rest, 3));
    stem = verb.unwrap_or(stem);
    stem.strip_suffix('e').filter(|rest| long(rest, 3)).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::{GROUPS, Term, stem, terms, words};

    #[test]
    fn names_and_texts_are_split_into_the_same_words() {
        for text in ["createIssue2 Title", "create_issue2.title", "Create issue2: TITLE!"] {
            assert_eq!(words(text), ["create", "issue2", "title"], "{text}");
        }
        assert_eq!(words("l'été – 天气"), ["l", "été", "天气"]);
        assert_eq!(words("在GitHub上创建issue"), ["在", "git", "hub", "上创建", "issue"]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in
            [&["file", "files"][..], &["delete", "deletes", "deleted", "deleting"], &["pass"], &["bus"], &["is"]]
        {
            assert!(forms.iter().all(|form| stem(form) == stem(forms[0])), "{forms:?}");
        }
        assert_eq!((stem("is"), stem("red"), stem("king"), stem("ß")), ("is", "red", "king", "ß"));
    }

    #[test]
    fn a_word_stands_for_its_start_and_its_groups() {
        let of = |text: &str| terms(text);
        assert!(of("the euros").iter().any(|term| matches!(term, Term::Group(_)) && of("currency").contains(term)));
        assert!(
            of("historic").contains(&Term::Start("histo".into()))
                && of("History").contains(&Term::Start("histo".into()))
        );
        assert_eq!(of("how are you"), []);
    }

    #[test]
    fn related_words_are_listed_once_in_a_group() {
        for (word, groups) in GROUPS.iter() {
            let mut once = groups.clone();
            once.dedup();
            assert_eq!(once, *groups, "{word}");
        }
    }
}
