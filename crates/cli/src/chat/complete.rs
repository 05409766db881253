//! Tab completion: slash commands at the start of a line; paths after `@` and for words that contain a `/`.

use std::path::{Path, PathBuf};

use super::slash::TABLE;

/// Most candidates offered: more would fill the screen.
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
    let begin = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &before[begin..];
    match word.strip_prefix('@') {
        Some(path) => (begin + 1, paths(workspace, home, path)),
        None if word.contains('/') => (begin, paths(workspace, home, word)),
        None => (cursor, Vec::new()),
    }
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
fn paths(workspace: &Path, home: Option<&Path>, begun: &str) -> Vec<String> {
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
            fits.then(|| format!("{shown}{file}{slash}"))
        })
        .collect();
    found.sort();
    found.truncate(MOST);
    found
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
