//! An index of text files by their words (C10): an FTS5 table in a database of its own. It is a cache: it may be deleted
//! at any time, and one that can't be read is deleted.
//!
//! The protocol: `put` a file's passages with the file's stamp, `remove` what is gone, `find` the places that have the
//! words of a message. The index stores where words are and not the text, so whoever shows a passage reads the file
//! again, by the rules of that moment.

mod common_words;
mod ranking;
mod search_words;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

pub use search_words::SearchWords;

use super::fault::meaning;
use super::private;
use crate::StoreError;

/// The version of the tables. An index of another version is built anew.
const VERSION: i64 = 1;
/// How long a write waits for another process.
const BUSY: Duration = Duration::from_millis(200);

const TABLES: &str = "
    CREATE TABLE files (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, modified INTEGER NOT NULL,
        inode INTEGER NOT NULL
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL
    );
    CREATE INDEX passages_of_file ON passages (file);
    CREATE VIRTUAL TABLE words USING fts5 (
        path, body, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
    );";

/// Tells whether a file has changed since it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedStamp {
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: i64,
    /// Its inode.
    pub inode: u64,
}

/// A file to be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedFile {
    /// Its path, by which it is found again.
    pub path: String,
    /// Its stamp when it was read.
    pub stamp: IndexedStamp,
    /// Its text, in parts; none for a file that is no text.
    pub passages: Vec<IndexedPassage>,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedPassage {
    /// The number of its first line, from 1.
    pub first_line: u32,
    /// The number of its last line.
    pub last_line: u32,
    /// Its text.
    pub text: String,
}

/// A place that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct PassagePlace {
    /// The file.
    pub path: String,
    /// The number of its first line, from 1.
    pub first_line: u32,
    /// The number of its last line.
    pub last_line: u32,
    /// The file's stamp when it was indexed.
    pub stamp: IndexedStamp,
    /// How well it fits the words, by BM25: more is better.
    pub score: f64,
}

/// An index of text files by their words.
#[derive(Debug)]
pub struct PassageIndex {
    connection: Connection,
    path: PathBuf,
}

impl PassageIndex {
    /// Opens the index at `path`; creates it, with the folders above it, where it does not exist or can't be used.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            private::make_folder(folder).map_err(|error| StoreError::of_io(folder, &error))?;
        }
        match Self::open_file(path) {
            Ok(index) => Ok(index),
            Err(StoreError::Damaged { .. } | StoreError::Foreign { .. }) => {
                remove_files(path);
                Self::open_file(path)
            }
            Err(error) => Err(error),
        }
    }

    /// Creates an index that is gone when it is dropped.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = PathBuf::from(":memory:");
        let connection = Connection::open_in_memory().map_err(|error| meaning(&path, &error))?;
        Self::with_tables(connection, path)
    }

    fn open_file(path: &Path) -> Result<Self, StoreError> {
        // Created first, because SQLite would make it readable for others.
        private::file().create(true).truncate(false).open(path).map_err(|error| StoreError::of_io(path, &error))?;
        let connection = Connection::open(path).map_err(|error| meaning(path, &error))?;
        Self::with_tables(connection, path.to_owned())
    }

    fn with_tables(mut connection: Connection, path: PathBuf) -> Result<Self, StoreError> {
        let create = |connection: &mut Connection| -> rusqlite::Result<Option<i64>> {
            connection.busy_timeout(BUSY)?;
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
            // What a power failure takes is indexed again.
            connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096")?;
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            if version == 0 {
                change.execute_batch(TABLES)?;
                change.pragma_update(None, "user_version", VERSION)?;
            }
            change.commit()?;
            Ok(Some(version).filter(|version| ![0, VERSION].contains(version)))
        };
        match create(&mut connection) {
            Ok(None) => Ok(Self { connection, path }),
            Ok(Some(version)) => {
                Err(StoreError::Damaged { what: format!("{} is an index of version {version}", path.display()) })
            }
            Err(error) => Err(meaning(&path, &error)),
        }
    }

    fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(&self.path, &error)
    }

    /// Returns the indexed files with their stamps.
    pub fn files(&self) -> Result<HashMap<String, IndexedStamp>, StoreError> {
        let read = || -> rusqlite::Result<HashMap<String, IndexedStamp>> {
            let mut statement = self.connection.prepare_cached("SELECT path, size, modified, inode FROM files")?;
            let files = statement.query_map([], indexed_file)?;
            files.collect()
        };
        read().map_err(self.fault())
    }

    /// Puts these files into the index, each in place of what the index has of it, in one transaction.
    pub fn put(&mut self, files: &[IndexedFile]) -> Result<(), StoreError> {
        self.change(&[], files)
    }

    /// Removes these files, in one transaction.
    pub fn remove(&mut self, paths: &[String]) -> Result<(), StoreError> {
        self.change(paths, &[])
    }

    fn change(&mut self, gone: &[String], files: &[IndexedFile]) -> Result<(), StoreError> {
        if gone.is_empty() && files.is_empty() {
            return Ok(());
        }
        let (path, connection) = (&self.path, &mut self.connection);
        let mut write = || -> rusqlite::Result<()> {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for path in gone.iter().chain(files.iter().map(|file| &file.path)) {
                remove_file(&change, path)?;
            }
            for file in files {
                insert_file(&change, file)?;
            }
            change.commit()
        };
        write().map_err(|error| meaning(path, &error))
    }
}

/// Reads path, size, modification time and inode of a file.
fn indexed_file(row: &Row<'_>) -> rusqlite::Result<(String, IndexedStamp)> {
    let natural = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok((row.get(0)?, IndexedStamp { size: natural(1)?, modified: row.get(2)?, inode: natural(3)? }))
}

fn remove_file(change: &Connection, path: &str) -> rusqlite::Result<()> {
    let find = "SELECT id FROM files WHERE path = ?1";
    let id: Option<i64> = change.prepare_cached(find)?.query_row(params![path], |row| row.get(0)).optional()?;
    let Some(id) = id else { return Ok(()) };
    let words = "DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE file = ?1)";
    for sql in [words, "DELETE FROM passages WHERE file = ?1", "DELETE FROM files WHERE id = ?1"] {
        change.prepare_cached(sql)?.execute(params![id])?;
    }
    Ok(())
}

fn insert_file(change: &Connection, file: &IndexedFile) -> rusqlite::Result<()> {
    let IndexedFile { path, stamp, passages } = file;
    let sql = "INSERT INTO files (path, size, modified, inode) VALUES (?1, ?2, ?3, ?4)";
    let (size, inode) = (stamp.size.cast_signed(), stamp.inode.cast_signed());
    change.prepare_cached(sql)?.execute(params![path, size, stamp.modified, inode])?;
    let id = change.last_insert_rowid();
    for passage in passages {
        let sql = "INSERT INTO passages (file, first_line, last_line) VALUES (?1, ?2, ?3)";
        change.prepare_cached(sql)?.execute(params![id, passage.first_line, passage.last_line])?;
        let sql = "INSERT INTO words (rowid, path, body) VALUES (?1, ?2, ?3)";
        change.prepare_cached(sql)?.execute(params![change.last_insert_rowid(), path, passage.text])?;
    }
    Ok(())
}

/// Deletes an index that can't be used, with the files that SQLite keeps beside it.
fn remove_files(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        // A file that can't be deleted shows when the index is opened again.
        let _ = fs::remove_file(name);
    }
}
