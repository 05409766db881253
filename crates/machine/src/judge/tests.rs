//! Measures the judge on labelled replies: `fixtures/judge/capable.jsonl` has completed answers in the style of capable
//! models, `small.jsonl` replies in the style of small ones. Each names the request, the files that existed, the calls
//! that were made with their outcomes, and the right judgement.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use windlass_vocab::{
    CallFinished, CallId, CallRequested, Change, CommandExit, EffectClass, FileState, FilesChanged, Hash, Json,
    OutcomeKind, OverviewFile, PlanItem, PlanStatus, ReplyFault, RunId, SnapshotKind, ToolName, ToolSpec, TurnId,
    Verdict, WorkspaceOverview,
};

use super::evidence::{EffectsShownBy, RequestWords, RunEvidence};
use super::language::{LANGUAGES, plain};
use super::{JudgedReply, Judgement, judge};
use crate::call::{AskedBy, Call, CallApproval, CallState};
use crate::snapshot_state::SnapshotState;

const CAPABLE: &str = include_str!("../../../../fixtures/judge/capable.jsonl");
const SMALL: &str = include_str!("../../../../fixtures/judge/small.jsonl");

/// A labelled reply.
struct Labelled {
    evidence: RunEvidence,
    reply: String,
    judgement: String,
    request: String,
    /// Whether the model's calls are scripts.
    writes_scripts: bool,
}

fn tools() -> Vec<ToolSpec> {
    let names = [
        "list_directory",
        "read_file",
        "write_file",
        "edit_file",
        "move_file",
        "delete_file",
        "search_files",
        "run_command",
        "fetch_url",
        "todo",
    ];
    let spec = |name: &str| ToolSpec {
        name: ToolName(format!("local.{name}")),
        wire_name: name.to_owned(),
        description: "".into(),
        schema: Json::empty_object(),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    };
    names.map(spec).into()
}

fn text(value: &Value, field: &str) -> String {
    value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn list(value: &Value, field: &str) -> Vec<String> {
    let items = value.get(field).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn observe(evidence: &mut RunEvidence, index: u32, made: &Value) {
    let tool = text(made, "tool");
    let (effect, snapshot) = match tool.as_str() {
        "write_file" | "edit_file" | "move_file" | "delete_file" => (EffectClass::Idempotent, SnapshotKind::Paths),
        "run_command" => (EffectClass::Once, SnapshotKind::Workspace),
        _ => (EffectClass::ReadOnly, SnapshotKind::None),
    };
    let id = CallId { run: RunId(1), turn: TurnId(1), index };
    let request = CallRequested {
        call: id,
        provider_id: None,
        name: tool.clone(),
        tool: Some(ToolName(format!("local.{tool}"))),
        arguments: Json::from(made.get("arguments").expect("arguments")),
        raw: None,
        repairs: Vec::new(),
        effect,
        effect_id: id.effect_id("01890000-0000-7000-8000-000000000000".parse().expect("an id")),
        ending: None,
        repeatable: false,
        reads_files: effect == EffectClass::ReadOnly,
        verdict: Verdict::Allow,
        preview: None,
        snapshot,
        because: None,
    };
    let outcome =
        if made.get("ok").and_then(Value::as_bool) == Some(true) { OutcomeKind::Ok } else { OutcomeKind::NotFound };
    let call = Call {
        request: Arc::new(request),
        edited: None,
        state: CallState::Finished(outcome),
        asks: None,
        pause: None,
        kept: SnapshotState::NotNeeded,
        approved: CallApproval::No,
        approval: None,
        asked_by: AskedBy::ThisProcess,
    };
    let finished = CallFinished {
        call: id,
        outcome,
        text: text(made, "result"),
        cut: None,
        took_ms: 0,
        answered_from: None,
        structured: None,
        images: Vec::new(),
        exit: made.get("exit").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok()).map(CommandExit::Code),
        origin: None,
        remedy: None,
    };
    evidence.call_finished(&call, &finished, EffectsShownBy::Arguments);
    let file = |number: u8| FileState::File { blob: Hash([number; 32]), mode: 0o644, inode: None };
    let wrote = list(made, "wrote").into_iter().map(|path| (path, Change { was: file(1), now: file(2) }));
    let gone = list(made, "removed").into_iter().map(|path| (path, Change { was: file(1), now: FileState::Absent }));
    evidence.files_changed(&FilesChanged { call: id, changes: wrote.chain(gone).collect(), ..FilesChanged::default() });
}

fn labelled(lines: &str) -> Vec<Labelled> {
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).expect("a line of JSON");
        let request = text(&value, "request");
        let words = RequestWords { text: request.clone(), ..RequestWords::default() };
        let mut evidence = RunEvidence::new(words);
        evidence.add_files(&list(&value, "files"));
        let calls = value.get("calls").and_then(Value::as_array).into_iter().flatten();
        for (index, made) in (0u32..).zip(calls) {
            observe(&mut evidence, index, made);
        }
        let steps = value.get("plan").and_then(Value::as_array).into_iter().flatten();
        evidence.plan = steps
            .map(|item| PlanItem {
                file: None,
                step: text(item, "step"),
                status: if text(item, "status") == "done" { PlanStatus::Done } else { PlanStatus::Open },
            })
            .collect();
        Labelled {
            evidence,
            reply: text(&value, "reply"),
            judgement: text(&value, "judgement"),
            request,
            writes_scripts: false,
        }
    };
    lines.lines().map(read).collect()
}

fn judgement_of(labelled: &Labelled, offer: &[ToolSpec]) -> (&'static str, Judgement) {
    let judged = JudgedReply {
        text: &labelled.reply,
        evidence: &labelled.evidence,
        offer,
        writes_scripts: labelled.writes_scripts,
        is_unclear_order: false,
        history: &[],
    };
    let judgement = judge(&judged);
    let name = match &judgement {
        Judgement::Complete => "complete",
        Judgement::Incomplete(_) => "incomplete",
        Judgement::Deflecting(_) => "deflecting",
    };
    (name, judgement)
}

// proves S1: at most one in a hundred completed answers is sent back
#[test]
fn completed_answers_of_capable_models_are_hardly_ever_sent_back() {
    let offer = tools();
    for writes_scripts in [false, true] {
        let answers = labelled(CAPABLE).into_iter().map(|answer| Labelled { writes_scripts, ..answer });
        let answers: Vec<Labelled> = answers.collect();
        assert!(answers.len() >= 300, "{}", answers.len());
        let mut wrong = Vec::new();
        for answer in &answers {
            let (found, judgement) = judgement_of(answer, &offer);
            if found != "complete" {
                wrong.push(format!("{:?}: {} -> {}", judgement, answer.request, answer.reply));
            }
        }
        println!("{} completed answers, {} sent back (scripts: {writes_scripts})", answers.len(), wrong.len());
        wrong.iter().for_each(|line| println!("  {line}"));
        assert!(wrong.len() * 100 <= answers.len(), "{} of {}", wrong.len(), answers.len());
    }
}

// proves S1: precision and recall of each judgement on small models' replies
#[test]
fn replies_of_small_models_are_judged_as_labelled() {
    let (offer, replies) = (tools(), labelled(SMALL));
    assert!(replies.len() >= 120, "{}", replies.len());
    let mut counts: BTreeMap<(String, &str), u32> = BTreeMap::new();
    for reply in &replies {
        let (found, judgement) = judgement_of(reply, &offer);
        *counts.entry((reply.judgement.clone(), found)).or_default() += 1;
        if found != reply.judgement {
            println!("{} but {judgement:?}: {} -> {}", reply.judgement, reply.request, reply.reply);
        }
    }
    for name in ["complete", "incomplete", "deflecting"] {
        let sum = |is: &dyn Fn(&str, &str) -> bool| -> u32 {
            counts.iter().filter(|((label, found), _)| is(label, found)).map(|(_, count)| count).sum()
        };
        let right = sum(&|label, found| label == name && found == name);
        let (found, labelled) = (sum(&|_, found| found == name), sum(&|label, _| label == name));
        let (precision, recall) = (right * 100 / found.max(1), right * 100 / labelled.max(1));
        println!("{name}: {labelled} replies, precision {precision} %, recall {recall} %");
        assert!(precision >= 90 && recall >= 90, "{name}: precision {precision} %, recall {recall} %");
    }
}

// proves S1
#[test]
fn phrases_are_written_as_they_are_compared() {
    for language in LANGUAGES {
        let read = [&language.change_verbs, &language.make_verbs, &language.lead_ins, &language.advice];
        let judged = [&language.grounds, &language.no_access, &language.hands_back, &language.announces];
        let more = [&language.closings, &language.claims, &language.unclear_phrases, &language.adding_verbs];
        for phrase in read.into_iter().chain(judged).chain(more).flat_map(|list| list.entries()) {
            assert_eq!(phrase.trim(), plain(phrase));
            assert!(!phrase.contains(';'), "{phrase:?}");
        }
    }
}

// proves S1: a text that is to be replaced is replaced in all files that have it, and a new folder is no file that was moved
#[test]
fn files_that_are_surely_left_are_named() {
    let file = |number: u8| FileState::File { blob: Hash([number; 32]), mode: 0o644, inode: None };
    let folder = || Change { was: FileState::Absent, now: FileState::Folder { mode: 0o755, inode: None } };
    let edited = || Change { was: file(1), now: file(2) };
    let deleted = || Change { was: file(1), now: FileState::Absent };
    let left = |paths: &[&str]| {
        Judgement::Incomplete(vec![ReplyFault::NotChanged {
            files: paths.iter().map(|path| (*path).to_owned()).collect(),
        }])
    };
    let nothing = || Judgement::Incomplete(vec![ReplyFault::NothingChanged {}]);
    let replace = "Replace \"Old Pier\" by \"New Pier\" in the folder boats.";
    let (anna, berta) = ("boats/anna.txt", "boats/berta.txt");
    for (request, changed, expected) in [
        (replace, vec![(anna, edited())], left(&[berta])),
        (replace, vec![(anna, edited()), (berta, edited())], Judgement::Complete),
        ("Every `Old Pier` in boats/ becomes `New Pier`.", vec![(anna, edited())], left(&[berta])),
        (
            "Replace \"Old Pier\" by \"X\" in the folder boats, but not elsewhere.",
            vec![(anna, edited())],
            left(&[berta]),
        ),
        ("Move the .txt files into a folder fleet.", vec![("fleet", folder())], nothing()),
        ("Create a folder fleet.", vec![("fleet", folder())], Judgement::Complete),
        ("Create a folder for each name in boats/anna.txt.", vec![("fleet", folder())], Judgement::Complete),
        ("Delete all .txt files.", vec![(anna, deleted())], left(&[berta])),
        ("Delete all .txt files that are empty.", vec![(anna, deleted())], Judgement::Complete),
        ("Change Pier to Quay in boats/anna.txt.", vec![(berta, edited())], left(&[anna])),
        ("Fix the test in boats/anna.txt.", vec![(berta, edited())], Judgement::Complete),
    ] {
        let shown =
            |path: &str| OverviewFile { path: path.to_owned(), size: 9, text: Some("Old Pier\n".into()), origin: None };
        let overview = WorkspaceOverview { files: [anna, berta].map(shown).into(), ..WorkspaceOverview::default() };
        let mut evidence = RunEvidence::new(RequestWords { text: request.to_owned(), ..RequestWords::default() });
        evidence.add_overview(&overview);
        evidence.succeeded = 1;
        let changes = changed.into_iter().map(|(path, change)| (path.to_owned(), change)).collect();
        let call = CallId { run: RunId(1), turn: TurnId(1), index: 0 };
        evidence.files_changed(&FilesChanged { call, changes, ..FilesChanged::default() });
        let judged = JudgedReply {
            text: "Done.",
            evidence: &evidence,
            offer: &tools(),
            writes_scripts: true,
            is_unclear_order: false,
            history: &[],
        };
        assert_eq!(judge(&judged), expected, "{request}");
    }
}

// proves S2: what a failed script may have changed is not reported as nothing
#[test]
fn a_command_that_ran_and_failed_is_noted() {
    let mut evidence = RunEvidence::new(RequestWords::default());
    let arguments = serde_json::json!({"command": "touch a; false"});
    for (index, exit) in [(0, Some(1)), (1, None)] {
        let made = serde_json::json!({"tool": "run_command", "arguments": arguments, "ok": false, "exit": exit});
        observe(&mut evidence, index, &made);
    }
    assert_eq!((evidence.changes().commands.len(), evidence.failed), (1, 2), "one of them never ran");
}
