//! `windlass models`: lists the models that can be used, and calls those of the chain to see whether they answer.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass::door::ResolvedModel;
use windlass_setup::agent::chain;
use windlass_setup::models::{self, ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, ModelEndpoint, Settings, SettingsError};
use windlass_setup::{secrets, test_hooks};

use super::block_on::block_on;
use super::prepared_run;
use crate::args::{ModelsArgs, ModelsCommand};
use crate::error::CommandResult;
use crate::exit::Exit;
use crate::models::{ModelTrial, list, try_models};
use crate::output::setting_words::settings_error;
use crate::streams::print;

pub(super) fn models(data_dir: Option<PathBuf>, args: &ModelsArgs, env: Env) -> CommandResult {
    let sources = prepared_run::gather_unasked(args.flags(data_dir), env)?;
    let mut settings = sources.resolve()?;
    block_on(async {
        let chosen = choose(&mut settings).await;
        let (text, exit) = match args.command {
            ModelsCommand::List => {
                let chain = chosen.as_deref().map_err(settings_error);
                let listing = list(chain, &endpoints(&settings), &test_hooks::local_servers()).await;
                (if args.json { line(&listing.as_json()) } else { listing.as_text() }, Exit::Done)
            }
            ModelsCommand::Test => {
                let trials = try_models(&chosen?).await;
                let exit = if trials.iter().all(ModelTrial::is_ok) { Exit::Done } else { Exit::Failed };
                let as_json = || line(&json!({ "models": trials.iter().map(ModelTrial::as_json).collect::<Vec<_>>() }));
                (if args.json { as_json() } else { trials.iter().map(ModelTrial::as_text).collect() }, exit)
            }
        };
        // Messages of servers are somebody else's text.
        print(&secrets::scrubber(&secrets::known_secrets(&sources.env, Some(&settings))).scrub(&text))?;
        Ok(exit)
    })
}

/// Returns the chain as a run would have it.
async fn choose(settings: &mut Settings) -> Result<Vec<ResolvedModel>, SettingsError> {
    let preference = ModelPreference::new(None, ModelFallback::Refuse);
    let chosen = models::choose(settings, preference, &test_hooks::local_servers()).await?;
    let model = chosen.apply_to(settings);
    let endpoint = settings.endpoint.as_ref().ok_or(SettingsError::NoServer)?;
    Ok(chain(settings, endpoint, &model))
}

/// The servers of the chain.
pub(crate) fn endpoints(settings: &Settings) -> Vec<ModelEndpoint> {
    let others = settings.fallbacks.iter().filter_map(|model| model.endpoint.clone());
    settings.endpoint.iter().cloned().chain(others).collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
