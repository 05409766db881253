//! How likely it is that a model that wrote one path meant another.

use std::path::Path;

/// How alike two paths are; the most alike first. Within a kind, the smaller the number the more alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathLikeness {
    /// Only letter case differs.
    LetterCase,
    /// The same name in another folder.
    SameName(usize),
    /// The same name with another extension.
    SameStem(usize),
    /// The same name but for digits, such as a year.
    SameWords(usize),
    /// One name has the other in it.
    Contained(usize),
    /// A few letters differ: per mille of the longer name.
    FewLetters(usize),
}

/// Names are compared letter by letter only if they differ in at most this much of the longer one, per mille.
const MOST_LETTERS: usize = 350;
/// The shortest name that counts when it is part of another.
const LEAST_CONTAINED: usize = 3;

impl PathLikeness {
    /// Compares a path that is not there with one that is; a folder's ends with `/`. `None` if they are not alike.
    pub(super) fn of(wanted: &str, there: &str) -> Option<Self> {
        let (wanted, there) = (wanted.to_lowercase(), there.to_lowercase());
        let (wanted, there) = (wanted.trim_end_matches('/'), there.trim_end_matches('/'));
        if wanted.trim_start_matches("./") == there {
            return Some(Self::LetterCase);
        }
        let (wanted, there) = (Path::new(wanted), Path::new(there));
        let length = there.components().count();
        let (name, other) = (wanted.file_name()?.to_str()?, there.file_name()?.to_str()?);
        if name == other {
            return Some(Self::SameName(length));
        }
        let (stem, other_stem) = (wanted.file_stem()?.to_str()?, there.file_stem()?.to_str()?);
        if stem == other_stem {
            return Some(Self::SameStem(length));
        }
        let (words, other_words) = (letters(stem), letters(other_stem));
        if !words.is_empty() && words == other_words {
            return Some(Self::SameWords(length));
        }
        let (short, long) =
            if words.len() <= other_words.len() { (&words, &other_words) } else { (&other_words, &words) };
        if short.chars().count() >= LEAST_CONTAINED && long.contains(short.as_str()) {
            return Some(Self::Contained(long.len() - short.len()));
        }
        let longer = stem.chars().count().max(other_stem.chars().count());
        let differing = strsim::damerau_levenshtein(stem, other_stem) * 1_000 / longer.max(1);
        (longer <= 100 && differing <= MOST_LETTERS).then_some(Self::FewLetters(differing))
    }
}

/// Returns the letters of a name, without digits and separators.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphabetic()).collect()
}

#[cfg(test)]
mod tests {
    use super::PathLikeness;

    // proves T5: a path that is not there is answered with the one that was meant
    #[test]
    fn the_path_that_was_meant_is_the_most_alike() {
        for (wanted, meant, others) in [
            ("notes.txt", "docs/notes-2024.txt", ["a.txt", "docs/price.csv", "src/main.rs"]),
            ("Readme.MD", "README.md", ["docs/README.md", "read.md", "me.md"]),
            ("config.json", "config.toml", ["conf/list.json", "confirm.txt", "c.json"]),
            ("doc/guide.md", "docs/guide.md", ["docs/guides.md", "guide.txt", "md"]),
            ("report-2023.csv", "report-2024.csv", ["reports/all.csv", "port.csv", "2023.csv"]),
            ("setings.ini", "settings.ini", ["sets.ini", "strings.in", "x/ini"]),
            ("doc", "docs/", ["a.txt", "src/", "dog/"]),
        ] {
            let best = others
                .iter()
                .copied()
                .chain([meant])
                .filter_map(|there| Some((PathLikeness::of(wanted, there)?, there)));
            assert_eq!(best.min().map(|(_, there)| there), Some(meant), "{wanted}");
        }
        assert_eq!(PathLikeness::of("notes.txt", "main.rs"), None);
        assert_eq!(PathLikeness::of("a", "b"), None);
    }
}
