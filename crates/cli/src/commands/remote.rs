//! Sends commands to a session that another process has open, and reports failures.

use windlass_runtime::{ControlDelivery, send_control};
use windlass_setup::secrets::{self, KnownSecret};
use windlass_setup::settings::PlaceSettings;
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Control, ControlOutcome};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::command_for;

/// Sends a command and waits for its result.
pub(super) async fn send(
    store: &dyn Store,
    row: &SessionRow,
    control: Control,
    known: &[KnownSecret],
    place: &PlaceSettings,
) -> Result<ControlOutcome, CommandError> {
    delivered(send_control(store, &secrets::scrubber(known), row.session, control).await?, store, row, place).await
}

/// Returns the outcome of a command that was sent; an error where there is none.
pub(super) async fn delivered(
    delivery: ControlDelivery,
    store: &dyn Store,
    row: &SessionRow,
    place: &PlaceSettings,
) -> Result<ControlOutcome, CommandError> {
    let key = &row.key;
    match delivery {
        ControlDelivery::Done(outcome) => Ok(outcome),
        ControlDelivery::NobodyThere => Err(nobody_there(store, row, place).await?),
        ControlDelivery::OwnerLeft => {
            let text = format!("the process that had session `{key}` open ended before it got this; nothing was done");
            Err(CommandError::new(Exit::Failed, text))
        }
        ControlDelivery::NoAnswer => {
            let text = format!(
                "the process that has session `{key}` open does not answer, and will not get this any more; is it \
                 suspended (Ctrl-Z, then `fg` goes on), or of an older version?"
            );
            Err(CommandError::new(Exit::Store, text))
        }
        ControlDelivery::StillAtIt => {
            let text = format!("session `{key}` got this and is still at it; `windlass sessions show` tells more");
            Err(CommandError::new(Exit::Store, text))
        }
    }
}

/// Returns the error for a session that no process has open; the advice depends on the session's status.
pub(super) async fn nobody_there(
    store: &dyn Store,
    row: &SessionRow,
    place: &PlaceSettings,
) -> Result<CommandError, CommandError> {
    // The run may have ended since the row was read.
    let row = store.row(row.session).await?.unwrap_or_else(|| row.clone());
    let key = &row.key;
    let text = if row.status.is_open() {
        let (resume, stop) = (command_for("resume", key, "", place), command_for("stop", key, "", place));
        format!(
            "no process works on session `{key}` now; its run is not over: `{resume}` goes on with it, `{stop}` gives it up"
        )
    } else {
        format!("session `{key}` has no open run")
    };
    Ok(CommandError::new(Exit::Usage, text))
}
