//! Text that a request asks to be replaced: "every #336699 becomes #2a7f62", "rename the function calc to total_price". A
//! small model often does it in one of several files. Which files have the text is known where the overview shows theirs.

use std::collections::BTreeSet;

use windlass_vocab::WorkspaceOverview;

use super::language::{contains_words, has_phrase, is_one_of, plain};
use super::named_files::{existing_files, is_file_name, name_tokens, names_folder_of, sentences};

/// Shorter texts are in many files that are not meant.
const SHORTEST: usize = 3;

/// Returns the files that have a text which the request asks to be replaced there.
pub(super) fn files_with_replaced_text(request: &str, overview: &WorkspaceOverview) -> Vec<String> {
    let replaced: Vec<String> = sentences(request).filter_map(replaced_text).collect();
    let files: BTreeSet<String> = overview.files.iter().map(|file| file.path.clone()).collect();
    let named = existing_files(request, &files);
    let is_everywhere = named.is_empty()
        && !files.iter().any(|path| names_folder_of(request, path))
        && has_phrase(&plain(request), |language| &language.everywhere_words);
    let is_meant = |path: &String| is_everywhere || named.contains(path) || names_folder_of(request, path);
    let has_it = |text: &String| replaced.iter().any(|replaced| contains_words(text, replaced));
    let found = overview.files.iter().filter(|file| is_meant(&file.path) && file.text.as_ref().is_some_and(has_it));
    found.map(|file| file.path.clone()).collect()
}

/// Returns the text that a sentence asks to be replaced by one that it writes out.
fn replaced_text(sentence: &str) -> Option<String> {
    let parts = parts(sentence);
    let is_new = |place: &usize| parts.get(place + 1).is_some_and(RequestPart::is_exact);
    let mut links = (1..parts.len()).filter(|place| parts.get(*place).is_some_and(RequestPart::is_link));
    let before = parts.get(..links.find(is_new)?)?;
    let old = before.iter().rev().find(|part| part.is_exact()).or_else(|| renamed_thing(before))?;
    let is_telling = old.text.chars().count() >= SHORTEST
        && old.text.contains(|letter: char| letter.is_alphabetic() || letter == '#');
    is_telling.then(|| old.text.to_owned())
}

/// Returns what is renamed: the word behind "rename" and what it is called, "the function".
fn renamed_thing<'p, 's>(parts: &'p [RequestPart<'s>]) -> Option<&'p RequestPart<'s>> {
    let is_verb = |part: &RequestPart<'_>| is_one_of(&plain(part.text), |language| &language.move_verbs);
    let is_filler = |part: &&RequestPart<'_>| {
        let word = plain(part.text);
        is_one_of(&word, |language| &language.before_names) || is_one_of(&word, |language| &language.named_things)
    };
    let verb = parts.iter().position(is_verb)?;
    parts.get(verb + 1..)?.iter().find(|part| !is_filler(part))
}

/// A word of a sentence without punctuation around it, or a text in quotes.
struct RequestPart<'s> {
    text: &'s str,
    is_quoted: bool,
}

impl RequestPart<'_> {
    /// Whether it stands for itself, and not for what it means. The name of a file does not.
    fn is_exact(&self) -> bool {
        let is_written_out = self.text.contains(|letter: char| !letter.is_alphabetic() && !"-'’".contains(letter));
        let is_file = name_tokens(self.text).any(is_file_name);
        !is_file && (self.is_quoted || is_written_out)
    }

    /// Whether it stands between the old text and the new one.
    fn is_link(&self) -> bool {
        !self.is_quoted && is_one_of(&plain(self.text), |language| &language.replaced_by)
    }
}

fn parts(sentence: &str) -> Vec<RequestPart<'_>> {
    let mut parts = Vec::new();
    for (place, piece) in sentence.split(['"', '`', '\u{201c}', '\u{201d}', '\u{201e}']).enumerate() {
        if place % 2 == 1 {
            parts.push(RequestPart { text: piece, is_quoted: true });
            continue;
        }
        let words = piece.split_whitespace().map(|word| word.trim_matches(['.', ',', ':', ';', '!', '?', '(', ')']));
        parts.extend(words.filter(|word| !word.is_empty()).map(|text| RequestPart { text, is_quoted: false }));
    }
    parts
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::files_with_replaced_text;

    // proves S1
    #[test]
    fn files_with_a_text_that_is_to_be_replaced_are_found() {
        let file = |(path, text): &(&str, &str)| OverviewFile {
            path: (*path).to_owned(),
            size: 10,
            text: Some((*text).to_owned()),
            origin: None,
        };
        let files = [
            ("boats/anna.txt", "Harbour: Old Pier\nmooring(4)\n"),
            ("boats/berta.txt", "Harbour: Old Pier\n"),
            ("boats/carla.txt", "Harbour: Mill Quay\n"),
            ("plan.md", "Old Pier, #0a0a0a, mooring(2)\n"),
        ];
        let overview = WorkspaceOverview { files: files.iter().map(file).collect(), ..WorkspaceOverview::default() };
        for (request, found) in [
            ("Replace \"Old Pier\" by \"New Pier\" in the folder boats.", vec!["boats/anna.txt", "boats/berta.txt"]),
            (
                "Every `Old Pier` in boats/ becomes `New Pier`. plan.md stays.",
                vec!["boats/anna.txt", "boats/berta.txt"],
            ),
            ("Change \"Old Pier\" to \"New Pier\" everywhere", vec!["boats/anna.txt", "boats/berta.txt", "plan.md"]),
            ("Change #0a0a0a to #0b0b0b in plan.md and boats/anna.txt", vec!["plan.md"]),
            (
                "Rename the function mooring in plan.md to berth_of, there and in boats/anna.txt.",
                vec!["boats/anna.txt", "plan.md"],
            ),
            ("Rename boats/anna.txt to boats/anna_2.txt", vec![]),
            ("Replace the harbour by another one in plan.md.", vec![]),
            ("Set the fee in plan.md to 30.", vec![]),
            ("Replace \"Old Pier\" by \"New Pier\".", vec![]),
        ] {
            assert_eq!(files_with_replaced_text(request, &overview), found, "{request}");
        }
    }
}
