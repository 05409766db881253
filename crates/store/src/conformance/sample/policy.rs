//! A sample policy, with a value in every row.

use std::collections::BTreeSet;

use windlass_vocab::{
    Dialect, EndsBy, Guard, HistoryKeeping, IntentRouter, MaxTokens, Nudge, OutsideText, Overview, Parallel, Planning,
    Policy, Reasoning, ResultCap, Retrieve, Retry, Sampling, Spill, Steering, StreamIdle, Titles, ToolSource,
    TurnCapAction, UnaskedChanges, UnfinishedCall,
};

pub(super) fn policy() -> Policy {
    Policy {
        preset: "default".into(),
        turn_cap: 50,
        at_cap: TurnCapAction::WrapUp,
        retry: Retry { tries: 6, first_wait_ms: 500, ceiling_ms: 32_000 },
        dialects: vec![Dialect::Native],
        tools: BTreeSet::from([ToolSource::BuiltIn, ToolSource::Mcp]),
        ends_by: EndsBy::Text,
        sampling: Sampling {
            tool_temperature_milli: Some(100),
            talk_temperature_milli: None,
            max_tokens: MaxTokens::Fixed(4_096),
        },
        reasoning: Reasoning::Configured,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 60_000 },
        guards: BTreeSet::from([Guard::FailedTool, Guard::Cycle]),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Keep },
        unfinished_call: UnfinishedCall::AskOrInterrupt,
        nudges: BTreeSet::from([Nudge::Empty, Nudge::CutOff]),
        planning: Planning::Optional,
        history: HistoryKeeping::Consolidated { messages: 100 },
        approval_wait_ms: 300_000,
        tool_timeout_ms: 120_000,
        output_corrections: 2,
        tags: BTreeSet::new(),
        hidden: BTreeSet::new(),
        retry_after_limit_ms: Some(600_000),
        server_wait_ms: 0,
        outside_text: OutsideText::Ask,
        titles: Titles::Model,
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
        unasked_changes: UnaskedChanges::Ask,
        tools_offered: 15,
        router: IntentRouter::Model,
    }
}
