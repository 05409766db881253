use std::net::TcpListener;
use std::time::{Duration, Instant};

use windlass_provider::ListedModel;
use windlass_testkit::{ModelServer, Script, ScriptStep};
use windlass_vocab::ModelName;

use super::local::{LocalProbe, LocalServer, probe_all};
use super::owner::ListenerOwner;
use super::software::Software;
use super::{
    ModelChoice, ModelFallback, ModelPreference, NextLookup, RunState, SessionModel, choose, choose_found,
    choose_of_server, is_named, list_some, next_lookup,
};
use crate::settings::{Flags, ModelEndpoint, SettingOrigin, SettingsError, Sourced, Sources};

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-environment");

/// The endpoint that settings with these variables and this flag for the model name.
fn configured(env: &[(&str, &str)], model: Option<&str>) -> ModelEndpoint {
    let flags = Flags { model: model.map(str::to_owned), data_dir: Some("/d".into()), ..Flags::default() };
    let sources = Sources::of(flags, env.iter().copied().collect(), "/p");
    sources.resolve().expect("settings").endpoint.expect("a server")
}

fn flag(model: &str) -> Sourced<ModelName> {
    Sourced::new(model.into(), SettingOrigin::Flag("model"))
}

/// `address model; notices` of a choice.
fn choice_text(chosen: Result<super::ChosenModel, SettingsError>) -> Result<String, String> {
    let chosen = chosen.map_err(|error| error.to_string())?;
    let choice = match chosen.choice {
        ModelChoice::Server { endpoint, model } => format!("{} {}", endpoint.base_url.value, model.value),
        ModelChoice::Demo => "demo".to_owned(),
    };
    Ok(std::iter::once(choice).chain(chosen.notices.iter().map(ToString::to_string)).collect::<Vec<_>>().join("; "))
}

fn settled(next: NextLookup) -> String {
    match next {
        NextLookup::Settled(chosen) => choice_text(Ok(chosen)).unwrap_or_default(),
        NextLookup::Ask(endpoint, rule) => format!("ask {} {rule:?}", endpoint.base_url.value),
        NextLookup::Look(wanted) => format!("look for {}", wanted.map_or("any".into(), |wanted| wanted.value.0)),
    }
}

// A server and model that are named are used without asking.
#[test]
fn what_is_named_is_settled_at_once_and_the_rest_is_found_out() {
    let named = configured(&[("OPENAI_BASE_URL", "http://h/v1")], None);
    let openai = configured(&[KEY], None);
    for (endpoint, model, expected) in [
        (Some(&named), Some("m"), "http://h/v1 m"),
        (Some(&openai), Some("m"), "https://api.openai.com/v1 m"),
        (Some(&named), Some("demo"), "demo"),
        (None, Some("demo"), "demo"),
        (Some(&named), None, "ask http://h/v1 Only"),
        (None, Some("m"), "look for m"),
        (None, None, "look for any"),
    ] {
        assert_eq!(settled(next_lookup(endpoint, model.map(flag))), expected);
    }
    let anthropic = configured(&[("ANTHROPIC_API_KEY", "sk-ant-x")], None);
    let text = settled(next_lookup(Some(&anthropic), None));
    assert!(text.starts_with("https://api.anthropic.com/v1 claude-") && text.contains("no model is named"), "{text}");
    let text = settled(next_lookup(Some(&openai), None));
    assert!(text.starts_with("https://api.openai.com/v1 gpt-") && text.contains("no model is named"), "{text}");
}

// proves W1, W2: a name without an id means the same as in the library
#[test]
fn the_server_in_a_name_says_which_model_is_used_when_none_is_named() {
    for (name, env, expected) in [
        (
            Some("openai:"),
            &[KEY][..],
            "https://api.openai.com/v1 gpt-4.1-mini; no model is named: gpt-4.1-mini is used",
        ),
        (Some("openai:"), &[], "https://api.openai.com/v1 gpt-4.1-mini; no model is named: gpt-4.1-mini is used"),
        (Some("openai:"), &[KEY, ("OPENAI_BASE_URL", "https://p/v1")], "ask https://p/v1 Only"),
        (Some("ollama:"), &[], "ask http://127.0.0.1:11434/v1 First"),
        (Some("ollama:"), &[("OLLAMA_HOST", "gpu")], "ask http://gpu:11434/v1 First"),
        (Some("https://h/v1"), &[KEY], "ask https://h/v1 Only"),
        (None, &[("OLLAMA_HOST", "gpu")], "ask http://gpu:11434/v1 First"),
    ] {
        assert_eq!(settled(next_lookup(Some(&configured(env, name)), None)), expected, "{name:?} {env:?}");
    }
}

fn listed(ids: &[&str]) -> Vec<ListedModel> {
    ids.iter().map(|id| ListedModel { id: (*id).to_owned(), window: None }).collect()
}

#[test]
fn a_named_server_gives_its_only_model_and_one_on_this_machine_its_first() {
    let text = |name: &str, address: &str, ids: &[&str]| {
        let endpoint = configured(&[(name, address)], None);
        match next_lookup(Some(&endpoint), None) {
            NextLookup::Ask(endpoint, rule) => {
                choice_text(choose_of_server(endpoint, rule, Ok(listed(ids)))).unwrap_or_else(|error| error)
            }
            next @ (NextLookup::Settled(_) | NextLookup::Look(_)) => settled(next),
        }
    };
    let far = |ids| text("OPENAI_BASE_URL", "https://far/v1", ids);
    assert!(far(&["nomic-embed-text", "a"]).starts_with("https://far/v1 a; no model is named"));
    assert!(text("OPENAI_BASE_URL", "http://127.0.0.1:9/v1", &["a", "b"]).starts_with("http://127.0.0.1:9/v1 a; "));
    assert!(text("OLLAMA_HOST", "gpu", &["a", "b"]).starts_with("http://gpu:11434/v1 a; "));
    // The server is wherever the variable says, not on this machine.
    assert_eq!(
        text("OLLAMA_HOST", "gpu", &["all-minilm"]),
        "no model is named for http://gpu:11434/v1. It lists none for conversation"
    );
    assert_eq!(
        far(&["a", "b", "c", "d", "e", "f", "g"]),
        "no model is named for https://far/v1. It has a, b, c, d, e and 2 more"
    );
    assert_eq!(far(&[]), "no model is named for https://far/v1. It lists none for conversation");
}

fn seen(software: Software, owner: ListenerOwner, ids: &[&str]) -> LocalProbe {
    LocalProbe::Server { software, owner, ids: ids.iter().map(|id| (*id).to_owned()).collect() }
}

fn ollama(ids: &[&str]) -> (LocalServer, LocalProbe) {
    (LocalServer::at("http://o/v1"), seen(Software::Ollama, ListenerOwner::Me, ids))
}

fn llama(seen: LocalProbe) -> (LocalServer, LocalProbe) {
    (LocalServer::at("http://l/v1"), seen)
}

// proves X2 in part: a server on this machine may belong to another user
#[test]
fn a_server_that_may_be_somebody_elses_is_not_used_unasked() {
    let other = || ListenerOwner::Other("ollama".into());
    for (software, owner, why) in [
        (Software::Ollama, other(), "Ollama at http://l/v1 runs as another user (ollama)"),
        (
            Software::LlamaCpp,
            ListenerOwner::NotKnown,
            "the llama.cpp server at http://l/v1 runs as a user that can't be told",
        ),
        (
            Software::Unknown,
            ListenerOwner::Me,
            "a server at http://l/v1 lists models, but does not answer as Ollama or llama.cpp",
        ),
        (Software::Unknown, other(), "llama.cpp, and runs as another user (ollama)"),
    ] {
        let doubtful = [ollama(&[]), llama(seen(software, owner, &["m"]))];
        let mut told_so =
            vec![choice_text(choose_found(&doubtful, Some(flag("m")), ModelFallback::Demo)).expect_err("not used")];
        for fallback in [ModelFallback::Refuse, ModelFallback::Ask] {
            told_so.push(choice_text(choose_found(&doubtful, None, fallback)).expect_err("not used"));
        }
        let demo = choice_text(choose_found(&doubtful, None, ModelFallback::Demo)).expect("the demo");
        assert!(demo.starts_with("demo; "), "{demo}");
        told_so.push(demo);
        for text in told_so {
            assert!(text.contains(why), "{text}");
            assert!(text.ends_with("it is not used unasked"), "{text}");
        }
        // The person's own server is used first, wherever it is in the list.
        let both = [doubtful[1].clone(), ollama(&["m"])];
        for wanted in [None, Some(flag("m"))] {
            let text = choice_text(choose_found(&both, wanted, ModelFallback::Refuse)).expect("found");
            assert!(text.starts_with("http://o/v1 m; "), "{text}");
        }
    }
}

#[test]
fn the_first_server_here_that_can_talk_is_taken_and_said() {
    let one = seen(Software::LlamaCpp, ListenerOwner::Me, &["m.gguf"]);
    for (all, expected) in [
        (vec![ollama(&["qwen3:8b"]), llama(one.clone())], "http://o/v1 qwen3:8b; qwen3:8b of Ollama on this machine"),
        (vec![ollama(&["nomic-embed-text"]), llama(one.clone())], "http://l/v1 m.gguf; m.gguf of the llama.cpp server"),
        (vec![ollama(&[]), llama(one)], "http://l/v1 m.gguf; "),
    ] {
        for fallback in [ModelFallback::Refuse, ModelFallback::Demo] {
            let text = choice_text(choose_found(&all, None, fallback)).expect("one is found");
            assert!(text.starts_with(expected), "{text}");
        }
    }
}

// proves S5: with neither key nor local server the demo model answers, where it is permitted
#[test]
fn without_a_model_the_demo_answers_or_a_sentence_says_what_to_set() {
    let nothing = [llama(LocalProbe::Nothing)];
    assert_eq!(choice_text(choose_found(&nothing, None, ModelFallback::Demo)), Ok("demo".into()));
    let text = choice_text(choose_found(&nothing, None, ModelFallback::Refuse)).expect_err("refused");
    assert_eq!(text, "no model is configured and none of yours runs on this machine");
    for text in [
        choice_text(choose_found(&[ollama(&[])], None, ModelFallback::Refuse)),
        choice_text(choose_found(&[ollama(&[])], None, ModelFallback::Demo)),
    ] {
        let text = text.unwrap_or_else(|error| error);
        assert!(text.ends_with("Ollama runs on this machine but has no model yet"), "{text}");
    }
}

#[test]
fn a_named_model_is_looked_for_and_never_replaced_by_another() {
    let seen = [ollama(&["qwen3:latest", "b"]), llama(LocalProbe::Nothing)];
    assert!(
        choice_text(choose_found(&seen, Some(flag("qwen3")), ModelFallback::Demo))
            .expect("found")
            .starts_with("http://o/v1 qwen3; ")
    );
    let text = choice_text(choose_found(&seen, Some(flag("c")), ModelFallback::Demo)).expect_err("not here");
    assert!(text.starts_with("model: ") && text.contains("Ollama on this machine has qwen3:latest, b"), "{text}");
}

#[test]
fn names_tell_what_a_model_is() {
    assert!(is_named("qwen3:latest", "qwen3") && is_named("a", "a") && !is_named("qwen3:8b", "qwen3"));
    assert_eq!(list_some(&["a", "b"]), "a, b");
}

fn probe(servers: &[LocalServer]) -> (Vec<LocalProbe>, Duration) {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let seen = runtime.block_on(probe_all(servers));
    (seen.into_iter().map(|(_, seen)| seen).collect(), begun.elapsed())
}

#[test]
fn a_server_is_seen_with_its_models_and_a_dead_port_is_nothing() {
    let server = ModelServer::start(Script::of([ScriptStep::say("x")])).expect("a server");
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let dead = LocalServer::at(&format!("http://127.0.0.1:{port}/v1"));
    let (seen, _) = probe(&[dead, LocalServer::at(&server.base_url())]);
    assert_eq!(seen[0], LocalProbe::Nothing);
    assert!(
        matches!(&seen[1], LocalProbe::Server { software: Software::Ollama, ids, .. } if ids.len() == 1),
        "{seen:?}"
    );
    #[cfg(target_os = "linux")]
    assert!(seen[1].is_trusted(), "{seen:?}");
}

#[test]
fn ports_that_never_answer_cost_one_short_wait() {
    // The servers accept connections and never answer; probed one after the other they would take three seconds.
    let silent: Vec<TcpListener> = (0..10).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let url = |port: &TcpListener| format!("http://{}/v1", port.local_addr().expect("an address"));
    let servers: Vec<LocalServer> = silent.iter().map(|port| LocalServer::at(&url(port))).collect();
    let (seen, took) = probe(&servers);
    assert!(seen.iter().all(|seen| *seen == LocalProbe::Nothing), "{seen:?}");
    assert!(took < Duration::from_millis(2500), "all at once: {took:?}");
}

// proves X2: a session's conversation goes to the servers of its chain and its roles, and to those that somebody names
#[tokio::test]
async fn a_resumed_session_is_sent_to_no_server_that_nobody_named() {
    const OPENAI: &str = "https://api.openai.com/v1";
    let chosen = async |servers: &[&str], model: &str| {
        let flags = Flags { model: Some(model.to_owned()), data_dir: Some("/d".into()), ..Flags::default() };
        let settings = Sources::of(flags, [KEY].into_iter().collect(), "/p").resolve().expect("settings");
        let session = SessionModel {
            model: "m".into(),
            server: servers.first().map(ToString::to_string),
            others: Vec::new(),
            servers: servers.iter().map(ToString::to_string).collect(),
            run: RunState::Ended,
        };
        let preference = ModelPreference::new(Some(session), ModelFallback::Refuse);
        choice_text(choose(&settings, preference, &[]).await)
    };
    let elsewhere = "http://llm.example/v1";
    for servers in [&[][..], &[OPENAI], &["https://api.openai.com/v1/"], &[elsewhere, OPENAI]] {
        assert_eq!(chosen(servers, "m").await, Ok(format!("{OPENAI} m")), "{servers:?}");
    }
    let refused = format!("this session talked to {elsewhere}, and would now talk to {OPENAI}, which nobody named");
    assert_eq!(chosen(&[elsewhere], "m").await, Err(refused.clone()));
    assert_eq!(chosen(&[elsewhere], "m,anthropic:b").await, Err(refused));
    assert_eq!(chosen(&[elsewhere], "openai:m,anthropic:b").await, Ok(format!("{OPENAI} m")), "both are named");
}
