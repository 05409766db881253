//! The models that can be used: those of the chain and of the roles, of their servers and of servers on this machine.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass::door::{LIST_LIMIT, ModelFigures, ResolvedModel, is_chat_model};
use windlass_provider::known_models::TABLE_DATE;
use windlass_provider::{DeclaredModel, ListingError};
use windlass_setup::models::memory::RememberedModel;
use windlass_setup::models::{LocalServer, models_of};
use windlass_setup::settings::ModelEndpoint;
use windlass_vocab::ModelRole;

use super::row::{ModelRow, chain_rows};
use crate::output::advice::with_failure;
use crate::output::harmless_line;

/// A server on this machine answers in a millisecond or two, or is not there.
const LOCAL_LIMIT: Duration = Duration::from_millis(300);

/// The models that can be used.
#[derive(Debug)]
pub(crate) struct ModelListing {
    /// Why there is no chain, or its models.
    pub(crate) chain: Result<Vec<ModelRow>, String>,
    /// The chains of other roles than the turn's.
    roles: Vec<(ModelRole, Vec<ModelRow>)>,
    servers: Vec<ServerModels>,
}

/// The models of a server, or why it does not list them.
#[derive(Debug)]
struct ServerModels {
    base_url: String,
    models: Result<Vec<ModelRow>, String>,
}

/// Asks the servers of the chain, and those on this machine, for their models.
pub(crate) async fn list(
    chain: Result<(&[ResolvedModel], &[RememberedModel]), String>,
    roles: &BTreeMap<ModelRole, Vec<ResolvedModel>>,
    endpoints: &[ModelEndpoint],
    locals: &[LocalServer],
) -> ModelListing {
    let mut servers = Vec::<ServerModels>::new();
    for endpoint in endpoints {
        if servers.iter().all(|known| known.base_url != endpoint.base_url.value) {
            let models = ask(endpoint, LIST_LIMIT).await;
            servers.push(ServerModels { base_url: endpoint.base_url.value.clone(), models });
        }
    }
    for local in locals {
        let endpoint = ModelEndpoint::found(&local.base_url);
        if servers.iter().all(|known| known.base_url != local.base_url)
            && let Ok(models) = ask(&endpoint, LOCAL_LIMIT).await
        {
            servers.push(ServerModels { base_url: local.base_url.clone(), models: Ok(models) });
        }
    }
    let learned = chain.as_ref().map_or(&[][..], |(_, learned)| *learned);
    let roles = roles.iter().map(|(role, chain)| (*role, chain_rows(chain, learned))).collect();
    ModelListing { chain: chain.map(|(chain, learned)| chain_rows(chain, learned)), roles, servers }
}

async fn ask(endpoint: &ModelEndpoint, limit: Duration) -> Result<Vec<ModelRow>, String> {
    let listed = models_of(endpoint, limit).await.map_err(|error| match &error {
        ListingError::Failed(failure) => with_failure(failure),
        ListingError::Config(_) => error.to_string(),
    })?;
    let base_url = &endpoint.base_url.value;
    // A provider's name is shorter than its address.
    let provider = endpoint.provider.filter(|provider| provider.base_url == base_url);
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
            }
            Err(problem) => text += &format!("no model is configured: {}\n", harmless_line(problem)),
        }
        for (role, chain) in &self.roles {
            text.push('\n');
            push_block(&mut text, &format!("in the role {}", role.name()), chain);
        }
        for ServerModels { base_url, models } in &self.servers {
            match models {
                Ok(models) if models.is_empty() => text += &format!("\n{base_url} lists no model for conversation\n"),
                Ok(models) => {
                    text.push('\n');
                    push_block(&mut text, &harmless_line(base_url), models);
                }
                Err(problem) => text += &format!("\n{}\n", harmless_line(problem)),
            }
        }
        text + &format!(
            "\nWindows in tokens, prices for a million tokens; as of {TABLE_DATE}, unless the server or your settings say \
             otherwise.\n"
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
        json!({ "table_date": TABLE_DATE, "chain": chain, "roles": roles, "problem": problem, "servers": servers })
    }
}

fn push_block(text: &mut String, title: &str, rows: &[ModelRow]) {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default().min(48);
    *text += &format!("{title}\n");
    for row in rows {
        *text += &format!("  {:<width$}  {}\n", harmless_line(&row.name), row.details());
    }
}
