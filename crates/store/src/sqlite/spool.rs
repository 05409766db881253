//! The spool: a file in front of the database, for batches that change nothing but the journal and their session's row.
//!
//! A commit of SQLite without a sync costs as much as a request over loopback. A slip costs one write. So a batch
//! that follows what this process wrote last (`tails`) is put on the spool, behind the slips that are there, and
//! that is the append: it survives the process, and with a sync the machine. Later many slips are stowed in one
//! transaction (`stow`), which also notes how far. Until then readers look at both.
//!
//! Whoever writes holds `write.lock`, and first catches up with what others wrote since: the spool is the one place
//! where each learns of the others, so whoever writes into the database itself rings a bell here before.
//! When the spool is long and stowed it is used again from the beginning, as its next lap.
//!
//! ```text
//! "WLSPOOL1" | lap 8 | slips of this lap | what earlier laps left
//! ```

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::slip::{self, Check, HEAD, Slip, Slips};
use super::{Folder, private};
use crate::StoreError;

const MAGIC: &[u8; 8] = b"WLSPOOL1";

/// Where the slips begin.
const START: u64 = 16;

/// The longest batch, in bytes, that is put on the spool.
pub(super) const LONGEST: usize = 256 * 1024;

/// The length from which on the spool is stowed and begun anew at once.
pub(super) const LONG: u64 = 1024 * 1024;

/// A place between slips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) lap: u64,
    pub(super) offset: u64,
    /// Stands for all slips before it.
    pub(super) check: Check,
}

impl Position {
    /// Before the first slip of a lap.
    pub(super) fn start_of(lap: u64) -> Self {
        Self { lap, offset: START, check: Check::of_lap(lap) }
    }

    /// Behind `slips`, of which the first of `length` bytes was here.
    fn behind(self, slips: &Slips<'_>, length: usize) -> Self {
        Self { offset: self.offset + (length - slips.left()) as u64, check: slips.check(), ..self }
    }
}

/// Slips that are about to be put on the spool.
#[derive(Debug)]
pub(super) struct Staged {
    bytes: Vec<u8>,
    check: Check,
}

impl Staged {
    /// Behind the slips that `check` stands for.
    pub(super) fn behind(check: Check) -> Self {
        Self { bytes: Vec::new(), check }
    }

    /// Puts a slip behind the others.
    pub(super) fn add(&mut self, slip: &Slip<'_>) {
        self.check = slip.write(self.check, &mut self.bytes);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether they are enough for one write: a spool of their own.
    pub(super) fn is_long(&self) -> bool {
        self.bytes.len() as u64 >= LONG
    }
}

/// Makes the spool of a database that stands at this lap, empty. It is there for certain once the folder is synced, as
/// the first commit of a new database does.
pub(super) fn make(folder: &Folder, lap: u64) -> Result<(), StoreError> {
    let path = folder.spool();
    let made = private::file().create(true).truncate(true).open(&path);
    made.and_then(|file| name(&file, lap)).map_err(|error| StoreError::of_io(&path, &error))
}

/// Whether slips were ever written on the spool.
pub(super) fn was_used(folder: &Folder) -> bool {
    fs::metadata(folder.spool()).is_ok_and(|found| found.len() > START)
}

/// The lap of a new spool.
pub(super) const FIRST_LAP: u64 = 1;

/// No spool is on this lap.
const NO_LAP: u64 = 0;

fn name(file: &File, lap: u64) -> io::Result<()> {
    file.write_all_at(&[&MAGIC[..], &lap.to_le_bytes()].concat(), 0)
}

/// The spool, open for writing, and where this process left it.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    path: PathBuf,
    end: Position,
}

impl Spool {
    /// Opens the spool, which is stowed up to `stowed`. Under the write lock.
    pub(super) fn open(folder: &Folder, stowed: Position) -> Result<Self, StoreError> {
        let path = folder.spool();
        let fault = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Damaged {
                what: format!(
                    "{} is missing, and with it what was not in the database yet (an empty file in its place lets you \
                     go on without it)",
                    path.display()
                ),
            },
            _ => StoreError::of_io(&path, &error),
        };
        let file = private::file().read(true).open(&path).map_err(fault)?;
        let spool = Self { end: stowed, file, path: path.clone() };
        match lap_of(&spool.file).map_err(fault)? {
            // It never reached the disk, or was emptied by hand.
            Lap::Unwritten => spool.name(stowed.lap)?,
            Lap::Number(lap) if lap < stowed.lap => spool.name(stowed.lap)?,
            Lap::Number(lap) if lap == stowed.lap => {}
            Lap::Number(_) => {
                let what = format!("{} is newer than the database beside it", path.display());
                return Err(StoreError::Damaged { what });
            }
            Lap::Foreign => return Err(StoreError::Foreign { path }),
        }
        Ok(spool)
    }

    /// Where this process left it.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// The lap that its beginning names.
    pub(super) fn lap(&self) -> Result<u64, StoreError> {
        match lap_of(&self.file).map_err(self.fault())? {
            Lap::Number(lap) => Ok(lap),
            Lap::Unwritten | Lap::Foreign => {
                Err(StoreError::Damaged { what: format!("{} has lost its beginning", self.path.display()) })
            }
        }
    }

    /// Shows `see` the slips that others wrote behind where this process left the spool, and goes behind them.
    pub(super) fn catch_up(&mut self, mut see: impl FnMut(Slip<'_>)) -> Result<(), StoreError> {
        let slips = unseen(&self.file, self.end).map_err(self.fault())?;
        let mut unread = Slips::new(&slips, self.end.check);
        unread.by_ref().for_each(&mut see);
        self.end = self.end.behind(&unread, slips.len());
        Ok(())
    }

    /// Goes to the beginning of a lap.
    pub(super) fn go_to(&mut self, lap: u64) {
        self.end = Position::start_of(lap);
    }

    /// What is to come behind the last slip.
    pub(super) fn staging(&self) -> Staged {
        Staged::behind(self.end.check)
    }

    /// Puts slips behind the last. On error nobody was told of them, and what comes next takes their place.
    pub(super) fn put(&mut self, staged: &Staged) -> Result<(), StoreError> {
        self.file.write_all_at(&staged.bytes, self.end.offset).map_err(self.fault())?;
        self.end = Position { offset: self.end.offset + staged.bytes.len() as u64, check: staged.check, ..self.end };
        Ok(())
    }

    /// Rings the bell.
    pub(super) fn ring(&mut self) -> Result<(), StoreError> {
        let mut bell = self.staging();
        bell.add(&Slip::Bell);
        self.put(&bell)
    }

    /// Returns when all slips are on the disk.
    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(self.fault())
    }

    /// The slips behind `stowed`, up to where this process left the spool.
    pub(super) fn slips_behind(&self, stowed: Position) -> Result<Vec<u8>, StoreError> {
        let length = self.end.offset.saturating_sub(stowed.offset);
        let mut slips = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut slips, stowed.offset).map_err(self.fault())?;
        Ok(slips)
    }

    /// Begins a lap. What the one before left lies there until it is written over, and means nothing.
    /// Where the file can't be named so, the next to catch up finds it behind the database and tries again.
    pub(super) fn begin(&mut self, lap: u64) -> Result<(), StoreError> {
        self.go_to(lap);
        self.name(lap)
    }

    /// After anything whose outcome is unclear: whoever catches up next looks at everything again.
    pub(super) fn lose_place(&mut self) {
        self.go_to(NO_LAP);
    }

    fn name(&self, lap: u64) -> Result<(), StoreError> {
        name(&self.file, lap).map_err(self.fault())
    }

    fn fault(&self) -> impl Fn(io::Error) -> StoreError + '_ {
        |error| StoreError::of_io(&self.path, &error)
    }
}

/// What the beginning of a spool names.
enum Lap {
    Unwritten,
    Number(u64),
    Foreign,
}

fn lap_of(file: &File) -> io::Result<Lap> {
    let mut beginning = [0; START as usize];
    let read = fill(file, &mut beginning, 0)?;
    let (magic, lap) = beginning.split_at(MAGIC.len());
    Ok(match lap.first_chunk() {
        _ if beginning[..read].iter().all(|byte| *byte == 0) => Lap::Unwritten,
        Some(lap) if magic == MAGIC => Lap::Number(u64::from_le_bytes(*lap)),
        Some(_) | None => Lap::Foreign,
    })
}

/// The slips behind `end`.
fn unseen(file: &File, end: Position) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEAD];
    let read = fill(file, &mut bytes, end.offset)?;
    if !slip::begins(&bytes[..read], end.check) {
        return Ok(Vec::new());
    }
    // Behind the last there may be megabytes of an earlier lap.
    let mut window = 64 * 1024;
    loop {
        bytes.resize(window, 0);
        let read = fill(file, &mut bytes, end.offset)?;
        let mut slips = Slips::new(&bytes[..read], end.check);
        slips.by_ref().for_each(drop);
        if read < window || !slips.are_cut_short() {
            let whole = read - slips.left();
            bytes.truncate(whole);
            return Ok(bytes);
        }
        window *= 2;
    }
}

/// Reads until `bytes` are full or the file ends; gives how many it was.
fn fill(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What a reader finds who knows the database up to `stowed`.
pub(super) enum View {
    /// What lies behind: slips, and then anything.
    Behind(Vec<u8>),
    /// The spool has gone on to a lap that the reader's moment of the database does not know.
    Later,
}

/// Reads the spool at `path` beside its writers.
pub(super) fn view(path: &Path, stowed: Position) -> io::Result<View> {
    let file = File::open(path)?;
    let bytes = match lap_of(&file)? {
        Lap::Number(lap) if lap == stowed.lap => unseen(&file, stowed)?,
        // Not yet, or no longer, a spool of this database: the writers see to it.
        Lap::Unwritten | Lap::Foreign => return Ok(View::Behind(Vec::new())),
        Lap::Number(lap) if lap < stowed.lap => return Ok(View::Behind(Vec::new())),
        Lap::Number(_) => return Ok(View::Later),
    };
    // While it was read it may have begun anew, over what was being read.
    match lap_of(&file)? {
        Lap::Number(lap) if lap == stowed.lap => Ok(View::Behind(bytes)),
        Lap::Number(_) | Lap::Unwritten | Lap::Foreign => Ok(View::Later),
    }
}
