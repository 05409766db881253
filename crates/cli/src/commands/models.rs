//! `windlass models`: lists the models that can be used, and calls those of the chain to see whether they answer.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass::door::{PROVIDERS, ResolvedModel};
use windlass_setup::agent::{chain, own_models, role_chains};
use windlass_setup::models::memory::{ModelMemory, RememberedModel};
use windlass_setup::models::questions::AskedServers;
use windlass_setup::models::{self, ModelFallback, ModelPreference, questions};
use windlass_setup::settings::{Env, Settings, SettingsError, Sources};
use windlass_setup::{secrets, test_hooks};
use windlass_vocab::ModelRole;

use super::block_on::block_on;
use super::{models_pull, prepared_run};
use crate::args::{ModelsArgs, ModelsCommand};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::models::{ListedModels, ModelProbe, ModelTrial, list, probe, probe_table, try_models};
use crate::output::harmless_line;
use crate::output::setting_words::{model_notice, settings_error};
use crate::streams::{print, print_notice};
use crate::tty;

pub(super) fn models(data_dir: Option<PathBuf>, args: &ModelsArgs, env: Env) -> CommandResult {
    let command = match args.command {
        ModelsCommand::Pull => return models_pull::pull(data_dir, args, env),
        ModelsCommand::List => ChainCommand::List,
        ModelsCommand::Test => ChainCommand::Test,
        ModelsCommand::Probe => ChainCommand::Probe,
    };
    let sources = prepared_run::gather_unasked(args.flags(data_dir), env)?;
    let mut settings = sources.resolve()?;
    block_on(async {
        let chosen = choose(&mut settings).await;
        let (chosen, learned) = match chosen {
            Ok(chain) => {
                let asks = match command {
                    ChainCommand::Probe => AskedServers::All,
                    ChainCommand::List | ChainCommand::Test => AskedServers::Due,
                };
                let (chain, learned) = learn(chain, &settings, asks).await?;
                (Ok(chain), learned)
            }
            Err(error) => (Err(error), Vec::new()),
        };
        let (text, exit) = match command {
            ChainCommand::List => {
                let chain = chosen.as_deref().map(|chain| (chain, learned.as_slice())).map_err(settings_error);
                let listing = list(ListedModels {
                    chain,
                    usable: sources.usable_endpoints(),
                    locals: test_hooks::local_servers(),
                    providers: &PROVIDERS,
                    ..configured(&sources, &settings)
                });
                let listing = listing.await;
                let exit = if listing.chain.is_ok() { Exit::Done } else { Exit::Usage };
                (if args.json { line(&listing.as_json()) } else { listing.as_text() }, exit)
            }
            ChainCommand::Probe => {
                prepared_run::make_data_dir(&settings.place)?;
                let known = secrets::known_secrets(&sources.env, Some(&settings));
                let show = |step: &str| print_notice(&secrets::scrubber(&known).scrub(step));
                let probes = probe_all(&chosen?, &learned, &settings, &show).await;
                let exit = if probes.iter().all(ModelProbe::is_ok) { Exit::Done } else { Exit::Failed };
                let as_json = || line(&json!({ "models": probes.iter().map(ModelProbe::as_json).collect::<Vec<_>>() }));
                (
                    if args.json { as_json() } else { probe_table(&probes, tty::size().map(|(columns, _)| columns)) },
                    exit,
                )
            }
            ChainCommand::Test => {
                let mut models = chosen?;
                // Where somebody names models, only those are tried.
                let roles = if args.names_models() { BTreeMap::new() } else { roles(&settings) };
                for model in roles.into_values().flatten() {
                    if models.iter().all(|other| (&other.base_url, &other.id) != (&model.base_url, &model.id)) {
                        models.push(model);
                    }
                }
                let trials = try_models(&models).await;
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

/// What is done with the models of the chain.
#[derive(Clone, Copy)]
enum ChainCommand {
    List,
    Test,
    Probe,
}

/// Returns the chain as a run would have it.
async fn choose(settings: &mut Settings) -> Result<Vec<ResolvedModel>, SettingsError> {
    let preference = ModelPreference::new(None, ModelFallback::Refuse);
    let chosen = models::choose(settings, preference, &test_hooks::local_servers()).await?;
    let model = chosen.apply_to(settings);
    let endpoint = settings.endpoint.as_ref().ok_or(SettingsError::NoServer)?;
    Ok(chain(settings, endpoint, &model))
}

/// Returns the chain with what its servers say of its models, and what is remembered of them.
async fn learn(
    mut chain: Vec<ResolvedModel>,
    settings: &Settings,
    asks: AskedServers,
) -> Result<(Vec<ResolvedModel>, Vec<RememberedModel>), CommandError> {
    let now = test_hooks::clock().now();
    let http = prepared_run::http_client()?;
    let learned = questions::learn(&chain, &settings.place.data_dir.value, now, asks, &http).await;
    for notice in &learned.notices {
        print_notice(&format!("windlass: {}", harmless_line(&model_notice(notice))));
    }
    questions::fill_in(&mut chain, &learned.models);
    Ok((chain, learned.models))
}

/// Probes the models one after the other, and remembers what was found.
async fn probe_all(
    chain: &[ResolvedModel],
    learned: &[RememberedModel],
    settings: &Settings,
    show: &dyn Fn(&str),
) -> Vec<ModelProbe> {
    let memory = ModelMemory::at(&settings.place.data_dir.value);
    let mut probes = Vec::with_capacity(chain.len());
    for model in chain {
        let is_model = |known: &&RememberedModel| known.server == model.base_url && known.model == model.id;
        let known = learned.iter().find(is_model).cloned();
        let remembered = known.unwrap_or_else(|| RememberedModel::nothing(&model.base_url, &model.id));
        let now = test_hooks::clock().now();
        let probed = probe(model, remembered, now, show).await;
        if probed.is_ok()
            && let Err(error) = memory.save(&probed.remembered)
        {
            print_notice(&format!("windlass: what was found can't be written down: {error}"));
        }
        probes.push(probed);
    }
    probes
}

/// The chains of other roles than the turn's, once the first model is chosen.
fn roles(settings: &Settings) -> BTreeMap<ModelRole, Vec<ResolvedModel>> {
    settings.endpoint.as_ref().map(|endpoint| role_chains(settings, endpoint)).unwrap_or_default()
}

/// Returns what the settings say of models other than the chain.
pub(crate) fn configured<'a>(sources: &Sources, settings: &Settings) -> ListedModels<'a> {
    let own = own_models(sources, settings).into_iter();
    ListedModels {
        chain: Err(String::new()),
        better: settings.model.as_ref().and_then(|model| settings.better_preset(&model.value)),
        roles: roles(settings),
        own: own.map(|(name, model)| (name, model.map_err(|error| settings_error(&error)))).collect(),
        used: settings.endpoints().cloned().collect(),
        usable: Vec::new(),
        locals: Vec::new(),
        providers: &[],
    }
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}
