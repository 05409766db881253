//! The six presets: the five published designs and our own default, one row each. They are data; there is only one
//! loop.

use std::collections::BTreeSet;

use windlass_vocab::{
    Dialect, EndsBy, Guard, HistoryKeeping, MaxTokens, Nudge, OutsideText, Parallel, Planning, Policy, Reasoning,
    ResultCap, Retrieve, Retry, Sampling, Spill, Steering, StreamIdle, Titles, ToolSource, TurnCapAction,
    UnfinishedCall,
};

/// The presets' names.
pub const PRESETS: [&str; 6] = ["durable-chat", "local-model", "assistant", "task", "operator", "default"];

/// Returns the policy of a preset.
#[must_use]
pub fn preset(name: &str) -> Option<Policy> {
    ROWS.iter().find(|row| row.name == name).map(PresetColumn::policy)
}

/// A column of the preset table.
struct PresetColumn {
    name: &'static str,
    cap: (u32, TurnCapAction),
    /// Tries, first wait, ceiling.
    retry: (u32, u64, u64),
    dialects: &'static [Dialect],
    tools: &'static [ToolSource],
    ends_by: EndsBy,
    sampling: Sampling,
    reasoning: Reasoning,
    parallel: Parallel,
    steering: Steering,
    /// Before the first token, between tokens.
    idle: (u64, u64),
    guards: &'static [Guard],
    result_cap: (u32, Spill),
    unfinished_call: UnfinishedCall,
    nudges: &'static [Nudge],
    planning: Planning,
    history: HistoryKeeping,
}

const OWN: Sampling =
    Sampling { tool_temperature_milli: None, talk_temperature_milli: None, max_tokens: MaxTokens::ModelOwn };
const NO_CEILING: u64 = 60_000;

const ROWS: [PresetColumn; 6] = [
    PresetColumn {
        name: "durable-chat",
        cap: (20, TurnCapAction::Fail),
        retry: (3, 3_000, NO_CEILING),
        dialects: &[Dialect::Native],
        tools: &[ToolSource::Mcp],
        ends_by: EndsBy::Text,
        sampling: OWN,
        reasoning: Reasoning::ModelOwn,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        idle: (60_000, 60_000),
        guards: &[Guard::Cycle],
        result_cap: (16_000, Spill::Drop),
        unfinished_call: UnfinishedCall::RunAgain,
        nudges: &[],
        planning: Planning::No,
        history: HistoryKeeping::AllThatFits,
    },
    PresetColumn {
        name: "local-model",
        cap: (10, TurnCapAction::WrapUp),
        retry: (2, 1_000, NO_CEILING),
        dialects: &[Dialect::Native, Dialect::Bracket, Dialect::Lines, Dialect::BareJson],
        tools: &[ToolSource::BuiltIn, ToolSource::Mcp],
        ends_by: EndsBy::JudgedText,
        sampling: Sampling {
            tool_temperature_milli: Some(100),
            talk_temperature_milli: Some(700),
            max_tokens: MaxTokens::ModelOwn,
        },
        reasoning: Reasoning::Low,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        idle: (180_000, 180_000),
        guards: &[Guard::RepeatedRead, Guard::FailedTool, Guard::ErrorTurns, Guard::Cycle],
        result_cap: (6_000, Spill::Drop),
        unfinished_call: UnfinishedCall::Interrupt,
        nudges: &[Nudge::Incomplete, Nudge::Deflection, Nudge::Empty, Nudge::CutOff],
        planning: Planning::Optional,
        history: HistoryKeeping::Summarised,
    },
    PresetColumn {
        name: "assistant",
        cap: (40, TurnCapAction::WrapUp),
        retry: (4, 1_000, NO_CEILING),
        dialects: &[Dialect::Native],
        tools: &[ToolSource::BuiltIn, ToolSource::Mcp],
        ends_by: EndsBy::Text,
        sampling: Sampling {
            tool_temperature_milli: Some(100),
            talk_temperature_milli: Some(100),
            max_tokens: MaxTokens::Fixed(4_096),
        },
        reasoning: Reasoning::Configured,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        idle: (90_000, 90_000),
        guards: &[Guard::FailedTool, Guard::Cycle],
        result_cap: (16_000, Spill::Keep),
        unfinished_call: UnfinishedCall::Interrupt,
        nudges: &[Nudge::Empty, Nudge::CutOff],
        planning: Planning::No,
        history: HistoryKeeping::Consolidated { messages: 100 },
    },
    PresetColumn {
        name: "task",
        cap: (100, TurnCapAction::Fail),
        retry: (3, 1_000, NO_CEILING),
        dialects: &[Dialect::ToolBlock],
        tools: &[ToolSource::BuiltIn, ToolSource::Ending, ToolSource::Mcp],
        ends_by: EndsBy::EndingTool,
        sampling: OWN,
        reasoning: Reasoning::ModelOwn,
        parallel: Parallel::Off,
        steering: Steering::Queue,
        idle: (60_000, 60_000),
        guards: &[Guard::FiveErrors, Guard::Cycle],
        result_cap: (16_000, Spill::Drop),
        unfinished_call: UnfinishedCall::Ask,
        nudges: &[Nudge::NoToolCall],
        planning: Planning::No,
        history: HistoryKeeping::Pruned,
    },
    PresetColumn {
        name: "operator",
        cap: (50, TurnCapAction::WrapUp),
        retry: (6, 500, 32_000),
        dialects: &[Dialect::Native],
        tools: &[ToolSource::BuiltIn, ToolSource::Mcp, ToolSource::Remote],
        ends_by: EndsBy::Text,
        sampling: Sampling {
            tool_temperature_milli: Some(300),
            talk_temperature_milli: Some(300),
            max_tokens: MaxTokens::Budget,
        },
        reasoning: Reasoning::Configured,
        parallel: Parallel::On,
        steering: Steering::Queue,
        idle: (60_000, 2_000),
        guards: &[Guard::Cycle],
        result_cap: (16_000, Spill::Keep),
        unfinished_call: UnfinishedCall::Ask,
        nudges: &[],
        planning: Planning::No,
        history: HistoryKeeping::Summarised,
    },
    PresetColumn {
        name: "default",
        cap: (50, TurnCapAction::WrapUp),
        retry: (6, 500, 32_000),
        dialects: &[Dialect::Native, Dialect::Probe],
        tools: &[ToolSource::BuiltIn, ToolSource::Mcp],
        ends_by: EndsBy::Text,
        sampling: OWN,
        reasoning: Reasoning::Configured,
        parallel: Parallel::Safe,
        steering: Steering::Inject,
        idle: (60_000, 60_000),
        guards: &[Guard::RepeatedRead, Guard::FailedTool, Guard::ErrorTurns, Guard::FiveErrors, Guard::Cycle],
        result_cap: (16_000, Spill::Keep),
        unfinished_call: UnfinishedCall::AskOrInterrupt,
        nudges: &[Nudge::Empty, Nudge::CutOff],
        planning: Planning::Optional,
        history: HistoryKeeping::Summarised,
    },
];

impl PresetColumn {
    fn policy(&self) -> Policy {
        let (tries, first_wait_ms, ceiling_ms) = self.retry;
        Policy {
            preset: self.name.to_owned(),
            turn_cap: self.cap.0,
            at_cap: self.cap.1,
            retry: Retry { tries, first_wait_ms, ceiling_ms },
            dialects: self.dialects.to_vec(),
            tools: self.tools.iter().copied().collect(),
            ends_by: self.ends_by,
            sampling: self.sampling,
            reasoning: self.reasoning,
            parallel: self.parallel,
            steering: self.steering,
            stream_idle: StreamIdle { first_ms: self.idle.0, next_ms: self.idle.1 },
            guards: self.guards.iter().copied().collect(),
            result_cap: ResultCap { chars: self.result_cap.0, rest: self.result_cap.1 },
            unfinished_call: self.unfinished_call,
            nudges: self.nudges.iter().copied().collect(),
            planning: self.planning,
            history: self.history,
            approval_wait_ms: 300_000,
            tool_timeout_ms: 120_000,
            output_corrections: 2,
            tags: BTreeSet::new(),
            hidden: BTreeSet::new(),
            retry_after_limit_ms: Some(600_000),
            server_wait_ms: 5_000,
            outside_text: OutsideText::Ask,
            titles: Titles::Off,
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
        }
    }
}
