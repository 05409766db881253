//! Picks a model from a server's list, when none is named.

use std::time::Duration;

use windlass_provider::server_kind::ServerKind;
use windlass_provider::{
    DeclaredModel, Endpoint, HttpClient, HttpConfig, ListingError, ModelConfig, ask_about_model, list_models,
};

use crate::build_error::BuildError;

/// How long a server may take to list its models.
pub const LIST_LIMIT: Duration = Duration::from_secs(5);

/// How long a server on this machine may take to say what a model can do.
const ASK_LIMIT: Duration = Duration::from_millis(500);

/// The model of a list that is used when none is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedChoice<'l> {
    /// This one.
    Model(&'l str),
    /// The list has none for conversation.
    Empty,
    /// The list has several, and nobody said which is meant.
    Several(Vec<&'l str>),
}

/// Which model of a list is used when none is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedRule {
    /// The first.
    First,
    /// The only one; on this machine the first.
    Only,
}

/// Picks a model among `ids`. Whoever runs a server on this machine decided which models it holds: there the first
/// is used.
pub fn choose_listed<'l>(ids: &'l [String], base_url: &str, rule: ListedRule) -> ListedChoice<'l> {
    let fit: Vec<&str> = ids.iter().map(String::as_str).filter(|id| is_chat_model(id)).collect();
    let takes_first = match rule {
        ListedRule::First => true,
        ListedRule::Only => is_on_this_machine(base_url),
    };
    match fit.as_slice() {
        [] => ListedChoice::Empty,
        [first, rest @ ..] if rest.is_empty() || takes_first => ListedChoice::Model(first),
        [_, ..] => ListedChoice::Several(fit),
    }
}

/// Whether the server of this address is on this machine.
#[must_use]
pub fn is_on_this_machine(base_url: &str) -> bool {
    Endpoint { base_url: base_url.to_owned(), model: String::new(), key: None }.is_on_this_machine()
}

/// Whether a model is made for conversation, judging by its name.
#[must_use]
pub fn is_chat_model(id: &str) -> bool {
    const OTHERS: [&str; 11] = [
        "embed",
        "bge-",
        "minilm",
        "rerank",
        "whisper",
        "tts",
        "dall-e",
        "moderation",
        "stable-diffusion",
        "clip-",
        "e5-",
    ];
    let id = id.to_ascii_lowercase();
    !OTHERS.iter().any(|other| id.contains(other))
}

/// Asks the server for its models and returns the one to use. Blocks, on a thread of its own: the caller may be in an
/// async runtime, or in none.
pub(crate) fn ask_for_model(config: &ModelConfig, rule: ListedRule) -> Result<String, BuildError> {
    let base_url = &config.base_url;
    let failed = |problem: String| BuildError::NoModelPicked { base_url: base_url.clone(), problem };
    let asked = std::thread::scope(|scope| scope.spawn(|| list(config)).join());
    let ids = match asked {
        Ok(listed) => listed.map_err(failed)?,
        Err(_) => return Err(failed("the request for its models failed".to_owned())),
    };
    match choose_listed(&ids, base_url, rule) {
        ListedChoice::Model(id) => Ok(id.to_owned()),
        ListedChoice::Empty => Err(failed("it lists none".to_owned())),
        ListedChoice::Several(ids) => Err(failed(format!("it lists several: {}", ids.join(", ")))),
    }
}

fn list(config: &ModelConfig) -> Result<Vec<String>, String> {
    let listed = on_this_thread(async {
        let http = HttpClient::new(HttpConfig::default()).map_err(|error| ListingError::Config(error.into()))?;
        list_models(config, &http, LIST_LIMIT).await
    });
    let listed = listed.map_err(|error| error.to_string())?;
    Ok(listed.map_err(|error| error.to_string())?.into_iter().map(|model| model.id).collect())
}

/// Asks a server on this machine what its model can do, without a model call (M8); nothing is known where it does not
/// answer. Blocks, as [`ask_for_model`] does. Servers elsewhere are not asked: they take longer.
pub(crate) fn ask_what_it_can(config: &ModelConfig, kind: ServerKind) -> DeclaredModel {
    if !kind.can_be_asked() || !is_on_this_machine(&config.base_url) {
        return DeclaredModel::default();
    }
    let ask = || {
        on_this_thread(async {
            let http = HttpClient::new(HttpConfig::default()).ok()?;
            ask_about_model(config, kind, &http, ASK_LIMIT).await.ok()
        })
    };
    let asked = std::thread::scope(|scope| scope.spawn(ask).join());
    asked.ok().and_then(Result::ok).flatten().unwrap_or_default()
}

fn on_this_thread<T>(work: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}

#[cfg(test)]
mod tests {
    use super::{ListedChoice, ListedRule, choose_listed, is_chat_model};

    #[test]
    fn the_only_model_is_picked_and_on_this_machine_the_first() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let (far, here) = ("https://far/v1", "http://127.0.0.1:9/v1");
        for (list, base_url, rule, expected) in [
            (ids(&["nomic-embed-text", "a"]), far, ListedRule::Only, ListedChoice::Model("a")),
            (ids(&["a", "b"]), far, ListedRule::Only, ListedChoice::Several(vec!["a", "b"])),
            (ids(&["a", "b"]), far, ListedRule::First, ListedChoice::Model("a")),
            (ids(&["a", "b"]), here, ListedRule::Only, ListedChoice::Model("a")),
            (ids(&["all-minilm"]), here, ListedRule::First, ListedChoice::Empty),
        ] {
            assert_eq!(choose_listed(&list, base_url, rule), expected);
        }
    }

    #[test]
    fn names_say_what_a_model_is_for() {
        for (id, talks) in [("qwen3:8b", true), ("mxbai-embed-large", false), ("BGE-m3", false), ("gpt-4.1-mini", true)]
        {
            assert_eq!(is_chat_model(id), talks, "{id}");
        }
    }
}
