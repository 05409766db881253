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

/// Returns the terms of a text, with repetitions.
pub(super) fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for word in words(text).iter().filter(|word| !COMMON.contains(&word.as_str())) {
        let stem = stem(word);
        terms.push(Term::Stem(stem.to_owned()));
        terms.extend(
            word.char_indices().nth(START - 1).map(|(at, last)| Term::Start(word[..at + last.len_utf8()].to_owned())),
        );
        terms.extend(GROUPS.get(stem).into_iter().flatten().map(|group| Term::Group(*group)));
    }
    terms
}

/// Splits a text or a name into words, in lower case: `createIssue` and `create_issue` are two words each.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        let begins = c.is_uppercase() && (before.is_lowercase() || before.is_numeric());
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
