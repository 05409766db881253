//! What a person is shown of a change to a file before it happens (T8).
//!
//! The file is looked at as it is when the model asks, which may be before an earlier call of the same
//! reply has changed it. What can't be seen yet is said, and is no reason to refuse; a path that no
//! tool may touch is.

use windlass_vocab::Preview;

use crate::Workspace;
use crate::cut::thousands;
use crate::diff::{Limits, compare, unified};
use crate::tool::shorten;
use crate::workspace::Found;

/// Files above this are named by their size alone.
const LARGEST: u64 = 4 << 20;
/// Of a path in a title.
const PATH: usize = 200;

/// A file that gets this content.
pub(super) fn written(workspace: &Workspace, path: &str, content: &str) -> Result<Preview, String> {
    let (name, new) = (shorten(path, PATH), thousands(content.len()));
    let diff = |old: Option<&[u8]>| compare(old, Some(content.as_bytes()), path, Limits::default());
    let (title, body) = match workspace.look(path, LARGEST)? {
        Found::Nothing => (format!("Create {name} ({new} bytes)"), diff(None)),
        Found::Content(old) if old == content.as_bytes() => {
            (format!("Write {name}"), "It has this content already: nothing changes.".to_owned())
        }
        Found::Content(old) => (format!("Overwrite {name} ({} → {new} bytes)", thousands(old.len())), diff(Some(&old))),
        Found::Large(size) => {
            let size = thousands(usize::try_from(size).unwrap_or(usize::MAX));
            let body = format!("All {size} bytes that are there are replaced by these:\n{}", diff(None));
            (format!("Overwrite {name} ({size} → {new} bytes)"), body)
        }
    };
    Ok(Preview { title, body: format!("{}{body}", link(workspace, path)), rule: None })
}

/// A file in which one text takes the place of another.
pub(super) fn edited(
    workspace: &Workspace,
    path: &str,
    (old_text, new_text): (&str, &str),
    apply: impl FnOnce(&str) -> Option<String>,
) -> Result<Preview, String> {
    let alone = |why: &str| format!("{why}\n{}", unified(old_text, new_text, path, Limits::default()));
    let body = match workspace.look(path, LARGEST)? {
        Found::Nothing => alone("There is no such file yet. It would change so:"),
        Found::Large(_) => alone("The file is too large to be shown. It would change so:"),
        Found::Content(content) => match String::from_utf8(content) {
            Err(_) => "The file is binary data: it can't be edited.".to_owned(),
            Ok(text) => match apply(&text) {
                Some(after) => unified(&text, &after, path, Limits::default()),
                None => alone("The text to replace is not in the file, or not there once. It would change so:"),
            },
        },
    };
    let title = format!("Edit {}", shorten(path, PATH));
    Ok(Preview { title, body: format!("{}{body}", link(workspace, path)), rule: None })
}

/// A file or folder that gets another path.
pub(super) fn moved(workspace: &Workspace, from: &str, to: &str, replaces: Replaces) -> Result<Preview, String> {
    let there = workspace.kind(to)?;
    let mut notes = Vec::new();
    if workspace.kind(from)?.is_none() {
        notes.push(format!("There is no {} yet.", shorten(from, PATH)));
    }
    match (there, replaces) {
        (Some(what), Replaces::Yes) => notes.push(format!("It takes the place of {what}, which is lost.")),
        (Some(what), Replaces::No) => notes.push(format!("There is {what} already: nothing would be moved.")),
        (None, _) => {}
    }
    let title = format!("Move {} to {}", shorten(from, PATH), shorten(to, PATH));
    Ok(Preview { title, body: notes.join("\n"), rule: None })
}

/// Whether a move may take the place of what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replaces {
    Yes,
    No,
}

/// Where a path really leads, if a link leads it elsewhere.
fn link(workspace: &Workspace, path: &str) -> String {
    match workspace.leads_to(path) {
        Some(real) => format!("By a link this is {}.\n", real.display()),
        None => String::new(),
    }
}
