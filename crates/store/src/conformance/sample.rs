//! Sample records for journals: one of every kind.

mod child;
mod policy;

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Answer, AnsweredBy, AttachedFile, AttachedText, AttemptFailed, Attendance, CacheMissCause, CacheReport,
    CacheResult, CallFinished, CallId, CallPaused, CallRequested, CallSettled, CallStarted, CancelAsked, Change,
    Changes, ChildSpawned, CommandExit, Compacted, CompactionMethod, ContextBudget, ContextPinned, Coverage, Cut,
    EffectClass, Elicitation, ElicitationKind, EndReason, Failure, FailureClass, FileState, FilesChanged, Grant, Hash,
    ImageContent, Json, LeaseTaken, MessageAccepted, MessageId, ModelName, ModelReplied, ModelRole, NanoMoney,
    NextAttempt, Nudge, NudgeCause, Nudged, OutcomeKind, Part, PinnedContext, PlanChanged, PlanItem, PlanStatus,
    Preview, QuestionAnswered, QuestionAsked, QuestionId, QuestionKind, QuestionOption, Record, Repair, RunEnded,
    RunId, RunResumed, RunStarted, SessionChanged, SessionId, SessionOpened, Settlement, SnapshotKind, SnapshotTaken,
    StopBy, StopReason, TextOrigin, Timestamp, ToolName, ToolSpec, ToolWithheld, TurnId, TurnMode, TurnStarted, UndoId,
    UndoStarted, Undoable, Undone, Unknown, Usage, Verdict, VerdictReason, WithheldFor,
};

use self::policy::policy;
use crate::{Batch, Entry};

/// The first record of a session.
#[must_use]
pub fn opened(owner: &str, key: &str) -> Record {
    let (owner, key) = (owner.to_owned(), key.to_owned());
    SessionOpened {
        owner,
        key,
        workspace: Some("/home/ada/notes".into()),
        parent: None,
        version: "0.1.0".into(),
        forked_from: vec![],
    }
    .into()
}

/// An accepted message.
#[must_use]
pub fn accepted(message_id: &str, text: &str) -> Record {
    MessageAccepted::new(message_id, text).into()
}

/// A taken lease.
#[must_use]
pub fn lease(epoch: u64) -> Record {
    LeaseTaken { epoch, holder: "host:1".into() }.into()
}

/// The start of a run.
#[must_use]
pub fn run_started(run: u32) -> Record {
    RunStarted {
        run: RunId(run),
        policy: policy(),
        agent: "default".into(),
        chain: vec![ModelName::from("small"), ModelName::from("large")],
        deadline: Some(Timestamp(1_794_711_660_000)),
        attendance: Attendance::Attended,
        retry_of: None,
        output: None,
        server: None,
        models: Vec::new(),
        role_chains: Box::new(BTreeMap::from([(ModelRole::Summary, vec![ModelName::from("small")])])),
        compact: true,
        began: None,
        spent_today: None,
        spent_by_agent: None,
        system: None,
    }
    .into()
}

/// The end of a run.
#[must_use]
pub fn run_ended(reason: EndReason) -> Record {
    RunEnded {
        reason,
        answer: "It is done.".into(),
        failure: (reason == EndReason::Failed).then(failure),
        tools: BTreeSet::from([ToolName::from("local.read_file")]),
        turns: 2,
        output: None,
        cut_off: false,
        dropped: Vec::new(),
        usage: usage(),
        cost: None,
        wants_title: false,
        changes: None,
    }
    .into()
}

/// A requested call.
#[must_use]
pub fn call_requested(session: SessionId, index: u32) -> Record {
    let call = call(index);
    CallRequested {
        call,
        provider_id: Some("call_abc".into()),
        name: "read_file".into(),
        tool: Some("local.read_file".into()),
        arguments: json(r#"{"path":"notes.md","limit":1e3}"#),
        raw: Some(r#"{"path":"notes.md","limit":1e3,}"#.into()),
        repairs: vec![Repair::Syntax],
        effect: EffectClass::ReadOnly,
        effect_id: call.effect_id(session),
        ending: None,
        repeatable: false,
        reads_files: false,
        verdict: Verdict::Ask,
        preview: Some(preview()),
        snapshot: SnapshotKind::None,
        because: None,
    }
    .into()
}

/// A finished call.
#[must_use]
pub fn call_finished(index: u32, text: &str, blob: Option<Hash>) -> Record {
    CallFinished {
        call: call(index),
        outcome: OutcomeKind::Ok,
        text: text.into(),
        cut: Some(Cut { total_chars: 90_000, shown_chars: 16_000, blob }),
        took_ms: 12,
        answered_from: None,
        structured: Some(json(r#"{"lines": 3}"#)),
        images: Vec::new(),
        exit: Some(CommandExit::Code(1)),
        origin: Some(TextOrigin::Server { server: "hub".into() }),
        remedy: None,
    }
    .into()
}

/// A question to the person.
#[must_use]
pub fn question_asked(question: u32) -> Record {
    QuestionAsked {
        question: QuestionId(question),
        kind: QuestionKind::Approval { call: call(0) },
        preview: Some(preview()),
        options: vec![QuestionOption::No, QuestionOption::Once, QuestionOption::Session],
        expires: Some(Timestamp(1_794_711_900_000)),
        default: QuestionOption::No,
        elicitation: None,
        because: Some(VerdictReason::Protected { path: "AGENTS.md".into(), pattern: "AGENTS.md".into() }),
    }
    .into()
}

/// The person's answer.
#[must_use]
pub fn question_answered(question: u32) -> Record {
    QuestionAnswered {
        question: QuestionId(question),
        answer: Answer::plain(QuestionOption::Session),
        by: AnsweredBy::Person,
        grant: Some(Grant { rule: "read_file(notes.md)".into() }),
    }
    .into()
}

/// A call that waits for the person.
#[must_use]
pub fn call_paused(index: u32) -> Record {
    CallPaused { call: call(index), state: json(r#"{"round": 1}"#), asks: vec![elicitation()] }.into()
}

/// The question of the paused call.
#[must_use]
pub fn elicited(question: u32, index: u32) -> Record {
    QuestionAsked {
        question: QuestionId(question),
        kind: QuestionKind::Elicitation { call: call(index) },
        preview: Some(preview()),
        options: vec![QuestionOption::Submit, QuestionOption::No, QuestionOption::Dismiss],
        expires: Some(Timestamp(1_794_711_900_000)),
        default: QuestionOption::Dismiss,
        elicitation: Some(elicitation()),
        because: None,
    }
    .into()
}

fn dismissed(question: u32) -> Record {
    let answer = Answer::dismissed();
    QuestionAnswered { question: QuestionId(question), answer, by: AnsweredBy::Expiry, grant: None }.into()
}

fn elicitation() -> Elicitation {
    Elicitation {
        key: "name".into(),
        from: "hub".into(),
        message: "Which name?".into(),
        wants: ElicitationKind::Form { schema: json(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#) },
    }
}

/// A record of a kind that no version knows yet.
#[must_use]
pub fn unknown() -> Record {
    Record::Unknown(Unknown { kind: "MoonPhased".into(), body: json(r#"{"phase": "full", "n":1.50}"#) })
}

fn budget() -> ContextBudget {
    ContextBudget {
        window: Some(32_768),
        prefix: 900,
        tools: 2_100,
        history: 7_000,
        retrieved: 0,
        reserve: 4_096,
        safety: 1_024,
        remaining: Some(17_648),
    }
}

/// A whole session with a record of every kind, batch by batch.
#[must_use]
pub fn every_kind(session: SessionId) -> Vec<Batch> {
    let run = |record: Record| Entry { run: Some(RunId(1)), turn: None, record };
    let turn = |record: Record| Entry { run: Some(RunId(1)), turn: Some(TurnId(1)), record };
    let mut batches = vec![
        vec![Entry::new(opened("ada", "notes")), Entry::new(lease(1))],
        vec![
            Entry::new(accepted("m1", "Tidy my notes — “all” of them\u{0} 🧹")),
            run(run_started(1)),
            run(context_pinned()),
            turn(TurnStarted { budget: Some(budget()), ..TurnStarted::new(TurnId(1), TurnMode::Tools) }.into()),
        ],
        vec![turn(attempt_failed())],
        vec![turn(model_replied()), turn(call_requested(session, 0)), turn(question_asked(1))],
        vec![
            Entry::new(lease(2)),
            run(RunResumed {
                attendance: Attendance::Unattended,
                deadline: None,
                withdrawn: Some(vec![QuestionId(1)]),
            }
            .into()),
        ],
        vec![turn(question_answered(1)), turn(CallStarted { call: call(0), arguments: None }.into())],
    ];
    batches.extend(second_half(&turn));
    batches.push(vec![run(run_ended(EndReason::Cancelled))]);
    batches.extend(undone_again());
    batches.push(vec![
        Entry::new(SessionChanged {
            title: Some("Tidying".into()),
            key: Some("tidy-notes".into()),
            ..SessionChanged::default()
        }),
        Entry::new(unknown()),
    ]);
    let at = |place: i64| Timestamp(1_794_711_599_999 + place * 1_500);
    (0..).zip(batches).map(|(place, entries)| Batch { at: at(place), entries, ..Batch::default() }).collect()
}

fn second_half(turn: &dyn Fn(Record) -> Entry) -> Vec<Vec<Entry>> {
    let items = vec![
        PlanItem::new("Read", PlanStatus::Done),
        PlanItem { file: Some("a.txt".into()), ..PlanItem::new("Sort", PlanStatus::Doing) },
    ];
    let nudge = Nudged {
        why: NudgeCause::Reply(Nudge::Empty),
        evidence: "no text".into(),
        text: "Please go on.".into(),
        faults: Vec::new(),
    };
    let withheld = ToolWithheld {
        cause: WithheldFor::Failures,
        tool: "local.run_command".into(),
        reason: "It failed three times.".into(),
    };
    let compacted = Compacted {
        summary: Some("The notes are to be tidied.".into()),
        notes: Some("The conversation began with: Tidy my notes".into()),
        ..Compacted::new(1, CompactionMethod::Summarised, 3)
    };
    vec![
        vec![turn(call_paused(0)), turn(elicited(2, 0))],
        vec![turn(dismissed(2)), turn(CallStarted { call: call(0), arguments: None }.into())],
        vec![turn(CallSettled { call: call(0), settlement: Settlement::RunAgain }.into())],
        vec![turn(call_finished(0, "# Notes\n- buy tea\r\n", None)), turn(PlanChanged { items }.into())],
        vec![turn(ChildSpawned { child: call(0), step: 1 }.into())],
        vec![turn(child::reported(call(0)))],
        vec![turn(nudge.into()), turn(withheld.into()), turn(compacted.into())],
        vec![turn(CancelAsked { by: StopBy::Person }.into())],
    ]
}

/// A call that changed files, and the undo that restored them.
fn undone_again() -> Vec<Vec<Entry>> {
    let file = |mode| FileState::File { blob: Hash([7; 32]), mode, inode: None };
    let was = [
        ("new", FileState::Absent),
        ("new/notes.md", FileState::Absent),
        ("old.md", file(0o644)),
        ("link", FileState::Link { target: "old.md".into(), inode: None }),
        ("disk.img", FileState::Unkept { size: 9_000_000_000, modified: 1_794_711_599_999_000_000, inode: 12 }),
    ];
    let files: BTreeMap<String, FileState> = was.into_iter().map(|(path, state)| (path.to_owned(), state)).collect();
    let coverage = Coverage::Partial { left_out: "git's own: .git".into() };
    let changes = Changes::from([
        ("new".into(), Change { was: FileState::Absent, now: FileState::Folder { mode: 0o755, inode: Some(4) } }),
        ("old.md".into(), Change { was: file(0o644), now: FileState::Absent }),
    ]);
    let back = changes.iter().map(|(path, change)| (path.clone(), change.reversed())).collect();
    let nothing = FilesChanged { call: call(1), unseen: Some("not all were listed".into()), ..FilesChanged::default() };
    vec![
        vec![Entry::new(SnapshotTaken { call: call(0), coverage, since: None, files })],
        vec![Entry::new(FilesChanged { call: call(0), changes, ..FilesChanged::default() })],
        vec![Entry::new(SnapshotTaken {
            call: call(1),
            coverage: Coverage::None { why: "there is no workspace".into() },
            since: Some(call(0)),
            files: BTreeMap::new(),
        })],
        vec![Entry::new(nothing)],
        vec![Entry::new(UndoStarted {
            undo: UndoId(1),
            of: Undoable::Call(call(0)),
            tool: Some("local.move_file".into()),
            changes: back,
            unable: BTreeMap::from([("disk.img".into(), "its content was not kept".into())]),
        })],
        vec![Entry::new(Undone {
            undo: UndoId(1),
            left_alone: BTreeMap::from([("new".into(), "other things are in it by now".into())]),
            told: "[The person undid what call 1.1.0 did to files.]".into(),
        })],
    ]
}

fn call(index: u32) -> CallId {
    CallId { run: RunId(1), turn: TurnId(1), index }
}

fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_default()
}

fn usage() -> Usage {
    Usage { input: 1_200, output: 80, cached: 1_024, cache_written: 64, reasoning: 12, calls: 2, estimated: true }
}

fn cache_report() -> CacheReport {
    CacheReport {
        at: Timestamp(1_794_711_606_000),
        result: CacheResult::Partial,
        expected: 9_000,
        missed: 7_976,
        why: Some(CacheMissCause::Compaction),
        cost: Some(NanoMoney(7_178_400)),
    }
}

fn failure() -> Failure {
    Failure {
        retry_after_ms: Some(2_000),
        status: Some(429),
        first_byte: true,
        ..Failure::new(FailureClass::Transient, "The model is busy; it is tried again.")
    }
}

fn preview() -> Preview {
    Preview { title: "read_file notes.md".into(), body: String::new(), rule: Some("read_file(notes.md)".into()) }
}

fn context_pinned() -> Record {
    let tool = ToolSpec {
        name: "local.read_file".into(),
        wire_name: "read_file".into(),
        description: "Reads a file.".into(),
        schema: json(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    };
    ContextPinned {
        context: Some(PinnedContext {
            prefix: "You are of help.".into(),
            offer: vec![tool],
            ..PinnedContext::default()
        }),
        joined: BTreeSet::new(),
        overview: None,
    }
    .into()
}

fn attempt_failed() -> Record {
    AttemptFailed {
        attempt: 1,
        model: "small".into(),
        failure: failure(),
        next: NextAttempt::Retry { at: Timestamp(1_794_711_605_000) },
        usage: None,
        role: ModelRole::Turn,
    }
    .into()
}

fn model_replied() -> Record {
    ModelReplied {
        attempt: 2,
        model: "small".into(),
        parts: vec![
            Part::Thinking { text: "Where are they?".into(), signature: Some("c2ln".into()) },
            Part::Opaque { item: Json::empty_object() },
            Part::Text { text: "Let me look.".into() },
            Part::Call { index: 0 },
        ],
        stop: StopReason::Calls,
        usage: usage(),
        cost: Some(NanoMoney(1_250_000)),
        partial: false,
        misfit: None,
        malformed: None,
        role: ModelRole::Turn,
        cache: Some(Box::new(cache_report())),
        cut: None,
        retrieved: 0,
        intent: None,
    }
    .into()
}

/// A message in the inbox.
#[must_use]
pub fn waiting(message_id: &str, text: &str) -> crate::WaitingMessage {
    crate::WaitingMessage {
        message_id: MessageId::from(message_id),
        text: text.into(),
        at: Timestamp(5),
        files: Vec::new(),
    }
}

/// Files attached to a message.
#[must_use]
pub fn files() -> Vec<AttachedFile> {
    let image = ImageContent {
        name: "a.png".into(),
        media_type: "image/png".into(),
        width: 2,
        height: 1,
        content: vec![0, 159, 146, 150].into(),
    };
    let (name, media_type) = ("a.txt".into(), "text/plain".into());
    let text = AttachedText { name, media_type, bytes: 3, text: "é\n".into(), cut: None, origin: None };
    vec![AttachedFile::Image(image), AttachedFile::Text(text)]
}
