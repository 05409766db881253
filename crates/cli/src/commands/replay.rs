//! `windlass replay`: displays a session again from its journal alone, with the code that displays a live run, and the
//! person's messages in between; `--check` tells whether the loop would make the same decisions again.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use windlass::Event;
use windlass_machine::{Difference, ReplayOutcome};
use windlass_setup::settings::{Env, Flags};
use windlass_setup::test_hooks;
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Envelope, NewerRecord, Record};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::{prepared_run, session};
use crate::args::ReplayArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::output::{RunView, harmless_line};
use crate::streams::print;

/// The longest pause between records that is reproduced.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(super) fn replay(data_dir: Option<PathBuf>, args: &ReplayArgs, env: &Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    block_on(async {
        let store = open_to_show(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        if args.check {
            return check(store.as_ref(), &row).await;
        }
        let view = if args.json { prepared_run::json_view() } else { prepared_run::answer_view(env).for_onlookers() };
        let pace = if args.real_time { Pace::RealTime } else { Pace::AtOnce };
        let _interrupts = interrupts::set_action(OnInterrupt::Exit);
        show(store.as_ref(), &row, view, pace).await
    })
}

/// How fast a session is displayed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    AtOnce,
    RealTime,
}

async fn show<Out: Write, Err: Write>(
    store: &dyn Store,
    row: &SessionRow,
    mut view: RunView<Out, Err>,
    pace: Pace,
) -> CommandResult {
    let journal = store.read(row.session, 0).await?;
    let newer = NewerRecord::first(&journal);
    let mut before = None;
    for envelope in journal {
        if pace == Pace::RealTime {
            let pause = before.map_or(0, |before| envelope.at.ms_since(before));
            tokio::time::sleep(test_hooks::clock().real(Duration::from_millis(pause).min(LONGEST_PAUSE))).await;
        }
        before = Some(envelope.at);
        show_record(&mut view, envelope).map_err(|error| CommandError::output(&error))?;
    }
    if let Some(NewerRecord { seq, kind, .. }) = newer {
        view.notice(&format!("record {seq} is a `{kind}`, of a newer version; {READ_ONLY}"));
    }
    Ok(Exit::Done)
}

const READ_ONLY: &str = "the session is read-only here, and what such records mean is not shown";

/// Displays a record; if it ends a run, also the run's end.
pub(super) fn show_record<Out: Write, Err: Write>(view: &mut RunView<Out, Err>, envelope: Envelope) -> io::Result<()> {
    let envelope = Arc::new(envelope);
    view.event(&Event::Record(Arc::clone(&envelope)))?;
    if let Record::RunEnded(ended) = &envelope.record { view.ended(ended) } else { Ok(()) }
}

/// Replays the journal, and reports whether every decision is the same.
async fn check(store: &dyn Store, row: &SessionRow) -> CommandResult {
    let records = store.read(row.session, 0).await?;
    let key = harmless_line(&row.key);
    let (exit, text) = match windlass_machine::replay(row.session, &records) {
        ReplayOutcome::Same { batches } => {
            let text = format!("{key}: the same, {} records in {batches} batches decided again\n", records.len());
            (Exit::Done, text)
        }
        ReplayOutcome::Differs(difference) => (Exit::Failed, format!("{key}: {}", difference_text(&difference))),
        ReplayOutcome::Unknown { seq, kind } => {
            let text = format!(
                "{key}: the same up to record {}; from there on this version can't tell: record {seq} is a `{}`, \
                 of a newer version\n",
                seq - 1,
                harmless_line(&kind)
            );
            (Exit::Failed, text)
        }
    };
    print(&text)?;
    Ok(exit)
}

fn difference_text(difference: &Difference) -> String {
    let Difference { batch, seq, recorded, decided } = difference;
    format!(
        "differs at record {seq}, in the batch that begins at {batch}\n  recorded: {}\n  decided:  {}\n",
        record_text(recorded.as_ref()),
        record_text(decided.as_ref())
    )
}

fn record_text(record: Option<&Record>) -> String {
    let Some(record) = record else { return "nothing".to_owned() };
    harmless_line(&format!("{} {}", record.kind(), record.body().unwrap_or_default()))
}
