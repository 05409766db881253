//! Events with a value in every field, and one for every value that a field may have. They are written out in full, and
//! [`every!`] lists the variants of an enum, so a new field or variant does not compile before it has a sample here.

mod asking;
mod calls;
mod context;
mod failures;
mod files;
mod policy;
mod runs;
mod sessions;
mod turns;

use std::sync::Arc;

use windlass_vocab::{
    BatchPosition, CallId, Delta, DeltaBody, ENVELOPE_VERSION, Envelope, Event, Hash, Json, Record, RecordId, RunId,
    SessionId, TextOrigin, Timestamp, ToolName, TurnId, Wait, WaitFor,
};

/// Every variant of an enum, with its content.
macro_rules! every {
    ($kind:ident: $($variant:ident $(($content:expr))? $({ $($field:ident: $value:expr),* })?),* $(,)?) => {{
        let _ = |value: &$kind| match value { $($kind::$variant { .. } => (),)* };
        vec![$($kind::$variant $(($content))? $({ $($field: $value),* })?),*]
    }};
}
use every;

/// Adds a copy of `$full` for each of the values of a field.
macro_rules! vary {
    ($all:ident, $full:expr, $kind:ident.$field:ident, $values:expr) => {
        for value in $values {
            $all.push($kind { $field: value, ..$full }.into());
        }
    };
}
use vary;

const TIME: Timestamp = Timestamp(1_794_711_660_000);
const BLOB: Hash = Hash([7; 32]);
const CALL: CallId = CallId { run: RunId(1), turn: TurnId(2), index: 3 };

fn session() -> SessionId {
    "0198f3a0-0000-7000-8000-00000000000a".parse().unwrap()
}

fn json() -> Json {
    Json::parse(r#"{"path":"notes.md"}"#).unwrap()
}

fn tool() -> ToolName {
    "local.read_file".into()
}

fn text_origins() -> Vec<TextOrigin> {
    every!(TextOrigin:
        Page { url: "https://example.org/".into() },
        Server { server: "docs".into() },
        File { path: "notes.md".into() },
        Command { command: "curl example.org".into() },
    )
}

/// Every event.
pub(super) fn events() -> Vec<Event> {
    let mut records = sessions::records();
    records.extend(runs::records());
    records.extend(context::records());
    records.extend(turns::records());
    records.extend(calls::records());
    records.extend(asking::records());
    records.extend(files::records());
    let records = records.into_iter().map(|record| Event::Record(Arc::new(envelope(record))));
    let deltas = deltas()
        .into_iter()
        .map(|body| Event::Delta(Delta { run: RunId(1), turn: TurnId(2), attempt: 1, offset: 4, body }));
    records.chain(deltas).collect()
}

fn envelope(record: Record) -> Envelope {
    Envelope {
        v: ENVELOPE_VERSION,
        id: RecordId::from("0000000000000001.0"),
        session: session(),
        seq: 1,
        batch: BatchPosition(0, 1),
        prev: Hash::default(),
        epoch: 1,
        run: Some(RunId(1)),
        turn: Some(TurnId(2)),
        at: TIME,
        record,
    }
}

/// The body of every kind of delta.
pub(super) fn deltas() -> Vec<DeltaBody> {
    let waits = every!(WaitFor: Servers(vec!["docs".into()]), Answer(tool()));
    let waits = waits.into_iter().map(|what| Wait { what, limit_ms: 5_000 });
    let mut all: Vec<DeltaBody> = waits.map(|wait| DeltaBody::Waiting { call: Some(CALL), wait }).collect();
    let wait = Wait { what: WaitFor::Answer(tool()), limit_ms: 1 };
    all.extend(every!(DeltaBody:
        TextDelta { text: "hi".into() },
        ThinkingStarted {},
        ThinkingEnded {},
        ThinkingDelta { text: "hm".into() },
        CallDelta { call: CALL, name: Some("read_file".into()), text: "{".into() },
        Cleared {},
        Waiting { call: None, wait: wait },
        SourceLeftOut { source: "docs".into(), why: "too slow".into() },
    ));
    all
}
