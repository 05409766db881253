//! Prepares a run's inputs from the settings.

use std::io;
use std::time::Duration;

use windlass_provider::HttpClient;
use windlass_vocab::{Attendance, ModelName};

use crate::agent;
use crate::asking::{Person, YesNo};
use crate::context_files::{self, ContextFiles};
use crate::demo::DemoWords;
use crate::models::listed::check_listed;
use crate::models::memory::RememberedModel;
use crate::models::questions::AskedServers;
use crate::models::{self, DEMO, ModelFallback, ModelNotice, ModelPreference, questions};
use crate::secrets::{self, KnownSecret};
use crate::servers::AttachedServers;
use crate::settings::{Env, ModelEndpoint, SettingOrigin, Settings, SettingsError, SettingsNotice, Sources};
use crate::test_hooks;

/// The inputs of a run.
#[derive(Debug)]
pub struct RunSetup {
    /// Server, model, rules, permissions, folders.
    pub settings: Settings,
    /// What the settings were resolved from, for models that are named later.
    pub sources: Sources,
    /// Values that must not be displayed or recorded.
    pub secrets: Vec<KnownSecret>,
    /// The environment for commands that the run starts.
    pub env: Env,
    /// How long the run may take.
    pub deadline: Option<Duration>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The files that instruct the agent.
    pub context_files: ContextFiles,
    /// The MCP servers.
    pub servers: AttachedServers,
    /// What the demo model says of the door.
    pub demo_words: DemoWords,
    /// What is known of the models of the chain.
    pub learned: Vec<RememberedModel>,
    /// The connections to models' servers.
    pub http: HttpClient,
}

/// Why a run can't be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The settings can't be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The model's name, which would be recorded, contains a secret.
    #[error("{0} contains a secret")]
    SecretInModel(SettingOrigin),
    /// The person could not be asked.
    #[error(transparent)]
    Asking(#[from] io::Error),
}

/// The inputs of a run besides its settings and the environment.
#[derive(Clone, Debug)]
pub struct RunConditions {
    /// How long the run may take.
    pub deadline: Option<Duration>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// What the demo model says of the door.
    pub demo_words: DemoWords,
    /// The connections to models' servers.
    pub http: HttpClient,
}

impl RunSetup {
    /// Collects the secrets and prepares the tool servers; asks the person about servers that nobody has agreed to
    /// yet.
    pub fn new(
        settings: Settings,
        sources: Sources,
        conditions: RunConditions,
        person: &mut dyn Person,
    ) -> Result<Self, SetupError> {
        let RunConditions { deadline, attendance, demo_words, http } = conditions;
        let env = sources.env.clone();
        let known = secrets::known_secrets(&env, Some(&settings));
        let names = settings.model.iter().chain(settings.later_models().map(|model| &model.name));
        for name in names {
            if secrets::is_secret(&known, name.value.as_str()) {
                return Err(SetupError::SecretInModel(name.origin.clone()));
            }
        }
        let asked = match attendance {
            Attendance::Attended => Some(person),
            Attendance::Unattended => None,
        };
        let context_files = context_files::find(&settings, &env, &known);
        let servers = AttachedServers::new(&settings, &known, &env, asked)?;
        let learned = Vec::new();
        Ok(Self {
            settings,
            sources,
            secrets: known,
            env,
            deadline,
            attendance,
            context_files,
            servers,
            demo_words,
            learned,
            http,
        })
    }

    /// Uses the models that the person names from now on: one, or a chain with commas. An id alone is of the server that
    /// is used now. One that can't be called, or that its server must list and does not, is refused. Returns the first
    /// model, with notices for the person.
    pub async fn use_models(&mut self, names: &str) -> Result<(ModelName, Vec<SettingsNotice>), SetupError> {
        let mut settings = self.settings.clone();
        let models = self.sources.models_named(names, settings.endpoint.as_ref())?;
        let mut notices = models.notices.clone();
        settings.use_models(models);
        let preference = ModelPreference::new(None, ModelFallback::Refuse);
        let chosen = models::choose(&settings, preference, &test_hooks::local_servers()).await?;
        let model = chosen.apply_to(&mut settings);
        if let Some(endpoint) = settings.endpoint.as_ref().filter(|_| model.as_str() != DEMO) {
            for model in agent::chain(&settings, endpoint, &model) {
                agent::has_key(&model)?;
                notices.extend(check_listed(&model, &self.http).await?);
            }
        }
        self.secrets = secrets::known_secrets(&self.env, Some(&settings));
        self.settings = settings;
        self.learn(&model).await;
        Ok((model, notices))
    }

    /// Reads the files of instructions and skills again. Returns whether they have changed since they were last read.
    pub fn read_context_files_again(&mut self) -> bool {
        let found = context_files::find(&self.settings, &self.env, &self.secrets);
        let has_changed = found != self.context_files;
        self.context_files = found;
        has_changed
    }

    /// Asks the servers of the chain what its models can do, where that is due. Returns notices for the person.
    async fn learn(&mut self, model: &ModelName) -> Vec<ModelNotice> {
        let Some(endpoint) = &self.settings.endpoint else { return Vec::new() };
        let mut chain = agent::chain(&self.settings, endpoint, model);
        chain.extend(agent::role_chains(&self.settings, endpoint).into_values().flatten());
        let now = test_hooks::clock().now();
        let data_dir = &self.settings.place.data_dir.value;
        let learned = questions::learn(&chain, data_dir, now, AskedServers::Due, &self.http).await;
        self.learned = learned.models;
        learned.notices
    }

    /// Chooses the model; returns it with notices for the person.
    pub async fn choose(
        &mut self,
        preference: ModelPreference,
        person: &mut dyn Person,
    ) -> Result<(ModelName, Vec<ModelNotice>), SetupError> {
        let locals = test_hooks::local_servers();
        // A session that was begun with one of the person's own models goes on with it.
        if let (None, Some(name)) = (&self.settings.model, preference.session_model())
            && self.sources.has_own_model(name.as_str())
        {
            self.settings.use_models(self.sources.models_named(name.as_str(), None)?);
            self.secrets = secrets::known_secrets(&self.env, Some(&self.settings));
        }
        let continued = preference.continued().map(|begun| begun.resolve(&self.settings, &self.sources)).transpose()?;
        if let Some(models) = continued.flatten() {
            self.settings.use_models(models);
            self.secrets = secrets::known_secrets(&self.env, Some(&self.settings));
        }
        let goes_on = preference.continued().is_some();
        let chosen = match models::choose(&self.settings, preference.clone(), &locals).await {
            Err(SettingsError::NotUsedUnasked { doubt, base_url }) if preference.asks() => {
                let preference = match person.uses_model_server(&doubt)? {
                    YesNo::Yes => {
                        self.settings.endpoint = Some(ModelEndpoint::found(&base_url));
                        preference
                    }
                    YesNo::No => preference.after_refusal(),
                };
                models::choose(&self.settings, preference, &locals).await?
            }
            chosen => chosen?,
        };
        let mut notices = chosen.notices.clone();
        let model = chosen.apply_to(&mut self.settings);
        // An open run keeps the preset that it began with, and who names one knows of them.
        if !goes_on && !self.sources.names_preset() {
            let better = self.settings.better_preset(&model);
            notices.extend(better.map(|better| ModelNotice::BetterPreset { model: model.clone(), better }));
        }
        if model.as_str() != DEMO {
            notices.extend(self.learn(&model).await);
        }
        Ok((model, notices))
    }
}
