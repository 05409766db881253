//! What a server and a model can do and accept. Whatever a codec would otherwise decide by the name of a host or a
//! model is a named ability here.
//!
//! [`Abilities::of`] is a pure function: it starts with the row of the server, which the row of the model overrides
//! ([`known_model`]); [`Abilities::overridden`] then applies what the server says of itself, or the configuration. What
//! nobody knows is [`Ability::Unknown`], and the server may be asked.

use windlass_vocab::PromptCache;

use crate::known_models::{KnownModel, known_model};
use crate::server_abilities::abilities_of_server;
use crate::server_kind::ServerKind;

pub use crate::ability::{
    Ability, CallIdForm, EffortLevel, LengthField, ReasoningControl, ReasoningReturn, ResponseFormat, WireKind,
};

/// What a model on a server can do and accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The wires it can be called by, the preferred one first.
    pub wires: &'static [WireKind],
    /// Whether it calls tools by the wire's own means.
    pub native_calls: Ability,
    /// Whether one reply may contain several calls.
    pub parallel_calls: Ability,
    /// Whether it takes images.
    pub images: Ability,
    /// Whether an answer can be held to a JSON schema.
    pub json_schema: Ability,
    /// When the schema of an answer is sent.
    pub response_format: ResponseFormat,
    /// How its reasoning is controlled.
    pub reasoning: ReasoningControl,
    /// Whether its earlier reasoning is sent back, and how.
    pub reasoning_return: ReasoningReturn,
    /// Whether it reasons for long without sending anything, and so needs a longer limit on silence (M4).
    pub silent_reasoning: Ability,
    /// The wire name of the length limit.
    pub length_field: LengthField,
    /// Whether it accepts a temperature.
    pub temperature: Ability,
    /// Whether it accepts a `tool_choice` that names the one tool to call.
    pub tool_choice_named: Ability,
    /// Whether it accepts the option that asks for usage at the end of a stream.
    pub stream_usage_option: Ability,
    /// Whether it accepts `prompt_cache_key`.
    pub prompt_cache_key: Ability,
    /// How it caches what is sent, where that is known and it reports what it read.
    pub prompt_cache: Option<PromptCache>,
    /// Whether it accepts a message of the user directly after the results of calls. Where it does not, a short message
    /// of the assistant stands between them.
    pub user_after_results: Ability,
    /// Which ids of calls it accepts in Chat Completions.
    pub call_ids: CallIdForm,
}

/// What the server or the person says of a model's abilities; absent fields leave them as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbilityOverrides {
    /// See [`Abilities::native_calls`].
    pub native_calls: Option<Ability>,
    /// See [`Abilities::parallel_calls`].
    pub parallel_calls: Option<Ability>,
    /// See [`Abilities::images`].
    pub images: Option<Ability>,
    /// See [`Abilities::json_schema`].
    pub json_schema: Option<Ability>,
    /// See [`Abilities::response_format`].
    pub response_format: Option<ResponseFormat>,
}

impl Abilities {
    /// Returns what is known of a model on a server of this kind.
    #[must_use]
    pub fn of(server: ServerKind, model: &str) -> Self {
        let usual = Self { silent_reasoning: silent_by_name(model), ..abilities_of_server(server) };
        known_model(server, model).map_or(usual, |row| usual.with_row(server, row))
    }

    fn with_row(self, server: ServerKind, row: &KnownModel) -> Self {
        let reasoning = match row.reasoning {
            ReasoningControl::Unknown => self.reasoning,
            known @ (ReasoningControl::NoReasoning
            | ReasoningControl::Fixed
            | ReasoningControl::Switch
            | ReasoningControl::Levels(_)
            | ReasoningControl::Budget { .. }) => known,
        };
        let json_schema = self.json_schema.or_if_known(row.json_schema);
        let is_mistral = row.seller == ServerKind::Mistral;
        Self {
            // Another seller's row says nothing of the wires that this server has.
            wires: if row.seller == server { row.wires.unwrap_or(self.wires) } else { self.wires },
            native_calls: self.native_calls.or_if_known(row.native_calls),
            parallel_calls: self.parallel_calls.or_if_known(row.parallel_calls),
            images: self.images.or_if_known(row.images),
            json_schema,
            response_format: match json_schema {
                Ability::No => ResponseFormat::Never,
                Ability::Yes | Ability::Unknown => self.response_format,
            },
            reasoning,
            silent_reasoning: self.silent_reasoning.or_if_known(row.silent_reasoning()),
            temperature: self.temperature.or_if_known(row.temperature),
            // Mistral's models are strict about the form of a conversation on other servers, too.
            user_after_results: if is_mistral { Ability::No } else { self.user_after_results },
            call_ids: if is_mistral { CallIdForm::NineCharacters } else { self.call_ids },
            ..self
        }
    }

    /// Returns these abilities with those that are known better.
    #[must_use]
    pub fn overridden(self, by: &AbilityOverrides) -> Self {
        Self {
            native_calls: by.native_calls.unwrap_or(self.native_calls),
            parallel_calls: by.parallel_calls.unwrap_or(self.parallel_calls),
            images: by.images.unwrap_or(self.images),
            json_schema: by.json_schema.unwrap_or(self.json_schema),
            response_format: by.response_format.unwrap_or(self.response_format),
            ..self
        }
    }
}

/// Prefixes of the names of reasoning models, after any vendor prefix with a slash, and words within such names. They
/// serve for models that are not in the table.
const REASONERS: [&str; 8] = ["o1", "o3", "o4", "gpt-5", "gpt-oss", "deepseek-r", "qwq", "magistral"];
const REASONING_WORDS: [&str; 2] = ["think", "reason"];

/// Whether a model reasons silently, judging by its name.
fn silent_by_name(model: &str) -> Ability {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let reasons = REASONERS.iter().any(|start| name.starts_with(start))
        || REASONING_WORDS.iter().any(|word| name.contains(word)) && !name.contains("non-reason");
    if reasons { Ability::Yes } else { Ability::Unknown }
}

#[cfg(test)]
mod tests;
