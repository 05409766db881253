//! Checks server, key, model and context window with the one request that costs nothing: the list of models.

use std::path::Path;
use std::time::{Duration, Instant};

use windlass::door::ResolvedModel;
use windlass_provider::abilities::Ability;
use windlass_provider::known_models::known_model;
use windlass_provider::known_models::measured::{better_preset, better_with_scripts, measurement_in_use};
use windlass_provider::server_kind::ServerKind;
use windlass_provider::{HttpClient, HttpConfig, ListedModel, ListingError};
use windlass_setup::agent;
use windlass_setup::models::memory::{DatedAnswers, RememberedModel};
use windlass_setup::models::questions::{AskedServers, learn};
use windlass_setup::models::{ChosenModel, ModelChoice, has_name, is_named, list_some, models_of};
use windlass_setup::settings::{ModelEndpoint, Settings, SettingsError};
use windlass_setup::test_hooks;
use windlass_vocab::{Dialect, FailureClass};

use super::chain;
use super::check::Check;
use crate::args::dialect_name;
use crate::models::{jobs_text, preset_text, scripts_text};
use crate::output::advice::with_failure;
use crate::output::setting_words::{model_notice, origin_text, settings_error};

/// How long the server may take to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Checks the chosen model and those after it; what is remembered of models is in the data folder of the settings.
pub(crate) async fn check(chosen: Result<ChosenModel, SettingsError>, settings: &Settings) -> Vec<Check> {
    match chosen {
        Err(error) => vec![Check::fail("model", settings_error(&error))],
        Ok(ChosenModel { choice: ModelChoice::Demo, .. }) => vec![Check::warn(
            "model",
            "the demo model, which is scripted",
            "set OPENAI_API_KEY, or start Ollama, for a real one",
        )],
        Ok(ChosenModel { choice: ModelChoice::Server { endpoint, model }, notices }) => {
            let mut later = agent::chain(settings, &endpoint, &model.value);
            let first = later.remove(0);
            let mut checks = check_first(&endpoint, &first, &settings.place.data_dir.value).await;
            checks.extend(file_jobs(&first, &settings.policy.preset));
            if let Some(first) = checks.first_mut() {
                first.details = notices.iter().map(model_notice).collect();
            }
            for model in agent::role_chains(settings, &endpoint).into_values().flatten() {
                let is_same = |other: &ResolvedModel| (&other.base_url, &other.id) == (&model.base_url, &model.id);
                if !is_same(&first) && !later.iter().any(is_same) {
                    later.push(model);
                }
            }
            let models: Vec<_> = std::iter::once(first).chain(later.iter().cloned()).collect();
            checks.extend(chain::check(later).await);
            checks.extend(chain::check_prices(&settings.policy, &models));
            checks
        }
    }
}

async fn check_first(endpoint: &ModelEndpoint, model: &ResolvedModel, data_dir: &Path) -> Vec<Check> {
    let begun = Instant::now();
    let listed = models_of(endpoint, LIMIT).await;
    let took = begun.elapsed();
    let known = match (&listed, HttpClient::new(HttpConfig::default())) {
        (Ok(_), Ok(http)) => {
            let now = test_hooks::clock().now();
            let learned = learn(std::slice::from_ref(model), data_dir, now, AskedServers::All, &http).await;
            learned.models.into_iter().next().unwrap_or_default()
        }
        (Err(_), _) | (_, Err(_)) => RememberedModel::default(),
    };
    judge(endpoint, model, listed, took, &known)
}

fn judge(
    endpoint: &ModelEndpoint,
    model: &ResolvedModel,
    listed: Result<Vec<ListedModel>, ListingError>,
    took: Duration,
    known: &RememberedModel,
) -> Vec<Check> {
    let address = &endpoint.base_url.value;
    match listed {
        Ok(listed) => {
            let server = Check::ok("server", format!("{address} answered in {} ms", took.as_millis()));
            let key = match &endpoint.api_key {
                Some(key) => format!("accepted ({})", origin_text(&key.origin)),
                None => "none given, none asked for".to_owned(),
            };
            let checks = [
                server,
                Check::ok("key", key),
                check_model(endpoint, model, &listed),
                window(endpoint, model, &listed, known.answers().window),
            ];
            checks.into_iter().chain(abilities(known)).collect()
        }
        Err(ListingError::Failed(failure)) if failure.class == FailureClass::Auth => {
            vec![Check::ok("server", format!("{address} answers")), Check::fail("key", with_failure(&failure))]
        }
        Err(ListingError::Failed(failure)) if failure.status == Some(404) => {
            let advice = format!("if `windlass run --model {} hello` answers, all is well", model.name);
            vec![Check::warn("server", with_failure(&failure), advice)]
        }
        Err(ListingError::Failed(failure)) => vec![Check::fail("server", with_failure(&failure))],
        Err(error @ ListingError::Config(_)) => vec![Check::fail("server", error.to_string())],
    }
}

fn check_model(
    endpoint: &ModelEndpoint,
    ResolvedModel { id: model, .. }: &ResolvedModel,
    listed: &[ListedModel],
) -> Check {
    let ids: Vec<&str> = listed.iter().map(|model| model.id.as_str()).collect();
    let address = &endpoint.base_url.value;
    if ids.iter().any(|id| is_named(id, model.as_str())) {
        return if has_name(model.as_str()) {
            Check::ok("model", format!("{model} is there"))
        } else {
            let said = format!("{address} lists one model, which has no name (its id is {:?})", model.as_str());
            Check::warn("model", said, "give it one where the server is started: llama.cpp has --alias NAME")
        };
    }
    if ids.is_empty() {
        let advice = if endpoint.kind() == ServerKind::Ollama {
            format!("`windlass models pull {model} --base-url {address}` downloads it")
        } else {
            format!("if it is Ollama: `windlass models pull {model} --base-url {address}`")
        };
        return Check::warn("model", format!("{address} lists no model"), advice);
    }
    Check::fail("model", format!("{address} has no model {model}; it has {}", list_some(&ids)))
        .advise("choose one with --model, OPENAI_MODEL or `model` in windlass.toml")
}

/// Says how the model did in file jobs, where that was measured, and what to do where this preset is not best for it.
fn file_jobs(model: &ResolvedModel, preset: &str) -> Option<Check> {
    let (server, id) = (model.kind(), model.id.as_str());
    let dialect = model.figures.dialect_of(server, id).unwrap_or(Dialect::Native);
    let best = measurement_in_use(server, id, Some(dialect))?;
    let check = |used: String| Check::ok("measured", format!("{}; {used}", jobs_text(best)));
    let better = better_preset(server, id, preset, dialect);
    let scripts = better_with_scripts(server, id, Some(dialect)).map(scripts_text);
    let advice: Vec<String> = better.map(preset_text).into_iter().chain(scripts).collect();
    let said = match better {
        Some(_) => check(format!("the preset {preset} is used")),
        None if dialect != best.dialect => {
            check(format!("your settings have calls as {} and the preset {preset}", dialect_name(dialect)))
        }
        None if preset != best.preset => check(format!("the preset {preset} is used, which did as much")),
        None => check("both are used".to_owned()),
    };
    Some(if advice.is_empty() { said } else { said.advise(advice.join("; ")) })
}

/// Says what the model can do, where that is known.
fn abilities(known: &RememberedModel) -> Option<Check> {
    let answers = known.answers();
    let all = [
        (answers.native_calls, "tools"),
        (answers.parallel_calls, "parallel calls"),
        (answers.json_schema, "JSON schema"),
        (answers.images, "images"),
    ];
    let word = |(ability, name): &(Ability, &str)| match ability {
        Ability::Yes => Some((*name).to_owned()),
        Ability::No => Some(format!("no {name}")),
        Ability::Unknown => None,
    };
    let words: Vec<String> = all.iter().filter_map(word).collect();
    if words.is_empty() {
        return None;
    }
    let day = |answers: &DatedAnswers| answers.at.to_string().chars().take(10).collect::<String>();
    let source = match &known.probed {
        Some(probed) => format!("probed {}", day(probed)),
        None => "as the server declares".to_owned(),
    };
    Some(Check::ok("can do", format!("{} ({source})", words.join(", "))))
}

fn window(endpoint: &ModelEndpoint, model: &ResolvedModel, listed: &[ListedModel], declared: Option<u64>) -> Check {
    const OLLAMA: &str = "Ollama gives models a small window unless told otherwise, and cuts silently: \
        start it with OLLAMA_CONTEXT_LENGTH=32768 or more";
    const SMALL: u64 = 8_192;
    let told = listed.iter().find(|listed| is_named(&listed.id, &model.id)).and_then(|listed| listed.window);
    if let Some(tokens) = model.figures.window {
        return Check::ok("window", format!("{tokens} tokens (your settings)"));
    }
    let in_table = || known_model(endpoint.kind(), &model.id).and_then(|row| row.window);
    match declared.or(told).or_else(in_table) {
        Some(tokens) if tokens < SMALL => Check::warn(
            "window",
            format!("{tokens} tokens"),
            "that is little for work with tools; give it more if you can",
        ),
        Some(tokens) => Check::ok("window", format!("{tokens} tokens")),
        None if endpoint.base_url.value.contains(":11434") => {
            Check::warn("window", "unknown: the server does not say", OLLAMA)
        }
        None => Check::ok("window", "unknown: the server does not say"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass::door::{ModelFigures, ResolvedModel};
    use windlass_provider::server_kind::ServerKind;
    use windlass_provider::{DeclaredModel, ListedModel, ListingError};
    use windlass_vocab::{Dialect, Failure, FailureClass};

    use super::{file_jobs, judge};
    use windlass_setup::models::memory::RememberedModel;
    use windlass_setup::settings::ModelEndpoint;

    fn model(id: &str, base_url: &str) -> ResolvedModel {
        ResolvedModel {
            name: id.into(),
            server: ServerKind::at(base_url),
            base_url: base_url.to_owned(),
            id: id.to_owned(),
            key: None,
            figures: ModelFigures::default(),
            declared: DeclaredModel::default(),
        }
    }

    fn lines(url: &str, listed: Result<&[(&str, Option<u64>)], Failure>) -> Vec<String> {
        let listed = listed.map_err(ListingError::Failed).map(|models| {
            models.iter().map(|(id, window)| ListedModel { id: (*id).to_owned(), window: *window }).collect()
        });
        let checks = judge(
            &ModelEndpoint::found(url),
            &model("m", url),
            listed,
            Duration::from_millis(3),
            &RememberedModel::default(),
        );
        checks.iter().map(|check| format!("{} {}: {}", check.state.word(), check.name, check.said)).collect()
    }

    #[test]
    fn a_list_says_all_that_can_be_known_without_a_call() {
        assert_eq!(
            lines("http://h/v1", Ok(&[("m:latest", Some(32_768))])),
            [
                "ok server: http://h/v1 answered in 3 ms",
                "ok key: none given, none asked for",
                "ok model: m is there",
                "ok window: 32768 tokens",
            ]
        );
        let other = lines("http://h/v1", Ok(&[("a", None), ("b", None)]));
        assert_eq!(
            other[2..],
            ["fail model: http://h/v1 has no model m; it has a, b", "ok window: unknown: the server does not say"]
        );
        assert_eq!(lines("http://h/v1", Ok(&[("m", Some(4096))]))[3], "warn window: 4096 tokens");
        assert!(lines("http://127.0.0.1:11434/v1", Ok(&[("m", None)]))[3].starts_with("warn window"));
        assert!(lines("http://h/v1", Ok(&[]))[2].starts_with("warn model: http://h/v1 lists no model"));
    }

    #[test]
    fn a_model_whose_id_says_nothing_is_said_to_have_no_name() {
        let listed = vec![ListedModel { id: "-".to_owned(), window: None }];
        let nothing = RememberedModel::default();
        let found = ModelEndpoint::found("http://h/v1");
        let checks = judge(&found, &model("-", "http://h/v1"), Ok(listed), Duration::from_millis(3), &nothing);
        let told = format!("{} {}", checks[2].state.word(), checks[2].said);
        assert_eq!(told, "warn http://h/v1 lists one model, which has no name (its id is \"-\")");
    }

    // proves M2: what is used is said as it is, and another preset is suggested only where it helps
    #[test]
    fn how_a_measured_model_did_is_said_with_what_is_used() {
        let said = |preset: &str, dialect| {
            let mut model = model("qwen2.5-coder:1.5b", "http://127.0.0.1:11434/v1");
            model.figures.dialect = dialect;
            let check = file_jobs(&model, preset).expect("it was measured");
            let text = check.said.rsplit_once("; ").map(|(_, used)| used.to_owned()).expect("what is used");
            (text, check.advice)
        };
        let scripts = "try --preset local-model --dialect script --allow run_command: it did 72 of 153";
        assert_eq!(said("local-model", None), ("both are used".to_owned(), Some(scripts.to_owned())));
        let in_use = said("local-model", Some(Dialect::Script));
        assert_eq!(in_use, ("both are used".to_owned(), None));
        assert_eq!(
            said("default", None),
            (
                "the preset default is used".to_owned(),
                Some(format!("try --preset local-model: it did 39 of 114; with default: 6 of 20; {scripts}"))
            )
        );
        let native = said("local-model", Some(Dialect::Native));
        let native_used = "your settings have calls as native and the preset local-model";
        assert_eq!(native, (native_used.to_owned(), Some(scripts.to_owned())));
        assert!(file_jobs(&model("m", "http://h/v1"), "default").is_none());
    }

    #[test]
    fn each_failure_is_told_where_it_belongs() {
        let failure = |class, status| Err(Failure { status, ..Failure::new(class, "Because.") });
        assert_eq!(
            lines("http://h/v1", failure(FailureClass::Auth, Some(401))),
            [
                "ok server: http://h/v1 answers",
                "fail key: Because. Set WINDLASS_API_KEY to a key that is valid there; a later model of a chain needs \
                 `api_key_env` under [models.NAME]."
            ]
        );
        assert_eq!(lines("http://h/v1", failure(FailureClass::BadRequest, Some(404))), ["warn server: Because."]);
        assert_eq!(lines("http://h/v1", failure(FailureClass::Transient, None)), ["fail server: Because."]);
    }
}
