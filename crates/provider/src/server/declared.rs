//! What a server declares about one of its models without a model call (M8): each kind of software in a form of its own.
//! These are pure functions over answers; `questions.rs` asks.

use serde_json::Value;
use windlass_vocab::ModelSoftware;

use crate::abilities::AbilityOverrides;
use crate::ability::{Ability, ResponseFormat};

/// What a server declares about a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeclaredModel {
    /// The server's software, recognized by its answers.
    pub software: Option<ModelSoftware>,
    /// The context window that the model has there, in tokens.
    pub window: Option<u64>,
    /// Whether it calls tools by the wire's own means.
    pub native_calls: Ability,
    /// Whether one reply may contain several calls.
    pub parallel_calls: Ability,
    /// Whether an answer can be held to a JSON schema.
    pub json_schema: Ability,
    /// Whether it takes images.
    pub images: Ability,
}

impl DeclaredModel {
    /// A model of which the server says nothing.
    #[must_use]
    pub const fn nothing(software: Option<ModelSoftware>) -> Self {
        Self {
            software,
            window: None,
            native_calls: Ability::Unknown,
            parallel_calls: Ability::Unknown,
            json_schema: Ability::Unknown,
            images: Ability::Unknown,
        }
    }
}

impl DeclaredModel {
    /// Returns what this says of the model, and what the other says where this says nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            software: self.software.or(other.software),
            window: self.window.or(other.window),
            native_calls: other.native_calls.or_if_known(self.native_calls),
            parallel_calls: other.parallel_calls.or_if_known(self.parallel_calls),
            json_schema: other.json_schema.or_if_known(self.json_schema),
            images: other.images.or_if_known(self.images),
        }
    }

    /// Returns the abilities that it names, for [`Abilities::overridden`](crate::abilities::Abilities::overridden).
    #[must_use]
    pub fn overrides(&self) -> AbilityOverrides {
        let known = |ability: Ability| Some(ability).filter(|ability| *ability != Ability::Unknown);
        AbilityOverrides {
            native_calls: known(self.native_calls),
            parallel_calls: known(self.parallel_calls),
            images: known(self.images),
            json_schema: known(self.json_schema),
            response_format: (self.json_schema == Ability::No).then_some(ResponseFormat::Never),
        }
    }
}

/// Recognizes the software behind a list of models, by who owns them there.
pub(super) fn software_of_list(server_header: Option<&str>, list: &Value) -> Option<ModelSoftware> {
    if server_header == Some("llama.cpp") {
        return Some(ModelSoftware::LlamaCpp);
    }
    match list.pointer("/data/0/owned_by").and_then(Value::as_str) {
        Some("llamacpp") => Some(ModelSoftware::LlamaCpp),
        Some("vllm") => Some(ModelSoftware::Vllm),
        Some("library") => Some(ModelSoftware::Ollama),
        Some("organization_owner") => Some(ModelSoftware::LmStudio),
        Some(_) | None => None,
    }
}

/// Reads the answer of llama.cpp at `/props`. Its window is that of one conversation, not of all together.
pub(super) fn of_llama_cpp(props: &Value) -> DeclaredModel {
    let cap = |name: &str| ability(props.pointer("/chat_template_caps")?.get(name));
    let native_calls = match (cap("supports_tools"), cap("supports_tool_calls")) {
        (Some(Ability::No), _) | (_, Some(Ability::No)) => Ability::No,
        (Some(Ability::Yes), _) => Ability::Yes,
        (Some(Ability::Unknown) | None, _) => Ability::Unknown,
    };
    DeclaredModel {
        window: tokens(props.pointer("/default_generation_settings/n_ctx")),
        native_calls,
        parallel_calls: cap("supports_parallel_tool_calls").unwrap_or_default(),
        // Its grammars hold any model to a schema.
        json_schema: Ability::Yes,
        images: ability(props.pointer("/modalities/vision")).unwrap_or_default(),
        ..DeclaredModel::nothing(Some(ModelSoftware::LlamaCpp))
    }
}

/// Reads Ollama's answers at `/api/show` and `/api/ps`. The window is the one that the model was loaded with, or will be by
/// its own parameters. That of its training is none: Ollama gives most models less.
pub(super) fn of_ollama(model: &str, show: &Value, running: Option<&Value>) -> DeclaredModel {
    let capabilities = show["capabilities"].as_array();
    let can =
        |name: &str| capabilities.map_or(Ability::Unknown, |list| Ability::from(list.iter().any(|can| can == name)));
    let is_named = |entry: &&Value| ["name", "model"].iter().any(|key| is_same_model(&entry[*key], model));
    let loaded = running.and_then(|running| running["models"].as_array()?.iter().find(is_named));
    let loaded = loaded.and_then(|entry| tokens(entry.get("context_length")));
    DeclaredModel {
        window: loaded.or_else(|| own_window(show["parameters"].as_str()?)),
        native_calls: can("tools"),
        images: can("vision"),
        ..DeclaredModel::nothing(Some(ModelSoftware::Ollama))
    }
}

/// Reads an entry of LM Studio's list at `/api/v0/models`. A model without its own way of calling tools gets a general one,
/// so that nothing follows from its absence.
pub(super) fn of_lm_studio(model: &str, list: &Value) -> Option<DeclaredModel> {
    let entry = list["data"].as_array()?.iter().find(|entry| entry["id"] == model)?;
    let calls = entry["capabilities"].as_array().is_some_and(|list| list.iter().any(|can| can == "tool_use"));
    let kind = entry["type"].as_str();
    Some(DeclaredModel {
        window: tokens(entry.get("loaded_context_length")),
        native_calls: if calls { Ability::Yes } else { Ability::Unknown },
        images: kind.map_or(Ability::Unknown, |kind| Ability::from(kind == "vlm")),
        ..DeclaredModel::nothing(Some(ModelSoftware::LmStudio))
    })
}

/// Reads `num_ctx 4096` among the parameters of a model.
fn own_window(parameters: &str) -> Option<u64> {
    let value = |line: &str| line.trim().strip_prefix("num_ctx")?.trim().trim_matches('"').parse().ok();
    parameters.lines().find_map(value).filter(|tokens| *tokens > 0)
}

/// Whether an entry of Ollama's is the model; `qwen3` is `qwen3:latest` there.
fn is_same_model(entry: &Value, model: &str) -> bool {
    entry.as_str().is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
}

fn tokens(value: Option<&Value>) -> Option<u64> {
    value?.as_u64().filter(|tokens| *tokens > 0)
}

fn ability(value: Option<&Value>) -> Option<Ability> {
    value?.as_bool().map(Ability::from)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_vocab::ModelSoftware;

    use super::{DeclaredModel, of_llama_cpp, of_lm_studio, of_ollama, software_of_list};
    use crate::ability::Ability::{self, No, Unknown, Yes};

    /// Native calls, parallel calls, images, window.
    type Seen = (Ability, Ability, Ability, Option<u64>);

    fn seen(declared: &DeclaredModel) -> Seen {
        (declared.native_calls, declared.parallel_calls, declared.images, declared.window)
    }

    // proves M8
    #[test]
    fn llama_cpp_says_what_its_template_and_its_slots_can() {
        let caps = |tools, calls, parallel| {
            json!({
                "default_generation_settings": {"n_ctx": 8192, "params": {}},
                "modalities": {"vision": false, "audio": false},
                "chat_template_caps": {
                    "supports_tools": tools, "supports_tool_calls": calls, "supports_parallel_tool_calls": parallel,
                },
            })
        };
        for (props, expected) in [
            (caps(true, true, false), (Yes, No, No, Some(8192))),
            (caps(true, true, true), (Yes, Yes, No, Some(8192))),
            (caps(false, false, false), (No, No, No, Some(8192))),
            (caps(true, false, false), (No, No, No, Some(8192))),
            (json!({"default_generation_settings": {"n_ctx": 0}}), (Unknown, Unknown, Unknown, None)),
            (json!({"modalities": {"vision": true}}), (Unknown, Unknown, Yes, None)),
            (json!("none"), (Unknown, Unknown, Unknown, None)),
        ] {
            assert_eq!(seen(&of_llama_cpp(&props)), expected, "{props}");
        }
    }

    // proves M8
    #[test]
    fn ollama_says_what_a_model_can_and_the_window_it_runs_with() {
        let show = |capabilities: Value, parameters: &str| {
            json!({
                "capabilities": capabilities, "parameters": parameters,
                "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
            })
        };
        let running =
            |name: &str, window: u64| json!({"models": [{"name": name, "model": name, "context_length": window}]});
        let tools = json!(["completion", "tools", "thinking"]);
        let with_window = "temperature 0.7\nnum_ctx                        16384\nstop \"<|im_end|>\"";
        for (show, running, expected) in [
            (show(tools.clone(), ""), running("qwen3:latest", 4096), (Yes, Unknown, No, Some(4096))),
            (show(tools.clone(), with_window), running("other", 4096), (Yes, Unknown, No, Some(16384))),
            (show(tools, with_window), running("qwen3", 8192), (Yes, Unknown, No, Some(8192))),
            (show(json!(["completion", "vision"]), ""), json!({"models": []}), (No, Unknown, Yes, None)),
            (show(Value::Null, "num_ctx many"), Value::Null, (Unknown, Unknown, Unknown, None)),
        ] {
            assert_eq!(seen(&of_ollama("qwen3", &show, Some(&running))), expected, "{show} {running}");
        }
    }

    // proves M8
    #[test]
    fn lm_studio_says_the_window_a_model_was_loaded_with() {
        let list = json!({"data": [
            {"id": "a", "type": "llm", "state": "not-loaded", "max_context_length": 131_072},
            {"id": "b", "type": "vlm", "state": "loaded", "loaded_context_length": 4096, "capabilities": ["tool_use"]},
        ]});
        assert_eq!(of_lm_studio("a", &list).as_ref().map(seen), Some((Unknown, Unknown, No, None)));
        assert_eq!(of_lm_studio("b", &list).as_ref().map(seen), Some((Yes, Unknown, Yes, Some(4096))));
        assert_eq!(of_lm_studio("c", &list), None);
    }

    #[test]
    fn software_is_recognized_by_the_owner_of_its_models() {
        for (header, owner, kind) in [
            (Some("llama.cpp"), "me", Some(ModelSoftware::LlamaCpp)),
            (Some("uvicorn"), "vllm", Some(ModelSoftware::Vllm)),
            (None, "library", Some(ModelSoftware::Ollama)),
            (None, "llamacpp", Some(ModelSoftware::LlamaCpp)),
            (None, "organization_owner", Some(ModelSoftware::LmStudio)),
            (None, "openai", None),
        ] {
            assert_eq!(software_of_list(header, &json!({"data": [{"id": "m", "owned_by": owner}]})), kind, "{owner}");
        }
        assert_eq!(software_of_list(None, &json!({"data": []})), None);
    }
}
