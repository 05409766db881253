//! Which model answers.
//!
//! The protocol: [`choose`] takes what is configured and a [`Wish`]. A flag, a variable or a file
//! decides; then the model the session was begun with; then a key (with a default model); then a server
//! that runs on this machine, asked which models it has; then the demo model, where the wish allows it. A server of
//! this machine that is not certainly the person's own is used only when they say so
//! ([`crate::asking::Person::uses_model_server`]).
//! Nothing is asked of anybody when server and model are named. What was chosen without being named is
//! said in a notice.

mod local;
mod owner;
mod software;
#[cfg(test)]
mod tests;

use std::time::Duration;

use windlass_provider::openai::{ListedModel, ListingError, OpenAiConfig, list_models};
use windlass_provider::{HttpClient, HttpConfig, Secret};
use windlass_vocab::ModelName;

pub use self::local::{LocalServer, Seen};
use crate::settings::{Endpoint, Origin, Settings, SettingsError, Sourced};

/// The name of the demo model; no server is asked for a model of this name.
pub const DEMO: &str = "demo";

/// What OpenAI's server is asked for when there is a key and nobody names a model: any account has it,
/// it calls tools well and costs little.
const OPENAI_MODEL: &str = "gpt-4.1-mini";

/// How long a server that somebody named may take to say which models it has.
const LIST_LIMIT: Duration = Duration::from_secs(5);

/// How many models an error names.
const NAMED: usize = 5;

/// What a session's last run began with.
#[derive(Clone, Debug)]
pub struct Begun {
    pub model: ModelName,
    pub server: Option<String>,
}

/// What a command wants beyond the settings.
#[derive(Clone, Debug)]
pub struct Wish {
    session: Option<Begun>,
    otherwise: Otherwise,
}

impl Wish {
    /// `session` is the model the session was begun with, which is nearer than any that is merely found;
    /// but who talked to the demo model before may have connected a real one since.
    pub fn new(session: Option<Begun>, otherwise: Otherwise) -> Self {
        Self { session: session.filter(|begun| begun.model.as_str() != DEMO), otherwise }
    }

    /// The same after the person said no.
    pub fn refused(self) -> Self {
        Self { otherwise: Otherwise::Demo, ..self }
    }

    /// Whether a person is asked about a server that may be somebody else's.
    pub fn asks(&self) -> bool {
        self.otherwise == Otherwise::Ask
    }
}

/// What happens where no model is configured or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// A sentence says what to set.
    Refuse,
    /// The demo model answers.
    Demo,
    /// A person is asked about a server that was found and is not certainly theirs; else as [`Otherwise::Demo`].
    Ask,
}

/// The model that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub enum Choice {
    /// A model behind a server.
    Server {
        /// The server.
        endpoint: Endpoint,
        /// The model.
        model: Sourced<ModelName>,
    },
    /// The demo model.
    Demo,
}

/// A choice, and what a person should know of it, one sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub choice: Choice,
    pub notices: Vec<String>,
}

impl Chosen {
    fn of(choice: Choice) -> Self {
        Self { choice, notices: Vec::new() }
    }

    fn said(choice: Choice, notice: String) -> Self {
        Self { choice, notices: vec![notice] }
    }

    /// Puts the choice into the settings; gives the model.
    pub fn settle(self, settings: &mut Settings) -> ModelName {
        let model = match self.choice {
            Choice::Server { endpoint, model } => {
                settings.endpoint = Some(endpoint);
                model
            }
            Choice::Demo => Sourced::new(DEMO.into(), Origin::Default),
        };
        settings.model.insert(model).value.clone()
    }
}

/// What is left to find out.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Settled(Chosen),
    /// The server is known; it says which models it has.
    Ask(Endpoint),
    /// No server is known; those of this machine are looked at.
    Look(Option<Sourced<ModelName>>),
}

/// Chooses the model. `locals` are the servers to look for on this machine.
pub async fn choose(settings: &Settings, wish: Wish, locals: &[LocalServer]) -> Result<Chosen, SettingsError> {
    let endpoint = settings.endpoint.as_ref();
    let is_demo = settings.model.as_ref().is_some_and(|model| model.value.as_str() == DEMO);
    if let (false, Some(endpoint), Some(Begun { server: Some(server), .. })) = (is_demo, endpoint, &wish.session) {
        stays(endpoint, server)?;
    }
    match next(endpoint, named(settings, wish.session.map(|begun| begun.model))) {
        Next::Settled(chosen) => Ok(chosen),
        Next::Ask(endpoint) => {
            let listed = models_of(&endpoint, LIST_LIMIT).await;
            one_of(endpoint, listed)
        }
        Next::Look(wanted) => found(&local::look(locals).await, wanted, wish.otherwise),
    }
}

/// What was said to one server goes to no other that nobody named.
fn stays(endpoint: &Endpoint, server: &str) -> Result<(), SettingsError> {
    let Endpoint { base_url, .. } = endpoint;
    if base_url.origin != Origin::Default || base_url.value.trim_end_matches('/') == server.trim_end_matches('/') {
        return Ok(());
    }
    Err(SettingsError::OtherServer { began: server.to_owned(), now: base_url.value.clone() })
}

fn named(settings: &Settings, session: Option<ModelName>) -> Option<Sourced<ModelName>> {
    settings.model.clone().or_else(|| Some(Sourced::new(session?, Origin::Session)))
}

fn next(endpoint: Option<&Endpoint>, model: Option<Sourced<ModelName>>) -> Next {
    match (endpoint.cloned(), model) {
        (_, Some(model)) if model.value.as_str() == DEMO => Next::Settled(Chosen::of(Choice::Demo)),
        (Some(endpoint), Some(model)) => Next::Settled(Chosen::of(Choice::Server { endpoint, model })),
        (Some(endpoint), None) if endpoint.base_url.origin == Origin::Default => {
            let notice = format!("no model is named: {OPENAI_MODEL} is used (choose with --model or OPENAI_MODEL)");
            let model = Sourced::new(OPENAI_MODEL.into(), Origin::Default);
            Next::Settled(Chosen::said(Choice::Server { endpoint, model }, notice))
        }
        (Some(endpoint), None) => Next::Ask(endpoint),
        (None, model) => Next::Look(model),
    }
}

/// The models a server says it has.
pub async fn models_of(endpoint: &Endpoint, limit: Duration) -> Result<Vec<ListedModel>, ListingError> {
    let http = HttpClient::new(HttpConfig::default()).map_err(|error| ListingError::Config(error.into()))?;
    let mut config = OpenAiConfig::new(&endpoint.base_url.value, "");
    config.api_key = endpoint.api_key.as_ref().map(|key| Secret::new(key.value.expose()));
    list_models(&config, &http, limit).await
}

/// The model of a server that somebody named, where nobody named a model: its only one; the first where
/// the server is this machine's, and so is the choice what it holds.
fn one_of(endpoint: Endpoint, listed: Result<Vec<ListedModel>, ListingError>) -> Result<Chosen, SettingsError> {
    let base_url = endpoint.base_url.value.clone();
    let is_ollama = endpoint.base_url.origin == Origin::Variable("OLLAMA_HOST".to_owned());
    let listed = listed.map_err(|error| SettingsError::NoModel {
        base_url: base_url.clone(),
        known: format!(". Asked for one: {error}"),
    })?;
    let fit: Vec<&str> = listed.iter().map(|model| model.id.as_str()).filter(|id| can_talk(id)).collect();
    match fit.as_slice() {
        [] if is_ollama => Err(SettingsError::NoModelHere { server: "Ollama", advice: local::OLLAMA_ADVICE }),
        [] => Err(SettingsError::NoModel { base_url, known: String::new() }),
        [first, rest @ ..] if rest.is_empty() || endpoint.is_here() || is_ollama => {
            let model = Sourced::new(ModelName::from(*first), Origin::Found);
            let name = shown_name(&model.value);
            let notice = format!("no model is named: {name} of {base_url} is used (choose with --model)");
            Ok(Chosen::said(Choice::Server { endpoint, model }, notice))
        }
        [_, ..] => Err(SettingsError::NoModel { base_url, known: format!(". It has {}", some_of(&fit)) }),
    }
}

/// The model of a server that runs here, or what is done without one.
fn found(
    seen: &[(LocalServer, Seen)],
    wanted: Option<Sourced<ModelName>>,
    otherwise: Otherwise,
) -> Result<Chosen, SettingsError> {
    match wanted {
        Some(wanted) => found_named(seen, wanted),
        None => found_any(seen, otherwise),
    }
}

fn found_named(seen: &[(LocalServer, Seen)], wanted: Sourced<ModelName>) -> Result<Chosen, SettingsError> {
    let has = |seen: &Seen| seen.ids().iter().any(|id| is_named(id, wanted.value.as_str()));
    if let Some((server, seen)) = seen.iter().find(|(_, seen)| seen.is_trusted() && has(seen)) {
        let notice = format!("{} on this machine is used ({})", seen.name(), server.base_url);
        let choice = Choice::Server { endpoint: Endpoint::found(&server.base_url), model: wanted };
        return Ok(Chosen::said(choice, notice));
    }
    if let Some((server, seen)) = seen.iter().find(|(_, seen)| has(seen)) {
        return Err(not_used_unasked(server, seen));
    }
    let here = seen.iter().filter(|(_, seen)| !seen.ids().is_empty()).map(|(_, seen)| {
        let ids: Vec<&str> = seen.ids().iter().map(String::as_str).collect();
        format!("{} on this machine has {}. ", seen.name(), some_of(&ids))
    });
    let found = here.collect::<String>()
        + "Set OPENAI_API_KEY for a model of OpenAI, or name its server with --base-url or OPENAI_BASE_URL";
    Err(SettingsError::NoServerFor { origin: wanted.origin, model: wanted.value.0, found })
}

fn found_any(seen: &[(LocalServer, Seen)], otherwise: Otherwise) -> Result<Chosen, SettingsError> {
    let talker = |seen: &Seen| seen.ids().iter().find(|id| can_talk(id)).cloned();
    let trusted = seen.iter().filter(|(_, seen)| seen.is_trusted());
    if let Some((server, seen, id)) = trusted.clone().find_map(|(server, seen)| Some((server, seen, talker(seen)?))) {
        let model = Sourced::new(ModelName::from(id), Origin::Found);
        let (name, server_name) = (shown_name(&model.value), seen.name());
        let notice = format!("{name} of {server_name} on this machine is used (choose with --model)");
        return Ok(Chosen::said(Choice::Server { endpoint: Endpoint::found(&server.base_url), model }, notice));
    }
    let doubtful = seen.iter().find(|(_, seen)| talker(seen).is_some());
    let empty = trusted.map(|(_, seen)| seen).next();
    match (otherwise, doubtful, empty) {
        (Otherwise::Refuse | Otherwise::Ask, Some((server, seen)), _) => Err(not_used_unasked(server, seen)),
        (Otherwise::Demo, Some((server, seen)), _) => {
            Ok(Chosen::said(Choice::Demo, not_used_unasked(server, seen).to_string()))
        }
        (Otherwise::Refuse, None, Some(seen)) => {
            Err(SettingsError::NoModelHere { server: seen.name(), advice: seen.advice() })
        }
        (Otherwise::Refuse, None, None) => Err(SettingsError::NoServer),
        (Otherwise::Demo | Otherwise::Ask, None, Some(seen)) => {
            let notice = format!("{} runs on this machine but has no model yet: {}", seen.name(), seen.advice());
            Ok(Chosen::said(Choice::Demo, notice))
        }
        (Otherwise::Demo | Otherwise::Ask, None, None) => Ok(Chosen::of(Choice::Demo)),
    }
}

fn not_used_unasked(server: &LocalServer, seen: &Seen) -> SettingsError {
    let doubt = seen.doubt(&server.base_url);
    SettingsError::NotUsedUnasked { doubt, base_url: server.base_url.clone() }
}

/// Whether a server's model is the one meant; Ollama lists `qwen3` as `qwen3:latest`.
pub fn is_named(id: &str, wanted: &str) -> bool {
    id == wanted || id.strip_suffix(":latest") == Some(wanted)
}

/// Whether a model is made for conversation, as far as its name tells.
fn can_talk(id: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "embed",
        "bge-",
        "minilm",
        "rerank",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "stable-diffusion",
        "clip-",
        "e5-",
    ];
    let id = id.to_ascii_lowercase();
    !OTHERS.iter().any(|other| id.contains(other))
}

/// A model's name for people; some servers list one that has none.
pub fn shown_name(model: &ModelName) -> &str {
    if has_name(model.as_str()) { model.as_str() } else { "a model without a name" }
}

/// Whether an id says anything.
pub fn has_name(id: &str) -> bool {
    id.chars().any(char::is_alphanumeric)
}

/// The first few of a list, for a sentence.
pub fn some_of(names: &[&str]) -> String {
    let shown = names[..names.len().min(NAMED)].join(", ");
    if names.len() > NAMED { format!("{shown} and {} more", names.len() - NAMED) } else { shown }
}
