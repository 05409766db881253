//! The lines of every kind of record, at both levels of detail.

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
        &["Windlass Quiet going on with an unfinished run"],
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

// proves E1: a record that refers to a call by number is described with the call's name
#[test]
fn a_call_is_named_until_it_has_ended() {
    let started = r#"{"call":"1.1.0","arguments":{"path":"b.txt"}}"#;
    let finished = r#"{"call":"1.1.0","outcome":"not_found","text":"no such file\nmore","took_ms":3}"#;
    let events = [
        record("CallRequested", REQUESTED),
        record("CallSettled", r#"{"call":"1.1.0","settlement":"run_again"}"#),
        record("CallStarted", started),
        record("CallFinished", finished),
        record("CallFinished", finished),
    ];
    assert_eq!(
        narrated(Detail::Brief, &events),
        [
            "Windlass Quiet [1.1.0] read_file a.txt was cut short by a crash: it is run again",
            "Windlass Passing [1.1.0] running read_file b.txt",
            "Tool Failure [1.1.0] read_file b.txt 3 ms, not found: no such file",
            "Tool Failure [1.1.0] call 1.1.0 3 ms, not found: no such file",
        ]
    );
}

/// Returns the lines of an edit with this verdict and outcome.
fn edit(verdict: &str, new_text: &str, outcome: &str) -> Vec<String> {
    let arguments = serde_json::json!({"path": "f", "old_text": "a\n", "new_text": new_text});
    let requested = format!(
        r#"{{"call":"1.1.0","name":"edit_file","tool":"local.edit_file","arguments":{arguments},"effect":"idempotent",
            "effect_id":"e","verdict":{{"verdict":"{verdict}"}}}}"#
    );
    let finished = format!(r#"{{"call":"1.1.0","outcome":"{outcome}","text":"","took_ms":1}}"#);
    let lines = narrated(Detail::Brief, &[record("CallRequested", &requested), record("CallFinished", &finished)]);
    lines.into_iter().skip(1).collect()
}

// proves T8: lines that were added unasked are shown, as those of an edit are
#[test]
fn added_lines_are_shown_below_the_call() {
    let requested = r#"{"call":"1.1.0","name":"append_file","tool":"local.append_file","arguments":{"path":"f","text":"a\nb"},
        "effect":"verifiable","effect_id":"e","verdict":{"verdict":"allow"}}"#;
    let finished = r#"{"call":"1.1.0","outcome":"ok","text":"","took_ms":1}"#;
    let lines = narrated(Detail::Brief, &[record("CallRequested", requested), record("CallFinished", finished)]);
    let shown: Vec<&str> =
        lines.iter().skip(1).filter_map(|line| line.split_once("] ").map(|(_, text)| text)).collect();
    assert_eq!(shown, ["+a", "+b"], "{lines:?}");
}

/// Returns the detail of a call that was denied after these records.
fn denied(verdict: &str, because: &str, between: &[Event], remedy: &str) -> String {
    let requested = format!(
        r#"{{"call":"1.1.0","name":"x","tool":"local.x","arguments":{{}},"effect":"once","effect_id":"e",
            "verdict":{{{verdict}}}{because}}}"#
    );
    let finished = format!(r#"{{"call":"1.1.0","outcome":"denied","text":"Do without it.","took_ms":0{remedy}}}"#);
    let events = [&[record("CallRequested", &requested)], between, &[record("CallFinished", &finished)]].concat();
    let lines = narrated(Detail::Brief, &events);
    let line = lines.last().expect("a line");
    let full = narrated(Detail::Full, &events).pop().expect("a line");
    let (_, detail) = line.split_once("denied: ").unwrap_or_else(|| panic!("{line}"));
    assert!(full.ends_with(&format!("(0 ms, denied): {detail}; the model is told: Do without it.")), "{full}");
    detail.to_owned()
}

// proves T8: a person reads why a call was denied, from the records' data and not in the words for the model
#[test]
fn a_denied_call_is_explained_to_people() {
    let (ask, allow) = (r#""verdict":"ask""#, r#""verdict":"allow""#);
    let deny = r#""verdict":"deny","reason":"Do without it.""#;
    let mode = r#","because":{"by":"mode","mode":"default"}"#;
    let rule = r#","because":{"by":"rule","rule":"x(a)"}"#;
    let protected = r#","because":{"by":"protected","path":"hooks","pattern":"**/hooks"}"#;
    let remedy = |kind: &str| format!(r#","remedy":{{"kind":{kind}}}"#);
    let nobody = "it needs approval, and nobody was there to give it";
    assert_eq!(denied(ask, mode, &[], ""), nobody);
    assert_eq!(denied(ask, protected, &[], ""), "hooks is protected (**/hooks)");
    assert_eq!(denied(deny, rule, &[], ""), "the rule `x(a)` forbids it");
    assert_eq!(denied(deny, mode, &[], ""), "it needs approval, and can't be shown to whoever would give it");
    assert_eq!(denied(deny, "", &[], ""), "it is not available here");
    assert_eq!(denied(allow, rule, &[], ""), "the rules of this run do not allow it");
    assert_eq!(denied(allow, rule, &[], &remedy(r#""allow","rule":"x""#)), nobody);
    assert_eq!(denied(allow, rule, &[], &remedy(r#""fetch_private","host":"a""#)), "a is a private address");
    assert_eq!(denied(allow, rule, &[], &remedy(r#""unprotect","path":"a""#)), "a is protected");
    let withheld = record("ToolWithheld", r#"{"cause":"failures","tool":"local.x","reason":"Use another way."}"#);
    let withheld = [withheld];
    for verdict in [ask, allow] {
        let text = denied(verdict, mode, &withheld, "");
        assert_eq!(text, "its tool is withheld: it failed in several turns in a row");
    }
    assert_eq!(denied(deny, rule, &withheld, ""), "the rule `x(a)` forbids it");
    let asked = record(
        "QuestionAsked",
        r#"{"question":1,"kind":{"about":"approval","call":"1.1.0"},"options":["no","once"],"default":"no"}"#,
    );
    let answered = |by: &str, reason: &str| {
        let body = format!(r#"{{"question":1,"answer":{{"option":"no"{reason}}},"by":"{by}"}}"#);
        [asked.clone(), record("QuestionAnswered", &body)]
    };
    assert_eq!(denied(ask, mode, &answered("person", ""), ""), "a person said no");
    let both = [&withheld[..], &answered("person", "")].concat();
    assert_eq!(denied(ask, mode, &both, ""), "a person said no");
    assert_eq!(denied(ask, mode, &answered("person", r#","reason":"not now""#), ""), "a person said no: not now");
    assert_eq!(denied(ask, mode, &answered("expiry", ""), ""), "nobody answered the question");
}

// proves L8: a call that was only asked about did not run, and that is what a person reads
#[test]
fn a_call_that_was_cancelled_before_it_began_is_said_not_to_have_run() {
    let requested = record(
        "CallRequested",
        r#"{"call":"1.1.0","name":"x","tool":"local.x","arguments":{},"effect":"once","effect_id":"e","verdict":{"verdict":"ask"}}"#,
    );
    let finished = record(
        "CallFinished",
        r#"{"call":"1.1.0","outcome":"cancelled","text":"Cancelled before it finished.","took_ms":0}"#,
    );
    let last = |events: &[Event]| narrated(Detail::Brief, events).pop().expect("a line");
    let line = last(&[requested.clone(), finished.clone()]);
    assert!(line.ends_with("cancelled: not run"), "{line}");
    let line = last(&[requested, record("CallStarted", r#"{"call":"1.1.0"}"#), finished]);
    assert!(line.ends_with("cancelled: Cancelled before it finished."), "{line}");
}

// proves T8: a change made without asking is shown
#[test]
fn an_edit_that_nobody_was_asked_about_shows_its_change() {
    let changes = ["Windlass Removed [1.1.0] -a", "Windlass Added [1.1.0] +b", "Windlass Added [1.1.0] +    c"];
    assert_eq!(edit("allow", "b\n\tc\n", "ok"), changes);
    assert!(edit("allow", "b\n", "not_found").is_empty(), "nothing was changed");
    assert!(edit("ask", "b\n", "ok").is_empty(), "it was shown in the question");
    let long = edit("allow", &"line\n".repeat(51), "ok");
    assert_eq!((long.len(), long[20].as_str()), (21, "Windlass Note [1.1.0] … 32 more lines"));
}

// proves M3: tries are counted as the policy counts them; a reply asked for whole belongs to the same try
#[test]
fn a_try_that_asks_for_the_whole_reply_is_one_try() {
    let failed = |attempt: u32, next: &str| {
        let body = format!(
            r#"{{"attempt":{attempt},"model":"m","failure":{{"class":"transient","message":"x"}},"next":{{{next}}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let retry = r#""do":"retry","at":"1970-01-01T00:00:01.000Z""#;
    let (whole, end) = (r#""do":"whole""#, r#""do":"end""#);
    let events = [failed(1, whole), failed(2, retry), failed(3, whole), failed(4, end)];
    let line = narrated(Detail::Brief, &events).pop().expect("a line");
    assert!(line.ends_with("gave up after 2 tries"), "{line}");
}

// proves M3: five retries for one reason are one line
#[test]
fn a_retry_for_the_reason_that_was_told_last_only_passes() {
    let retry = |message: &str| {
        let body = format!(
            r#"{{"attempt":1,"model":"m","failure":{{"class":"transient","message":"{message}"}},
                "next":{{"do":"retry","at":"1970-01-01T00:00:01.000Z"}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let turn = record("TurnStarted", r#"{"turn":1,"mode":"tools"}"#);
    assert_eq!(
        narrated(Detail::Brief, &[retry("down"), retry("down"), retry("full"), retry("down"), turn, retry("down")]),
        [
            "Windlass Delay trying again in 1 s: down",
            "Windlass Passing trying again in 1 s: down",
            "Windlass Delay trying again in 1 s: full",
            "Windlass Delay trying again in 1 s: down",
            "Windlass Passing turn 1: waiting for the model",
            "Windlass Delay trying again in 1 s: down",
        ]
    );
}

// proves M3: a wait says which try follows it, counted for each model
#[test]
fn a_retry_says_which_try_it_is_and_of_how_many() {
    let failed = |model: &str, next: &str| {
        let body = format!(
            r#"{{"attempt":1,"model":"{model}","failure":{{"class":"transient","status":429,"message":"x"}},"next":{{{next}}}}}"#
        );
        record("AttemptFailed", &body)
    };
    let (retry, whole) = (r#""do":"retry","at":"1970-01-01T00:00:01.000Z""#, r#""do":"whole""#);
    let (kind, body) = run_started();
    let next = r#""do":"model","model":"small""#;
    let events = [
        record(kind, &body),
        failed("big", retry),
        failed("big", whole),
        failed("big", retry),
        failed("big", next),
        failed("small", retry),
    ];
    assert_eq!(
        narrated(Detail::Brief, &events),
        [
            "Windlass Delay trying again in 1 s: big is rate limited (try 2 of 6)",
            "Windlass Plain big is rate limited; asking for the whole reply at once",
            "Windlass Delay trying again in 1 s: big is rate limited (try 3 of 6)",
            "Windlass Plain big is rate limited; trying small instead",
            "Windlass Delay trying again in 1 s: small is rate limited (try 2 of 6)",
        ]
    );
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
