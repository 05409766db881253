//! `/model`: lists the models of the chain and of their servers, and switches to others. A switch is legal at any turn: it
//! holds from the next run on, and the history is sent as the new model's wire has it.

use windlass_setup::run_setup::SetupError;

use super::conversation::Conversation;
use crate::commands::models::configured;
use crate::models::{ListedModels, list};
use crate::output::harmless_line;
use crate::output::setting_words::{settings_error, settings_notice};

/// Printed if a person chooses a model while only the demo is available.
const NO_SERVER: &str = "there is no server to ask for it: name one with it, as ollama:qwen3, or connect one and start windlass again\n\
     `windlass doctor` says how\n";

/// Lists the models.
pub(super) async fn report(talk: &Conversation) -> String {
    let chain = talk.chain();
    if chain.is_empty() {
        return format!("{}\n", harmless_line(talk.model.as_str()));
    }
    let setup = &talk.prepared_run.setup;
    let chain = Ok((chain.as_slice(), setup.learned.as_slice()));
    let usable = setup.sources.usable_endpoints();
    let listing = list(ListedModels { chain, usable, ..configured(&setup.sources, &setup.settings) }).await;
    talk.scrubbed(&listing.as_text()).into_owned()
}

/// Takes other models for the next run.
pub(super) async fn switch(talk: &mut Conversation, names: &str) -> String {
    if let Err(refused) = talk.prepared_run.refuse_secret("the name", Some(names)) {
        return format!("{}\n", refused.message);
    }
    let had_server = talk.prepared_run.setup.settings.endpoint.is_some();
    let notices = match talk.use_models(names).await {
        Ok(notices) => notices,
        Err(SetupError::Settings(_)) if !had_server && !names.contains(':') => return NO_SERVER.to_owned(),
        Err(SetupError::Settings(error)) => return format!("{}\n", harmless_line(&settings_error(&error))),
        Err(error) => return format!("{}\n", harmless_line(&error.to_string())),
    };
    let notices: String = notices.iter().map(|notice| format!("{}\n", settings_notice(notice))).collect();
    format!("{notices}{} from the next run on\n", harmless_line(&model_line(talk)))
}

/// The models of the next run, in the order they are tried.
pub(super) fn model_line(talk: &Conversation) -> String {
    let names: Vec<String> = talk.model_names().into_iter().map(|name| name.0).collect();
    names.join(", then ")
}
