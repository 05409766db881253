//! Windlass runs agents and loses nothing: every step is recorded before the next, so a crash, a rate limit or a weak
//! model reply costs no work.
//!
//! The protocol: a [`Builder`] gathers a model, tools and rules into an [`Agent`]; [`Agent::run`] sends a message and
//! returns the answer, or a [`RunError`] with the reason, the text so far and the session. A message sent in a session
//! named by [`Agent::session`] continues that session; sent again with the same message id after a crash, it continues
//! the same run.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // Which model, by WINDLASS_MODEL: `ollama:qwen3`, `openai:gpt-5-mini`, `http://127.0.0.1:8080/v1`.
//! let answer = windlass::Agent::from_env()?.run("Say hello to a sailor.").await?;
//!
//! // The same without the environment, with file tools and a session that is kept. With commands as well, leave out
//! // the rule and begin `main` with `windlass::init`.
//! let builder = windlass::Agent::builder().model("ollama:qwen3").data_dir("journals");
//! let agent = builder.workspace(".").deny("run_command").build()?;
//! println!("{}", agent.session("notes").run("Summarise README.md in three lines.").await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Tools
//!
//! A tool is a closure ([`Function`]), or a type of arguments with a declaration ([`ToolArgs`], [`TypedTool`]). Both
//! give the model a schema made from the type, and both receive the agent's `Deps`. An error is an answer: the model
//! reads it and tries something else. `serde` parses the types and `schemars` describes them; a program with typed
//! tools depends on both.
//!
//! ```
//! use std::sync::Arc;
//! use windlass::{Agent, Function, ToolError};
//!
//! struct Shop {
//!     apples: u32,
//! }
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Basket {
//!     /// How many are wanted.
//!     apples: u32,
//! }
//!
//! let price = Function::new("price", "Says what apples cost.", |shop: Arc<Shop>, basket: Basket| async move {
//!     if basket.apples > shop.apples {
//!         return Err(ToolError::new(format!("only {} are left", shop.apples)));
//!     }
//!     Ok(format!("{} cents", basket.apples * 50))
//! });
//! let agent = Agent::builder()
//!     .model("ollama:qwen3")
//!     .in_memory()
//!     .deps(Shop { apples: 3 })
//!     .tool(price.read_only())
//!     .build()?;
//! # let _: Agent<Shop> = agent;
//! # Ok::<(), windlass::BuildError>(())
//! ```
//!
//! # Typed output
//!
//! The runs of an agent with an [`Output`] end with a value of that type. The model must answer with JSON that fits the
//! type's schema; an answer that does not fit goes back to it with the errors, as often as the policy's
//! `output_corrections` says, and then the run fails.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Ship {
//!     name: String,
//!     /// In metres.
//!     length: f64,
//! }
//!
//! let agent = windlass::Agent::builder().model("ollama:qwen3").output::<Ship>().build()?;
//! let ship = agent.run("The Anna came in, a ship of some 52 metres.").await?;
//! println!("{} of {} m", ship.name, ship.length);
//! # Ok(())
//! # }
//! ```
//!
//! # Following, cancelling, resuming
//!
//! [`Agent::start`] returns a running run ([`RunHandle`]): its events, a method to stop it, its end.
//! [`AgentSession::resume`] resumes a run that was left unfinished, by a crash or on purpose. A message with an id
//! ([`AgentSession::once`]) is never processed twice.
//!
//! ```no_run
//! # async fn example(agent: windlass::Agent) -> Result<(), Box<dyn std::error::Error>> {
//! let notes = agent.session("notes");
//! let mut running = match notes.resume().await? {
//!     Some(running) => running,
//!     None => notes.start("Summarise README.md in three lines.").await?,
//! };
//! while let Some(event) = running.next().await {
//!     println!("{event:?}");
//! }
//! println!("{}", running.answer().await?);
//! # Ok(())
//! # }
//! ```
//!
//! # Approvals
//!
//! Rules decide what a run may do without asking ([`Builder::allow`], [`Builder::deny`]). If a call needs approval, the
//! handler given to [`Builder::on_question`] answers; without one such calls are refused, and the model is told so.
//!
//! Each of these topics has a program under `examples/`.
//!
//! # Guards
//!
//! A program whose agent may run commands calls `init` first in `main`, so that it can serve as its own guard process
//! (commands and all their children die with the program that started them).
//!
//! # Features
//!
//! All are on unless `default-features = false`: `commands` (the tool that runs commands, and their sandbox), `fetch`
//! (web pages), `mcp` (tools of MCP servers), `pdf` (text of attached PDF documents), `sqlite` (journals in a folder; without it give a store or use
//! [`Builder::in_memory`]), `json-schema` (any JSON schema for tools and outputs; without it only those generated from
//! Rust types). Without any of them Windlass needs half as many packages.
//!
//! # Stability
//!
//! The items at the root of this crate are for programs that embed an agent, and change with care. The methods of
//! [`Agent`] for doors, and the crates Windlass is built of (`windlass-runtime`, `windlass-store`, `windlass-tools` …),
//! are for programs with their own store, model or door; they may change with any minor version.

#![deny(missing_docs)]

mod agent;
mod agent_instructions;
mod agent_parts;
mod answer;
mod asking;
mod bare_ids;
mod build_error;
mod builder;
mod declaration;
pub mod door;
mod ended;
mod environment;
mod follow_error;
mod function;
#[cfg(feature = "commands")]
mod guard;
mod host_address;
mod listed_models;
#[cfg(feature = "mcp")]
mod mcp_servers;
mod message;
mod model_chain;
mod model_name;
mod model_providers;
mod money_limits;
mod output;
mod provider_table;
mod resolved_model;
mod role_chains;
mod run_error;
mod run_handle;
mod run_wait;
mod schema;
mod session;
mod sources;
mod typed;

pub use agent::Agent;
pub use answer::{Data, TextWithImages, ToolAnswer, ToolError};
pub use build_error::BuildError;
pub use builder::Builder;
pub use declaration::Declaration;
pub use function::Function;
#[cfg(feature = "commands")]
pub use guard::{GUARD_ARGUMENT, init, own_guard};
pub use message::Prompt;
pub use output::Output;
pub use run_error::{RunError, RunErrorReason, RunLimit};
pub use run_handle::RunHandle;
pub use session::AgentSession;
pub use typed::{BoundTool, IntoTool, ToolArgs, Typed, TypedTool, typed};
/// Declares a tool by the type of its arguments; see the trait of the same name.
pub use windlass_derive::ToolArgs;

/// The crate that generates schemas from types, in the version this crate uses.
pub use schemars;

pub use windlass_provider::{ResponseFormat, WireKind};
pub use windlass_runtime::{ContextSource, InstructionFile, Passage, ProjectInstructions, Session, SourceError};
pub use windlass_tools::{AttachError, CallContext, Skill, SkillOwner, Tool, Verification};
/// An answer to a question of a run.
pub use windlass_vocab::Answer as QuestionAnswer;
pub use windlass_vocab::{
    DeltaBody, EffectClass, EndReason, Event, ModelRole, PolicyPatch, QuestionAsked, QuestionOption, Record, Retrieve,
    RunEnded, StopBy,
};

/// Compiles the program in the README.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
