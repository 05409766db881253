//! Whether a text names a file: the one answer for the overview, the judge and plans. What is written is compared with
//! the paths of files relative to the workspace.

/// Returns the last part of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a name, as it is written, may mean the file at this path: it is the path, ends with it, or is the file's name
/// alone. The case of a name alone does not matter.
pub(crate) fn may_mean(written: &str, path: &str) -> bool {
    let written = written.trim_start_matches("./");
    if !written.contains('/') {
        return written.eq_ignore_ascii_case(base_name(path));
    }
    // An absolute path ends with the one in the workspace; a mere name at its end says too little.
    let ends_with_it = || path.contains('/') && written.strip_suffix(path).is_some_and(|before| before.ends_with('/'));
    written == path || ends_with_it()
}

/// Returns the file that a name means: the one at that path, or the only one that it may mean. Of several files with the
/// same name, which one is meant is not known.
pub(crate) fn meant_file<'f>(written: &str, files: impl IntoIterator<Item = &'f String>) -> Option<&'f String> {
    let exact = written.trim_start_matches("./");
    let mut meant = None;
    let mut others = 0_usize;
    for path in files {
        if path == exact {
            return Some(path);
        }
        if may_mean(written, path) {
            others += usize::from(meant.is_some());
            meant = Some(path);
        }
    }
    meant.filter(|_| others == 0)
}

/// Whether a text names the file at this path, not as a part of a longer name.
#[must_use]
pub fn names_file(text: &str, path: &str) -> bool {
    let name = base_name(path);
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + name.len()..]);
            let folders = before.len() - before.trim_end_matches(is_in_path).len();
            let written = &text[at - folders..at + name.len()];
            !goes_on(after) && may_mean(written, path)
        })
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

fn is_in_path(letter: char) -> bool {
    is_in_name(letter) || matches!(letter, '/' | '.')
}

/// Whether the name goes on with what follows it. A full stop that ends a sentence does not continue a name.
fn goes_on(after: &str) -> bool {
    let continues = |letter: char| is_in_name(letter) || letter == '/';
    after.starts_with(continues) || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_in_name))
}

#[cfg(test)]
mod tests {
    use super::{meant_file, names_file};

    // proves C1, S1
    #[test]
    fn a_text_names_files_by_path_or_name() {
        for (text, path) in [
            ("Fix notes.txt.", "notes.txt"),
            ("Fix notes.txt", "docs/notes.txt"),
            ("Fix ./notes.txt", "notes.txt"),
            ("what is in docs/notes.txt?", "docs/notes.txt"),
            ("`notes.txt`: shorten it", "notes.txt"),
            ("run Makefile", "Makefile"),
            (r#"{"path":"docs/notes.txt"}"#, "docs/notes.txt"),
            ("cat /srv/ship/docs/notes.txt", "docs/notes.txt"),
        ] {
            assert!(names_file(text, path), "{text} {path}");
        }
        for (text, path) in [
            ("Fix my-notes.txt", "notes.txt"),
            ("Fix notes.txt.bak", "notes.txt"),
            ("Fix old.notes.txt", "notes.txt"),
            ("Fix old/notes.txt", "docs/notes.txt"),
            ("Fix old/notes.txt", "notes.txt"),
            ("Fix mydocs/notes.txt", "docs/notes.txt"),
            ("Fix the notes", "notes.txt"),
            ("Makefiles are old", "Makefile"),
            ("anything", ""),
        ] {
            assert!(!names_file(text, path), "{text} {path}");
        }
    }

    // proves S1, S3
    #[test]
    fn a_name_means_the_file_at_that_path_or_the_only_one_of_that_name() {
        let files = ["a.txt", "docs/a.txt", "docs/b.txt", "notes/c.txt", "src/c.txt"].map(String::from);
        for (written, meant) in [
            ("a.txt", Some("a.txt")),
            ("./docs/a.txt", Some("docs/a.txt")),
            ("b.txt", Some("docs/b.txt")),
            ("B.TXT", Some("docs/b.txt")),
            ("c.txt", None),
            ("src/c.txt", Some("src/c.txt")),
            ("d.txt", None),
        ] {
            assert_eq!(meant_file(written, &files).map(String::as_str), meant, "{written}");
        }
    }
}
