//! The chains of other roles than the turn's (M9): each role may name the models that are called in it.
//!
//! A model that the run's chain has at the same server is that one, by whatever name the role calls it, so that it has one
//! breaker and one cache.

use std::collections::BTreeMap;

use windlass_provider::{DeclaredModel, ResponseFormat};
use windlass_vocab::{ModelName, ModelRole, RoleUse, RunModel};

use crate::build_error::BuildError;
use crate::model_chain::{ResolvedChain, ServerAccess, resolved_at, served_at};
use crate::model_name::ServedModel;
use crate::resolved_model::{ModelFigures, ResolvedModel};

/// The chains of the roles that have one.
type RoleChains = BTreeMap<ModelRole, Vec<RunModel>>;

impl ResolvedChain {
    /// Resolves the models that a program names for roles; `served` resolves a name.
    pub(crate) fn roles(
        &mut self,
        roles: BTreeMap<ModelRole, Vec<String>>,
        served: &dyn Fn(&str) -> Result<ServedModel, BuildError>,
        response_format: Option<ResponseFormat>,
    ) -> Result<RoleChains, BuildError> {
        let mut chains = RoleChains::new();
        for (role, names) in roles {
            check(role)?;
            let mut chain = Vec::new();
            for name in names {
                let model = self.role_model(ModelName(name), served, response_format)?;
                add(&mut chain, model)?;
            }
            chains.insert(role, chain);
        }
        Ok(chains)
    }

    /// Takes the models that a door has resolved for roles.
    pub(crate) fn resolved_roles(
        &mut self,
        roles: BTreeMap<ModelRole, Vec<ResolvedModel>>,
        response_format: Option<ResponseFormat>,
    ) -> Result<RoleChains, BuildError> {
        let mut chains = RoleChains::new();
        for (role, models) in roles {
            check(role)?;
            let mut chain = Vec::new();
            for model in models {
                let (server, ResolvedModel { name, id, figures, declared, .. }) = resolved_at(model, response_format);
                let model = self.at_server(name, &id, &server, (figures, declared))?;
                add(&mut chain, model)?;
            }
            chains.insert(role, chain);
        }
        Ok(chains)
    }

    fn role_model(
        &mut self,
        name: ModelName,
        served: &dyn Fn(&str) -> Result<ServedModel, BuildError>,
        response_format: Option<ResponseFormat>,
    ) -> Result<RunModel, BuildError> {
        if let Some(model) = self.chain.iter().find(|model| model.name == name) {
            return Ok(model.clone());
        }
        let is_own = self.known.contains_key(&name) && !self.places.iter().any(|place| place.model.name == name);
        if is_own {
            return Ok(RunModel::named(name));
        }
        let (mut server, id) = served_at(served(name.as_str())?, response_format)?;
        let declared = server.ask_about(&id);
        self.at_server(name, &id, &server, (ModelFigures::default(), declared))
    }

    /// Returns the model with this id at this server, which may be one of the run's chain.
    fn at_server(
        &mut self,
        name: ModelName,
        id: &str,
        server: &ServerAccess,
        known: (ModelFigures, DeclaredModel),
    ) -> Result<RunModel, BuildError> {
        let same = self.places.iter().find(|place| place.base_url == server.base_url && place.id == id);
        if let Some(place) = same {
            return Ok(place.model.clone());
        }
        if self.places.iter().any(|place| place.model.name == name) {
            return Err(BuildError::ModelTwice { name: name.0 });
        }
        self.make(name, id, server, known)
    }
}

/// Refuses a chain for a role that would not use it.
fn check(role: ModelRole) -> Result<(), BuildError> {
    let problem = match role.usage() {
        RoleUse::Own => return Ok(()),
        RoleUse::Run => "its models are those of the run",
        RoleUse::NotBuilt => "it is not built yet",
    };
    Err(BuildError::Role { role: role.name(), problem })
}

fn add(chain: &mut Vec<RunModel>, model: RunModel) -> Result<(), BuildError> {
    if chain.iter().any(|earlier| earlier.name == model.name) {
        return Err(BuildError::ModelTwice { name: model.name.0 });
    }
    chain.push(model);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use windlass_provider::server_kind::ServerKind;
    use windlass_vocab::ModelRole;

    use crate::build_error::BuildError;
    use crate::environment::Environment;
    use crate::model_chain::{ChosenModels, RequestedChain};
    use crate::model_name::RequestedModel;
    use crate::resolved_model::{ModelFigures, ResolvedModel};

    fn requested() -> RequestedChain {
        RequestedChain {
            first: RequestedModel { name: Some("openai:gpt-x".to_owned()), ..RequestedModel::default() },
            fallbacks: vec!["ollama:qwen3".to_owned()],
            resolved: Vec::new(),
            roles: BTreeMap::new(),
            resolved_roles: BTreeMap::new(),
            custom: None,
            response_format: None,
        }
    }

    fn with_role(role: ModelRole, names: &[&str]) -> Result<ChosenModels, BuildError> {
        let names = names.iter().map(ToString::to_string).collect();
        let requested = RequestedChain { roles: BTreeMap::from([(role, names)]), ..requested() };
        requested.resolve(HashMap::new(), &Environment::default(), None)
    }

    fn names(chosen: &ChosenModels) -> Vec<(&str, Option<&str>)> {
        let chain = &chosen.role_chains[&ModelRole::Summary];
        chain.iter().map(|model| (model.name.as_str(), model.server.as_deref())).collect()
    }

    // proves M9: a role names its chain
    #[test]
    fn a_role_has_models_of_its_own_and_those_of_the_run_by_their_names() {
        let chosen = with_role(ModelRole::Summary, &["groq:small", "openai:gpt-x", "ollama:qwen3"]).unwrap();
        assert_eq!(
            names(&chosen),
            [
                ("groq:small", Some("https://api.groq.com/openai/v1")),
                ("gpt-x", Some("https://api.openai.com/v1")),
                ("ollama:qwen3", Some("http://127.0.0.1:11434/v1")),
            ]
        );
        assert_eq!(chosen.chain.len(), 2, "the run's chain stays as it is");
        assert!(chosen.models.model(&"groq:small".into()).is_some());
    }

    // proves M9: a setting for a role that nothing uses is refused
    #[test]
    fn a_role_that_would_not_use_its_chain_is_refused() {
        for role in ModelRole::ALL {
            let refused = with_role(role, &["groq:small"]).map(|_| ()).map_err(|error| error.to_string());
            match role {
                ModelRole::Summary
                | ModelRole::Title
                | ModelRole::Router
                | ModelRole::Planner
                | ModelRole::Step
                | ModelRole::Synthesis => assert_eq!(refused, Ok(())),
                ModelRole::Turn => assert!(refused.unwrap_err().contains("those of the run")),
                ModelRole::Judge => {
                    assert!(refused.unwrap_err().ends_with("it is not built yet"), "{role:?}");
                }
            }
        }
        let twice = with_role(ModelRole::Summary, &["gpt-x", "openai:gpt-x"]).map(|_| ());
        assert!(matches!(twice, Err(BuildError::ModelTwice { .. })), "{twice:?}");
    }

    // proves M9: a door's role chains have the names, servers and figures that its settings say
    #[test]
    fn resolved_role_models_are_taken_as_they_are() {
        let model = |name: &str, id: &str| ResolvedModel {
            name: name.into(),
            server: ServerKind::Other,
            base_url: "https://llm.example/v1".into(),
            id: id.into(),
            key: None,
            figures: ModelFigures { window: Some(7), ..ModelFigures::default() },
            declared: windlass_provider::DeclaredModel::default(),
        };
        let roles = BTreeMap::from([(ModelRole::Summary, vec![model("small", "s"), model("by another name", "a")])]);
        let requested = RequestedChain { resolved: vec![model("a", "a")], resolved_roles: roles, ..requested() };
        let chosen = requested.resolve(HashMap::new(), &Environment::default(), None).unwrap();
        assert_eq!(names(&chosen), [("small", Some("https://llm.example/v1")), ("a", Some("https://llm.example/v1"))]);
        assert_eq!(chosen.role_chains[&ModelRole::Summary][0].window, Some(7));
    }
}
