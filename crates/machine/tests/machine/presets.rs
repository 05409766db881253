//! The values of the presets, as in the table of the specification: each policy whole, so that no row can change
//! unnoticed. Comments mark what the table leaves open.

use std::collections::BTreeSet;

use crate::support::{Move, World, policy};
use windlass_machine::{PRESETS, preset};
use windlass_vocab::{
    Dialect, EndsBy, FailureClass, Guard, HistoryKeeping, IntentRouter, MaxTokens, NextAttempt, Nudge, OutsideText,
    Overview, Parallel, Planning, Policy, Reasoning, ResultCap, Retrieve, Retry, Sampling, Spill, Steering, StreamIdle,
    Titles, ToolSource, TurnCapAction, UnaskedChanges, UnfinishedCall,
};

/// The ceiling where the table names none: above every wait it names.
const UNREACHED_MS: u64 = 60_000;

/// Settings that are not in the table and equal in every preset.
struct Common {
    approval_wait_ms: u64,
    tool_timeout_ms: u64,
    output_corrections: u32,
    tags: BTreeSet<String>,
    hidden: BTreeSet<String>,
    retry_after_limit_ms: Option<u64>,
    server_wait_ms: u64,
    outside_text: OutsideText,
    titles: Titles,
}

fn common() -> Common {
    Common {
        // T8: five minutes unless set.
        approval_wait_ms: 300_000,
        // T7 requires a limit and leaves its length open.
        tool_timeout_ms: 120_000,
        // L10 requires a bounded number; decision 0008 sets it.
        output_corrections: 2,
        tags: BTreeSet::new(),
        hidden: BTreeSet::new(),
        // M3: ten minutes unless set.
        retry_after_limit_ms: Some(600_000),
        // P2: five seconds unless set.
        server_wait_ms: 5_000,
        // X4: a row; a person is asked unless set.
        outside_text: OutsideText::Ask,
        titles: Titles::Off,
    }
}

const MODELS_OWN: Sampling =
    Sampling { tool_temperature_milli: None, talk_temperature_milli: None, max_tokens: MaxTokens::ModelOwn };

fn durable_chat() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "durable-chat".into(),
        turn_cap: 20,
        at_cap: TurnCapAction::Fail,
        retry: Retry { tries: 3, first_wait_ms: 3_000, ceiling_ms: UNREACHED_MS },
        dialects: vec![Dialect::Native],
        tools: BTreeSet::from([ToolSource::Mcp]),
        ends_by: EndsBy::Text,
        sampling: MODELS_OWN,
        reasoning: Reasoning::ModelOwn,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 60_000 },
        guards: BTreeSet::from([Guard::Cycle]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Drop },
        unfinished_call: UnfinishedCall::RunAgain,
        nudges: BTreeSet::new(),
        planning: Planning::No,
        history: HistoryKeeping::AllThatFits,
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::Off,
        unasked_changes: UnaskedChanges::Allow,
        tools_offered: 100,
        router: IntentRouter::Off,
    }
}

fn local_model() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "local-model".into(),
        turn_cap: 10,
        at_cap: TurnCapAction::WrapUp,
        retry: Retry { tries: 2, first_wait_ms: 1_000, ceiling_ms: UNREACHED_MS },
        // The table's three, and the one that decision 0012 adds.
        dialects: vec![Dialect::Native, Dialect::Bracket, Dialect::Lines, Dialect::BareJson, Dialect::ToolTag],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp]),
        ends_by: EndsBy::JudgedText,
        sampling: Sampling {
            tool_temperature_milli: Some(100),
            talk_temperature_milli: Some(700),
            max_tokens: MaxTokens::ModelOwn,
        },
        reasoning: Reasoning::Low,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        stream_idle: StreamIdle { first_ms: 180_000, next_ms: 180_000 },
        guards: BTreeSet::from([
            Guard::RepeatedRead,
            Guard::RepeatedChange,
            Guard::FailedTool,
            Guard::ErrorTurns,
            Guard::Cycle,
        ]),
        result_cap: ResultCap { chars: 6_000, rest: Spill::Drop },
        unfinished_call: UnfinishedCall::Interrupt,
        nudges: BTreeSet::from([Nudge::Incomplete, Nudge::Deflection, Nudge::Empty, Nudge::CutOff]),
        planning: Planning::Optional,
        history: HistoryKeeping::Summarised,
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::On,
        unasked_changes: UnaskedChanges::Ask,
        tools_offered: 15,
        router: IntentRouter::Off,
    }
}

fn assistant() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "assistant".into(),
        turn_cap: 40,
        at_cap: TurnCapAction::WrapUp,
        retry: Retry { tries: 4, first_wait_ms: 1_000, ceiling_ms: UNREACHED_MS },
        dialects: vec![Dialect::Native],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp]),
        ends_by: EndsBy::Text,
        sampling: Sampling {
            tool_temperature_milli: Some(100),
            talk_temperature_milli: Some(100),
            max_tokens: MaxTokens::Fixed(4_096),
        },
        reasoning: Reasoning::Configured,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        stream_idle: StreamIdle { first_ms: 90_000, next_ms: 90_000 },
        guards: BTreeSet::from([Guard::FailedTool, Guard::Cycle]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Keep },
        unfinished_call: UnfinishedCall::Interrupt,
        nudges: BTreeSet::from([Nudge::Empty, Nudge::CutOff]),
        planning: Planning::No,
        history: HistoryKeeping::Consolidated { messages: 100 },
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::Off,
        unasked_changes: UnaskedChanges::Allow,
        tools_offered: 100,
        router: IntentRouter::Off,
    }
}

fn task() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "task".into(),
        turn_cap: 100,
        at_cap: TurnCapAction::Fail,
        retry: Retry { tries: 3, first_wait_ms: 1_000, ceiling_ms: UNREACHED_MS },
        dialects: vec![Dialect::ToolBlock],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp, ToolSource::Ending]),
        ends_by: EndsBy::EndingTool,
        sampling: MODELS_OWN,
        reasoning: Reasoning::ModelOwn,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 60_000 },
        guards: BTreeSet::from([Guard::FiveErrors, Guard::Cycle]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Drop },
        unfinished_call: UnfinishedCall::Ask,
        nudges: BTreeSet::from([Nudge::NoToolCall]),
        planning: Planning::No,
        history: HistoryKeeping::Pruned,
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::Off,
        unasked_changes: UnaskedChanges::Allow,
        tools_offered: 100,
        router: IntentRouter::Off,
    }
}

fn operator() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "operator".into(),
        turn_cap: 50,
        at_cap: TurnCapAction::WrapUp,
        retry: Retry { tries: 6, first_wait_ms: 500, ceiling_ms: 32_000 },
        dialects: vec![Dialect::Native],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp, ToolSource::Remote]),
        ends_by: EndsBy::Text,
        sampling: Sampling {
            tool_temperature_milli: Some(300),
            talk_temperature_milli: Some(300),
            max_tokens: MaxTokens::Budget,
        },
        reasoning: Reasoning::Configured,
        parallel: Parallel::On,
        steering: Steering::Queue,
        // The table leaves the wait for the first token open.
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 2_000 },
        guards: BTreeSet::from([Guard::Cycle]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Keep },
        unfinished_call: UnfinishedCall::Ask,
        nudges: BTreeSet::new(),
        planning: Planning::No,
        history: HistoryKeeping::Summarised,
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::Off,
        unasked_changes: UnaskedChanges::Allow,
        tools_offered: 100,
        router: IntentRouter::Off,
    }
}

fn default() -> Policy {
    let Common {
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
    } = common();
    Policy {
        preset: "default".into(),
        turn_cap: 50,
        at_cap: TurnCapAction::WrapUp,
        retry: operator().retry,
        dialects: vec![Dialect::Native, Dialect::Probe],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp]),
        ends_by: EndsBy::Text,
        sampling: MODELS_OWN,
        reasoning: Reasoning::Configured,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 60_000 },
        guards: BTreeSet::from([
            Guard::RepeatedRead,
            Guard::FailedTool,
            Guard::ErrorTurns,
            Guard::FiveErrors,
            Guard::Cycle,
        ]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Keep },
        unfinished_call: UnfinishedCall::AskOrInterrupt,
        nudges: BTreeSet::from([Nudge::Empty, Nudge::CutOff]),
        planning: Planning::Optional,
        history: HistoryKeeping::Summarised,
        approval_wait_ms,
        tool_timeout_ms,
        output_corrections,
        tags,
        hidden,
        retry_after_limit_ms,
        server_wait_ms,
        outside_text,
        titles,
        run_cost_limit: None,
        run_token_limit: None,
        run_time_limit_ms: None,
        session_cost_limit: None,
        session_token_limit: None,
        day_cost_limit: None,
        day_token_limit: None,
        agent_cost_limit: None,
        agent_token_limit: None,
        retrieve: Retrieve::Off,
        overview: Overview::TextCalls,
        unasked_changes: UnaskedChanges::Allow,
        tools_offered: 100,
        router: IntentRouter::Off,
    }
}

#[test]
fn every_preset_is_what_the_table_says_row_by_row() {
    // The table of presets as data; what each row does is proved with its rule.
    let table = [durable_chat(), local_model(), assistant(), task(), operator(), default()];
    assert_eq!(table.iter().map(|policy| policy.preset.as_str()).collect::<Vec<_>>(), PRESETS);
    for expected in table {
        let name = expected.preset.clone();
        assert_eq!(preset(&name), Some(expected), "{name}");
    }
    assert_eq!(preset("tasks"), None, "another name is no preset");
}

#[test]
fn every_preset_tries_again_after_the_waits_of_the_table_and_then_asks_the_next_model() {
    // proves M3, M2
    let operator: &[u64] = &[500, 1_000, 2_000, 4_000, 8_000];
    for (name, expected) in [
        ("durable-chat", &[3_000, 6_000][..]),
        ("local-model", &[1_000]),
        ("assistant", &[1_000, 2_000, 4_000]),
        ("task", &[1_000, 2_000]),
        ("operator", operator),
        ("default", operator),
    ] {
        let fails = Move::Fails(policy(name).retry.tries, FailureClass::Transient, Box::new(Move::Text("x")));
        let mut world = World::new(name, vec![fails]);
        world.offer = 0;
        world.say("go");
        assert_eq!(world.finish().answer, "x", "{name}");
        let waits = world.waits();
        assert_eq!(waits.len(), expected.len(), "{name}: {waits:?}");
        for (wait, expected) in waits.iter().zip(expected) {
            assert!((*expected..=expected + expected / 10).contains(wait), "{name}: {waits:?}");
        }
        assert!(matches!(world.nexts().last(), Some(NextAttempt::Model { .. })), "{name}");
    }
}
