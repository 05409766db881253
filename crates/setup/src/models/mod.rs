//! Chooses the model that a run uses.
//!
//! The protocol: [`choose`] takes the settings and a [`ModelPreference`]. In this order it uses: a flag, a variable
//! or a file; the model the session was begun with; an API key (with a default model); a server that runs on this
//! machine, which is asked for its models; the demo model, where the preference allows it. A server on this machine
//! that may not be the person's own is used only when they agree ([`crate::asking::Person::uses_model_server`]). When
//! server and model are both named, no server and no person is asked. A notice reports a choice that nobody named.
//!
//! Once it is chosen, its server is asked what the model can do ([`questions::learn`]).

mod demo_name;
pub(crate) mod known_models;
pub(crate) mod listed;
mod local;
pub mod memory;
mod notice;
mod owner;
pub mod questions;
mod recorded_chain;
pub(crate) mod software;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use windlass::door::{
    LIST_LIMIT, ListedChoice, ListedRule, OPENAI, UnnamedModel, choose_listed, is_chat_model, provider_of_id,
};
use windlass_provider::{HttpClient, HttpConfig, ListedModel, ListingError, ModelConfig, Secret, list_models};
use windlass_vocab::{FailureClass, ModelName, RunStarted};

pub use self::demo_name::DEMO;
pub use self::known_models::{KnownModels, list_some};
pub use self::local::{LocalProbe, LocalServer};
pub use self::notice::ModelNotice;
pub use self::software::Software;
use crate::settings::{ModelEndpoint, SettingOrigin, Settings, SettingsError, Sourced};

/// The model of a session's last run, and the servers of that run.
#[derive(Clone, Debug)]
pub struct SessionModel {
    /// The first model of its chain.
    pub model: ModelName,
    /// The server of that model.
    pub server: Option<String>,
    /// The models that follow in its chain.
    pub others: Vec<ModelName>,
    /// The servers of all models of its chain and of its roles: each may have been sent the conversation.
    pub servers: BTreeSet<String>,
    /// Whether that run goes on.
    pub run: RunState,
}

/// Whether the last run of a session is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It goes on with the models it began with.
    Open,
    /// The next one uses the models of the settings: the record of an imported session, which has no open run, must not
    /// say where words are sent.
    Ended,
}

impl SessionModel {
    /// Returns the models of a run; `None` if it has none.
    #[must_use]
    pub fn of(run: &RunStarted, state: RunState) -> Option<Self> {
        let model = run.chain.first()?.clone();
        let called = run.chain.iter().chain(run.role_chains.values().flatten());
        let servers = called.filter_map(|model| run.server_of(model)).map(str::to_owned).collect();
        let others = run.chain.iter().skip(1).cloned().collect();
        Some(Self { server: run.server_of(&model).map(str::to_owned), model, others, servers, run: state })
    }
}

/// What a command requires of the model beyond the settings.
#[derive(Clone, Debug)]
pub struct ModelPreference {
    session: Option<SessionModel>,
    fallback: ModelFallback,
}

impl ModelPreference {
    /// `session` is the model the session was begun with; it takes precedence over one that is merely found. The demo
    /// model is ignored here: the person may have connected a real model since.
    pub fn new(session: Option<SessionModel>, fallback: ModelFallback) -> Self {
        Self { session: session.filter(|begun| begun.model.as_str() != DEMO), fallback }
    }

    /// The model of the open run.
    pub(crate) fn continued(&self) -> Option<&SessionModel> {
        self.session.as_ref().filter(|begun| begun.run == RunState::Open)
    }

    /// Returns the preference to use after the person refused a found server.
    pub fn after_refusal(self) -> Self {
        Self { fallback: ModelFallback::Demo, ..self }
    }

    /// The model that the session was begun with.
    pub(crate) fn session_model(&self) -> Option<&ModelName> {
        self.session.as_ref().map(|begun| &begun.model)
    }

    /// Whether the person is asked about a server that may be somebody else's.
    pub fn asks(&self) -> bool {
        self.fallback == ModelFallback::Ask
    }
}

/// What to do when no model is configured or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFallback {
    /// Fail with an error that says what to set.
    Refuse,
    /// Use the demo model.
    Demo,
    /// Ask the person about a server that was found and may not be theirs; otherwise as [`ModelFallback::Demo`].
    Ask,
}

/// The chosen model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a process")]
pub enum ModelChoice {
    /// A model behind a server.
    Server {
        /// The server.
        endpoint: ModelEndpoint,
        /// The model.
        model: Sourced<ModelName>,
    },
    /// The demo model.
    Demo,
}

/// The chosen model, and notices for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModel {
    pub choice: ModelChoice,
    pub notices: Vec<ModelNotice>,
}

impl ChosenModel {
    fn of(choice: ModelChoice) -> Self {
        Self { choice, notices: Vec::new() }
    }

    fn with_notice(choice: ModelChoice, notice: ModelNotice) -> Self {
        Self { choice, notices: vec![notice] }
    }

    /// Writes the choice into the settings and returns the model.
    pub fn apply_to(self, settings: &mut Settings) -> ModelName {
        let model = match self.choice {
            ModelChoice::Server { endpoint, model } => {
                settings.endpoint = Some(endpoint);
                model
            }
            ModelChoice::Demo => Sourced::new(DEMO.into(), SettingOrigin::Default),
        };
        settings.model.insert(model).value.clone()
    }
}

/// The next step of the choice.
#[derive(Debug, PartialEq, Eq)]
enum NextLookup {
    Settled(ChosenModel),
    /// The server is known; ask it for its models, and pick one by this rule.
    Ask(ModelEndpoint, ListedRule),
    /// No server is known; probe the servers on this machine.
    Look(Option<Sourced<ModelName>>),
}

/// Chooses the model. `locals` are the servers to probe on this machine.
pub async fn choose(
    settings: &Settings,
    preference: ModelPreference,
    locals: &[LocalServer],
) -> Result<ChosenModel, SettingsError> {
    let endpoint = settings.endpoint.as_ref();
    let is_demo = settings.model.as_ref().is_some_and(|model| model.value.as_str() == DEMO);
    if let Some(session) = preference.session.as_ref().filter(|_| !is_demo) {
        for endpoint in settings.endpoints() {
            check_same_server(endpoint, session)?;
        }
    }
    match next_lookup(endpoint, named_model(settings, preference.session.map(|begun| begun.model))) {
        NextLookup::Settled(chosen) => Ok(chosen),
        NextLookup::Ask(endpoint, rule) => {
            let listed = models_of(&endpoint, LIST_LIMIT).await;
            choose_of_server(endpoint, rule, listed)
        }
        NextLookup::Look(wanted) => choose_found(&local::probe_all(locals).await, wanted, preference.fallback),
    }
}

/// Refuses to send a session's conversation to a different server unless somebody named that server.
fn check_same_server(endpoint: &ModelEndpoint, session: &SessionModel) -> Result<(), SettingsError> {
    let ModelEndpoint { base_url, .. } = endpoint;
    // A run without a server, or from before servers were recorded, does not say where its conversation was sent.
    let Some(began) = session.server.as_ref().filter(|_| base_url.origin == SettingOrigin::Default) else {
        return Ok(());
    };
    let is_now = |server: &String| server.trim_end_matches('/') == base_url.value.trim_end_matches('/');
    if session.servers.iter().chain([began]).any(is_now) {
        return Ok(());
    }
    Err(SettingsError::OtherServer { began: began.clone(), now: base_url.value.clone() })
}

fn named_model(settings: &Settings, session: Option<ModelName>) -> Option<Sourced<ModelName>> {
    settings.model.clone().or_else(|| Some(Sourced::new(session?, SettingOrigin::Session)))
}

fn next_lookup(endpoint: Option<&ModelEndpoint>, model: Option<Sourced<ModelName>>) -> NextLookup {
    match (endpoint.cloned(), model) {
        (_, Some(model)) if model.value.as_str() == DEMO => NextLookup::Settled(ChosenModel::of(ModelChoice::Demo)),
        (Some(endpoint), Some(model)) => NextLookup::Settled(ChosenModel::of(ModelChoice::Server { endpoint, model })),
        (Some(endpoint), None) => match endpoint.unnamed {
            UnnamedModel::Named(usual) => {
                let notice = ModelNotice::Picked(format!("no model is named: {usual} is used"));
                let model = Sourced::new(usual.into(), SettingOrigin::Default);
                NextLookup::Settled(ChosenModel::with_notice(ModelChoice::Server { endpoint, model }, notice))
            }
            UnnamedModel::FirstListed => NextLookup::Ask(endpoint, ListedRule::First),
            UnnamedModel::OnlyListed => NextLookup::Ask(endpoint, ListedRule::Only),
        },
        (None, model) => NextLookup::Look(model),
    }
}

/// Asks a server for its models.
pub async fn models_of(endpoint: &ModelEndpoint, limit: Duration) -> Result<Vec<ListedModel>, ListingError> {
    let http = HttpClient::new(HttpConfig::default()).map_err(|error| ListingError::Config(error.into()))?;
    let mut config = ModelConfig::of(endpoint.kind(), &endpoint.base_url.value, "");
    config.api_key = endpoint.api_key.as_ref().map(|key| Secret::new(key.value.expose()));
    list_models(&config, &http, limit).await
}

/// Chooses the model of a configured server when no model is named.
fn choose_of_server(
    endpoint: ModelEndpoint,
    rule: ListedRule,
    listed: Result<Vec<ListedModel>, ListingError>,
) -> Result<ChosenModel, SettingsError> {
    let (base_url, provider) = (endpoint.base_url.value.clone(), endpoint.provider);
    let no_model = |known| SettingsError::NoModel { base_url: base_url.clone(), provider, known };
    let listed = listed.map_err(|error| match error {
        // Whatever model were named, the server would not answer.
        ListingError::Failed(failure) if failure.class == FailureClass::Auth => SettingsError::KeyRefused(failure),
        error => no_model(KnownModels::NotListed(error.to_string())),
    })?;
    let ids: Vec<String> = listed.into_iter().map(|model| model.id).collect();
    match choose_listed(&ids, &base_url, rule) {
        ListedChoice::Model(id) => {
            let model = Sourced::new(ModelName::from(id), SettingOrigin::Found);
            let notice = format!("no model is named: {} of {base_url} is used", display_name(&model.value));
            let choice = ModelChoice::Server { endpoint, model };
            Ok(ChosenModel::with_notice(choice, ModelNotice::Picked(notice)))
        }
        ListedChoice::Empty => Err(no_model(KnownModels::None)),
        ListedChoice::Several(ids) => Err(no_model(KnownModels::Several(ids.into_iter().map(str::to_owned).collect()))),
    }
}

/// Chooses the model of a server found on this machine, or applies the fallback.
fn choose_found(
    seen: &[(LocalServer, LocalProbe)],
    wanted: Option<Sourced<ModelName>>,
    fallback: ModelFallback,
) -> Result<ChosenModel, SettingsError> {
    match wanted {
        Some(wanted) => choose_found_named(seen, wanted),
        None => choose_found_any(seen, fallback),
    }
}

fn choose_found_named(
    seen: &[(LocalServer, LocalProbe)],
    wanted: Sourced<ModelName>,
) -> Result<ChosenModel, SettingsError> {
    let has = |seen: &LocalProbe| seen.ids().iter().any(|id| is_named(id, wanted.value.as_str()));
    if let Some((server, seen)) = seen.iter().find(|(_, seen)| seen.is_trusted() && has(seen)) {
        let notice = format!("{} on this machine is used ({})", seen.software().name(), server.base_url);
        let choice = ModelChoice::Server { endpoint: ModelEndpoint::found(&server.base_url), model: wanted };
        return Ok(ChosenModel::with_notice(choice, ModelNotice::Found(notice)));
    }
    if let Some((server, seen)) = seen.iter().find(|(_, seen)| has(seen)) {
        return Err(not_used_unasked(server, seen));
    }
    // Nothing is set up, so a well-known id is its maker's, whose key is missing.
    let maker = provider_of_id(wanted.value.as_str(), &OPENAI, |_| false);
    if let Some(variable) = maker.key_variable.filter(|_| *maker != OPENAI) {
        return Err(SettingsError::NoKey { model: wanted.value.0, provider: maker.name, variable });
    }
    let here = seen.iter().filter(|(_, seen)| !seen.ids().is_empty()).map(|(_, seen)| {
        let ids: Vec<&str> = seen.ids().iter().map(String::as_str).collect();
        format!("{} on this machine has {}", seen.software().name(), list_some(&ids))
    });
    Err(SettingsError::NoServerFor { origin: wanted.origin, model: wanted.value.0, here: here.collect() })
}

fn choose_found_any(seen: &[(LocalServer, LocalProbe)], fallback: ModelFallback) -> Result<ChosenModel, SettingsError> {
    let talker = |seen: &LocalProbe| seen.ids().iter().find(|id| is_chat_model(id)).cloned();
    let trusted = seen.iter().filter(|(_, seen)| seen.is_trusted());
    if let Some((server, seen, id)) = trusted.clone().find_map(|(server, seen)| Some((server, seen, talker(seen)?))) {
        let model = Sourced::new(ModelName::from(id), SettingOrigin::Found);
        let (name, server_name) = (display_name(&model.value), seen.software().name());
        let notice = ModelNotice::Picked(format!("{name} of {server_name} on this machine is used"));
        return Ok(ChosenModel::with_notice(
            ModelChoice::Server { endpoint: ModelEndpoint::found(&server.base_url), model },
            notice,
        ));
    }
    let doubtful = seen.iter().find(|(_, seen)| talker(seen).is_some());
    let empty = trusted.map(|(_, seen)| seen).next();
    match (fallback, doubtful, empty) {
        (ModelFallback::Refuse | ModelFallback::Ask, Some((server, seen)), _) => Err(not_used_unasked(server, seen)),
        (ModelFallback::Demo, Some((server, seen)), _) => {
            let notice =
                ModelNotice::NotUsed { doubt: seen.doubt(&server.base_url), base_url: server.base_url.clone() };
            Ok(ChosenModel::with_notice(ModelChoice::Demo, notice))
        }
        (ModelFallback::Refuse, None, Some(seen)) => Err(SettingsError::NoModelHere { software: seen.software() }),
        (ModelFallback::Refuse, None, None) => Err(SettingsError::NoServer),
        (ModelFallback::Demo | ModelFallback::Ask, None, Some(seen)) => {
            let notice = ModelNotice::NoModelHere { software: seen.software() };
            Ok(ChosenModel::with_notice(ModelChoice::Demo, notice))
        }
        (ModelFallback::Demo | ModelFallback::Ask, None, None) => Ok(ChosenModel::of(ModelChoice::Demo)),
    }
}

fn not_used_unasked(server: &LocalServer, seen: &LocalProbe) -> SettingsError {
    let doubt = seen.doubt(&server.base_url);
    SettingsError::NotUsedUnasked { doubt, base_url: server.base_url.clone() }
}

/// Whether a listed model is the wanted one; Ollama lists `qwen3` as `qwen3:latest`.
pub fn is_named(id: &str, wanted: &str) -> bool {
    id == wanted || id.strip_suffix(":latest") == Some(wanted)
}

/// A model's name for messages; some servers list a model with an empty name.
pub fn display_name(model: &ModelName) -> &str {
    if has_name(model.as_str()) { model.as_str() } else { "a model without a name" }
}

/// Whether an id contains any letter or digit.
pub fn has_name(id: &str) -> bool {
    id.chars().any(char::is_alphanumeric)
}
