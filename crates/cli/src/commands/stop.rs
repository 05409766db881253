//! `windlass stop`: stops the run of a session that another process has open, as /stop in its chat does, or that no
//! process works on any more.

use std::path::PathBuf;

use windlass_runtime::{OpenError, StopOutcome, stop_abandoned};
use windlass_setup::settings::{Env, Flags};
use windlass_setup::{secrets, store, test_hooks};
use windlass_store::{SessionRow, Store, StoreError};
use windlass_vocab::{Control, ControlOutcome};

use super::block_on::block_on;
use super::{prepared_run, remote, session};
use crate::args::StopArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::wording::stopped_runs;
use crate::streams::print;

pub(super) fn stop(data_dir: Option<PathBuf>, args: &StopArgs, env: &Env) -> CommandResult {
    let place =
        prepared_run::place(&prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        if let Some(StopOutcome { runs, dropped }) = stop_abandoned_run(store.as_ref(), &row).await? {
            print(&format!("{}\n", stopped_runs(runs, dropped)))?;
            return Ok(Exit::Done);
        }
        let outcome = remote::send(store.as_ref(), &row, Control::Stop {}, &[], &place).await?;
        let ControlOutcome::Stopped { runs, dropped } = outcome else {
            return Err(CommandError::new(Exit::Failed, "the session gave no sensible answer; please report it"));
        };
        let text = stopped_runs(runs, usize::try_from(dropped).unwrap_or(usize::MAX));
        if runs == 0 && dropped == 0 {
            let text = format!("nothing to stop: no run of session `{}` is open", row.key);
            return Err(CommandError::new(Exit::Usage, text));
        }
        print(&format!("{text}\n"))?;
        Ok(Exit::Done)
    })
}

/// Ends the session's run in the journal, where a run is open and no process works on it.
async fn stop_abandoned_run(store: &dyn Store, row: &SessionRow) -> Result<Option<StopOutcome>, CommandError> {
    if !row.status.is_open() || store.is_claimed(row.session).await? {
        return Ok(None);
    }
    let clock = test_hooks::clock();
    match stop_abandoned(store, &secrets::scrubber(&[]), clock.as_ref(), row.session).await {
        // The run ended, or a process went on with it, since the row was read.
        Ok(StopOutcome { runs: 0, dropped: 0 }) | Err(OpenError::Store(StoreError::Busy { .. })) => Ok(None),
        Ok(stopped) => Ok(Some(stopped)),
        Err(error) => Err(CommandError::of_opening(error, Some(&row.key))),
    }
}
