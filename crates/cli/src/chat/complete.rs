//! Tab completion: slash commands at the start of a line; paths after `@` and for words that contain a `/`. Blanks in a path
//! get a backslash, as in a shell.

use std::path::{Path, PathBuf};

use super::slash::TABLE;

/// Most candidates offered: more would fill the screen. Of more, what they begin with is completed.
const MOST: usize = 200;

/// Returns the offset where the completed word begins, and its candidates.
pub(crate) fn complete(workspace: &Path, home: Option<&Path>, line: &str, cursor: usize) -> (usize, Vec<String>) {
    let before = &line[..cursor];
    if before.starts_with('/') && !before.contains(char::is_whitespace) {
        let names: Vec<String> = TABLE.iter().filter(|entry| entry.name.starts_with(before)).map(spaced).collect();
        if !names.is_empty() {
            return (0, names);
        }
    }
    let begin = word_start(before);
    let word = &before[begin..];
    match word.strip_prefix('@') {
        Some(path) => (begin + 1, paths(workspace, home, path)),
        None if word.contains('/') => (begin, paths(workspace, home, word)),
        None => (cursor, Vec::new()),
    }
}

/// Returns where the last word begins; a blank behind a backslash is part of it.
fn word_start(before: &str) -> usize {
    let mut escaped = false;
    let mut start = 0;
    for (at, c) in before.char_indices() {
        if c.is_whitespace() && !escaped {
            start = at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    start
}

/// Returns a path as it is typed: with a backslash before each blank, quote and backslash.
fn escaped(path: &str) -> String {
    let special = |c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '\'');
    path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Returns a path that was typed with backslashes.
fn unescaped(typed: &str) -> String {
    let mut chars = typed.chars();
    std::iter::from_fn(|| chars.next().and_then(|c| if c == '\\' { chars.next() } else { Some(c) })).collect()
}

/// The command's name, followed by a blank if it takes an argument.
fn spaced(entry: &super::slash::SlashRow) -> String {
    if entry.argument.is_empty() { entry.name.to_owned() } else { format!("{} ", entry.name) }
}

/// Returns the hint shown after the cursor: the rest of the only matching command, or its argument.
pub(crate) fn hint(line: &str, cursor: usize) -> Option<String> {
    if cursor < line.len() || !line.starts_with('/') {
        return None;
    }
    if let Some(entry) = TABLE.iter().find(|entry| line.trim_end() == entry.name && !entry.argument.is_empty()) {
        let blank = if line.ends_with(' ') { "" } else { " " };
        return Some(format!("{blank}{}", entry.argument));
    }
    let mut fitting = TABLE.iter().filter(|entry| entry.name.starts_with(line));
    let (only, more) = (fitting.next()?, fitting.next());
    (more.is_none() && line.len() > 1).then(|| only.name[line.len()..].to_owned())
}

/// Returns the files and folders that match a prefix; hidden ones only if the prefix begins with a dot.
fn paths(workspace: &Path, home: Option<&Path>, typed: &str) -> Vec<String> {
    let begun = unescaped(typed);
    let begun = begun.as_str();
    let (folder, name) = begun.rsplit_once('/').map_or(("", begun), |(folder, name)| (folder, name));
    let shown = &begun[..begun.len() - name.len()];
    let Ok(entries) = std::fs::read_dir(place(workspace, home, folder, shown)) else { return Vec::new() };
    let mut found: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let hidden = file.starts_with('.') && !name.starts_with('.');
            let fits = file.starts_with(name) && !hidden && !file.contains(char::is_control);
            let slash = if entry.path().is_dir() { "/" } else { "" };
            fits.then(|| escaped(&format!("{shown}{file}{slash}")))
        })
        .collect();
    found.sort();
    if found.len() > MOST {
        found = common_beginning(&found).filter(|common| common.len() > typed.len()).into_iter().collect();
    }
    found
}

/// Returns what all of them begin with; they are sorted.
fn common_beginning(sorted: &[String]) -> Option<String> {
    let (first, last) = (sorted.first()?, sorted.last()?);
    Some(first.chars().zip(last.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect())
}

fn place(workspace: &Path, home: Option<&Path>, folder: &str, shown: &str) -> PathBuf {
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ if shown == "/" => PathBuf::from("/"),
        _ => workspace.join(folder),
    }
}

#[cfg(test)]
mod tests {
    use super::{complete, hint};

    fn at_end(folder: &std::path::Path, line: &str) -> (usize, Vec<String>) {
        complete(folder, Some(folder), line, line.len())
    }

    #[test]
    fn commands_are_completed_at_the_start_of_a_line() {
        let none = std::path::Path::new("/nowhere");
        assert_eq!(at_end(none, "/st"), (0, vec!["/stop".into(), "/status".into()]));
        assert_eq!(at_end(none, "/mo"), (0, vec!["/model ".into()]));
        assert_eq!(at_end(none, "say /st").1, Vec::<String>::new());
    }

    #[test]
    fn paths_of_the_workspace_are_completed_after_an_at_sign_and_where_there_is_a_slash() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/main.rs", "src/lib.rs", "src/.hidden", "spare.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let dir = folder.path();
        assert_eq!(at_end(dir, "read @s"), (6, vec!["spare.txt".into(), "src/".into()]));
        assert_eq!(at_end(dir, "read src/"), (5, vec!["src/lib.rs".into(), "src/main.rs".into()]));
        assert_eq!(at_end(dir, "@src/.h"), (1, vec!["src/.hidden".into()]));
        assert_eq!(at_end(dir, "~/sp"), (0, vec!["~/spare.txt".into()]));
        assert_eq!(at_end(dir, "read s").1, Vec::<String>::new());
        let whole = format!("{}/sp", dir.display());
        assert_eq!(at_end(dir, &whole), (0, vec![format!("{whole}are.txt")]));
    }

    // proves C9
    #[test]
    fn a_name_with_blanks_is_completed_so_that_it_is_one_word() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        std::fs::create_dir(dir.join("my docs")).unwrap();
        for name in ["my pic (1).png", "my docs/a b.txt"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        assert_eq!(at_end(dir, "see @my"), (5, vec!["my\\ docs/".into(), "my\\ pic\\ (1).png".into()]));
        assert_eq!(at_end(dir, "see @my\\ p"), (5, vec!["my\\ pic\\ (1).png".into()]));
        assert_eq!(at_end(dir, "@my\\ docs/a"), (1, vec!["my\\ docs/a\\ b.txt".into()]));
    }

    #[test]
    fn of_very_many_files_what_they_begin_with_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..300 {
            std::fs::write(folder.path().join(format!("file_{number}")), "").unwrap();
        }
        assert_eq!(at_end(folder.path(), "@f"), (1, vec!["file_".into()]));
        assert_eq!(at_end(folder.path(), "@file_"), (1, Vec::<String>::new()));
        assert_eq!(at_end(folder.path(), "@file_29").1.len(), 11);
    }

    #[test]
    fn a_hint_shows_the_only_command_that_fits_and_what_it_takes() {
        assert_eq!(hint("/mo", 3).as_deref(), Some("del"));
        assert_eq!(hint("/model", 6).as_deref(), Some(" [NAME]"));
        assert_eq!(hint("/model ", 7).as_deref(), Some("[NAME]"));
        for line in ["/", "/st", "/quit now", "hello", "/model x"] {
            assert_eq!(hint(line, line.len()), None, "{line}");
        }
    }
}
