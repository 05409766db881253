//! Previews of a change to a file, displayed to a person before the change (T8).
//!
//! A preview uses the file as it is when the model makes the call, possibly before an earlier call of the same reply
//! has changed it. If the preview can't be complete yet, it says so and the call is not refused; a path that no tool
//! may touch is refused. A preview is never shortened: a client that displays only a part must offer the rest.

use windlass_vocab::Preview;

use crate::cut::thousands;
use crate::diff::{DiffLimits, compare, unified};
use crate::shorten::shorten;
use crate::workspace::FileContent;
use crate::{Workspace, shown_path};

/// For larger files the preview gives only the size.
const LARGEST: u64 = 4 << 20;
/// The longest path in a title.
const PATH: usize = 200;

/// Previews a file that gets this content.
pub(super) fn write_preview(workspace: &Workspace, path: &str, content: &str) -> Result<Preview, String> {
    let (name, new) = (title_path(path), thousands(content.len()));
    let (title, body) = match workspace.read_for_people(path, LARGEST)? {
        FileContent::Nothing => (format!("Create {name} ({new} bytes)"), new_file_diff(workspace, path, content)),
        FileContent::Content(old) if old == content.as_bytes() => {
            (format!("Write {name}"), "It has this content already: nothing changes.".to_owned())
        }
        FileContent::Content(old) => {
            let size = thousands(old.len());
            let body = match text(&old) {
                Some(old) => diff_of(workspace, path, old, content),
                None => replaced_by(&format!("All {size} bytes of binary data"), workspace, path, content),
            };
            (format!("Overwrite {name} ({size} → {new} bytes)"), body)
        }
        FileContent::Large(size) => {
            let size = thousands(usize::try_from(size).unwrap_or(usize::MAX));
            let body = replaced_by(&format!("All {size} bytes"), workspace, path, content);
            (format!("Overwrite {name} ({size} → {new} bytes)"), body)
        }
    };
    Ok(Preview { title, body: format!("{}{body}", link_note(workspace, path)), rule: None })
}

/// Previews a file in which one text replaces another.
pub(super) fn edit_preview(
    workspace: &Workspace,
    path: &str,
    (old_text, new_text): (&str, &str),
    apply: impl FnOnce(&str) -> Option<String>,
) -> Result<Preview, String> {
    let alone = |why: &str| format!("{why}\n{}", diff_of(workspace, path, old_text, new_text));
    let body = match workspace.read_for_people(path, LARGEST)? {
        FileContent::Nothing => alone("There is no such file yet. It would change so:"),
        FileContent::Large(_) => alone("The file is too large to be shown. It would change so:"),
        FileContent::Content(content) => match String::from_utf8(content) {
            Err(_) => alone("The file is binary data: it can't be edited. As text it would change so:"),
            Ok(text) => match apply(&text) {
                Some(after) => diff_of(workspace, path, &text, &after),
                None => alone("The text to replace is not in the file, or not there once. It would change so:"),
            },
        },
    };
    let title = format!("Edit {}", title_path(path));
    Ok(Preview { title, body: format!("{}{body}", link_note(workspace, path)), rule: None })
}

/// Previews a file that gets more lines at its end; `apply` returns its content with them.
pub(super) fn append_preview(
    workspace: &Workspace,
    path: &str,
    added: &str,
    apply: impl FnOnce(&str) -> String,
) -> Result<Preview, String> {
    let name = title_path(path);
    let alone = |why: &str| format!("{why}\n{}", new_file_diff(workspace, path, added));
    let (title, body) = match workspace.read_for_people(path, LARGEST)? {
        FileContent::Nothing => {
            let content = apply("");
            let title = format!("Create {name} ({} bytes)", thousands(content.len()));
            (title, new_file_diff(workspace, path, &content))
        }
        FileContent::Large(_) => {
            (format!("Add to {name}"), alone("The file is too large to be shown. These lines are added:"))
        }
        FileContent::Content(content) => {
            let body = match String::from_utf8(content) {
                Err(_) => alone("The file is binary data: nothing can be added. These are the lines:"),
                Ok(text) => diff_of(workspace, path, &text, &apply(&text)),
            };
            (format!("Add to {name}"), body)
        }
    };
    Ok(Preview { title, body: format!("{}{body}", link_note(workspace, path)), rule: None })
}

/// Previews a file or link that is deleted.
pub(super) fn delete_preview(workspace: &Workspace, path: &str) -> Result<Preview, String> {
    let name = title_path(path);
    let Some(what) = workspace.kind(path)? else {
        return Ok(Preview { title: format!("Delete {name}"), body: format!("There is no {name} yet."), rule: None });
    };
    let title = format!("Delete {name} ({what})");
    // A link is deleted itself, so what it leads to is not shown as lost.
    if workspace.is_link(path) {
        return Ok(Preview { title, body: "What the link leads to stays.".to_owned(), rule: None });
    }
    let body = match workspace.read_for_people(path, LARGEST)? {
        FileContent::Nothing => String::new(),
        FileContent::Large(_) => "The file is too large to be shown.".to_owned(),
        FileContent::Content(content) => {
            let seen = workspace.secrets().scrub_bytes(&content);
            compare(Some(&seen), None, &shown_path(path), DiffLimits::WHOLE)
        }
    };
    Ok(Preview { title, body: format!("{}{body}", link_note(workspace, path)), rule: None })
}

/// Previews a file or folder that is moved.
pub(super) fn move_preview(
    workspace: &Workspace,
    from: &str,
    to: &str,
    replaces: Overwrite,
) -> Result<Preview, String> {
    let there = workspace.kind(to)?;
    let mut notes = Vec::new();
    if [from, to].iter().any(|path| title_path(path) != shown_path(path)) {
        notes.push(format!("From: {}\nTo: {}", shown_path(from), shown_path(to)));
    }
    if workspace.kind(from)?.is_none() {
        notes.push(format!("There is no {} yet.", title_path(from)));
    }
    match (there, replaces) {
        (Some(what), Overwrite::Yes) => notes.push(format!("It takes the place of {what}, which is lost.")),
        (Some(what), Overwrite::No) => notes.push(format!("There is {what} already: nothing would be moved.")),
        (None, _) => {}
    }
    let title = format!("Move {} to {}", title_path(from), title_path(to));
    Ok(Preview { title, body: notes.join("\n"), rule: None })
}

/// Returns a path for a title, which is one line. A longer path is complete in the body.
fn title_path(path: &str) -> String {
    shorten(&shown_path(path), PATH)
}

/// Returns the content as text, or `None` if it is binary.
fn text(content: &[u8]) -> Option<&str> {
    std::str::from_utf8(content).ok().filter(|_| !content.contains(&0))
}

/// Returns a complete diff without secrets: they are replaced before lines are compared. A NUL character is displayed
/// as its symbol.
fn diff_of(workspace: &Workspace, path: &str, old: &str, new: &str) -> String {
    let seen = |text: &str| workspace.secrets().scrub(text).replace('\0', "␀");
    unified(&seen(old), &seen(new), &shown_path(path), DiffLimits::WHOLE)
}

/// Returns the diff for a new file.
fn new_file_diff(workspace: &Workspace, path: &str, content: &str) -> String {
    let seen = workspace.secrets().scrub(content).replace('\0', "␀");
    compare(None, Some(seen.as_bytes()), &shown_path(path), DiffLimits::WHOLE)
}

/// Returns the text that replaces a content that can't be displayed.
fn replaced_by(what: &str, workspace: &Workspace, path: &str, content: &str) -> String {
    format!("{what} that are there are replaced by these:\n{}", new_file_diff(workspace, path, content))
}

/// Whether a move may replace an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overwrite {
    Yes,
    No,
}

/// Returns a note with the real path, if `path` contains a symlink.
fn link_note(workspace: &Workspace, path: &str) -> String {
    match workspace.leads_to(path) {
        Some(real) => format!("By a link this is {}.\n", shown_path(&real.to_string_lossy())),
        None => String::new(),
    }
}
