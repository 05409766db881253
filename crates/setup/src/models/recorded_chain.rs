//! The models of a run that goes on in this process: those it began with, wherever the settings now lead (M2).

use windlass::door::{KEY_VARIABLE, PROVIDERS};
use windlass_vocab::ModelName;

use super::SessionModel;
use crate::settings::{ModelSettings, SettingOrigin, Settings, SettingsError, Sources};

impl SessionModel {
    /// Resolves the models of the run; `None` where the settings lead to them, or where the person names others for this
    /// command.
    ///
    /// A run records its first model by its id and its server, and the others as they were named. Settings that name the
    /// same first model may have another address for it: then the server has moved.
    pub(crate) fn resolve(
        &self,
        settings: &Settings,
        sources: &Sources,
    ) -> Result<Option<ModelSettings>, SettingsError> {
        let Some(configured) = &settings.model else { return Ok(None) };
        let is_given = matches!(configured.origin, SettingOrigin::Flag(_));
        if is_given || settings.first_name() == Some(&self.model) {
            return Ok(None);
        }
        if sources.has_own_model(self.model.as_str()) {
            return sources.models_named(&self.line(self.model.as_str()), None).map(Some);
        }
        let Some(server) = &self.server else { return Ok(None) };
        let is_server = |base_url: &str| base_url.trim_end_matches('/') == server.trim_end_matches('/');
        if let Some(endpoint) = settings.endpoint.as_ref().filter(|endpoint| is_server(&endpoint.base_url.value)) {
            return sources.models_named(&self.line(self.model.as_str()), Some(endpoint)).map(Some);
        }
        // That key is for the server of today's first model, and this is another.
        let sources = sources.without_variable(KEY_VARIABLE);
        if let Some(provider) = PROVIDERS.into_iter().find(|provider| is_server(provider.base_url)) {
            let name = format!("{}:{}", provider.prefix, self.model);
            let models = sources.models_named(&self.line(&name), None)?;
            // A variable may give the provider another address.
            if models.endpoint.as_ref().is_some_and(|endpoint| is_server(&endpoint.base_url.value)) {
                return Ok(Some(models));
            }
        }
        sources.models_named(&self.line(&format!("{server}#{}", self.model)), None).map(Some)
    }

    /// Returns the chain as a person names it, given the name of its first model.
    fn line(&self, first: &str) -> String {
        let names: Vec<&str> = [first].into_iter().chain(self.others.iter().map(ModelName::as_str)).collect();
        names.join(",")
    }
}
