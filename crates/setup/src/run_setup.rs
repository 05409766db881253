//! Prepares a run's inputs from the settings.

use std::io;
use std::time::Duration;

use windlass_vocab::{Attendance, ModelName};

use crate::asking::{Person, YesNo};
use crate::context_files::{self, ContextFiles};
use crate::demo::DemoWords;
use crate::models::{self, ModelNotice, ModelPreference};
use crate::secrets::{self, KnownSecret};
use crate::servers::AttachedServers;
use crate::settings::{Env, ModelEndpoint, SettingOrigin, Settings, SettingsError};
use crate::test_hooks;

/// The inputs of a run.
#[derive(Debug)]
pub struct RunSetup {
    /// Server, model, rules, permissions, folders.
    pub settings: Settings,
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
#[derive(Clone, Copy, Debug)]
pub struct RunConditions {
    /// How long the run may take.
    pub deadline: Option<Duration>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// What the demo model says of the door.
    pub demo_words: DemoWords,
}

impl RunSetup {
    /// Collects the secrets and prepares the tool servers; asks the person about servers that nobody has agreed to
    /// yet.
    pub fn new(
        settings: Settings,
        env: Env,
        conditions: RunConditions,
        person: &mut dyn Person,
    ) -> Result<Self, SetupError> {
        let RunConditions { deadline, attendance, demo_words } = conditions;
        let known = secrets::known_secrets(&env, Some(&settings));
        if let Some(model) = &settings.model
            && secrets::is_secret(&known, model.value.as_str())
        {
            return Err(SetupError::SecretInModel(model.origin.clone()));
        }
        let asked = match attendance {
            Attendance::Attended => Some(person),
            Attendance::Unattended => None,
        };
        let context_files = context_files::find(&settings, &env, &known);
        let servers = AttachedServers::new(&settings, &known, &env, asked)?;
        Ok(Self { settings, secrets: known, env, deadline, attendance, context_files, servers, demo_words })
    }

    /// Chooses the model; returns it with notices for the person.
    pub async fn choose(
        &mut self,
        preference: ModelPreference,
        person: &mut dyn Person,
    ) -> Result<(ModelName, Vec<ModelNotice>), SetupError> {
        let locals = test_hooks::local_servers();
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
        let notices = chosen.notices.clone();
        Ok((chosen.apply_to(&mut self.settings), notices))
    }
}
