//! Text that a request asks to be replaced: "every #336699 becomes #2a7f62", "rename the function calc to total_price". A
//! small model often does it in one of several files. Which files have the text is known where the overview shows theirs.

use std::collections::BTreeSet;

use windlass_vocab::WorkspaceOverview;

use super::language::{contains_words, has_phrase, is_one_of, plain};
use super::named_files::{existing_files, is_file_name, is_kept_out, name_tokens, names_folder_of, sentences};
use super::request::read_request;

/// Shorter texts are in many files that are not meant.
const SHORTEST: usize = 3;

/// Returns the files that have a text which the request asks to be replaced there, and do not have the new one. Where it also
/// asks for files to be written or copied, it does not say which of them are meant.
pub(super) fn files_with_replaced_text(request: &str, overview: &WorkspaceOverview) -> Vec<String> {
    let files: BTreeSet<String> = overview.files.iter().map(|file| file.path.clone()).collect();
    let is_text = |replacement: &Replacement<'_>| !replacement.is_of_setting(overview);
    let replacements: Vec<Replacement> = sentences(request).filter_map(Replacement::of).filter(is_text).collect();
    let reading = read_request(request, &files);
    if replacements.is_empty() || reading.may_copy || !reading.to_write.is_empty() {
        return Vec::new();
    }
    let named = existing_files(request, &files);
    let in_folder = |path: &str| names_folder_of(request, path);
    let names_place = !named.is_empty() || files.iter().any(|path| in_folder(path));
    let is_everywhere = !names_place && has_phrase(&plain(request), |language| &language.everywhere_words);
    let found = overview.files.iter().filter(|file| {
        let Some(text) = &file.text else { return false };
        let is_named = named.contains(&file.path);
        let is_meant = |replacement: &&Replacement<'_>| {
            is_named || !replacement.is_by_name && (is_everywhere || in_folder(&file.path))
        };
        let has_old = |replacement: &Replacement<'_>| {
            contains_words(text, replacement.old) && !contains_words(text, replacement.new)
        };
        replacements.iter().filter(is_meant).any(has_old) && !is_kept_out(request, &file.path)
    });
    found.map(|file| file.path.clone()).collect()
}

/// A text that a sentence asks to be replaced by one that it writes out.
struct Replacement<'s> {
    old: &'s str,
    new: &'s str,
    /// Whether the old text is only the name of a thing, which may be another thing's elsewhere.
    is_by_name: bool,
    is_quoted: bool,
}

impl<'s> Replacement<'s> {
    fn of(sentence: &'s str) -> Option<Self> {
        let lower = plain(sentence);
        let parts = parts(sentence);
        let is_new = |place: &usize| parts.get(place + 1).is_some_and(RequestPart::is_exact);
        let mut links = (1..parts.len()).filter(|place| parts.get(*place).is_some_and(RequestPart::is_link));
        let link = links.find(is_new)?;
        let (before, new) = (parts.get(..link)?, parts.get(link + 1)?.text);
        let exact = before.iter().rev().find(|part| part.is_exact());
        let RequestPart { text: old, is_quoted } = exact.or_else(|| renamed_thing(before))?;
        let is_telling =
            old.chars().count() >= SHORTEST && old.contains(|letter: char| letter.is_alphabetic() || letter == '#');
        let replaces = has_phrase(&lower, |language| &language.replace_verbs);
        (replaces && is_telling).then_some(Self { old, new, is_by_name: exact.is_none(), is_quoted: *is_quoted })
    }

    /// Whether what is written as the old text is a setting that gets the new value: "change max_size to 30".
    fn is_of_setting(&self, overview: &WorkspaceOverview) -> bool {
        let is_set = |after: &str| after.trim_start_matches(['"', '\'', ' ', '\t']).starts_with(['=', ':']);
        let texts = overview.files.iter().filter_map(|file| file.text.as_deref());
        let mut followed = texts.flat_map(|text| text.match_indices(self.old).map(|(at, old)| &text[at + old.len()..]));
        !self.is_quoted && followed.any(is_set)
    }
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
    /// Whether it stands for itself, and not for what it means. The name of a file or folder does not.
    fn is_exact(&self) -> bool {
        let is_written_out = self.text.contains(|letter: char| !letter.is_alphabetic() && !"-'’".contains(letter));
        let is_file = name_tokens(self.text).any(is_file_name) || self.text.ends_with('/');
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
            ("fleet.ini", "max_size = 20\n"),
            ("fleet.py", "limit = settings[\"max_size\"]\n"),
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
            (
                "Replace \"Old Pier\" by \"New Pier\" in the folder boats. Leave berta.txt alone.",
                vec!["boats/anna.txt"],
            ),
            (
                "Change \"Old Pier\" to \"New Pier\" everywhere except in plan.md.",
                vec!["boats/anna.txt", "boats/berta.txt"],
            ),
            ("Replace \"Old Pier\" by \"mooring\" in the folder boats.", vec!["boats/berta.txt"]),
            ("Rename the function mooring to berth_of in the folder boats.", vec![]),
            ("Copy plan.md to new.md and replace \"Old Pier\" by \"New Pier\" there.", vec![]),
            ("How far is it from \"Old Pier\" to \"New Pier\", by plan.md?", vec![]),
            ("Compare \"Old Pier\" with \"New Pier\" in plan.md.", vec![]),
            ("Set `Harbour` to `Mill Quay` in all files in boats.", vec![]),
            ("Rename boats/anna.txt to boats/anna_2.txt", vec![]),
            ("Replace the harbour by another one in plan.md.", vec![]),
            ("Set the fee in plan.md to 30.", vec![]),
            ("Change max_size to 30 everywhere.", vec![]),
            ("Replace \"Old Pier\" by \"New Pier\".", vec![]),
        ] {
            assert_eq!(files_with_replaced_text(request, &overview), found, "{request}");
        }
    }
}
