//! Which files a request names: by path, by name or by a pattern, and not to be excluded.

use std::collections::BTreeSet;

use super::language::{
    PhraseList, all, begins_with, has_phrase, is_extension, is_file_without_ending, is_no_file, is_one_of, plain,
};
use crate::file_names::{base_name, meant_file};

/// The most files that a pattern such as `*.txt` stands for.
const PATTERN_FILES: usize = 20;

/// Returns the files that exist and that the text names: by path, by file name or by a pattern such as `*.txt`. A file
/// that is named only to be excluded is left out.
pub(super) fn existing_files(text: &str, files: &BTreeSet<String>) -> Vec<String> {
    NamedFiles::of(text, files).included
}

/// Whether a text names this file only to leave it alone: "but not b.txt", "b.txt stays".
pub(super) fn is_kept_out(text: &str, path: &str) -> bool {
    let named = NamedFiles::of(text, &BTreeSet::from([path.to_owned()]));
    named.included.is_empty() && !named.excluded.is_empty()
}

/// The files that a text names.
#[derive(Default)]
struct NamedFiles {
    /// In the order of the text, those that only a pattern matches last.
    included: Vec<String>,
    excluded: BTreeSet<String>,
}

impl NamedFiles {
    fn of(text: &str, files: &BTreeSet<String>) -> Self {
        let (mut named, mut matched) = (Self::default(), Vec::new());
        for sentence in sentences(text) {
            if leaves_files_alone(sentence) {
                named.excluded.extend(name_tokens(sentence).filter_map(|token| meant(token, files)).cloned());
            } else {
                clauses(sentence).for_each(|clause| matched.extend(named.add(clause, files)));
            }
        }
        // What is named counts more than what a pattern matches.
        let Self { included, excluded } = &mut named;
        included.extend(matched.into_iter().filter(|path| !excluded.contains(path)));
        let mut seen = BTreeSet::new();
        included.retain(|path| seen.insert(path.clone()));
        named
    }

    /// Adds the files that a clause names. Returns those that a pattern in it matches.
    fn add(&mut self, clause: &str, files: &BTreeSet<String>) -> Vec<String> {
        // A word such as "not" excludes the names behind it. Names are no such words: `leave.csv`.
        let (mut words, mut rest) = (String::new(), clause);
        for token in name_tokens(clause) {
            let (before, after) = rest.split_once(token).unwrap_or((rest, ""));
            words.push_str(before);
            rest = after;
            let file = meant(token, files);
            words.push_str(if file.is_some() || is_file_name(token) { " " } else { token });
            let is_negated = || begins_with(&plain(rest.trim_start()), |language| &language.negations_behind);
            match file.cloned() {
                Some(file) if excludes(&words) || is_negated() => self.excluded.extend([file]),
                Some(file) => self.included.push(file),
                None => {}
            }
        }
        words.push_str(rest);
        if excludes(&words) { Vec::new() } else { by_pattern(clause, files) }
    }
}

/// Whether words before the name of a file or folder exclude it: a negation begins them ("don't sort the lines of"), or only
/// words that lead to the name stand behind one that excludes ("but not in"). In "the rows without a price from a.csv" none does.
fn excludes(words: &str) -> bool {
    let text = plain(words);
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_lead_in = |word: &&&str| is_one_of(word, |language| &language.lead_ins);
    let first = words.iter().find(|word| !is_lead_in(word));
    let is_negated = first.is_some_and(|word| is_one_of(word, |language| &language.negations));
    let last = words.iter().rposition(|word| is_one_of(word, |language| &language.exclusions));
    let leads_to_name = |word: &&str| {
        let lists: [PhraseList; 6] = [
            |language| &language.prepositions,
            |language| &language.before_names,
            |language| &language.list_words,
            |language| &language.file_nouns,
            |language| &language.change_verbs,
            |language| &language.exclusion_fillers,
        ];
        is_extension(word) || lists.into_iter().any(|list| is_one_of(word, list))
    };
    let is_excluded = || last.is_some_and(|last| words.iter().skip(last + 1).all(leads_to_name));
    !has_phrase(&text, |language| &language.inclusions) && (is_negated || is_excluded())
}

/// Whether a sentence only says that files stay as they are: "a.txt stays."
fn leaves_files_alone(sentence: &str) -> bool {
    let lower = plain(&unquoted(sentence));
    let is_verb = |word: &str| {
        is_one_of(word, |language| &language.change_verbs) || is_one_of(word, |language| &language.make_verbs)
    };
    has_phrase(&lower, |language| &language.stays)
        && !lower.split(|letter: char| !letter.is_alphanumeric()).any(is_verb)
}

/// Returns a text without what stands in quotes, which is no word of the request itself.
fn unquoted(text: &str) -> String {
    text.split(['"', '`', '\u{201c}', '\u{201d}', '\u{201e}']).step_by(2).collect()
}

/// Whether a word of a request, in lower case, is a part of this path, without its ending: "the changelog", "the folder old".
pub(super) fn has_word_of_path(text: &str, path: &str) -> bool {
    let is_common = |word: &str| is_one_of(word, |language| &language.common_words);
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let (stem, path) = (plain(stem), plain(path));
    let tokens = text.split_whitespace().filter(|token| !name_tokens(token).any(is_file_name));
    let mut words = tokens.flat_map(|token| token.split(|letter: char| !letter.is_alphanumeric()));
    words.any(|word| {
        let is_folder = || path.split('/').rev().skip(1).any(|part| part == word);
        let mut parts = stem.split(|letter: char| !letter.is_alphanumeric());
        !word.is_empty() && parts.any(|part| part == word) && (!is_common(word) || is_folder())
    })
}

/// Whether a text names a folder in which this file is, as a folder: "the folder old", "all files in old", "old/".
pub(super) fn names_folder_of(text: &str, path: &str) -> bool {
    let folders: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
    let is_noun = |word: &str| is_one_of(word, |language| &language.file_nouns);
    let is_before = |word: &str| is_noun(word) || is_one_of(word, |language| &language.prepositions);
    sentences(text).flat_map(clauses).any(|clause| {
        let words: Vec<String> =
            clause.split_whitespace().map(|word| plain(word.trim_matches(['.', ',', ':']))).collect();
        clause.split_whitespace().enumerate().any(|(place, written)| {
            let is_folder = name_tokens(written).next().is_some_and(|token| folders.contains(&token));
            let (before, after) = words.split_at(place);
            let is_meant = || {
                written.contains('/')
                    || before.last().is_some_and(|word| is_before(word))
                    || after.get(1).is_some_and(|word| is_noun(word))
            };
            is_folder && is_meant() && !excludes(&before.join(" "))
        })
    })
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
pub(super) fn by_pattern(clause: &str, files: &BTreeSet<String>) -> Vec<String> {
    let Some(ending) = pattern_ending(clause) else { return Vec::new() };
    let named: Vec<String> = files.iter().filter(|path| path.to_lowercase().ends_with(&ending)).cloned().collect();
    if named.len() <= PATTERN_FILES { named } else { Vec::new() }
}

/// Whether a text has a pattern such as `*.txt`, or `all .txt files`.
pub(super) fn has_pattern(text: &str) -> bool {
    sentences(text).any(|sentence| pattern_ending(sentence).is_some())
}

/// Returns the ending in a pattern, with its dot.
fn pattern_ending(clause: &str) -> Option<String> {
    let lower = plain(clause);
    let for_all =
        has_phrase(&lower, |language| &language.all_words) || has_phrase(&lower, |language| &language.files_words);
    lower.split(|letter: char| letter.is_whitespace() || "`'\",()".contains(letter)).find_map(|token| {
        let ending = token.strip_prefix("*.").or_else(|| token.strip_prefix('.').filter(|_| for_all))?;
        let ending = ending.trim_end_matches(['.', ',', ':', '?', '!']);
        is_extension(ending).then(|| format!(".{ending}"))
    })
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
pub(super) fn is_file_name(token: &str) -> bool {
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
