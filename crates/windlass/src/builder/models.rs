//! The part of the builder that is about models and their servers.

use std::sync::Arc;

use windlass_provider::{Model, Secret, WireKind};
use windlass_vocab::{ModelName, ModelRole};

use super::Builder;
use crate::resolved_model::ResolvedModel;

impl<D, O> Builder<D, O> {
    /// Sets the address of an OpenAI-compatible server, e.g. `http://127.0.0.1:11434/v1`.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.parts.model.base_url = Some(url.into());
        self
    }

    /// Sets the key for that server. It becomes a known secret (X1). An empty key counts as none.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.parts.secrets.push(("api_key".to_owned(), key.clone()));
        self.parts.model.key = (!key.trim().is_empty()).then(|| Secret::new(&key));
        self
    }

    /// Sets the key for that server without adding it to the known secrets; see [`secrets`](Self::secrets).
    #[must_use]
    pub fn server_key(mut self, key: Secret) -> Self {
        self.parts.model.key = Some(key);
        self
    }

    /// Sets the protocol of the server at [`base_url`](Self::base_url), or of the address in the model's name, in case it
    /// is not the usual one: Chat Completions at an address of which nothing is known, else that of the provider. A model
    /// that is named like one of the protocol's maker is taken to be that one, with its abilities and its prices.
    #[must_use]
    pub fn wire(mut self, wire: WireKind) -> Self {
        self.parts.model.wire = Some(wire);
        self
    }

    /// Sets the model and its server: `ollama:qwen3` (Ollama on this machine), `openai:gpt-5-mini`, or the address of
    /// any OpenAI-compatible server, with the model's id after a `#` if the server has several:
    /// `http://127.0.0.1:8080/v1`,
    /// `https://llm.example/v1#big`. If [`base_url`](Self::base_url) sets the address, this is the bare id. The command
    /// line takes the same names.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.parts.model.name = Some(name.into());
        self
    }

    /// Adds a model to the chain, by a name as for [`model`](Self::model). It is called when the models before it can't
    /// be reached, and so its server may be sent every conversation. Its name in records and events is the one given
    /// here: one id on two servers is two models.
    #[must_use]
    pub fn fallback_model(mut self, name: impl Into<String>) -> Self {
        self.parts.fallbacks.push(name.into());
        self
    }

    /// Adds a model to the chain of a role, by a name as for [`model`](Self::model) or
    /// [`named_model`](Self::named_model): it is called instead of the chain of the run, e.g. to write summaries. Its
    /// server may be sent every conversation.
    ///
    /// ```
    /// use windlass::{Agent, ModelRole};
    ///
    /// let builder = Agent::builder().model("anthropic:claude-opus-4-5").role_model(ModelRole::Summary, "ollama:qwen3");
    /// ```
    #[must_use]
    pub fn role_model(mut self, role: ModelRole, name: impl Into<String>) -> Self {
        self.parts.role_models.entry(role).or_default().push(name.into());
        self
    }

    /// Sets the whole chain of a role, resolved by a door's own settings.
    #[must_use]
    pub fn resolved_role_models(mut self, role: ModelRole, chain: impl IntoIterator<Item = ResolvedModel>) -> Self {
        self.parts.resolved_role_models.insert(role, chain.into_iter().collect());
        self
    }

    /// Sets the whole chain of models, resolved by a door's own settings, in place of [`model`](Self::model) and what
    /// goes with it.
    #[must_use]
    pub fn resolved_models(mut self, chain: impl IntoIterator<Item = ResolvedModel>) -> Self {
        self.parts.resolved_models = chain.into_iter().collect();
        self
    }

    /// Uses your own model implementation in place of one behind a server.
    #[must_use]
    pub fn custom_model(mut self, name: impl Into<ModelName>, model: Arc<dyn Model>) -> Self {
        self.parts.custom_model = Some((name.into(), model));
        self
    }

    /// Adds your own model implementation beside the server's models: runs that name it use it.
    #[must_use]
    pub fn named_model(mut self, name: impl Into<ModelName>, model: Arc<dyn Model>) -> Self {
        self.parts.named_models.insert(name.into(), model);
        self
    }
}

#[cfg(test)]
mod tests {
    use windlass_testkit::{FaultKind, ModelServer, Script, ScriptStep};

    use crate::agent::Agent;
    use crate::environment::Environment;

    fn keys(server: &ModelServer) -> Vec<Option<String>> {
        let key = |headers: &[(String, String)]| {
            headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone())
        };
        server.requests().iter().map(|request| key(&request.headers)).collect()
    }

    // proves X1: the key for whichever server is called is for the server of the first model alone
    #[tokio::test]
    async fn the_server_of_a_fallback_never_sees_the_key_for_the_first() {
        let down = FaultKind::Status { code: 404, body: None, retry_after: None };
        let start = |step: ScriptStep| ModelServer::start(Script::of([step])).expect("a server");
        let first = start(ScriptStep::say("never").fault(down.times(100)));
        let second = start(ScriptStep::say("here"));
        let name = |server: &ModelServer, id: &str| format!("{}#{id}", server.base_url());
        let mut builder = Agent::builder()
            .in_memory()
            .model(name(&first, "a"))
            .fallback_model(name(&first, "b"))
            .fallback_model(name(&second, "c"));
        builder.parts.environment = Environment::of(&[("WINDLASS_API_KEY", "for-the-first")]);
        let answer = builder.build().expect("an agent").run("go").await.expect("an answer");
        assert_eq!(answer, "here");
        let own = || Some("Bearer for-the-first".to_owned());
        assert_eq!(keys(&first), [own(), own()], "another model of the first server uses the same key");
        assert_eq!(keys(&second), [None]);
    }
}
