//! Opening the database: is it ours, can we read it, can we write it; and making it when there is
//! none.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::commit::Opened;
use super::fault::meaning;
use super::spool::{self, Position, Spool};
use super::stow::stowed;
use super::write_lock::{Patience, WriteLock};
use super::{Durability, Folder, claims, private};
use crate::StoreError;

/// "WLJ1", written into the file's header so that other programs and we ourselves can tell it.
const APPLICATION_ID: i32 = 0x574c_4a31;

/// The version of the tables.
const SCHEMA_VERSION: u32 = 2;

/// Pages in the write-ahead log before a commit moves them into the database: 256 MiB. The writer
/// does so by itself long before.
const CHECKPOINT_PAGES: u32 = 65_536;

/// Only other programs make us wait here: our own processes queue at `write.lock`.
const BUSY_WAIT: Duration = Duration::from_secs(10);

const TABLES: &str = "
CREATE TABLE batches (
    session BLOB NOT NULL,
    seq INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (session, seq)
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

/// Makes what version 2 has beyond version 1.
fn with_spool() -> String {
    let start = Position::start_of(spool::FIRST_LAP);
    let mark: String = start.check.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "CREATE TABLE spool (lap INTEGER NOT NULL, stowed INTEGER NOT NULL, mark BLOB NOT NULL);
         INSERT INTO spool VALUES ({}, {}, x'{mark}');
         PRAGMA user_version = {SCHEMA_VERSION};",
        start.lap, start.offset
    )
}

/// Opens the data folder for writing.
pub(super) fn open(folder: &Folder, durability: Durability) -> Result<Opened, StoreError> {
    private::make_folder(&folder.0).map_err(|error| StoreError::of_io(&folder.0, &error))?;
    let mut lock = WriteLock::open(&folder.write_lock())?;
    lock.take(Patience::Wait)?;
    let opened = open_locked(folder, durability).and_then(|connection| {
        let stowed = stowed(&connection).map_err(|error| meaning(&folder.database(), &error))?;
        Ok((Spool::open(folder, stowed)?, connection))
    });
    lock.release();
    let (spool, connection) = opened?;
    Ok(Opened { connection, spool, lock })
}

fn open_locked(folder: &Folder, durability: Durability) -> Result<Connection, StoreError> {
    let path = folder.database();
    let fault = |error: rusqlite::Error| meaning(&path, &error);
    if ends_within_a_page(&path).map_err(|error| StoreError::of_io(&path, &error))? {
        return Err(StoreError::Damaged { what: format!("{} has lost its end", path.display()) });
    }
    if fs::metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        create_unless_lost(folder)?;
    }
    let mut connection = connect(&path, OpenFlags::empty())?;
    if connection.is_readonly("main").map_err(fault)? {
        return Err(StoreError::ReadOnly { path });
    }
    match inspect(&connection, &path)? {
        Found::Ours => {}
        Found::WithoutSpool => {
            spool::make(folder, spool::FIRST_LAP)?;
            let synced = File::open(&folder.0).and_then(|folder| folder.sync_all());
            synced.map_err(|error| StoreError::of_io(&folder.0, &error))?;
            connection.execute_batch(&format!("BEGIN IMMEDIATE; {} COMMIT;", with_spool())).map_err(fault)?;
        }
        Found::Nothing => {
            drop(connection);
            create_unless_lost(folder)?;
            connection = connect(&path, OpenFlags::empty())?;
        }
    }
    set_up(&connection, durability).map_err(fault)?;
    Ok(connection)
}

/// Whether the database was cut short in a place SQLite does not notice: it takes the last page for
/// whole until it is read, and would write on. While there is a write-ahead log, it may hold that page.
fn ends_within_a_page(path: &Path) -> io::Result<bool> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if fs::metadata(log).is_ok_and(|log| log.len() > 0) {
        return Ok(false);
    }
    let mut header = [0; 18];
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
        read => read?,
    }
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        page => page,
    };
    Ok(header.starts_with(b"SQLite format 3") && file.metadata()?.len().checked_rem(page).is_none_or(|rest| rest > 0))
}

/// A connection to the database at `path`.
pub(super) fn connect(path: &Path, extra: OpenFlags) -> Result<Connection, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let connection = Connection::open_with_flags(path, flags).map_err(fault)?;
    connection.busy_timeout(BUSY_WAIT).map_err(fault)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Without it SQLite plans a prepared statement anew whenever it is given other parameters.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fault)?;
    Ok(connection)
}

enum Found {
    Nothing,
    /// Of version 1.
    WithoutSpool,
    Ours,
}

fn inspect(connection: &Connection, path: &Path) -> Result<Found, StoreError> {
    let fault = |error: rusqlite::Error| meaning(path, &error);
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(fault);
    let application = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    if (application, version, tables) == (0, 0, 0) {
        return Ok(Found::Nothing);
    }
    if application != i64::from(APPLICATION_ID) {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    match u32::try_from(version) {
        Ok(found) if found > SCHEMA_VERSION => Err(StoreError::Newer { found }),
        Ok(SCHEMA_VERSION) => Ok(Found::Ours),
        Ok(1) => Ok(Found::WithoutSpool),
        Ok(_) | Err(_) => Err(StoreError::Damaged { what: format!("{} has no version", path.display()) }),
    }
}

/// Makes the database, unless there must have been one.
fn create_unless_lost(folder: &Folder) -> Result<(), StoreError> {
    let path = folder.database();
    let claimed = claims::were_made(folder).map_err(|error| StoreError::of_io(&folder.claims(), &error))?;
    if claimed || spool::was_used(folder) {
        return Err(StoreError::Damaged { what: format!("{} has lost its contents", path.display()) });
    }
    spool::make(folder, spool::FIRST_LAP)?;
    create(&path)
}

/// Makes an empty database beside its place, syncs it, and moves it there: whatever happens in between,
/// there is a whole one or none. The move itself is certain with the first commit, for SQLite then syncs
/// the folder, where it makes its log; before that there is nothing to lose. SQLite itself would sync
/// seven times.
fn create(path: &Path) -> Result<(), StoreError> {
    let unfinished = path.with_extension("new");
    let io_fault = |error: io::Error| StoreError::of_io(&unfinished, &error);
    let fault = |error: rusqlite::Error| meaning(&unfinished, &error);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io_fault(error)),
        Ok(()) | Err(_) => {}
    }
    private::file().create_new(true).open(&unfinished).map_err(io_fault)?;
    let connection = connect(&unfinished, OpenFlags::empty())?;
    let made = connection.execute_batch(&format!(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN IMMEDIATE; \
         {TABLES} PRAGMA application_id = {APPLICATION_ID}; {} COMMIT;",
        with_spool()
    ));
    made.and_then(|()| use_wal(&connection)).map_err(fault)?;
    connection.close().map_err(|(_, error)| fault(error))?;
    File::open(&unfinished).and_then(|file| file.sync_all()).map_err(io_fault)?;
    fs::rename(&unfinished, path).map_err(io_fault)
}

fn set_up(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    use_wal(connection)?;
    sync_commits(connection, durability)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)
}

/// Says when a commit counts as done, from the next on.
pub(super) fn sync_commits(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    let synchronous = match durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)
}

fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
}
