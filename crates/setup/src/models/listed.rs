//! Looks a model up in its server's list, before somebody relies on it.

use std::time::Duration;

use windlass::door::ResolvedModel;
use windlass_provider::known_models::known_model;
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{HttpClient, list_models};

use super::is_named;
use crate::settings::{SettingsError, SettingsNotice};

/// A person waits for it.
const LIMIT: Duration = Duration::from_secs(3);
/// How many similar names a message lists at most.
const NEAR: usize = 3;
/// A listed id that differs by so few letters is the one that was meant.
const TYPO: usize = 2;

/// Refuses a model that its server does not list. One that the table of models knows there may have another name in the
/// list, and a server that does not answer is reported when it is called. A server of an unknown kind may forward names
/// that it does not list: there a notice says so, unless the name looks like a typing mistake.
pub(crate) async fn check_listed(
    model: &ResolvedModel,
    http: &HttpClient,
) -> Result<Option<SettingsNotice>, SettingsError> {
    let kind = model.kind();
    if known_model(kind, &model.id).is_some_and(|row| row.seller == kind && !kind.is_own_software()) {
        return Ok(None);
    }
    let Ok(listed) = list_models(&model.config(), http, LIMIT).await else { return Ok(None) };
    let ids: Vec<&str> = listed.iter().map(|listed| listed.id.trim_start_matches("models/")).collect();
    let wanted = without_variant(kind, &model.id);
    if ids.is_empty() || ids.iter().any(|id| is_named(id, wanted)) {
        return Ok(None);
    }
    let near = nearest(wanted, &ids);
    let is_typo = near.iter().any(|id| strsim::damerau_levenshtein(wanted, id) <= TYPO);
    let not_listed = SettingsError::NotListed { model: model.id.clone(), base_url: model.base_url.clone(), near };
    if kind == ServerKind::Other && !is_typo {
        return Ok(Some(SettingsNotice::Sentence(not_listed.to_string())));
    }
    Err(not_listed)
}

/// OpenRouter and Hugging Face list no variants: `openai/gpt-x:free`.
fn without_variant(kind: ServerKind, id: &str) -> &str {
    let has_variants = matches!(kind, ServerKind::OpenRouter | ServerKind::HuggingFace);
    id.split_once(':').filter(|_| has_variants).map_or(id, |(id, _)| id)
}

/// Returns the most similar ids, the most similar first; the first of the list if none is similar.
fn nearest(wanted: &str, ids: &[&str]) -> Vec<String> {
    let distance = |id: &str| strsim::damerau_levenshtein(wanted, id);
    let is_near = |id: &&&str| id.contains(wanted) || wanted.contains(**id) || distance(id) <= wanted.len() / 2;
    let mut near: Vec<&str> = ids.iter().filter(is_near).copied().collect();
    near.sort_by_key(|id| distance(id));
    let chosen = if near.is_empty() { ids } else { &near };
    chosen.iter().take(NEAR).map(|id| (*id).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_most_similar_ids_come_first() {
        let ids = ["gpt-4.1", "gpt-4.1-mini", "gpt-5", "whisper-1"];
        for (wanted, expected) in [
            ("gpt-4.1-mni", &["gpt-4.1-mini", "gpt-4.1"][..]),
            ("gpt", &["gpt-5", "gpt-4.1", "gpt-4.1-mini"]),
            ("xx", &["gpt-4.1", "gpt-4.1-mini", "gpt-5"]),
        ] {
            let found = nearest(wanted, &ids);
            assert_eq!(found[..expected.len().min(found.len())], *expected, "{wanted}");
        }
    }
}
