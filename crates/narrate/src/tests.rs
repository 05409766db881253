//! The lines of every kind of record, at both levels of detail.

mod attempts;
mod calls;

use std::collections::BTreeSet;

use windlass_vocab::{CallId, Delta, DeltaBody, Envelope, Event, Record, RunId, TurnId, Wait, WaitFor};

use super::{Detail, Narrator};

/// A stored record of run 1, by kind and body; written at the beginning of 1970.
fn record(kind: &str, body: &str) -> Event {
    let line = format!(
        r#"{{"v":1,"id":"r","session":"00000000-0000-0000-0000-000000000007","seq":1,"batch":[0,1],"prev":"{}","epoch":1,
            "run":1,"turn":1,"at":"1970-01-01T00:00:00.000Z","kind":"{kind}","body":{body}}}"#,
        "0".repeat(64)
    );
    Event::Record(Envelope::decode(&line).unwrap_or_else(|error| panic!("{kind} {body}: {error}")).into())
}

/// Returns the lines of these events: `LineSpeaker Tone [call] words`.
fn narrated(detail: Detail, events: &[Event]) -> Vec<String> {
    let mut narrator = Narrator::new(detail);
    let lines = events.iter().flat_map(|event| narrator.event(event));
    lines
        .map(|line| {
            let call = line.call.map(|call| format!("[{call}] ")).unwrap_or_default();
            format!("{:?} {:?} {call}{line}", line.by, line.tone)
        })
        .collect()
}

/// Checks the lines of one record.
fn check(kind: &str, body: &str, brief: &[&str], full: &[&str]) {
    let event = [record(kind, body)];
    assert_eq!(narrated(Detail::Brief, &event), brief, "{kind} in brief: {body}");
    assert_eq!(narrated(Detail::Full, &event), full, "{kind} in full: {body}");
}

/// A kind, a body, its brief lines and its full lines.
type NarrationCase = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const SESSIONS: &[NarrationCase] = &[
    (
        "SessionOpened",
        r#"{"owner":"o","key":"notes","workspace":"/notes","forked_from":
            [{"session":"00000000-0000-0000-0000-000000000001","seq":4}]}"#,
        &[],
        &["Windlass Bookkeeping notes in /notes, forked from 00000000-0000-0000-0000-000000000001 at record 4"],
    ),
    ("SessionOpened", r#"{"owner":"o","key":"k"}"#, &[], &["Windlass Bookkeeping k in no folder"]),
    (
        "SessionChanged",
        r#"{"title":"A title","key":"new","imported":{}}"#,
        &[],
        &["Windlass Bookkeeping A title, new, imported into no folder"],
    ),
    (
        "SessionChanged",
        r#"{"pinned":true,"archived":false}"#,
        &[],
        &["Windlass Bookkeeping pinned, no longer archived"],
    ),
    (
        "SessionChanged",
        r#"{"pinned":false,"archived":true}"#,
        &[],
        &["Windlass Bookkeeping no longer pinned, archived"],
    ),
    ("LeaseTaken", r#"{"epoch":2,"holder":"host:7"}"#, &[], &["Windlass Bookkeeping host:7 (epoch 2)"]),
    (
        "MessageAccepted",
        r#"{"message_id":"m","text":"two\nlines"}"#,
        &["Person Said two\nlines"],
        &["Person Said two\nlines"],
    ),
    (
        "MoonPhased",
        r#"{"phase":"full"}"#,
        &["Windlass Quiet MoonPhased: a record of a newer version of Windlass, not shown"],
        &[r#"Windlass Bookkeeping {"phase":"full"}"#],
    ),
];

const RUNS: &[NarrationCase] = &[
    (
        "RunResumed",
        "{}",
        &["Windlass Quiet going on with an unfinished run", "Windlass Passing going on where it was"],
        &["Windlass Quiet going on with an unfinished run"],
    ),
    ("ContextPinned", "{}", &[], &["Windlass Bookkeeping as in the run before"]),
    (
        "ContextPinned",
        r#"{"context":{"prefix":"p","offer":[],"awaited":["git","time"]},"joined":["docs"]}"#,
        &["Windlass Plain going on without the tools of git, time: not started yet"],
        &["Windlass Bookkeeping 0 tools are offered; those of docs joined; \
           going on without the tools of git, time: not started yet"],
    ),
    (
        "TurnStarted",
        r#"{"turn":2,"mode":"tools"}"#,
        &["Windlass Passing turn 2: waiting for the model"],
        &["Windlass Bookkeeping turn 2"],
    ),
    (
        "TurnStarted",
        r#"{"turn":3,"mode":"talk","budget":{"window":32000,"prefix":9,"tools":1,"history":90,"remaining":20000}}"#,
        &["Windlass Passing turn 3: waiting for the model"],
        &["Windlass Bookkeeping turn 3: about 100 tokens are sent, 20000 left"],
    ),
    (
        "Nudged",
        r#"{"why":{"reply":"empty"},"text":"Go on."}"#,
        &["Windlass Quiet nudged the model: the reply was empty"],
        &["Windlass Quiet nudged the model: the reply was empty; it is told: Go on."],
    ),
    (
        "ToolWithheld",
        r#"{"cause":"failures","tool":"git.log","reason":"Use another way."}"#,
        &["Windlass Plain git.log is withheld: it failed in several turns in a row"],
        &[
            "Windlass Plain git.log is withheld: it failed in several turns in a row; the model is told: Use another way.",
        ],
    ),
    (
        "ToolWithheld",
        r#"{"cause":"cycle","tool":"local.todo","reason":"Stop."}"#,
        &["Windlass Plain todo is withheld: it was called again and again with the same result"],
        &[
            "Windlass Plain todo is withheld: it was called again and again with the same result; the model is told: Stop.",
        ],
    ),
    (
        "PlanChanged",
        r#"{"items":[{"step":"a","status":"done"},{"step":"b","status":"doing"},{"step":"c","status":"open"}]}"#,
        &["Windlass Step(Done) [x] a", "Windlass Step(Doing) [>] b", "Windlass Step(Open) [ ] c"],
        &["Windlass Step(Done) [x] a", "Windlass Step(Doing) [>] b", "Windlass Step(Open) [ ] c"],
    ),
    (
        "ChildSpawned",
        r#"{"child":"1.1.0","step":1}"#,
        &["Windlass Passing step 2 of 0"],
        &["Windlass Bookkeeping 1.1.0 may have started: step 2 of 0"],
    ),
    (
        "ChildReported",
        r#"{"child":"1.1.0","reason":"completed","answer":"Sorted it.","changed":["a.txt"]}"#,
        &["Windlass Plain step 1.1.0: done, changed a.txt"],
        &["Windlass Plain step 1.1.0: done; changed a.txt: Sorted it."],
    ),
    (
        "ChildReported",
        r#"{"child":"1.1.0","reason":"failed","answer":"No model.","changed":["a","b","c"]}"#,
        &["Windlass Failure step 1.1.0: failed, changed 3 files: No model."],
        &["Windlass Failure step 1.1.0: failed; changed a, b, c: No model."],
    ),
    (
        "Compacted",
        r#"{"epoch":1,"method":"pruned","through":3}"#,
        &["Windlass Quiet near the model's limit: the oldest turns are no longer sent"],
        &["Windlass Quiet near the model's limit: the oldest turns are no longer sent (through message 3)"],
    ),
    (
        "Compacted",
        r#"{"epoch":1,"method":"summarised","through":9,"summary":"All is well.","notes":"n"}"#,
        &["Windlass Quiet a summary is sent in place of the oldest turns"],
        &["Windlass Quiet a summary is sent in place of the oldest turns (through message 9): All is well."],
    ),
    (
        "TurnStarted",
        r#"{"turn":4,"mode":"summary","summary":{"through":9,"then":"tools"}}"#,
        &["Windlass Passing turn 4: summarising the older part of the conversation"],
        &["Windlass Bookkeeping turn 4, for a summary"],
    ),
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[{"type":"text","text":"All is well."}],"role":"summary"}"#,
        &[],
        &["Windlass Bookkeeping m wrote a summary"],
    ),
    ("CancelAsked", r#"{"by":"person"}"#, &["Windlass Plain stopping"], &["Person Plain stopping"]),
    (
        "CancelAsked",
        r#"{"by":"fork"}"#,
        &["Windlass Plain forked here; what was open is ended"],
        &["Windlass Plain forked here; what was open is ended"],
    ),
    (
        "RunEnded",
        r#"{"reason":"completed","answer":"By a tool."}"#,
        &[],
        &["Windlass Quiet the run ended: done, with the answer: By a tool."],
    ),
    (
        "RunEnded",
        r#"{"reason":"completed","answer":""}"#,
        &[],
        &["Windlass Plain the run ended: the model gave no answer"],
    ),
    (
        "RunEnded",
        r#"{"reason":"unfinished","answer":"Half."}"#,
        &[],
        &["Windlass Quiet the run ended: the work is not finished"],
    ),
    (
        "RunEnded",
        r#"{"reason":"cancelled","answer":"Half a"}"#,
        &[],
        &["Windlass Quiet the run ended: stopped: Half a"],
    ),
    (
        "RunEnded",
        r#"{"reason":"failed","answer":"","failure":{"class":"auth","message":"wrong key"}}"#,
        &[],
        &["Windlass Failure the run ended: the run failed: wrong key"],
    ),
    (
        "RunEnded",
        r#"{"reason":"turn_cap","answer":"20 turns"}"#,
        &[],
        &["Windlass Failure the run ended: the run reached its turn cap: 20 turns"],
    ),
];

const ATTEMPTS: &[NarrationCase] = &[
    (
        "AttemptFailed",
        r#"{"attempt":1,"model":"m","failure":{"class":"transient","message":"Rate limit reached for x","status":429},
            "next":{"do":"retry","at":"1970-01-01T00:00:03.000Z"}}"#,
        &["Windlass Delay trying again in 3 s: m is rate limited"],
        &["Windlass Failure m is rate limited; trying again in 3 s"],
    ),
    (
        "AttemptFailed",
        r#"{"attempt":1,"model":"m","failure":{"class":"transient","message":"the stream broke."},"next":{"do":"whole"}}"#,
        &["Windlass Plain the stream broke; asking for the whole reply at once"],
        &["Windlass Failure m: the stream broke; asking for the whole reply at once"],
    ),
    (
        "AttemptFailed",
        r#"{"attempt":6,"model":"m","failure":{"class":"transient","message":"overloaded"},"next":{"do":"end"}}"#,
        &["Windlass Plain gave up after 6 tries"],
        &["Windlass Failure m: overloaded"],
    ),
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[{"type":"thinking","text":"hm"},{"type":"text","text":"I will\nlook.\n"},
            {"type":"call","index":0}]}"#,
        &["Model Quiet I will look."],
        &["Model Said I will\nlook.\n", "Model Bookkeeping (thinking) (call 0)"],
    ),
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[{"type":"text","text":"The answer."}]}"#,
        &[],
        &["Model Said The answer."],
    ),
    // What the cache was read for is no part of the conversation.
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[{"type":"text","text":"So."}],"cache":{"at":"1970-01-01T00:00:00.000Z",
            "result":"partial","expected":9000,"missed":8000,"why":"compaction","cost":7200000}}"#,
        &[],
        &["Model Said So.", "Windlass Bookkeeping cache: missed 8000 of 9000 tokens (history shortened), $0.0072 more"],
    ),
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[],"cache":{"at":"1970-01-01T00:00:00.000Z","result":"missed",
            "why":"first_request"}}"#,
        &[],
        &["Windlass Bookkeeping cache: nothing to read (first request)"],
    ),
    (
        "ModelReplied",
        r#"{"attempt":1,"model":"m","parts":[],"cache":{"at":"1970-01-01T00:00:00.000Z","result":"hit","expected":9}}"#,
        &[],
        &["Windlass Bookkeeping cache: hit"],
    ),
];

/// A request for `read_file`.
const REQUESTED: &str = r#"{"call":"1.1.0","name":"read_file","tool":"local.read_file","arguments":{"path":"a.txt"},
    "repairs":["syntax"],"effect":"read_only","effect_id":"e","verdict":{"verdict":"allow"}}"#;

const CALLS: &[NarrationCase] = &[
    ("CallRequested", REQUESTED, &[], &["Model Plain [1.1.0] calls 1.1.0 (mended: malformed JSON) read_file a.txt"]),
    ("CallStarted", r#"{"call":"1.1.0"}"#, &[], &["Windlass Bookkeeping [1.1.0] 1.1.0 may have started"]),
    (
        "CallPaused",
        r#"{"call":"1.1.0","state":{},"asks":[]}"#,
        &[],
        &["Windlass Bookkeeping [1.1.0] 1.1.0 waits for 0 answers"],
    ),
    (
        "CallSettled",
        r#"{"call":"1.1.0","settlement":"verify"}"#,
        &["Windlass Quiet [1.1.0] call 1.1.0 was cut short by a crash: its tool is asked whether it took place"],
        &["Windlass Quiet [1.1.0] call 1.1.0 was cut short by a crash: its tool is asked whether it took place"],
    ),
    (
        "CallFinished",
        r#"{"call":"1.1.0","outcome":"ok","text":"x","took_ms":12,"answered_from":"1.0.0"}"#,
        &["Tool Plain [1.1.0] call 1.1.0 12 ms, as before"],
        &["Tool Plain [1.1.0] result of 1.1.0 (12 ms): x"],
    ),
    (
        "CallFinished",
        r#"{"call":"1.1.0","outcome":"ok","text":"a\nred\n[exit code 2]","took_ms":1500,"exit":{"code":2}}"#,
        &["Tool Failure [1.1.0] call 1.1.0 1.5 s, exit code 2: red"],
        &["Tool Failure [1.1.0] result of 1.1.0 (1.5 s, exit code 2): a\nred\n[exit code 2]"],
    ),
    (
        "CallFinished",
        r#"{"call":"1.1.0","outcome":"interrupted","text":"","took_ms":0}"#,
        &["Tool Failure [1.1.0] call 1.1.0, interrupted: it may have taken effect"],
        &["Tool Failure [1.1.0] result of 1.1.0 (interrupted): it may have taken effect; the model is told: "],
    ),
    (
        "QuestionAsked",
        r#"{"question":1,"kind":{"about":"approval","call":"1.1.0"},"preview":{"title":"run x","body":"run x\nin the sandbox"},
            "options":["no"],"default":"no"}"#,
        &["Windlass Question [1.1.0] asks: run x\n  in the sandbox"],
        &["Windlass Question [1.1.0] asks: run x\n  in the sandbox"],
    ),
    (
        "QuestionAsked",
        r#"{"question":1,"kind":{"about":"cycle"},"options":["no"],"default":"no"}"#,
        &["Windlass Question asks: The model runs in circles. Go on?"],
        &["Windlass Question asks: The model runs in circles. Go on?"],
    ),
    (
        "QuestionAnswered",
        r#"{"question":1,"answer":{"option":"run_again"},"by":"person"}"#,
        &["Person Answer answers: run again"],
        &["Person Answer answers: run again"],
    ),
    (
        "QuestionAnswered",
        r#"{"question":1,"answer":{"option":"no"},"by":"expiry"}"#,
        &["Windlass Answer no answer came: taken as no"],
        &["Windlass Answer no answer came: taken as no"],
    ),
    (
        "SnapshotTaken",
        r#"{"call":"1.1.0","coverage":{"is":"full"},"files":{"a":{"is":"absent"}}}"#,
        &[],
        &["Windlass Bookkeeping [1.1.0] 1.1.0: 1 file kept"],
    ),
    (
        "FilesChanged",
        r#"{"call":"1.1.0","changes":{"a\nb":{"was":{"is":"absent"},"now":{"is":"absent"}}}}"#,
        &[],
        &[r#"Windlass Bookkeeping [1.1.0] 1.1.0 changed "a\nb""#],
    ),
    (
        "FilesChanged",
        r#"{"call":"1.1.0","changes":{},"restored":["b"],"lost":{"y.jpg":"deleted; it was too large to be kept"}}"#,
        &[],
        &["Windlass Failure [1.1.0] 1.1.0 put back: b; lost: y.jpg (deleted; it was too large to be kept)"],
    ),
    (
        "UndoStarted",
        r#"{"undo":1,"of":{"call":"1.1.0"},"changes":{"a":{"was":{"is":"absent"},"now":{"is":"absent"}}}}"#,
        &[],
        &["Windlass Bookkeeping u1 undoes 1.1.0: a"],
    ),
    ("Undone", r#"{"undo":1,"told":"a is back"}"#, &[], &["Windlass Bookkeeping u1: a is back"]),
];

/// The one record that contains a whole policy.
fn run_started() -> (&'static str, String) {
    let policy = windlass_machine::preset("default").expect("a preset");
    let body = serde_json::json!({"run": 1, "policy": policy, "chain": ["big", "small"]});
    ("RunStarted", body.to_string())
}

// proves E1: every record has its text, the same at every door
#[test]
fn every_kind_of_record_has_its_lines() {
    let mut seen = BTreeSet::new();
    for (kind, body, brief, full) in [SESSIONS, RUNS, ATTEMPTS, CALLS].into_iter().flatten() {
        check(kind, body, brief, full);
        seen.insert(*kind);
    }
    let (kind, body) = run_started();
    check(kind, &body, &[], &["Windlass Quiet run 1 begins under default with big, small"]);
    seen.insert(kind);
    let missing: Vec<_> = Record::KINDS.iter().filter(|kind| !seen.contains(**kind)).collect();
    assert!(missing.is_empty(), "no line is checked for {missing:?}");
}

#[test]
fn an_answer_that_the_model_said_is_not_told_again() {
    let reply = r#"{"attempt":1,"model":"m","parts":[{"type":"text","text":"First.\nDone.\n"}]}"#;
    let ended = r#"{"reason":"completed","answer":"Done."}"#;
    let lines = narrated(Detail::Full, &[record("ModelReplied", reply), record("RunEnded", ended)]);
    assert_eq!(lines, ["Model Said First.\nDone.\n", "Windlass Quiet the run ended: done"]);
}

// proves P2: the lines show what is waited for; streamed text has none
#[test]
fn of_what_is_never_stored_only_waits_are_lines() {
    let delta = |body| Event::Delta(Delta { run: RunId(1), turn: TurnId(1), attempt: 1, offset: 0, body });
    let call = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
    let waiting = |call, what| DeltaBody::Waiting { call, wait: Wait { what, limit_ms: 30_000 } };
    let events = [
        DeltaBody::TextDelta { text: "x".into() },
        DeltaBody::ThinkingStarted {},
        DeltaBody::ThinkingDelta { text: "x".into() },
        DeltaBody::ThinkingEnded {},
        DeltaBody::CallDelta { call, name: None, text: "x".into() },
        DeltaBody::Cleared {},
        waiting(None, WaitFor::Servers(vec!["a".into(), "b".into()])),
        waiting(Some(call), WaitFor::Answer("git.log".into())),
    ];
    assert_eq!(
        narrated(Detail::Brief, &events.map(delta)),
        [
            "Windlass Delay waiting for the servers a, b to start (up to 30 s)",
            "Windlass Delay [1.1.0] waiting for git.log (up to 30 s)",
        ]
    );
}
