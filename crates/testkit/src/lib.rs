//! Test doubles for the services that Windlass uses: a model and its tools, both scripted.
//!
//! A [`Script`] defines the model's replies. [`ModelServer`] plays it over HTTP as a server of OpenAI Chat
//! Completions, Anthropic Messages and OpenAI Responses, for the real client and the real binary; [`ScriptedModel`] plays it in
//! process. Both choose the reply by the conversation that the request carries and never by the
//! order of arrival, so that a client that was killed gets the same reply when it asks again.
//!
//! [`CountingTool`]s count their executions on disk, so that a test can find out after a crash what ran twice.
//!
//! [`FakeOllama`] is a server of Ollama's own interface, by which it downloads models.
//!
//! [`mcp`] has fake MCP servers that misbehave on request; [`Packages`] finds installed third-party ones.
//!
//! Not everything is scripted: [`LocalModel`] is a real model, and [`SdkJudge`] asks the providers' own SDKs about requests
//! and answers.
//!
//! Every request is checked for [`legality`]; an illegal one is refused and recorded, so that a test
//! that does not check for it fails all the same.

mod fault;
mod http;
mod legality;
mod local_model;
pub mod mcp;
mod model;
mod ollama;
mod openai_sdk;
mod packages;
mod plan;
mod position;
mod prompt_cache;
mod recorded_request;
mod request;
mod script;
mod sdk_judge;
mod server;
mod skip;
#[cfg(target_os = "linux")]
mod small_disk;
mod stage;
mod tools;
mod ways_to_die;
mod wire;

pub use fault::{BodyPoint, FaultKind, ScriptedFault};
pub use legality::{history_legality, legality, wire_legality};
pub use local_model::{ChatTemplate, LocalModel};
pub use model::{HeardRequest, ScriptedModel};
pub use ollama::{FakeOllama, PullEnd};
pub use openai_sdk::OpenAiSdk;
pub use packages::{Packages, node};
pub use position::conversation;
pub use recorded_request::RecordedRequest;
pub use script::{
    AfterSteps, CountFrom, Inspection, ReplyPace, Scene, SceneCondition, Script, ScriptStep, ScriptedCall,
    TokenCounting, TokenCounts, ToolCalling, WriteSplit,
};
pub use sdk_judge::{SdkAnswer, SdkJudge, SdkWire};
pub use server::{ModelServer, ServerOptions};
pub use skip::skip;
#[cfg(target_os = "linux")]
pub use small_disk::small_disk;
pub use tools::{CountingTool, SERVER, ToolBehaviour, counts, executions};
pub use ways_to_die::{KillTarget, count_ways_to_die};
