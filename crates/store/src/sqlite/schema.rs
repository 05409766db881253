//! Opens the database, and creates it if there is none: did Windlass write it, can it be read, can it be written?

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::counter::{CommitCount, CommitCounting};
use super::database_file::DatabaseFile;
use super::fault::meaning;
use super::folder::DataFolder;
use super::options::Durability;
use super::queue::{CommitPatience, LONGEST, WriteLock};
use super::{blobs, claims, control, inbox, legacy, private, user_rules};
use crate::StoreError;
use crate::error::place;

/// "WLJ1", written into the file header so that other programs and Windlass itself can identify the file.
const APPLICATION_ID: i32 = 0x574c_4a31;

/// The schema version.
pub(super) const SCHEMA_VERSION: u32 = 4;

/// Pages in the write-ahead log before SQLite moves them into the database at a commit: 256 MiB. The writer does so
/// itself long before.
const CHECKPOINT_PAGES: u32 = 65_536;

/// How long SQLite waits for another writer. Windlass processes queue first (`queue`), so usually only other programs
/// cause a wait here.
const BUSY_WAIT: Duration = LONGEST;

const TABLES: &str = "
CREATE TABLE batches (
    number INTEGER PRIMARY KEY,
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (session, seq)
);
CREATE TABLE sessions (
    session BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT,
    workspace TEXT,
    status TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    last_prompt TEXT,
    runs INTEGER NOT NULL,
    called INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    UNIQUE (owner, key)
) WITHOUT ROWID;
CREATE TABLE inbox (
    session BLOB NOT NULL,
    place INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, place),
    UNIQUE (session, message_id)
) WITHOUT ROWID;
CREATE TABLE accepted (
    session BLOB NOT NULL,
    message_id TEXT NOT NULL,
    PRIMARY KEY (session, message_id)
) WITHOUT ROWID;
CREATE TABLE blobs (
    hash BLOB NOT NULL PRIMARY KEY,
    bytes BLOB
);
CREATE TABLE blob_refs (
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (session, seq, place)
) WITHOUT ROWID;
CREATE INDEX blob_refs_by_hash ON blob_refs (hash);
";

/// Creates what version 3 adds to earlier versions. Their table of batches has no column `number`, but SQLite numbers
/// its rows all the same: every statement that needs the number uses `rowid`.
pub(super) const BEYOND_VERSION_2: &str = "
CREATE TABLE store (id BLOB NOT NULL, other_commits INTEGER NOT NULL);
INSERT INTO store VALUES (randomblob(16), 0);
PRAGMA user_version = 3;
";

/// Creates what version 4 adds to version 3. Journals of version 3 have neither pinned nor archived sessions, so the
/// defaults are what a fold of them gives. The index serves [`super::list_page`]; its entries end with the session.
pub(super) const BEYOND_VERSION_3: &str = "
ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN archived INTEGER;
CREATE INDEX sessions_in_list_order ON sessions (owner, pinned, updated);
PRAGMA user_version = 4;
";

/// Everything the [`super::commit::Committer`] needs to write.
pub(super) struct OpenedDatabase {
    pub(super) connection: Connection,
    pub(super) queue: WriteLock,
    pub(super) counting: CommitCounting,
    pub(super) file: DatabaseFile,
}

/// Opens the data folder for writing.
pub(super) fn open(folder: &DataFolder, durability: Durability) -> Result<OpenedDatabase, StoreError> {
    private::make_folder(&folder.0).map_err(|error| StoreError::of_io(&folder.0, &error))?;
    let mut queue = WriteLock::open(&folder.0)?;
    queue.enter(CommitPatience::Wait)?;
    let opened = open_first(folder, durability);
    queue.leave();
    let (connection, counting, file) = opened.map_err(|error| unwritable(folder).unwrap_or(error))?;
    Ok(OpenedDatabase { connection, queue, counting, file })
}

/// The `ReadOnly` error if no file can be created in the folder: SQLite does not distinguish that from other errors.
fn unwritable(folder: &DataFolder) -> Option<StoreError> {
    let probe = folder.0.join(format!("probe-{}", std::process::id()));
    let made = private::file().create_new(true).open(&probe);
    let _ = fs::remove_file(&probe);
    let refused = StoreError::of_io(&folder.0, &made.err()?);
    matches!(refused, StoreError::ReadOnly { .. }).then_some(refused)
}

/// Opens the database; called while holding the queue's lock.
fn open_first(
    folder: &DataFolder,
    durability: Durability,
) -> Result<(Connection, CommitCounting, DatabaseFile), StoreError> {
    let path = folder.database();
    let noted = CommitCount::noted(folder)?;
    let fault = |error: rusqlite::Error| meaning(&path, &error);
    if ends_within_a_page(folder).map_err(|error| StoreError::of_io(&path, &error))? {
        return Err(StoreError::Damaged { what: format!("{} has lost its end", path.display()) });
    }
    // SQLite removes the log of an empty database.
    match fs::metadata(&path) {
        Ok(found) if found.len() == 0 => create_unless_lost(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_unless_lost(folder)?,
        Ok(_) | Err(_) => {}
    }
    let open_file = || DatabaseFile::open(&path).map_err(|error| StoreError::of_io(&path, &error));
    let mut file = open_file()?;
    let mut connection = connect(&path)?;
    if connection.is_readonly("main").map_err(fault)? {
        return Err(StoreError::ReadOnly { place: place(&path) });
    }
    match inspect(&connection, &path)? {
        // Left over from a process that was killed after it had migrated a version 2 folder. A database of version 3
        // is migrated below, once it is known that no commit is missing.
        FoundSchema::Version3 | FoundSchema::Ours => legacy::remove_files(folder),
        FoundSchema::Version1 => {
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {BEYOND_VERSION_2} COMMIT;")).map_err(fault)?;
        }
        FoundSchema::Version2 => legacy::take_over(folder, &connection)?,
        FoundSchema::Nothing => {
            drop(connection);
            create_unless_lost(folder)?;
            file = open_file()?;
            connection = connect(&path)?;
        }
    }
    set_up(&connection, durability).map_err(fault)?;
    let counting = CommitCounting::begin(folder, CommitCount::of(&connection).map_err(fault)?, noted)?;
    match counting.loss() {
        Some(_) => keep_log(&connection).map_err(fault)?,
        None => update(&connection).map_err(fault)?,
    }
    Ok((connection, counting, file))
}

/// Migrates a database of version 3 that has lost nothing, and creates the tables that later versions added without a
/// new schema version, if they are missing. The check takes no lock; creating a table does.
pub(super) fn update(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(control::TABLE)?;
    connection.execute_batch(inbox::FILES_TABLE)?;
    connection.execute_batch(user_rules::TABLE)?;
    if has_version_3(connection)? {
        // A savepoint is a transaction, or a part of the one that is open.
        connection.execute_batch(&format!("SAVEPOINT migration; {BEYOND_VERSION_3} RELEASE migration;"))?;
    }
    Ok(())
}

fn has_version_3(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("PRAGMA user_version", [], |row| Ok(row.get::<_, i64>(0)? == 3))
}

/// Lets a connection read a database of version 3 that can't be migrated, because it can't be written or has lost
/// commits: a view of this connection alone takes the place of its table, with the columns that version 4 adds.
pub(super) fn add_missing_columns(connection: &Connection) -> rusqlite::Result<()> {
    if has_version_3(connection)? {
        connection.execute_batch(
            "PRAGMA temp_store = MEMORY;
             CREATE TEMP VIEW sessions AS SELECT *, 0 AS pinned, NULL AS archived FROM main.sessions",
        )?;
    }
    Ok(())
}

/// Keeps the write-ahead log when the connection is closed: someone may want to repair it.
pub(super) fn keep_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

/// Whether the database was truncated within a page. SQLite does not notice: it assumes that the last page is complete
/// until it is read, and would continue to write. While there is a write-ahead log, the log may hold that page.
fn ends_within_a_page(folder: &DataFolder) -> io::Result<bool> {
    if fs::metadata(folder.log()).is_ok_and(|log| log.len() > 0) {
        return Ok(false);
    }
    let mut header = [0; 18];
    let file = match DatabaseFile::open(&folder.database()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    let file = &file.handle()?.file;
    match file.read_exact_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        read => read?,
    }
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        page => page,
    };
    Ok(header.starts_with(b"SQLite format 3") && file.metadata()?.len().checked_rem(page).is_none_or(|rest| rest > 0))
}

/// Opens a connection to the database at `path`.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    connect_with(path, path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a connection that writes nothing, not even SQLite's files beside the database.
pub(super) fn connect_read_only(path: &Path) -> Result<Connection, StoreError> {
    connect_with(path, path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens a connection to an immutable file: without locks, and without searching for a log.
pub(super) fn connect_unchanging(path: &Path) -> Result<Connection, StoreError> {
    let escaped: String = path
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
            byte => format!("%{byte:02x}"),
        })
        .collect();
    let absolute = if path.is_absolute() { "//" } else { "" };
    let name = format!("file:{absolute}{escaped}?immutable=1");
    connect_with(path, Path::new(&name), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

fn connect_with(path: &Path, name: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).map_err(fault)?;
    connection.busy_timeout(BUSY_WAIT).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise SQLite plans a prepared statement again whenever its parameters change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fault)?;
    Ok(connection)
}

enum FoundSchema {
    Nothing,
    Version1,
    Version2,
    Version3,
    Ours,
}

fn inspect(connection: &Connection, path: &Path) -> Result<FoundSchema, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fault);
    let described = (
        number("PRAGMA application_id")?,
        number("PRAGMA user_version")?,
        number("SELECT count(*) FROM sqlite_schema")?,
    );
    if described == (0, 0, 0) {
        return Ok(FoundSchema::Nothing);
    }
    match version(connection, path)? {
        SCHEMA_VERSION => Ok(FoundSchema::Ours),
        1 => Ok(FoundSchema::Version1),
        2 => Ok(FoundSchema::Version2),
        3 => Ok(FoundSchema::Version3),
        _ => Err(StoreError::Damaged { what: format!("{} has no version", path.display()) }),
    }
}

/// The schema version of a database that Windlass wrote; an error if it is newer than this one.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fault);
    let (application, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    if application != i64::from(APPLICATION_ID) {
        return Err(StoreError::Foreign { place: place(path) });
    }
    match u32::try_from(version) {
        Ok(found) if found > SCHEMA_VERSION => Err(StoreError::Newer { found }),
        Ok(found @ 1..) => Ok(found),
        Ok(0) | Err(_) => Err(StoreError::Damaged { what: format!("{} has no version", path.display()) }),
    }
}

/// Creates the database, unless one must have existed before.
fn create_unless_lost(folder: &DataFolder) -> Result<(), StoreError> {
    let path = folder.database();
    let is_there = |path: PathBuf| fs::metadata(path).is_ok_and(|found| found.len() > 0);
    let log = folder.log();
    if is_there(log.clone()) {
        let what = format!("{} is missing or empty, and its log {} is there", path.display(), log.display());
        return Err(StoreError::Damaged { what });
    }
    let claimed = claims::were_made(folder).map_err(|error| StoreError::of_io(&folder.claims(), &error))?;
    if claimed || [folder.commits(), legacy::spool(folder)].into_iter().any(is_there) || blobs::were_made(folder) {
        return Err(StoreError::Damaged { what: format!("{} has lost its contents", path.display()) });
    }
    create(&path)
}

/// Creates an empty database under a temporary name, syncs it, and renames it: after a crash there is a complete
/// database or none. The rename is durable after the first commit, because SQLite then creates its log and syncs the
/// folder; before that there is nothing to lose. SQLite itself would sync seven times.
fn create(path: &Path) -> Result<(), StoreError> {
    let unfinished = path.with_extension("new");
    let io_fault = |error: io::Error| StoreError::of_io(&unfinished, &error);
    let fault = |error: rusqlite::Error| meaning(&unfinished, &error);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_fault(error)),
        Ok(()) | Err(_) => {}
    }
    private::file().create_new(true).open(&unfinished).map_err(io_fault)?;
    let connection = connect(&unfinished)?;
    let made = connection.execute_batch(&format!(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN IMMEDIATE; \
         {TABLES} {} {} {} PRAGMA application_id = {APPLICATION_ID}; {BEYOND_VERSION_2} {BEYOND_VERSION_3} \
         COMMIT;",
        control::TABLE,
        inbox::FILES_TABLE,
        user_rules::TABLE
    ));
    made.and_then(|()| use_wal(&connection)).map_err(fault)?;
    connection.close().map_err(|(_, error)| fault(error))?;
    File::open(&unfinished).and_then(|file| file.sync_all()).map_err(io_fault)?;
    fs::rename(&unfinished, path).map_err(io_fault)
}

fn set_up(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    use_wal(connection)?;
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)
}

fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
}
