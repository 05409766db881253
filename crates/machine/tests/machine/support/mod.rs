//! A simulated world without clock or network: it answers the machine's effects from a script that depends only on the
//! state of the conversation, writes every batch to a journal, and can crash anywhere.

use std::collections::BTreeMap;

use windlass_machine::{
    CallResult, Effect, Fact, Input, OpenApprovals, PlannedStep, RunSettings, State, VerifiedCall, apply, decide,
    decide_again, legal, outstanding, preset,
};
use windlass_vocab::{
    Answer, AnsweredBy, AttemptFailed, Attendance, BatchPosition, CallId, CallRequested, Change, ChildReported,
    Coverage, EffectClass, EndReason, Ending, Envelope, Failure, FailureClass, FileState, FilesChanged, Hash, Intent,
    Json, LeaseTaken, Message, NanoMoney, NextAttempt, Nudged, Origin, OutcomeKind, OutputSpec, Part, PinnedContext,
    Planning, Policy, PreparedCall, Preview, QuestionAsked, QuestionId, QuestionKind, QuestionOption, Record, Remedy,
    RunEnded, SessionId, SessionOpened, SnapshotKind, SnapshotTaken, Spending, StopBy, StopReason, Timestamp, ToolName,
    ToolSpec, TurnMode, Usage, Verdict, VerdictReason,
};

/// What the model does in one turn.
#[derive(Clone, Debug)]
pub(crate) enum Move {
    Text(&'static str),
    Empty,
    /// Text that does not fit the requested output.
    Misfit(&'static str),
    CutOff(&'static str),
    /// The provider pauses the reply after these parts.
    Paused(Vec<Part>),
    Filtered,
    Calls(Vec<Ask>),
    /// Fails this many times with this class, then does the move.
    Fails(u32, FailureClass, Box<Move>),
    /// The stream dies after its first token; the next attempt does the move.
    Dies(Box<Move>),
}

/// A call the model asks for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) tool: &'static str,
    pub(crate) effect: EffectClass,
    pub(crate) outcome: OutcomeKind,
    pub(crate) verdict: Verdict,
    pub(crate) ending: Option<Ending>,
    pub(crate) repeatable: bool,
    pub(crate) reads_files: bool,
    pub(crate) arguments: String,
    pub(crate) because: Option<VerdictReason>,
}

pub(crate) fn call(tool: &'static str, effect: EffectClass) -> Ask {
    Ask {
        tool,
        effect,
        outcome: OutcomeKind::Ok,
        verdict: Verdict::Allow,
        ending: None,
        repeatable: false,
        reads_files: false,
        arguments: "{}".to_owned(),
        because: None,
    }
}

impl Ask {
    pub(crate) fn with(mut self, arguments: &str) -> Self {
        self.arguments = arguments.to_owned();
        self
    }
    pub(crate) fn coming_out(mut self, outcome: OutcomeKind) -> Self {
        self.outcome = outcome;
        self
    }
    pub(crate) fn judged(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }
    pub(crate) fn because(mut self, reason: VerdictReason) -> Self {
        self.because = Some(reason);
        self
    }
    pub(crate) fn ending(mut self, ending: Ending) -> Self {
        self.ending = Some(ending);
        self
    }
    /// Marks it as a built-in file read.
    pub(crate) fn reading(mut self) -> Self {
        self.reads_files = true;
        self
    }
    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }
}

/// The tool whose calls need a snapshot of files.
pub(crate) const KEEPS: &str = "t1";

/// The tool that runs commands. It changes files where its arguments say that it writes.
pub(crate) const COMMAND: &str = "command";

/// A server's tool that gives a different result each time.
pub(crate) const POLL: &str = "job_status";

/// The moves of a run, one per turn; the last is repeated forever.
pub(crate) type Script = Vec<Move>;

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) journal: Vec<Vec<Record>>,
    /// When each batch was decided.
    times: Vec<Timestamp>,
    pub(crate) now: Timestamp,
    pub(crate) script: Script,
    pub(crate) run_settings: RunSettings,
    pub(crate) offer: usize,
    /// What the model says when it must wrap up.
    pub(crate) wrap_up: &'static str,
    /// How many tokens of input a model reports.
    pub(crate) reported: u64,
    /// What a model does when it is asked for a summary.
    pub(crate) summary: Move,
    /// What a model does when it is asked whether tools are needed.
    pub(crate) router: Move,
    /// The steps that a planner writes.
    pub(crate) plan: Vec<PlannedStep>,
    /// How the run of each child session ends; the last repeats.
    pub(crate) child_ends: Vec<EndReason>,
    /// Whether each child session asks something first.
    pub(crate) children_ask: bool,
    /// How often each call's effect took place.
    pub(crate) executed: BTreeMap<String, u32>,
    /// How often the content of a file read was changed, by the read's arguments.
    pub(crate) changes: BTreeMap<String, u32>,
    /// What each file read actually found.
    found: BTreeMap<CallId, String>,
    polls: u32,
    epoch: u64,
    messages: u32,
}

pub(crate) fn policy(name: &str) -> Policy {
    preset(name).expect("a preset")
}

impl World {
    pub(crate) fn new(preset: &str, script: Script) -> Self {
        Self::with_policy(policy(preset), script)
    }

    pub(crate) fn with_policy(policy: Policy, script: Script) -> Self {
        let session: SessionId = "01890000-0000-7000-8000-000000000000".parse().expect("an id");
        let run_settings = RunSettings {
            policy,
            agent: "test".to_owned(),
            chain: vec!["first".into(), "second".into()],
            deadline: None,
            attendance: Attendance::Unattended,
            output: None,
            server: None,
            models: Vec::new(),
            role_chains: BTreeMap::new(),
            compact: false,
            spent_today: None,
            spent_by_agent: None,
            system: None,
        };
        let mut world = Self {
            state: State::new(session),
            journal: Vec::new(),
            times: Vec::new(),
            now: Timestamp(1_000),
            script,
            run_settings,
            offer: 3,
            wrap_up: "This is done, that is not.",
            reported: 10,
            summary: Move::Text("What was said before."),
            router: Move::Text("AGENT"),
            plan: Vec::new(),
            child_ends: vec![EndReason::Completed],
            children_ask: false,
            executed: BTreeMap::new(),
            changes: BTreeMap::new(),
            found: BTreeMap::new(),
            polls: 0,
            epoch: 1,
            messages: 0,
        };
        let opened = SessionOpened {
            owner: "me".into(),
            key: "k".into(),
            workspace: None,
            parent: None,
            version: String::new(),
            forked_from: Vec::new(),
        };
        world.put(Fact::Opened(opened, LeaseTaken { epoch: 1, holder: "here".into() }));
        world
    }

    /// Makes its runs require an output.
    pub(crate) fn typed(mut self) -> Self {
        let schema = Json::parse(r#"{"type":"object"}"#).expect("JSON");
        self.run_settings.output = Some(OutputSpec { name: "thing".into(), schema });
        self
    }

    pub(crate) fn attended(mut self) -> Self {
        self.run_settings.attendance = Attendance::Attended;
        self
    }

    /// Decides a fact and appends the batch; checks that the batch can be decided again from the journal.
    pub(crate) fn put(&mut self, fact: Fact) -> Vec<Record> {
        self.now = self.now.plus_ms(10);
        let batch = decide(&self.state, Input { at: self.now, fact });
        if batch.is_empty() {
            return batch;
        }
        let again = decide_again(&self.state, self.now, &batch);
        assert_eq!(again, batch, "a recorded batch is decided the same way again");
        for record in &batch {
            apply(&mut self.state, record);
        }
        self.journal.push(batch.clone());
        self.times.push(self.now);
        self.check();
        self.check_reads(&batch);
        batch
    }

    /// Checks the invariants that hold at every moment.
    fn check(&self) {
        let history = &self.state.transcript.history;
        assert!(matches!(legal(history), std::borrow::Cow::Borrowed(_)), "an illegal history: {history:#?}");
    }

    /// Checks that every file read is answered with what it found (L11).
    fn check_reads(&self, batch: &[Record]) {
        // A compaction in the same batch may leave out what a result refers to; the next read then gives it again.
        if batch.iter().any(|record| matches!(record, Record::Compacted(_))) {
            return;
        }
        for record in batch {
            let Record::CallFinished(finished) = record else { continue };
            let Some(found) = self.found.get(&finished.call).filter(|_| finished.outcome == OutcomeKind::Ok) else {
                continue;
            };
            match finished.answered_from {
                None => assert!(finished.text.ends_with(found.as_str()), "{finished:?}"),
                Some(earlier) => {
                    assert_eq!(
                        self.state.transcript.result(earlier),
                        Some(found.as_str()),
                        "a stale or missing result"
                    );
                }
            }
        }
    }

    pub(crate) fn fold(&self) -> State {
        State::fold(self.state.session, self.journal.iter().flatten())
    }

    /// Loses everything in memory; another process resumes the session.
    pub(crate) fn crash(&mut self) {
        assert_eq!(self.fold(), self.state, "the fold of the journal is the live state");
        self.state = self.fold();
        self.epoch += 1;
        self.put(Fact::LeaseTaken(LeaseTaken { epoch: self.epoch, holder: "there".into() }));
        let approvals = OpenApprovals::CheckedAgain;
        self.put(Fact::Resumed { attendance: self.run_settings.attendance, deadline: None, approvals });
    }

    /// Discards everything after the first `batches`, as if it had never been written.
    pub(crate) fn cut_after(&mut self, batches: usize) {
        self.journal.truncate(batches);
        self.times.truncate(batches);
        self.state = self.fold();
    }

    /// Returns another session that starts with the first `batches` of this one and continues separately.
    pub(crate) fn forked_after(&self, batches: usize) -> Self {
        let mut session = self.state.session;
        let mut journal = self.journal[..batches].to_vec();
        let seq = journal.iter().map(Vec::len).sum::<usize>() as u64;
        if let Some(Record::SessionOpened(opened)) = journal[0].first_mut() {
            opened.forked_from.iter_mut().for_each(|origin| origin.seq = origin.seq.min(seq));
            opened.forked_from.push(Origin { session, seq });
            let text = format!("01890000-0000-7000-8000-00000000000{}", opened.forked_from.len());
            session = text.parse().expect("an id");
        }
        let mut fork = Self {
            state: State::fold(session, journal.iter().flatten()),
            journal,
            times: self.times[..batches].to_vec(),
            now: self.now,
            script: self.script.clone(),
            run_settings: self.run_settings.clone(),
            offer: self.offer,
            wrap_up: self.wrap_up,
            reported: self.reported,
            summary: self.summary.clone(),
            router: self.router.clone(),
            plan: self.plan.clone(),
            child_ends: self.child_ends.clone(),
            children_ask: self.children_ask,
            executed: BTreeMap::new(),
            changes: self.changes.clone(),
            found: BTreeMap::new(),
            polls: 0,
            epoch: self.epoch,
            messages: self.messages,
        };
        fork.put(Fact::Forked);
        fork
    }

    /// Returns the journal as a store would.
    pub(crate) fn envelopes(&self) -> Vec<Envelope> {
        let mut envelopes = Vec::new();
        for (batch, at) in self.journal.iter().zip(&self.times) {
            let count = u32::try_from(batch.len()).expect("a batch");
            envelopes.extend(batch.iter().zip(0..).map(|(record, index)| Envelope {
                v: 1,
                id: "r".into(),
                session: self.state.session,
                seq: 0,
                batch: BatchPosition(index, count),
                prev: Hash::default(),
                epoch: 1,
                run: None,
                turn: None,
                at: *at,
                record: record.clone(),
            }));
        }
        (1..).zip(&mut envelopes).for_each(|(seq, envelope)| envelope.seq = seq);
        envelopes
    }

    pub(crate) fn say(&mut self, text: &str) -> Vec<Record> {
        self.messages += 1;
        let message_id = format!("m{}", self.messages).into();
        let run_settings = Box::new(self.run_settings.clone());
        self.put(Fact::Message { message_id, text: text.to_owned(), attachments: Vec::new(), run_settings })
    }

    /// Returns the outstanding effects, except waiting for messages.
    pub(crate) fn owed(&self) -> Vec<Effect> {
        outstanding(&self.state).into_iter().filter(|effect| *effect != Effect::Receive).collect()
    }

    /// Performs one effect and returns its fact. The effect has taken place when this returns, whether or not the fact
    /// is ever recorded.
    pub(crate) fn perform(&mut self, effect: &Effect) -> Fact {
        match effect {
            Effect::Receive => panic!("nothing to receive"),
            Effect::Pin(_) => {
                let prefix = "You are a test.".into();
                let direct = self.state.control.run.as_ref().is_some_and(|run| run.intent == Some(Intent::Direct));
                let offer = if direct { Vec::new() } else { self.specs() };
                Fact::Pinned(PinnedContext { prefix, offer, ..PinnedContext::default() }, None)
            }
            Effect::CallModel { key, mode, .. } => match (*mode, self.model(*key, *mode)) {
                (TurnMode::Plan, Fact::Replied { attempt, parts, stop, usage, .. }) => {
                    Fact::Planned { attempt, parts, stop, usage, steps: self.plan.clone() }
                }
                (_, fact) => fact,
            },
            Effect::RunStep { child, stop, rounds, .. } => self.run_child(*child, *stop, *rounds),
            Effect::HandBack(key) => {
                let usage = Usage { output: 2, estimated: true, ..Usage::default() };
                Fact::HandedBack { attempt: *key, text: "so far".into(), usage }
            }
            Effect::RunCall { request, .. } => self.run_call(request),
            Effect::CheckPermission { request, .. } => {
                assert!(!self.executed.contains_key(&request.effect_id.0), "it ran before it was judged");
                let (call, preview, because) = (request.call, request.preview.clone(), request.because.clone());
                match &request.verdict {
                    Verdict::Ask => Fact::CallNeedsApproval { call, preview, because },
                    Verdict::Allow => Fact::CallAllowed { call },
                    verdict => panic!("it was answered when it was asked for: {verdict:?}"),
                }
            }
            Effect::VerifyCall { request, .. } => {
                let done = self.executed.contains_key(&request.effect_id.0);
                let verified =
                    if done { VerifiedCall::Done(Box::new(self.result(request))) } else { VerifiedCall::NotDone };
                Fact::CallVerified { call: request.call, verified }
            }
            Effect::TakeSnapshot { request, .. } => {
                assert!(!self.executed.contains_key(&request.effect_id.0), "it ran before its files were kept");
                Fact::Snapshot(SnapshotTaken {
                    call: request.call,
                    coverage: Coverage::Full,
                    since: None,
                    files: BTreeMap::from([("f".into(), FileState::Absent)]),
                })
            }
            Effect::Restore(started) => Fact::Restored { undo: started.undo, left_alone: BTreeMap::new() },
            Effect::Ask(asked) => Fact::Answered {
                question: asked.question,
                answer: Answer::plain(favourite(asked)),
                by: AnsweredBy::Person,
            },
        }
    }

    /// A child session is found again by its position, so it runs once however often this is called.
    fn run_child(&mut self, child: CallId, stop: Option<StopBy>, rounds: u32) -> Fact {
        self.executed.insert(format!("child {child}"), 1);
        if self.children_ask && rounds < 2 && stop.is_none() {
            let asked = QuestionAsked {
                question: QuestionId(7),
                kind: QuestionKind::Approval { call: child },
                preview: None,
                options: vec![QuestionOption::No, QuestionOption::Once, QuestionOption::Edit],
                expires: None,
                default: QuestionOption::No,
                elicitation: None,
                because: None,
            };
            return Fact::StepAsked { child, asked: Box::new(asked) };
        }
        let place = usize::try_from(child.index).expect("few").min(self.child_ends.len() - 1);
        let reason = if stop.is_some() { EndReason::Cancelled } else { self.child_ends[place] };
        Fact::StepReported(ChildReported {
            child,
            session: Some(self.state.session),
            reason,
            answer: format!("child {child} ended"),
            changed: vec![format!("f{}", child.index)],
            origins: Vec::new(),
            usage: Usage { input: 100, output: 10, calls: 1, ..Usage::default() },
            spent: Spending { cost: NanoMoney(1_000), tokens: 110 },
        })
    }

    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let spec = |index: usize| ToolSpec {
            name: ToolName(format!("scripted.t{index}")),
            wire_name: format!("scripted__t{index}"),
            description: "A tool.".into(),
            schema: Json::empty_object(),
            effect: EffectClass::ReadOnly,
            ending: None,
            repeatable: false,
            reads_files: false,
            tags: std::collections::BTreeSet::new(),
        };
        (0..self.offer).map(spec).collect()
    }

    fn model(&self, key: windlass_machine::AttemptKey, mode: TurnMode) -> Fact {
        let replied = |parts: Vec<Part>, stop: StopReason, calls: Vec<PreparedCall>| Fact::Replied {
            attempt: key,
            parts,
            stop,
            usage: Usage { input: self.reported, output: 5, calls: 1, ..Usage::default() },
            calls,
            misfit: None,
            malformed: None,
            retrieved: 0,
        };
        let failed = |class: FailureClass, first_byte: bool| Fact::Failed {
            attempt: key,
            failure: Failure { first_byte, ..Failure::new(class, "it failed") },
            usage: None,
        };
        if mode == TurnMode::WrapUp {
            return replied(vec![Part::Text { text: self.wrap_up.into() }], StopReason::Stop, vec![]);
        }
        // The script of a run that plans has a move for its plan and its answer, too.
        let plans = self.run_settings.policy.planning == Planning::Always;
        let summaries = self.state.control.run.as_ref().filter(|_| !plans).map_or(0, |run| run.summaries);
        let turn = (key.turn.0 - 1).saturating_sub(summaries) as usize;
        let mut step = match mode {
            TurnMode::Summary => self.summary.clone(),
            TurnMode::Route => self.router.clone(),
            _ => self.script.get(turn).or_else(|| self.script.last()).expect("a script").clone(),
        };
        let mut earlier = 0;
        loop {
            step = match step {
                Move::Fails(times, class, rest) => {
                    if key.attempt <= earlier + times {
                        return failed(class, false);
                    }
                    earlier += times;
                    *rest
                }
                Move::Dies(rest) => {
                    if key.attempt <= earlier + 1 {
                        return failed(FailureClass::Transient, true);
                    }
                    earlier += 1;
                    *rest
                }
                Move::Text(text) => return replied(vec![Part::Text { text: text.into() }], StopReason::Stop, vec![]),
                Move::Misfit(text) => {
                    let mut fact = replied(vec![Part::Text { text: text.into() }], StopReason::Stop, vec![]);
                    if let Fact::Replied { misfit, .. } = &mut fact {
                        *misfit = Some("It does not fit.".into());
                    }
                    return fact;
                }
                Move::Paused(parts) => return replied(parts, StopReason::Paused, vec![]),
                Move::Empty => return replied(vec![], StopReason::Stop, vec![]),
                Move::CutOff(text) => {
                    return replied(vec![Part::Text { text: text.into() }], StopReason::Length, vec![]);
                }
                Move::Filtered => {
                    return replied(vec![Part::Text { text: "I can't".into() }], StopReason::Filtered, vec![]);
                }
                Move::Calls(asks) => {
                    let parts = (0u32..).zip(&asks).map(|(index, _)| Part::Call { index }).collect();
                    return replied(parts, StopReason::Calls, asks.iter().map(prepared).collect());
                }
            };
        }
    }

    fn run_call(&mut self, request: &CallRequested) -> Fact {
        *self.executed.entry(request.effect_id.0.clone()).or_default() += 1;
        let mut finished = self.result(request);
        if request.name == POLL {
            self.polls += 1;
            finished.text.push_str(&format!(", step {}", self.polls));
        }
        if request.reads_files {
            self.found.insert(request.call, finished.text.clone());
        }
        Fact::CallDone { call: request.call, finished }
    }

    /// The scripted outcome is in the call's raw text, so that it survives a crash.
    fn result(&self, request: &CallRequested) -> CallResult {
        let outcome = serde_json::from_str(request.raw.as_deref().unwrap_or("\"ok\"")).expect("an outcome");
        let mut text = format!("{} came out as {outcome:?} for {}", request.name, request.arguments.as_str());
        if let Some(changes) = self.changes.get(request.arguments.as_str()).filter(|_| request.reads_files) {
            text.push_str(&format!(" after {changes} changes"));
        }
        let left = FileState::Link { target: request.call.to_string(), inode: None };
        let changes_files = match request.snapshot {
            SnapshotKind::None => false,
            SnapshotKind::Paths => true,
            SnapshotKind::Workspace => request.arguments.as_str().contains("writes"),
        };
        let files = changes_files.then(|| FilesChanged {
            call: request.call,
            changes: BTreeMap::from([("f".into(), Change { was: FileState::Absent, now: left })]),
            ..FilesChanged::default()
        });
        CallResult { took_ms: 1, files, ..CallResult::new(outcome, text) }
    }

    /// Performs the outstanding effects in order, until the run ends or only a person can continue it.
    pub(crate) fn finish(&mut self) -> RunEnded {
        for _ in 0..2_000 {
            if self.state.control.run.is_none() {
                break;
            }
            let effect = self.owed().into_iter().next().expect("an open run owes something");
            let fact = self.perform(&effect);
            self.put(fact);
        }
        let (_, ended) = self.state.control.last.clone().expect("the run never ended");
        ended.as_ref().clone()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.journal.iter().flatten().map(|record| record.kind().to_owned()).collect()
    }

    /// Returns what followed each failed attempt.
    pub(crate) fn nexts(&self) -> Vec<NextAttempt> {
        let next = |record: &Record| match record {
            Record::AttemptFailed(failed) => Some(failed.next.clone()),
            _ => None,
        };
        self.journal.iter().flatten().filter_map(next).collect()
    }

    /// Returns the wait before each retry, according to the journal.
    pub(crate) fn waits(&self) -> Vec<u64> {
        let wait = |envelope: Envelope| match envelope.record {
            Record::AttemptFailed(AttemptFailed { next: NextAttempt::Retry { at }, .. }) => {
                Some(at.ms_since(envelope.at))
            }
            _ => None,
        };
        self.envelopes().into_iter().filter_map(wait).collect()
    }

    /// Returns all recorded nudges.
    pub(crate) fn nudges(&self) -> Vec<Nudged> {
        let nudged = |record: &Record| if let Record::Nudged(nudged) = record { Some(nudged.clone()) } else { None };
        self.journal.iter().flatten().filter_map(nudged).collect()
    }

    /// Changes the content of a file read, as a person or another program would.
    pub(crate) fn change(&mut self, arguments: &str) {
        *self.changes.entry(arguments.to_owned()).or_default() += 1;
    }

    /// Performs the outstanding effects in order, until the model is called for the `turn`-th time or the run ends.
    pub(crate) fn until_turn(&mut self, turn: u32) {
        while self.state.control.run.as_ref().is_some_and(|run| run.turn.0 < turn) {
            let effect = self.owed().into_iter().next().expect("an open run owes something");
            let fact = self.perform(&effect);
            self.put(fact);
        }
    }

    pub(crate) fn results(&self) -> Vec<(OutcomeKind, String)> {
        let result = |message: &Message| match message {
            Message::Tool { outcome, text, .. } => Some((*outcome, text.clone())),
            Message::User { .. } | Message::Assistant { .. } => None,
        };
        self.state.transcript.history.iter().filter_map(result).collect()
    }

    /// Returns what a person could change about the last finished call.
    pub(crate) fn last_remedy(&self) -> Option<Remedy> {
        let finished = |record: &Record| match record {
            Record::CallFinished(finished) => Some(finished.remedy.clone()),
            _ => None,
        };
        self.journal.iter().flatten().rev().find_map(finished).flatten()
    }
}

fn favourite(asked: &QuestionAsked) -> QuestionOption {
    for wanted in [QuestionOption::RunAgain, QuestionOption::Once] {
        if asked.options.contains(&wanted) {
            return wanted;
        }
    }
    asked.default
}

fn prepared(ask: &Ask) -> PreparedCall {
    PreparedCall {
        provider_id: None,
        name: ask.tool.to_owned(),
        tool: Some(tool_name(ask.tool)),
        arguments: Json::parse(&ask.arguments).expect("JSON"),
        raw: Some(serde_json::to_string(&ask.outcome).expect("JSON")),
        repairs: Vec::new(),
        effect: ask.effect,
        ending: ask.ending,
        repeatable: ask.repeatable,
        reads_files: ask.reads_files,
        verdict: ask.verdict.clone(),
        preview: Some(Preview { title: ask.tool.into(), body: ask.arguments.clone(), rule: Some(ask.tool.into()) }),
        // One of the tools needs a snapshot, so that everything is tested with and without.
        snapshot: match ask.tool {
            KEEPS => SnapshotKind::Paths,
            COMMAND => SnapshotKind::Workspace,
            _ => SnapshotKind::None,
        },
        because: ask.because.clone(),
    }
}

/// A tool of the script, unless its name has a server.
fn tool_name(tool: &str) -> ToolName {
    ToolName(if tool.contains('.') { tool.to_owned() } else { format!("scripted.{tool}") })
}
