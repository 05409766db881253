//! The audit lines of removed sessions (T11): an append-only file of JSON lines in the data folder. A session's
//! lines are written and synced to disk before the session is removed.
//!
//! A crash between the two leaves lines of a session that still exists; a reader of both counts each call once.
//! A last line that a crash cut short is skipped.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use windlass_vocab::{AuditEntry, CallId, SessionId};

use crate::StoreError;

/// Path of the audit file in the data folder `data`.
#[must_use]
pub fn audit_file(data: &Path) -> PathBuf {
    data.join("audit.jsonl")
}

/// Appends lines; they are synced to disk when this returns.
pub fn append_audit(data: &Path, entries: &[AuditEntry]) -> Result<(), StoreError> {
    let path = audit_file(data);
    let kept = write(&path, entries).and_then(|()| File::open(data)?.sync_all());
    kept.map_err(|error| StoreError::of_io(&path, &error))
}

fn write(path: &Path, entries: &[AuditEntry]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let mut lines = Vec::new();
    if ends_unfinished(&mut file)? {
        lines.push(b'\n');
    }
    for entry in entries {
        serde_json::to_writer(&mut lines, entry)?;
        lines.push(b'\n');
    }
    file.write_all(&lines)?;
    file.sync_all()
}

/// Whether the last line has no line break, because a crash cut it short.
fn ends_unfinished(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(io::SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Returns the lines of the audit file, without those whose call is in `there`.
pub fn read_audit(data: &Path, there: &[AuditEntry]) -> Result<Vec<AuditEntry>, StoreError> {
    let path = audit_file(data);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::of_io(&path, &error)),
    };
    let there: HashSet<(SessionId, CallId)> = there.iter().map(|entry| (entry.session, entry.call)).collect();
    let (mut entries, mut places) = (Vec::<AuditEntry>::new(), HashMap::new());
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| StoreError::of_io(&path, &error))?;
        // A line that can't be parsed is skipped; the others still count.
        if let Ok(entry) = serde_json::from_slice::<AuditEntry>(&line)
            && !there.contains(&(entry.session, entry.call))
        {
            // A later line for the same call is more complete: the session went on in between.
            let place = *places.entry((entry.session, entry.call)).or_insert(entries.len());
            match entries.get_mut(place) {
                Some(earlier) => *earlier = entry,
                None => entries.push(entry),
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use super::{append_audit, audit_file, read_audit};
    use crate::conformance::sample;
    use crate::projections::audit;
    use crate::{Batch, Entry, Head, Writer};

    fn entries() -> Vec<windlass_vocab::AuditEntry> {
        let session = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
        let records = [
            sample::opened("ada", "notes"),
            sample::call_requested(session, 0),
            sample::question_asked(1),
            sample::question_answered(1),
            sample::call_finished(0, "secret text", None),
            sample::call_requested(session, 1),
        ];
        let batch = Batch { entries: records.into_iter().map(Entry::new).collect(), ..Batch::default() };
        let sealed = Writer::new(session, Head::default(), 1).seal(batch).unwrap();
        audit(sealed.envelopes.iter().map(Arc::as_ref))
    }

    // proves T11
    #[test]
    fn every_call_is_told_with_its_verdict_its_answer_and_its_end_and_no_arguments() {
        let entries = entries();
        assert_eq!(entries.len(), 2);
        let line = serde_json::to_string(&entries[0]).unwrap();
        for told in [r#""owner":"ada""#, r#""tool":"local.read_file""#, r#""verdict":"ask""#, r#""outcome":"ok""#] {
            assert!(line.contains(told), "{line}");
        }
        assert!(line.contains(r#""answer":{"option":"session","by":"person"}"#), "{line}");
        assert!(!line.contains("notes.md") && !line.contains("secret text"), "{line}");
        assert_eq!((entries[1].outcome, entries[1].took_ms), (None, None));
    }

    // proves T11: lines of a removed session stay, each once, readable by the owner only
    #[test]
    fn lines_that_are_kept_are_read_again_even_after_one_was_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let entries = entries();
        assert_eq!(read_audit(folder.path(), &[]).unwrap(), []);
        append_audit(folder.path(), &entries[..1]).unwrap();
        let path = audit_file(folder.path());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"at\":\"20").unwrap();
        append_audit(folder.path(), &entries).unwrap();
        assert_eq!(read_audit(folder.path(), &[]).unwrap(), entries);
        assert_eq!(read_audit(folder.path(), &entries[1..]).unwrap(), entries[..1]);
    }
}
