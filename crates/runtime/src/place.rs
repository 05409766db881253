//! The run and turn each record of a batch belongs to.

use windlass_machine::State;
use windlass_store::Entry;
use windlass_vocab::{Record, TurnId};

/// Adds to each record its run and turn, starting from those of the state.
pub(crate) fn placed(state: &State, records: Vec<Record>) -> Vec<Entry> {
    let open = state.control.run.as_ref();
    let mut run = open.map(|run| run.id);
    let mut turn = open.map(|run| run.turn).filter(|turn| *turn != TurnId(0));
    let place = |record: Record| {
        match &record {
            Record::RunStarted(started) => run = Some(started.run),
            Record::TurnStarted(started) => turn = Some(started.turn),
            _ => {}
        }
        Entry { run, turn, record }
    };
    records.into_iter().map(place).collect()
}
