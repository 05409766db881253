//! `windlass stop`: stops the run of a session that another process has open, as /stop in its chat does.

use std::path::PathBuf;

use windlass_setup::settings::{Env, Flags};
use windlass_setup::store;
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
