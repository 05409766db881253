//! `windlass fork`: creates a session that begins with a copy of another one's records up to some record. Both work in
//! the same folder, whose files stay as they are.

use std::path::PathBuf;

use windlass_runtime::{Clock, SystemClock};
use windlass_setup::settings::{Env, Flags};
use windlass_setup::store;
use windlass_store::{ForkError, SessionRow, Store, StoreError};
use windlass_vocab::{CancelAsked, Record, SessionId, StopBy};

use super::block_on::block_on;
use super::{prepared_run, session};
use crate::args::ForkArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{harmless_line, harmless_lines, quoted, same_folders};
use crate::streams::{print, print_notice};

/// Characters of the old key that the new one keeps, so that the key with its suffix stays short enough to type.
const KEPT: usize = 180;

pub(super) fn run(data_dir: Option<PathBuf>, args: &ForkArgs, env: Env) -> CommandResult {
    let data = same_folders(data_dir.as_deref(), None);
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store = store::open(&place)?;
        let origin = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let forked = fork(store.as_ref(), &origin, args.at, args.new_key.as_deref()).await?;
        print(&format!("{}\n", harmless_line(&forked.key)))?;
        let hint = hint(store.as_ref(), &origin, &forked, &data).await?;
        print_notice(&harmless_lines(&hint));
        Ok(Exit::Done)
    })
}

/// Forks a session after the batch that holds record `at`, or at its end. The fork gets `new_key`, or a key derived
/// from the old one.
pub(crate) async fn fork(
    store: &dyn Store,
    origin: &SessionRow,
    at: Option<u64>,
    new_key: Option<&str>,
) -> Result<SessionRow, CommandError> {
    let forked = match new_key {
        Some(key) => windlass_runtime::fork(store, origin.session, at, key, SystemClock.now()).await?,
        None => under_a_free_key(store, origin, at).await?,
    };
    Ok(store.row(forked).await?.ok_or(StoreError::Missing)?)
}

/// Tries `KEY-fork`, `KEY-fork-2` and so on.
async fn under_a_free_key(store: &dyn Store, origin: &SessionRow, at: Option<u64>) -> Result<SessionId, ForkError> {
    let base: String = unforked(&origin.key).chars().take(KEPT).collect();
    let mut number = 1;
    loop {
        let key = if number == 1 { format!("{base}-fork") } else { format!("{base}-fork-{number}") };
        // Check first: sealing a long journal only to be refused is expensive.
        let taken = store.find(&origin.owner, &key).await?.is_some();
        if !taken {
            match windlass_runtime::fork(store, origin.session, at, &key, SystemClock.now()).await {
                // Another process took the key in between.
                Err(ForkError::Store(StoreError::KeyTaken { .. })) => {}
                forked => return forked,
            }
        }
        number += 1;
    }
}

/// Returns the key without the suffix of an earlier fork.
fn unforked(key: &str) -> &str {
    let unnumbered = match key.rsplit_once("-fork-") {
        Some((base, number)) if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) => base,
        Some(_) | None => key.strip_suffix("-fork").unwrap_or(key),
    };
    if unnumbered.is_empty() { key } else { unnumbered }
}

/// Describes where the fork branches off, and how to continue it.
async fn hint(store: &dyn Store, origin: &SessionRow, forked: &SessionRow, data: &str) -> Result<String, CommandError> {
    let last = store.read_before(forked.session, u64::MAX, 1).await?;
    let (origin, key) = (quoted(&origin.key), quoted(&forked.key));
    let go_on = format!("  go on with: windlass run --session {key}{data} \"…\"");
    Ok(match last.first().map(|first| (&first.record, first.run, first.seq)) {
        Some((Record::CancelAsked(CancelAsked { by: StopBy::Fork }), Some(run), seq)) => format!(
            "forked from {origin} at record {}, where run {run} was open\n{go_on}\n  or try it again: windlass retry {key}{data}",
            seq - 1
        ),
        _ => {
            let at = last.last().map(|last| last.seq).unwrap_or_default();
            format!("forked from {origin} at record {at}\n{go_on}")
        }
    })
}

impl From<ForkError> for CommandError {
    fn from(error: ForkError) -> Self {
        match error {
            ForkError::Store(error) => error.into(),
            ForkError::NoRecord { .. } => {
                Self::new(Exit::Usage, format!("{error} (`windlass sessions show` numbers them)"))
            }
            ForkError::Newer { .. } => Self::new(Exit::Store, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unforked;

    #[test]
    fn a_fork_of_a_fork_is_named_after_the_first() {
        for (key, base) in [
            ("notes", "notes"),
            ("notes-fork", "notes"),
            ("notes-fork-12", "notes"),
            ("notes-fork-x", "notes-fork-x"),
            ("pitch-fork-", "pitch-fork-"),
            ("-fork", "-fork"),
            ("-fork-2", "-fork-2"),
        ] {
            assert_eq!(unforked(key), base);
        }
    }
}
