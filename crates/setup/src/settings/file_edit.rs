//! Writes changes into a settings file: a rule a person allowed permanently (T8), a server they added.
//!
//! The protocol: [`rewrite`] takes the file's lock, reads the file again, applies one change and keeps everything
//! else, checks that the result is still a valid settings file, and replaces the old file atomically. If any step
//! fails the file stays as it was, and the person gets the line to write themselves.
//!
//! A rule always goes into the person's own file. A project's file is distributed with the project, and everybody who
//! trusts the project would adopt the rule without seeing it.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, Value};
use windlass_mcp::ServerName;
use windlass_tools::{ReadableBy, contains_placeholder, write_whole};

use super::file::{SettingsFile, SettingsScope};
use super::sources::read_text;
use crate::folder_lock::lock_folder;

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsWrite {
    /// The entry was added to the file.
    Written,
    /// The entry was already in the file.
    Known,
}

/// Why nothing was written. The file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum SettingsWriteError {
    /// The path of the settings file is not known.
    #[error("it is not known where your settings are: HOME is not set")]
    NoPlace,
    /// The rule contains a placeholder for a secret, which has no meaning outside this session.
    #[error("a secret is part of the rule, and is not written down")]
    Secret,
    /// The file is read-only.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The file is not valid, or would not be after the change.
    #[error("{0}")]
    Damaged(String),
    /// The file names a server of this name already.
    #[error("{} names a server `{name}` already", path.display())]
    KnownServer {
        /// The file.
        path: PathBuf,
        /// The server.
        name: ServerName,
    },
    /// Another process holds the lock.
    #[error("{} is being written by somebody else", .0.display())]
    Busy(PathBuf),
    /// An I/O error.
    #[error("{}: {}", .0.display(), .1)]
    Disk(PathBuf, io::Error),
}

/// Adds `rule` to the allow rules of the settings at `path`.
pub fn allow(rule: &str, path: Option<&Path>) -> Result<SettingsWrite, SettingsWriteError> {
    let path = path.ok_or(SettingsWriteError::NoPlace)?;
    if contains_placeholder(rule) {
        return Err(SettingsWriteError::Secret);
    }
    rewrite(path, SettingsScope::User, |document| add_rule(document, rule, path))
}

/// Adds `folder` to the trusted folders of the settings at `path`.
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

/// Removes the folders that match `is_meant` from the trusted folders of the settings at `path`.
pub(super) fn distrust(path: &Path, is_meant: impl Fn(&str) -> bool) -> Result<SettingsWrite, SettingsWriteError> {
    rewrite(path, SettingsScope::User, |document| {
        if let Some(trusted) = document.get_mut("trusted").and_then(Item::as_array_mut) {
            trusted.retain(|listed| !listed.as_str().is_some_and(&is_meant));
        }
        Ok(())
    })
}

/// Applies one change to the file at `path` and keeps everything else.
pub(super) fn rewrite(
    path: &Path,
    scope: SettingsScope,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsWriteError>,
) -> Result<SettingsWrite, SettingsWriteError> {
    let on_disk = |error| SettingsWriteError::Disk(path.to_owned(), error);
    // A symlink is kept: the file it points to is written.
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

/// Returns the text with the change; `None` if the change has no effect.
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
    // The editor writes LF line endings; a file with CRLF keeps them.
    let foreign = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    Ok(Some(if foreign { written.replace("\r\n", "\n").replace('\n', "\r\n") } else { written }))
}

/// Positions `table` after everything in the document, including the comments at its end.
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

/// Adds an entry in the layout of the others: on the same line, or on its own line with their comments kept.
fn push(rules: &mut Array, rule: &str) {
    let last = rules.len().checked_sub(1).and_then(|last| rules.get_mut(last));
    let Some(last) = last else {
        rules.push(rule);
        return;
    };
    let text = |raw: Option<&toml_edit::RawString>| raw.and_then(|raw| raw.as_str()).unwrap_or_default().to_owned();
    let (before, behind) = (text(last.decor().prefix()), text(last.decor().suffix()));
    last.decor_mut().set_suffix("");
    // The text between the last rule and the end of the list may be a comment on that rule.
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

/// Replaces the file with the new text atomically, keeping its mode.
fn replace(path: &Path, text: &str) -> Result<(), SettingsWriteError> {
    let on_disk = |error| SettingsWriteError::Disk(path.to_owned(), error);
    if let Ok(metadata) = path.metadata() {
        if metadata.permissions().readonly() {
            return Err(SettingsWriteError::ReadOnly(path.to_owned()));
        }
        // A user who may not write the file may still be able to replace it in its folder; the file's permissions
        // count.
        OpenOptions::new().write(true).open(path).map_err(on_disk)?;
    }
    write_whole(path, text.as_bytes(), ReadableBy::AsBefore).map_err(on_disk)
}

#[cfg(test)]
mod tests;
