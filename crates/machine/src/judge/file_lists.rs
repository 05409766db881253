//! Files that a request lists by name: `a.ini, b.ini and c.ini`. What is done to one of them is asked for all of them. Of
//! `all .txt files`, some may need no change.

use std::collections::BTreeSet;

use super::language::{is_one_of, plain};
use super::named_files::{meant, name_tokens, sentences};

/// Returns the lists of at least two files that exist and that the text names.
pub(super) fn file_lists(text: &str, files: &BTreeSet<String>) -> Vec<Vec<String>> {
    sentences(text).flat_map(|sentence| lists_of(sentence, files)).filter(|list| list.len() > 1).collect()
}

fn lists_of(sentence: &str, files: &BTreeSet<String>) -> Vec<Vec<String>> {
    let mut lists = vec![Vec::new()];
    for word in sentence.split_whitespace() {
        let named = name_tokens(word).next().and_then(|token| meant(token, files));
        match (named, lists.last_mut()) {
            (Some(path), Some(list)) if !list.contains(path) => list.push(path.clone()),
            (None, _) if !joins_names(word) => lists.push(Vec::new()),
            (Some(_) | None, _) => {}
        }
    }
    lists
}

/// Whether a word between two names leaves them in one list.
fn joins_names(word: &str) -> bool {
    let word = plain(word);
    is_one_of(word.trim_matches([',', '(', ')']), |language| &language.list_words)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::file_lists;

    // proves S1
    #[test]
    fn files_that_are_named_side_by_side_are_one_list() {
        let files: BTreeSet<String> = ["a.ini", "b.ini", "src/c.py", "d.csv", "e.csv"].map(String::from).into();
        for (request, lists) in [
            ("Set the port in a.ini, b.ini and c.py to 80.", vec![vec!["a.ini", "b.ini", "src/c.py"]]),
            ("Set the version in `a.ini` and in `src/c.py`.", vec![vec!["a.ini", "src/c.py"]]),
            ("Copy the port of a.ini into b.ini.", vec![]),
            ("Read a.ini. b.ini needs its port.", vec![]),
            ("Fix c.py; the numbers are in d.csv and e.csv.", vec![vec!["d.csv", "e.csv"]]),
            ("Add a heading to all .csv files.", vec![]),
            ("Fix a.ini.", vec![]),
        ] {
            assert_eq!(file_lists(request, &files), lists, "{request}");
        }
    }
}
