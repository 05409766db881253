//! Writing things down in a settings file: a rule a person allowed for good (T8), a server they added.
//!
//! The protocol: [`rewrite`] takes the file's lock, reads it afresh, lets one thing be changed with
//! everything else left as it stands, checks that the result is still a settings file, and puts it in
//! the place of the old one in one step. Whatever prevents that leaves the file as it was, and the
//! person is told the line to write themselves.
//!
//! A rule always goes into the person's own file. A project's file goes to others with the project, and
//! whoever trusts it would take the rule over unseen.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, Value};
use windlass_tools::{ReadableBy, contains_placeholder, write_whole};

use super::file::{SettingsFile, SettingsScope};
use super::sources::read_text;
use crate::folder_lock::lock_folder;

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsWrite {
    /// It is in the file now.
    Written,
    /// It was there before.
    Known,
}

/// Why it was not written down. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SettingsWriteError {
    /// There is no place for it.
    #[error("it is not known where your settings are: HOME is not set")]
    NoPlace,
    /// It means nothing outside this session.
    #[error("a secret is part of the rule, and is not written down")]
    Secret,
    /// The file is not to be changed.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The file makes no sense as it is, or would not.
    #[error("{0}")]
    Damaged(String),
    /// Another process has it.
    #[error("{} is being written by somebody else", .0.display())]
    Busy(PathBuf),
    /// The disk said no.
    #[error("{}: {}", .0.display(), .1)]
    Disk(PathBuf, io::Error),
}

/// Adds `rule` to what the settings at `path` allow.
pub fn allow(rule: &str, path: Option<&Path>) -> Result<SettingsWrite, SettingsWriteError> {
    let path = path.ok_or(SettingsWriteError::NoPlace)?;
    if contains_placeholder(rule) {
        return Err(SettingsWriteError::Secret);
    }
    rewrite(path, SettingsScope::User, |document| add_rule(document, rule, path))
}

/// Adds `folder` to those that the settings at `path` trust.
pub(super) fn trust(folder: &Path, path: Option<&Path>) -> Result<SettingsWrite, SettingsWriteError> {
    let path = path.ok_or(SettingsWriteError::NoPlace)?;
    let wrong = |problem: &str| SettingsWriteError::Damaged(format!("{}: {problem}", path.display()));
    let name = folder.to_str().ok_or_else(|| wrong("a path that is not UTF-8 can't be written in it"))?;
    rewrite(path, SettingsScope::User, |document| {
        let trusted = document.entry("trusted").or_insert(Item::Value(Array::new().into()));
        let trusted = trusted.as_array_mut().ok_or_else(|| wrong("`trusted` is not a list"))?;
        if !trusted.iter().any(|known| known.as_str() == Some(name)) {
            push(trusted, name);
        }
        Ok(())
    })
}

/// Takes the folders that `is_meant` picks out of those that the settings at `path` trust.
pub(super) fn distrust(path: &Path, is_meant: impl Fn(&str) -> bool) -> Result<SettingsWrite, SettingsWriteError> {
    rewrite(path, SettingsScope::User, |document| {
        if let Some(trusted) = document.get_mut("trusted").and_then(Item::as_array_mut) {
            trusted.retain(|listed| !listed.as_str().is_some_and(&is_meant));
        }
        Ok(())
    })
}

/// Changes one thing in the file at `path`, and nothing else.
pub(super) fn rewrite(
    path: &Path,
    scope: SettingsScope,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsWriteError>,
) -> Result<SettingsWrite, SettingsWriteError> {
    let on_disk = |error| SettingsWriteError::Disk(path.to_owned(), error);
    // A link stays one: what it leads to is written.
    let path = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => path.canonicalize().map_err(on_disk)?,
        Ok(_) | Err(_) => path.to_owned(),
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(on_disk)?;
    let _lock = lock_folder(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => SettingsWriteError::Busy(path.clone()),
        _ => SettingsWriteError::Disk(folder.to_owned(), error),
    })?;
    let damaged = |error: super::error::SettingsError| SettingsWriteError::Damaged(error.to_string());
    let before = read_text(&path).map_err(damaged)?.unwrap_or_default();
    let Some(after) = changed_text(&before, &path, change)? else { return Ok(SettingsWrite::Known) };
    SettingsFile::parse(&path, scope, &after).map_err(damaged)?;
    replace(&path, &after)?;
    Ok(SettingsWrite::Written)
}

/// The text with the change in it; `None` when that changes nothing.
fn changed_text(
    text: &str,
    path: &Path,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsWriteError>,
) -> Result<Option<String>, SettingsWriteError> {
    let unsound = |_| SettingsWriteError::Damaged(format!("{}: it is not sound TOML", path.display()));
    let mut document: DocumentMut = text.parse().map_err(unsound)?;
    let before = document.to_string();
    change(&mut document)?;
    let written = document.to_string();
    if written == before {
        return Ok(None);
    }
    // The editor writes plain line ends; a file with the others keeps them.
    let foreign = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    Ok(Some(if foreign { written.replace("\r\n", "\n").replace('\n', "\r\n") } else { written }))
}

/// `table` made to stand below all that the document holds, the comments at its end among them.
pub(super) fn below(document: &mut DocumentMut, mut table: Table) -> Table {
    let is_empty = document.to_string().is_empty();
    let mut above = document.trailing().as_str().unwrap_or_default().to_owned();
    if !above.is_empty() && !above.ends_with('\n') {
        above.push('\n');
    }
    if !is_empty && above != "\n" && !above.ends_with("\n\n") {
        above.push('\n');
    }
    document.set_trailing("");
    table.decor_mut().set_prefix(above);
    table.set_position(Some(isize::MAX));
    table
}

fn add_rule(document: &mut DocumentMut, rule: &str, path: &Path) -> Result<(), SettingsWriteError> {
    let wrong = |problem: &str| SettingsWriteError::Damaged(format!("{}: {problem}", path.display()));
    if !document.contains_key("permissions") {
        let table = Item::Table(below(document, Table::new()));
        document.insert("permissions", table);
    }
    let permissions = document.get_mut("permissions").and_then(Item::as_table_like_mut);
    let permissions = permissions.ok_or_else(|| wrong("`permissions` is not a table"))?;
    let rules = permissions.entry("allow").or_insert(Item::Value(Array::new().into()));
    let rules = rules.as_array_mut().ok_or_else(|| wrong("`permissions.allow` is not a list"))?;
    if !rules.iter().any(|known| known.as_str() == Some(rule)) {
        push(rules, rule);
    }
    Ok(())
}

/// Adds an entry as the others stand: on their line, or on lines of their own with their comments.
fn push(rules: &mut Array, rule: &str) {
    let last = rules.len().checked_sub(1).and_then(|last| rules.get_mut(last));
    let Some(last) = last else {
        rules.push(rule);
        return;
    };
    let text = |raw: Option<&toml_edit::RawString>| raw.and_then(|raw| raw.as_str()).unwrap_or_default().to_owned();
    let (before, behind) = (text(last.decor().prefix()), text(last.decor().suffix()));
    last.decor_mut().set_suffix("");
    // What stands between the last rule and the end of the list: a comment of that rule, perhaps.
    let behind = behind + rules.trailing().as_str().unwrap_or_default();
    let mut value = Value::from(rule);
    match (before.rfind('\n'), behind.rfind('\n')) {
        (None, None) => {
            value.decor_mut().set_prefix(" ");
            rules.set_trailing(behind);
            rules.set_trailing_comma(false);
        }
        (at, end) => {
            let indent = at.map_or("  ", |at| &before[at + 1..]);
            let close = end.map_or("", |end| &behind[end + 1..]);
            value.decor_mut().set_prefix(format!("{}\n{indent}", behind.trim_end()));
            rules.set_trailing(format!("\n{close}"));
            rules.set_trailing_comma(true);
        }
    }
    rules.push_formatted(value);
}

/// Puts the new text in the place of the old, in one step and with the old mode.
fn replace(path: &Path, text: &str) -> Result<(), SettingsWriteError> {
    let on_disk = |error| SettingsWriteError::Disk(path.to_owned(), error);
    if let Ok(metadata) = path.metadata() {
        if metadata.permissions().readonly() {
            return Err(SettingsWriteError::ReadOnly(path.to_owned()));
        }
        // Whoever may not write the file may perhaps write its folder; the file is what counts.
        OpenOptions::new().write(true).open(path).map_err(on_disk)?;
    }
    write_whole(path, text.as_bytes(), ReadableBy::AsBefore).map_err(on_disk)
}

#[cfg(test)]
mod tests;
