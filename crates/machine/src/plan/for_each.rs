//! A line of a plan that names several files and what to do with each of them.

use super::ListedFiles;
use crate::file_names::meant_file;

/// The words a line begins with that names several files.
const BEGINNINGS: [&str; 4] = ["for each ", "for every ", "foreach ", "for all "];
/// Words that may stand before the first file.
const FILLERS: [&str; 13] =
    ["file", "files", "of", "in", "the", "these", "those", "following", "all", "matching", "named", "from", "text"];

/// Whether a line names several files.
pub(super) fn begins(line: &str) -> bool {
    after_beginning(line).is_some()
}

/// Returns the files of the line, and what to do with each; `None` where it is an ordinary step. So is one with a pattern
/// where not all files are known: the step would miss some of them.
pub(super) fn for_each(line: &str, files: &ListedFiles) -> Option<(Vec<String>, String)> {
    let list = without_fillers(after_beginning(line)?);
    let (names, work) = by_colon(list).or_else(|| by_words(list))?;
    if work.is_empty() || (files.has_more && names.iter().any(|name| pattern_of(name).is_some())) {
        return None;
    }
    let mut found: Vec<String> = Vec::new();
    for name in names {
        for file in named_files(&name, &files.names) {
            if !found.contains(&file) {
                found.push(file);
            }
        }
    }
    Some((found, work))
}

fn after_beginning(line: &str) -> Option<&str> {
    BEGINNINGS.iter().find_map(|beginning| {
        let head = line.get(..beginning.len())?;
        head.eq_ignore_ascii_case(beginning).then(|| line[beginning.len()..].trim_start())
    })
}

fn without_fillers(mut list: &str) -> &str {
    while let Some((word, rest)) = list.split_once(' ') {
        let bare = word.trim_matches([',', ':', '(']);
        if !FILLERS.iter().any(|filler| bare.eq_ignore_ascii_case(filler)) {
            break;
        }
        list = rest.trim_start();
    }
    list
}

/// Reads `a.txt, b c.txt: work`: names may contain blanks.
fn by_colon(list: &str) -> Option<(Vec<String>, String)> {
    let (names, work) = list.split_once(": ")?;
    let names = names.split(',').flat_map(|names| names.split(" and ")).map(bare_name);
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    (!names.is_empty() && names.iter().all(|name| looks_like_file(name))).then(|| (names, work.trim().to_owned()))
}

/// Reads `a.txt, b.txt and c.txt, work`: the names end at the first word that is none.
fn by_words(list: &str) -> Option<(Vec<String>, String)> {
    let (mut names, mut rest) = (Vec::new(), list);
    loop {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let name = bare_name(word);
        if looks_like_file(&name) {
            names.push(name);
        } else if names.is_empty() || !(word == "and" || word == "&") {
            break;
        }
        rest = after.trim_start();
        if rest.is_empty() {
            break;
        }
    }
    (!names.is_empty()).then(|| (names, rest.trim_start_matches([',', ':']).trim().to_owned()))
}

fn bare_name(word: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || "`\"',;:()[]“”".contains(c);
    word.trim_matches(is_mark).trim_start_matches("./").to_owned()
}

/// Whether a word names a file or a pattern of files: it has an extension, a folder or a star.
fn looks_like_file(word: &str) -> bool {
    let inner = word.trim_end_matches('.');
    let has_extension = inner.rsplit_once('.').is_some_and(|(_, extension)| {
        !extension.is_empty() && extension.len() <= 8 && extension.chars().all(char::is_alphanumeric)
    });
    word.contains('*') || has_extension || (inner.contains('/') && inner.chars().any(char::is_alphanumeric))
}

/// Returns the files that a name means: those that a pattern or a folder matches, or the one file of that name. A name
/// that no file has is kept: the step may make it.
fn named_files(name: &str, files: &[String]) -> Vec<String> {
    match pattern_of(name) {
        Some(pattern) => {
            let found = matching(&pattern, files);
            // `.env` is a file, and perhaps one that is to be made.
            if found.is_empty() && is_extension(name) { vec![name.to_owned()] } else { found }
        }
        None => vec![meant_file(name, files).map_or_else(|| name.to_owned(), String::clone)],
    }
}

/// Returns the pattern that a name is: with stars, a folder, or an extension as in "all .txt files".
fn pattern_of(name: &str) -> Option<String> {
    if is_extension(name) {
        return Some(format!("*{name}"));
    }
    if name.contains(['*', '?']) {
        return Some(name.to_owned());
    }
    name.strip_suffix('/').map(|folder| format!("{folder}/*"))
}

fn is_extension(name: &str) -> bool {
    name.strip_prefix('.').is_some_and(|rest| !rest.contains(['/', '.', '*']))
}

fn matching(pattern: &str, files: &[String]) -> Vec<String> {
    let pattern: Vec<char> = pattern.chars().collect();
    files.iter().filter(|file| matches(&pattern, &file.chars().collect::<Vec<_>>())).cloned().collect()
}

/// Whether a path matches a pattern: `?` is a character and `*` any number of them, but no `/`; `**` is anything.
fn matches(pattern: &[char], path: &[char]) -> bool {
    // The rows of a table: which prefixes of the path the pattern so far matches.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    let mut at = 0;
    while at < pattern.len() {
        let doubled = pattern[at] == '*' && pattern.get(at + 1) == Some(&'*');
        let mut next = vec![false; path.len() + 1];
        for end in 0..=path.len() {
            let before = end.checked_sub(1).map(|last| (path[last], reached[last], next[last]));
            next[end] = match (pattern[at], before) {
                ('*', Some((_, _, true))) if doubled => true,
                ('*', Some((last, _, true))) if last != '/' => true,
                ('*', _) => reached[end],
                ('?', Some((last, was, _))) => was && last != '/',
                (letter, Some((last, was, _))) => was && last == letter,
                (_, None) => false,
            };
        }
        at += if doubled { 2 } else { 1 };
        // `**/` also matches no folder at all.
        if doubled && pattern.get(at) == Some(&'/') {
            let without: Vec<bool> = reached.clone();
            let mut with = vec![false; path.len() + 1];
            for end in 1..=path.len() {
                with[end] = next[end - 1] && path[end - 1] == '/';
            }
            next = with.iter().zip(&without).map(|(with, without)| *with || *without).collect();
            at += 1;
        }
        reached = next;
    }
    reached[path.len()]
}
