//! What may stand in the table `[roles]`: the roles in which models are called, each with a list of models.

use std::collections::BTreeMap;

use toml::Spanned;
use windlass_vocab::{ModelRole, RoleUse};

use super::model_list::ModelList;
use super::nearest::nearest;
use crate::models::DEMO;

/// Returns what is wrong with the table, and where it is in the file: a role that does not exist or that nothing uses, or
/// a wrong list.
pub(super) fn problem(roles: &BTreeMap<Spanned<String>, Spanned<ModelList>>) -> Option<(usize, String)> {
    roles.iter().find_map(|(name, chain)| {
        let of_name = problem_of_name(name.get_ref()).map(|problem| (name.span().start, problem));
        of_name.or_else(|| Some((chain.span().start, problem_of_chain(chain.get_ref())?)))
    })
}

fn problem_of_name(name: &str) -> Option<String> {
    let role = ModelRole::ALL.into_iter().find(|role| role.name() == name);
    match role.map(ModelRole::usage) {
        Some(RoleUse::Own) => None,
        Some(RoleUse::Run) => Some("the models of the conversation are those of `model`".to_owned()),
        Some(RoleUse::NotBuilt) => {
            Some(format!("the role `{name}` is not built yet: its models would never be called"))
        }
        None => {
            let used = ModelRole::ALL.into_iter().filter(|role| role.usage() == RoleUse::Own);
            let names: Vec<&str> = used.map(ModelRole::name).collect();
            Some(format!("unknown role {name:?}; {}", nearest(name, &names)))
        }
    }
}

fn problem_of_chain(chain: &ModelList) -> Option<String> {
    if chain.names().any(|name| name == DEMO) {
        return Some(format!("the model {DEMO:?} stands alone: it can't be called in a role"));
    }
    if chain.names().any(str::is_empty) || chain.names().next().is_none() {
        return Some("this names no model".to_owned());
    }
    chain.check().err()
}
