//! Policies with a value in every row.

use std::num::NonZeroU64;

use windlass_vocab::{
    Dialect, Dollars, EndsBy, Guard, HistoryKeeping, IntentRouter, MaxTokens, Nudge, OutsideText, Overview, Parallel,
    Planning, Policy, Reasoning, ResultCap, Retrieve, Retry, Sampling, Spill, Steering, StreamIdle, Titles, ToolSource,
    TurnCapAction, UnaskedChanges, UnfinishedCall,
};

use super::{every, vary};

pub(super) fn dialects() -> Vec<Dialect> {
    every!(Dialect: Native, ToolBlock, Bracket, Lines, Probe, BareJson, ToolTag, Script)
}

pub(super) fn nudges() -> Vec<Nudge> {
    every!(Nudge: Empty, CutOff, Incomplete, Deflection, NoToolCall)
}

fn sampling(max_tokens: MaxTokens) -> Sampling {
    Sampling { tool_temperature_milli: Some(100), talk_temperature_milli: Some(700), max_tokens }
}

pub(super) fn full() -> Policy {
    let (money, count) = (Some(Dollars::of_nano(500_000_000)), NonZeroU64::new(9));
    Policy {
        preset: "default".into(),
        turn_cap: 50,
        at_cap: TurnCapAction::WrapUp,
        retry: Retry { tries: 6, first_wait_ms: 500, ceiling_ms: 32_000 },
        dialects: dialects(),
        tools: every!(ToolSource: BuiltIn, Ending, Mcp, Remote).into_iter().collect(),
        ends_by: EndsBy::Text,
        sampling: sampling(MaxTokens::Budget),
        reasoning: Reasoning::Low,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        stream_idle: StreamIdle { first_ms: 60_000, next_ms: 50_000 },
        guards: every!(Guard: RepeatedRead, RepeatedChange, FailedTool, ErrorTurns, FiveErrors, Cycle)
            .into_iter()
            .collect(),
        result_cap: ResultCap { chars: 16_000, rest: Spill::Keep },
        unfinished_call: UnfinishedCall::Ask,
        nudges: nudges().into_iter().collect(),
        planning: Planning::Optional,
        history: HistoryKeeping::Pruned,
        approval_wait_ms: 300_000,
        tool_timeout_ms: 120_000,
        output_corrections: 2,
        tags: ["core".into()].into(),
        hidden: ["git.*".into()].into(),
        retry_after_limit_ms: Some(600_000),
        server_wait_ms: 1_000,
        outside_text: OutsideText::Ask,
        titles: Titles::Model,
        run_cost_limit: money,
        run_token_limit: count,
        run_time_limit_ms: count,
        session_cost_limit: money,
        session_token_limit: count,
        day_cost_limit: money,
        day_token_limit: count,
        agent_cost_limit: money,
        agent_token_limit: count,
        retrieve: Retrieve::Workspace,
        overview: Overview::On,
        unasked_changes: UnaskedChanges::Ask,
        tools_offered: 15,
        router: IntentRouter::Model,
    }
}

pub(super) fn all() -> Vec<Policy> {
    let mut all: Vec<Policy> = vec![full()];
    vary!(all, full(), Policy.at_cap, every!(TurnCapAction: Fail, WrapUp));
    vary!(all, full(), Policy.ends_by, every!(EndsBy: Text, JudgedText, EndingTool));
    let lengths = every!(MaxTokens: ModelOwn, Fixed(4_096), Budget);
    vary!(all, full(), Policy.sampling, lengths.into_iter().map(sampling));
    vary!(all, full(), Policy.reasoning, every!(Reasoning: ModelOwn, Configured, Low, Medium, High));
    vary!(all, full(), Policy.parallel, every!(Parallel: Off, On, Safe));
    vary!(all, full(), Policy.steering, every!(Steering: Queue, Inject));
    let caps = every!(Spill: Drop, Keep).into_iter().map(|rest| ResultCap { chars: 6_000, rest });
    vary!(all, full(), Policy.result_cap, caps);
    let unfinished = every!(UnfinishedCall: RunAgain, Interrupt, Ask, AskOrInterrupt);
    vary!(all, full(), Policy.unfinished_call, unfinished);
    vary!(all, full(), Policy.planning, every!(Planning: No, Optional, Always));
    let kept = every!(HistoryKeeping: AllThatFits, Summarised, Pruned, Consolidated { messages: 100 });
    vary!(all, full(), Policy.history, kept);
    vary!(all, full(), Policy.outside_text, every!(OutsideText: Ignore, Ask));
    vary!(all, full(), Policy.titles, every!(Titles: Off, Model));
    vary!(all, full(), Policy.retrieve, every!(Retrieve: Off, Own, Workspace));
    vary!(all, full(), Policy.overview, every!(Overview: Off, TextCalls, On));
    vary!(all, full(), Policy.unasked_changes, every!(UnaskedChanges: Allow, Ask));
    vary!(all, full(), Policy.router, every!(IntentRouter: Off, Model));
    all
}
