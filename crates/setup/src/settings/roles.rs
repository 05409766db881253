//! The table `[roles]`: the models that are called for other things than the conversation, e.g. to write summaries (M9). A
//! role that is not set uses the chain of the run. Whoever names a server here consents to send the conversation there,
//! as in a chain.

use std::collections::BTreeMap;

use windlass::door::{NamedModel, NamedServer};
use windlass_vocab::ModelRole;

use super::error::SettingsError;
use super::fallbacks::{FallbackModel, FirstModel, fallback};
use super::model_list::{ModelList, named_twice};
use super::notice::SettingsNotice;
use super::origin::Sourced;
use super::sources::Sources;

/// The models of the roles that name some, with notices for the person.
type RoleModels = (BTreeMap<ModelRole, Vec<FallbackModel>>, Vec<SettingsNotice>);

/// Resolves the models of the roles: of each role, what the project says before what the person says.
pub(super) fn role_models(sources: &Sources, first: &FirstModel<'_>) -> Result<RoleModels, SettingsError> {
    let (mut roles, mut notices) = (BTreeMap::new(), Vec::new());
    for role in ModelRole::ALL {
        let chain = sources.in_files(|file| {
            let chain = file.settings.roles.iter().find(|(name, _)| name.get_ref() == role.name())?.1;
            Some(Sourced::new(chain.get_ref().clone(), file.origin(chain)))
        });
        let Some(chain) = chain else { continue };
        let mut models = Vec::<FallbackModel>::new();
        for name in chain.value.names() {
            let (model, notice) = fallback(sources, Sourced::new(name, chain.origin.clone()), first)?;
            let place = |model: &FallbackModel| {
                let endpoint = model.endpoint.as_ref().or(first.endpoint);
                (endpoint.map(|endpoint| endpoint.base_url.value.clone()), model.id.clone())
            };
            if models.iter().any(|earlier| place(earlier) == place(&model)) {
                return Err(SettingsError::wrong(chain.origin, named_twice(name)));
            }
            models.push(model);
            notices.extend(notice);
        }
        roles.insert(role, models);
    }
    Ok((roles, notices))
}

/// Whether a role names a model together with its server.
pub(super) fn names_server(chain: &ModelList) -> bool {
    chain.names().any(|name| NamedModel::parse(name).server != NamedServer::Unnamed)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_vocab::ModelRole;

    use super::super::file::{SettingsFile, SettingsScope};
    use super::super::tests::SettingsFixture;

    const KEYS: [(&str, &str); 2] = [("OPENAI_API_KEY", "sk-of-openai"), ("GROQ_API_KEY", "gsk_1")];

    fn given(text: &str) -> SettingsFixture {
        SettingsFixture::nothing().env(&KEYS).user(text)
    }

    /// `name at address, id, key` of each model that writes summaries.
    fn summary(given: &SettingsFixture) -> Vec<String> {
        let models = given.settings().role_models.remove(&ModelRole::Summary).unwrap_or_default();
        let text = models.into_iter().map(|model| {
            let (address, key) = model.endpoint.map_or(("the first".to_owned(), None), |endpoint| {
                (endpoint.base_url.value, endpoint.api_key.map(|key| key.value.expose().to_owned()))
            });
            format!("{} at {address}, {}, {}", model.name.value, model.id, key.as_deref().unwrap_or("no key"))
        });
        text.collect()
    }

    // proves M9, X1: a role names its chain, and each server gets its own key
    #[test]
    fn a_role_names_one_model_or_a_chain() {
        let table = "[models.fast]\nmodel = 'groq:gpt-oss'\n";
        for (text, expected) in [
            ("[roles]\nsummary = 'gpt-y'", &["gpt-y at the first, gpt-y, no key"][..]),
            ("[roles]\nsummary = 'groq:a'", &["groq:a at https://api.groq.com/openai/v1, a, gsk_1"]),
            (
                "[roles]\nsummary = ['fast', 'http://127.0.0.1:9/v1#m']\n[models.fast]\nmodel = 'groq:gpt-oss'",
                &[
                    "fast at https://api.groq.com/openai/v1, gpt-oss, gsk_1",
                    "http://127.0.0.1:9/v1#m at http://127.0.0.1:9/v1, m, no key",
                ],
            ),
            (table, &[]),
        ] {
            assert_eq!(summary(&given(&format!("model = 'openai:gpt-x'\n{text}"))), expected, "{text}");
        }
        let both = given("[roles]\nsummary = 'a'").project("[roles]\nsummary = 'b'");
        assert_eq!(summary(&both), ["b at the first, b, no key"], "the project's own comes first");
        let own = given("[roles]\nsummary = 'groq:a'").env(&[("WINDLASS_API_KEY", "for-the-first")]);
        assert_eq!(summary(&own), ["groq:a at https://api.groq.com/openai/v1, a, gsk_1"]);
    }

    // proves X2: a project that nobody trusted names no server
    #[test]
    fn an_untrusted_project_sends_nothing_to_a_server_of_a_role() {
        let given = given("").project("[roles]\nsummary = 'https://elsewhere/v1#x'");
        let error = given.error();
        assert!(error.ends_with("a model with its server is not taken from a project you have not trusted"), "{error}");
        assert!(given.needing_trust()[0].contains("a model with its server"), "{:?}", given.needing_trust());
        assert_eq!(summary(&given.trusted()), ["https://elsewhere/v1#x at https://elsewhere/v1, x, no key"]);
    }

    // proves M9: a setting for a role that nothing uses is refused
    #[test]
    fn a_wrong_role_is_refused_with_its_line() {
        let error = |text: &str| {
            let file = SettingsFile::parse(Path::new("windlass.toml"), SettingsScope::User, text);
            file.expect_err("it is refused").to_string()
        };
        for (text, problem) in [
            (
                "[roles]\njudge = 'a'",
                "windlass.toml:2:1: the role `judge` is not built yet: its models would never be called",
            ),
            ("[roles]\nturn = 'a'", "windlass.toml:2:1: the models of the conversation are those of `model`"),
            ("[roles]\nsumary = 'a'", "windlass.toml:2:1: unknown role \"sumary\"; did you mean \"summary\"?"),
            ("[roles]\nsummary = ''", "windlass.toml:2:11: this names no model"),
            ("[roles]\nsummary = []", "windlass.toml:2:11: this names no model"),
            ("[roles]\nsummary = ['a', 'a']", "windlass.toml:2:11: the chain contains the model \"a\" twice"),
            (
                "[roles]\nsummary = 'demo'",
                "windlass.toml:2:11: the model \"demo\" stands alone: it can't be called in a role",
            ),
        ] {
            assert_eq!(error(text), problem);
        }
        let twice = given("model = 'openai:a'\n[roles]\nsummary = ['openai:b', 'b']").error();
        assert!(twice.ends_with("the chain contains the model \"b\" twice"), "{twice}");
    }
}
