//! A simulated run without model, tools and store: the facts of its turns, and the state after any number of them.

use anyhow::{Context as _, Result, ensure};
use windlass_machine::{
    AttemptKey, CallResult, Effect, Fact, Input, RunSettings, State, apply, decide, outstanding, preset,
};
use windlass_vocab::{
    Attendance, EffectClass, Json, LeaseTaken, MessageId, OutcomeKind, Part, PinnedContext, PreparedCall, Record,
    RunModel, SessionOpened, SnapshotKind, StopReason, Timestamp, TurnMode, Usage, Verdict,
};

use crate::ours::{TOOL, tool_spec};

/// The model's name.
const MODEL: &str = "scripted";

/// The state after this many complete turns, when the model has been asked for the next reply.
pub fn asked(turns: usize) -> Result<State> {
    let mut state = begun(None)?;
    for _ in 0..turns {
        turn(&mut state)?;
    }
    Ok(state)
}

/// The state when the model has been asked for its first reply. With a window, older turns are left out in time.
pub fn begun(window: Option<u64>) -> Result<State> {
    let mut state = new_session()?;
    for fact in beginning(window)? {
        take(&mut state, fact)?;
    }
    Ok(state)
}

/// The state of a session that has no records yet.
pub fn new_session() -> Result<State> {
    Ok(State::new("01890000-0000-7000-8000-000000000000".parse()?))
}

/// The facts up to the first request.
pub fn beginning(window: Option<u64>) -> Result<[Fact; 3]> {
    Ok([opened("simulated"), message(1, window)?, pinned()])
}

/// The beginning of a session.
#[must_use]
pub fn opened(key: &str) -> Fact {
    let opened = SessionOpened {
        owner: "local".into(),
        key: key.into(),
        workspace: None,
        parent: None,
        version: String::new(),
        forked_from: Vec::new(),
    };
    Fact::Opened(opened, LeaseTaken { epoch: 1, holder: "here".into() })
}

/// A person's message with this number.
pub fn message(number: u64, window: Option<u64>) -> Result<Fact> {
    Ok(Fact::Message {
        message_id: MessageId(number.to_string()),
        text: "Haul.".into(),
        attachments: Vec::new(),
        run_settings: Box::new(run_settings(window)?),
    })
}

/// What the run is fixed to.
#[must_use]
pub fn pinned() -> Fact {
    Fact::Pinned(context(), None)
}

/// Takes a reply with a call, and the result of the call.
pub fn turn(state: &mut State) -> Result<()> {
    let reply = reply(state)?;
    take(state, reply)?;
    let result = result(state)?;
    take(state, result)
}

/// Whether the reply that is awaited is a summary of older turns.
#[must_use]
pub fn awaits_summary(state: &State) -> bool {
    outstanding(state).iter().any(|effect| matches!(effect, Effect::CallModel { mode: TurnMode::Summary, .. }))
}

/// The prefix and the offered tools of the run.
#[must_use]
pub fn context() -> PinnedContext {
    PinnedContext { prefix: "You haul.".into(), offer: vec![tool_spec()], ..PinnedContext::default() }
}

/// The state after this many complete turns and a reply whose call is running.
pub fn called(turns: usize) -> Result<State> {
    let mut state = asked(turns)?;
    let reply = reply(&state)?;
    take(&mut state, reply)?;
    Ok(state)
}

/// The records that a fact leads to.
#[must_use]
pub fn records(state: &State, fact: Fact) -> Vec<Record> {
    decide(state, Input { at: Timestamp(1_000), fact })
}

/// Decides what a fact means, and applies it.
pub fn take(state: &mut State, fact: Fact) -> Result<()> {
    let records = records(state, fact);
    ensure!(!records.is_empty(), "a fact did not fit");
    for record in &records {
        apply(state, record);
    }
    Ok(())
}

fn run_settings(window: Option<u64>) -> Result<RunSettings> {
    let mut policy = preset("default").context("there is no default preset")?;
    policy.turn_cap = 100_000;
    let chain = vec![MODEL.into()];
    Ok(RunSettings {
        policy,
        agent: "bench".into(),
        chain,
        deadline: None,
        attendance: Attendance::Unattended,
        output: None,
        server: None,
        models: vec![RunModel { window, ..RunModel::named(MODEL) }],
        role_chains: std::collections::BTreeMap::new(),
        compact: false,
        spent_today: None,
        spent_by_agent: None,
        system: None,
    })
}

/// The awaited reply: text and one call.
pub fn reply(state: &State) -> Result<Fact> {
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
    Ok(Fact::Replied {
        attempt: awaited(state)?,
        parts: vec![Part::Text { text: "haul away ".repeat(20) }, Part::Call { index: 0 }],
        stop: StopReason::Calls,
        usage: Usage::default(),
        calls: vec![call],
        misfit: None,
        malformed: None,
        retrieved: 0,
    })
}

/// The awaited summary.
pub fn summary(state: &State) -> Result<Fact> {
    answer(state, &"They hauled. ".repeat(80))
}

/// The awaited reply: text alone.
pub fn answer(state: &State, text: &str) -> Result<Fact> {
    Ok(Fact::Replied {
        attempt: awaited(state)?,
        parts: vec![Part::Text { text: text.to_owned() }],
        stop: StopReason::Stop,
        usage: Usage::default(),
        calls: Vec::new(),
        misfit: None,
        malformed: None,
        retrieved: 0,
    })
}

/// The awaited result of the call.
pub fn result(state: &State) -> Result<Fact> {
    let call = outstanding(state).into_iter().find_map(|effect| match effect {
        Effect::RunCall { request, .. } => Some(request.call),
        _ => None,
    });
    let finished = CallResult { took_ms: 1, ..CallResult::new(OutcomeKind::Ok, "hauled") };
    Ok(Fact::CallDone { call: call.context("no call runs")?, finished })
}

/// The attempt whose reply is awaited.
fn awaited(state: &State) -> Result<AttemptKey> {
    let attempt = outstanding(state).into_iter().find_map(|effect| match effect {
        Effect::CallModel { key, .. } => Some(key),
        _ => None,
    });
    attempt.context("the model is not asked")
}
