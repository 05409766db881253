//! A simulated run: the facts of its turns, and the state after any number of them.

use windlass_bench::ours::{TOOL, tool_spec};
use windlass_machine::{CallResult, Effect, Fact, Input, RunSettings, State, apply, decide, outstanding, preset};
use windlass_vocab::{
    Attendance, EffectClass, Json, LeaseTaken, MessageId, OutcomeKind, Part, PinnedContext, PreparedCall, Record,
    SessionOpened, SnapshotKind, StopReason, Timestamp, Usage, Verdict,
};

/// The state after this many complete turns, when the model has been asked for the next reply.
pub(crate) fn asked(turns: usize) -> State {
    let session = "01890000-0000-7000-8000-000000000000".parse().expect("an id");
    let mut state = State::new(session);
    let opened = SessionOpened {
        owner: "me".into(),
        key: "k".into(),
        workspace: None,
        parent: None,
        version: String::new(),
        forked_from: Vec::new(),
    };
    take(&mut state, Fact::Opened(opened, LeaseTaken { epoch: 1, holder: "here".into() }));
    let message = Fact::Message {
        message_id: MessageId("1".into()),
        text: "Haul.".into(),
        run_settings: Box::new(run_settings()),
    };
    take(&mut state, message);
    take(&mut state, Fact::Pinned(context()));
    for _ in 0..turns {
        let reply = reply(&state);
        take(&mut state, reply);
        let result = result(&state);
        take(&mut state, result);
    }
    state
}

/// The prefix and the offered tools of the run.
pub(crate) fn context() -> PinnedContext {
    PinnedContext { prefix: "You haul.".into(), offer: vec![tool_spec()], ..PinnedContext::default() }
}

/// The state after this many complete turns and a reply whose call is running.
pub(crate) fn called(turns: usize) -> State {
    let mut state = asked(turns);
    let reply = reply(&state);
    take(&mut state, reply);
    state
}

/// The records that a fact leads to.
pub(crate) fn records(state: &State, fact: Fact) -> Vec<Record> {
    decide(state, Input { at: Timestamp(1_000), fact })
}

fn take(state: &mut State, fact: Fact) {
    let records = records(state, fact);
    assert!(!records.is_empty(), "a fact that fits");
    for record in &records {
        apply(state, record);
    }
}

fn run_settings() -> RunSettings {
    let mut policy = preset("default").expect("a preset");
    policy.turn_cap = 10_000;
    let chain = vec!["scripted".into()];
    RunSettings {
        policy,
        agent: "bench".into(),
        chain,
        deadline: None,
        attendance: Attendance::Unattended,
        output: None,
        server: None,
        models: Vec::new(),
        role_chains: std::collections::BTreeMap::new(),
        compact: false,
        spent_today: None,
    }
}

/// The awaited reply: text and one call.
pub(crate) fn reply(state: &State) -> Fact {
    let attempt = outstanding(state).into_iter().find_map(|effect| match effect {
        Effect::CallModel { key, .. } => Some(key),
        _ => None,
    });
    let call = PreparedCall {
        provider_id: Some("call_1".into()),
        name: TOOL.into(),
        tool: Some(tool_spec().name),
        arguments: Json::from(&serde_json::json!({"n": state.transcript.history.len()})),
        raw: None,
        repairs: Vec::new(),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        verdict: Verdict::Allow,
        preview: None,
        snapshot: SnapshotKind::None,
        because: None,
    };
    Fact::Replied {
        attempt: attempt.expect("the model is asked"),
        parts: vec![Part::Text { text: "haul away ".repeat(20) }, Part::Call { index: 0 }],
        stop: StopReason::Calls,
        usage: Usage::default(),
        calls: vec![call],
        misfit: None,
        malformed: None,
    }
}

/// The awaited result of the call.
pub(crate) fn result(state: &State) -> Fact {
    let call = outstanding(state).into_iter().find_map(|effect| match effect {
        Effect::RunCall { request, .. } => Some(request.call),
        _ => None,
    });
    let finished = CallResult { took_ms: 1, ..CallResult::new(OutcomeKind::Ok, "hauled") };
    Fact::CallDone { call: call.expect("a call runs"), finished }
}
