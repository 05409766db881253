//! The models that can be used: those of the chain and of the roles, those with names of their own, and those of servers
//! that are used, for which there is a key, or that run on this machine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass::door::{LIST_LIMIT, ModelFigures, ModelProvider, PROVIDERS, ResolvedModel, is_chat_model};
use windlass_provider::known_models::TABLE_DATE;
use windlass_provider::known_models::measured::BetterPreset;
use windlass_provider::{DeclaredModel, ListingError};
use windlass_setup::models::memory::RememberedModel;
use windlass_setup::models::{LocalServer, models_of};
use windlass_setup::settings::{ModelEndpoint, SettingOrigin};
use windlass_vocab::ModelRole;

use super::measured::{jobs_text, preset_text, scripts_text};
use super::row::{ModelRow, chain_rows};
use crate::output::advice::with_failure;
use crate::output::{harmless_line, short_line};

/// A server on this machine answers in a millisecond or two, or is not there.
const LOCAL_LIMIT: Duration = Duration::from_millis(300);

/// How many models of a server are listed for people if none of them is used.
const OF_OTHERS: usize = 20;

/// How many characters of a name are shown to people: no model's is longer, but a server may send any text as an id.
const LONGEST_NAME: usize = 160;

/// What is listed.
pub(crate) struct ListedModels<'a> {
    /// The chain, with what is remembered of its models; or why there is none.
    pub(crate) chain: Result<(&'a [ResolvedModel], &'a [RememberedModel]), String>,
    /// A preset that the first model does better with than with the one in use.
    pub(crate) better: Option<BetterPreset>,
    /// The chains of other roles than the turn's.
    pub(crate) roles: BTreeMap<ModelRole, Vec<ResolvedModel>>,
    /// The models with names of their own, or why they can't be used.
    pub(crate) own: BTreeMap<String, Result<ResolvedModel, String>>,
    /// The servers of the chain and of the roles.
    pub(crate) used: Vec<ModelEndpoint>,
    /// Servers that could be used.
    pub(crate) usable: Vec<ModelEndpoint>,
    /// Servers that may run on this machine.
    pub(crate) locals: Vec<LocalServer>,
    /// Providers that are named with what they need, unless a server of theirs is among the others.
    pub(crate) providers: &'static [&'static ModelProvider],
}

/// The models that can be used.
#[derive(Debug)]
pub(crate) struct ModelListing {
    /// Why there is no chain, or its models.
    pub(crate) chain: Result<Vec<ModelRow>, String>,
    better: Option<BetterPreset>,
    roles: Vec<(ModelRole, Vec<ModelRow>)>,
    own: Vec<(String, Result<ModelRow, String>)>,
    servers: Vec<ServerModels>,
    /// Providers that are not set up.
    others: Vec<&'static ModelProvider>,
}

/// The models of a server, or why it does not list them.
#[derive(Debug)]
struct ServerModels {
    base_url: String,
    provider: Option<&'static ModelProvider>,
    models: Result<Vec<ModelRow>, String>,
    /// Whether it is a server of the chain or of a role.
    is_used: bool,
}

/// Asks the servers for their models, all at the same time.
pub(crate) async fn list(listed: ListedModels<'_>) -> ModelListing {
    let ListedModels { chain, better, roles, own, used, usable, locals, providers } = listed;
    let learned = chain.as_ref().map_or(&[][..], |(_, learned)| *learned);
    let rows = |models: &[ResolvedModel]| chain_rows(models, learned);
    let roles: Vec<_> = roles.into_iter().map(|(role, chain)| (role, rows(&chain))).collect();
    let of_own = |model: ResolvedModel| rows(&[model]).pop().ok_or_else(String::new);
    let mut own: Vec<_> = own.into_iter().map(|(name, model)| (name, model.and_then(of_own))).collect();
    let chain = chain.map(|(chain, _)| rows(chain));
    let mut servers = ask_all(used, usable, &locals).await;
    for row in chain.iter().flatten().chain(roles.iter().flat_map(|(_, rows)| rows)) {
        let listed = servers.iter_mut().filter_map(|server| server.models.as_mut().ok()).flatten();
        for other in listed.chain(own.iter_mut().filter_map(|(_, own)| own.as_mut().ok())) {
            other.in_use |= (&other.server, &other.id) == (&row.server, &row.id);
        }
    }
    let is_there = |provider: &ModelProvider| {
        let is_same = |server: &ServerModels| server.provider == Some(provider) || server.base_url == provider.base_url;
        servers.iter().any(is_same)
    };
    let others = providers.iter().copied().filter(|provider| !is_there(provider)).collect();
    ModelListing { chain, better, roles, own, servers, others }
}

/// Asks each server once. One on this machine that nobody named is left out if it does not answer.
async fn ask_all(used: Vec<ModelEndpoint>, usable: Vec<ModelEndpoint>, locals: &[LocalServer]) -> Vec<ServerModels> {
    let found = locals.iter().map(|local| (ModelEndpoint::found(&local.base_url), LOCAL_LIMIT, false));
    let named = used.into_iter().map(|endpoint| (endpoint, LIST_LIMIT, true));
    let named = named.chain(usable.into_iter().map(|endpoint| (endpoint, LIST_LIMIT, false)));
    let mut asked = Vec::new();
    let mut addresses = BTreeSet::new();
    for (endpoint, limit, is_used) in named.chain(found) {
        if addresses.insert(endpoint.base_url.value.clone()) {
            let provider = endpoint.provider;
            let answer = tokio::spawn(async move { (ask(&endpoint, limit).await, endpoint.base_url) });
            asked.push((answer, provider, is_used));
        }
    }
    let mut servers = Vec::new();
    for (answer, provider, is_used) in asked {
        let Ok((models, address)) = answer.await else { continue };
        if models.is_ok() || address.origin != SettingOrigin::Found || is_used {
            servers.push(ServerModels { base_url: address.value, provider, models, is_used });
        }
    }
    servers
}

async fn ask(endpoint: &ModelEndpoint, limit: Duration) -> Result<Vec<ModelRow>, String> {
    let listed = models_of(endpoint, limit).await.map_err(|error| match &error {
        ListingError::Failed(failure) => with_failure(failure),
        ListingError::Config(_) => error.to_string(),
    })?;
    let base_url = &endpoint.base_url.value;
    // A provider's name is shorter than its address.
    let is_given = |provider: &ModelProvider| match (&endpoint.base_url.origin, provider.address_variable) {
        (SettingOrigin::Variable(name), Some(variable)) => name == variable.name,
        (_, Some(_) | None) => false,
    };
    let provider = endpoint.provider.filter(|provider| provider.base_url == base_url || is_given(provider));
    let row = |id: &str| {
        let row = ModelRow::of(endpoint.kind(), base_url, id, ModelFigures::default(), &DeclaredModel::default());
        let name = provider.map_or_else(|| row.name.clone(), |provider| format!("{}:{id}", provider.prefix));
        ModelRow { name, ..row }
    };
    let fit = listed.into_iter().filter(|model| is_chat_model(&model.id));
    Ok(fit.map(|model| row(&model.id).with_window(model.window)).collect())
}

impl ModelListing {
    /// The listing for people.
    pub(crate) fn as_text(&self) -> String {
        let mut text = String::new();
        match &self.chain {
            Ok(chain) => {
                let title = if chain.len() == 1 { "the model" } else { "the chain, in the order it is tried" };
                push_block(&mut text, title, chain);
                if let Some(better) = self.better {
                    text += &format!("    {}\n", preset_text(better));
                }
            }
            Err(problem) => text += &format!("{}\n", harmless_line(problem)),
        }
        for (role, chain) in &self.roles {
            text.push('\n');
            push_block(&mut text, &format!("in the role {}", role.name()), chain);
        }
        if !self.own.is_empty() {
            text += "\nyour own names\n";
            push_own(&mut text, &self.own);
        }
        for server in &self.servers {
            push_server(&mut text, server);
        }
        push_others(&mut text, &self.others);
        text + &format!(
            "\n* is in use. Windows in tokens, prices for a million tokens;\nas of {TABLE_DATE}, unless the server or your \
             settings say otherwise.\n"
        )
    }

    /// The listing for programs.
    pub(crate) fn as_json(&self) -> Value {
        let rows = |rows: &[ModelRow]| rows.iter().map(ModelRow::as_json).collect::<Vec<_>>();
        let servers = self.servers.iter().map(|server| match &server.models {
            Ok(models) => json!({ "base_url": server.base_url, "models": rows(models) }),
            Err(problem) => json!({ "base_url": server.base_url, "models": [], "problem": problem }),
        });
        let servers: Vec<Value> = servers.collect();
        let (chain, problem) = match &self.chain {
            Ok(chain) => (rows(chain), None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let roles: Map<String, Value> =
            self.roles.iter().map(|(role, chain)| (role.name().to_owned(), rows(chain).into())).collect();
        let own = self.own.iter().map(|(name, row)| match row {
            Ok(row) => row.as_json(),
            Err(problem) => json!({ "name": name, "problem": problem }),
        });
        let own: Vec<Value> = own.collect();
        let other = |provider: &&ModelProvider| {
            let key = provider.key_variable.or(provider.shared_key_variable);
            json!({ "provider": provider.name, "prefix": provider.prefix, "key": key })
        };
        let others: Vec<Value> = self.others.iter().map(other).collect();
        json!({
            "table_date": TABLE_DATE, "chain": chain, "roles": roles, "own": own, "problem": problem, "servers": servers,
            "not_set_up": others,
            "better_preset": self.better.map(|found| found.better.preset),
        })
    }
}

fn push_block(text: &mut String, title: &str, rows: &[ModelRow]) {
    *text += &format!("{title}\n");
    let names: Vec<String> = rows.iter().map(|row| short_line(&row.name, LONGEST_NAME)).collect();
    let width = width(names.iter());
    for (name, row) in names.iter().zip(rows) {
        *text += &format!("{} {name:<width$}  {}\n", row.mark(), row.details());
        push_jobs(text, row);
    }
}

/// The width of the longest name, within limits.
fn width<'n>(names: impl Iterator<Item = &'n String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or_default().min(48)
}

fn push_own(text: &mut String, own: &[(String, Result<ModelRow, String>)]) {
    let width = width(own.iter().map(|(name, _)| name));
    for (name, row) in own {
        let (mark, details) = match row {
            Ok(row) => (row.mark(), format!("{}; {}", stands_for(row), row.details())),
            Err(problem) => (" ", problem.clone()),
        };
        *text += &format!("{mark} {:<width$}  {}\n", harmless_line(name), harmless_line(&details));
        if let Ok(row) = row {
            push_jobs(text, row);
        }
    }
}

/// How it did in file jobs, on a line of its own.
fn push_jobs(text: &mut String, row: &ModelRow) {
    if let Some(best) = row.best {
        *text += &format!("    {}\n", jobs_text(best));
    }
    if let Some(scripts) = row.scripts {
        *text += &format!("    {}\n", scripts_text(scripts));
    }
}

/// The model and the server that an own name stands for.
fn stands_for(row: &ModelRow) -> String {
    let provider = PROVIDERS.into_iter().find(|provider| provider.base_url == row.server);
    provider.map_or_else(|| format!("{}#{}", row.server, row.id), |provider| format!("{}:{}", provider.prefix, row.id))
}

fn push_server(text: &mut String, server: &ServerModels) {
    let base_url = harmless_line(&server.base_url);
    match &server.models {
        Ok(models) if models.is_empty() => *text += &format!("\n{base_url} lists no model for conversation\n"),
        Ok(models) => {
            let most = if server.is_used { models.len() } else { OF_OTHERS.min(models.len()) };
            text.push('\n');
            push_block(text, &base_url, &models[..most]);
            if most < models.len() {
                *text += &format!("  and {} more; `windlass models --json` lists them\n", models.len() - most);
            }
        }
        Err(problem) => *text += &format!("\n{}\n", harmless_line(problem)),
    }
}

/// Lists the providers that are not set up, with what each needs.
fn push_others(text: &mut String, others: &[&ModelProvider]) {
    let need = |provider: &ModelProvider| match provider.key_variable.or(provider.shared_key_variable) {
        Some(variable) => format!("set {variable}"),
        None => format!("start {} on this machine", provider.name),
    };
    for (at, provider) in others.iter().enumerate() {
        let title = if at == 0 { "\nnot set up\n" } else { "" };
        *text += &format!("{title}  {:<14}  {}\n", format!("{}:ID", provider.prefix), need(provider));
    }
}
