use std::net::TcpListener;
use std::time::{Duration, Instant};

use windlass_provider::openai::ListedModel;
use windlass_testkit::{ModelServer, Script, Step};
use windlass_vocab::ModelName;

use super::local::{LocalServer, Seen, look};
use super::owner::Owner;
use super::software::Software;
use super::{Choice, Next, Otherwise, can_talk, found, is_named, next, one_of, some_of};
use crate::settings::{Endpoint, Origin, SettingsError, Sourced};

fn endpoint(url: &str, origin: Origin) -> Endpoint {
    Endpoint { base_url: Sourced::new(url.into(), origin), api_key: None }
}

fn flag(model: &str) -> Sourced<ModelName> {
    Sourced::new(model.into(), Origin::Flag("--model"))
}

/// `address model; notices` of a choice.
fn told(chosen: Result<super::Chosen, SettingsError>) -> Result<String, String> {
    let chosen = chosen.map_err(|error| error.to_string())?;
    let choice = match chosen.choice {
        Choice::Server { endpoint, model } => format!("{} {}", endpoint.base_url.value, model.value),
        Choice::Demo => "demo".to_owned(),
    };
    Ok(std::iter::once(choice).chain(chosen.notices).collect::<Vec<_>>().join("; "))
}

fn settled(next: Next) -> String {
    match next {
        Next::Settled(chosen) => told(Ok(chosen)).unwrap_or_default(),
        Next::Ask(endpoint) => format!("ask {}", endpoint.base_url.value),
        Next::Look(wanted) => format!("look for {}", wanted.map_or("any".into(), |wanted| wanted.value.0)),
    }
}

// What is named is taken, and nobody is asked.
#[test]
fn what_is_named_is_settled_at_once_and_the_rest_is_found_out() {
    let named = endpoint("http://h/v1", Origin::Flag("--base-url"));
    let openai = endpoint("https://api.openai.com/v1", Origin::Default);
    for (endpoint, model, expected) in [
        (Some(&named), Some("m"), "http://h/v1 m"),
        (Some(&openai), Some("m"), "https://api.openai.com/v1 m"),
        (Some(&named), Some("demo"), "demo"),
        (None, Some("demo"), "demo"),
        (Some(&named), None, "ask http://h/v1"),
        (None, Some("m"), "look for m"),
        (None, None, "look for any"),
    ] {
        assert_eq!(settled(next(endpoint, model.map(flag))), expected);
    }
    let text = settled(next(Some(&openai), None));
    assert!(text.starts_with("https://api.openai.com/v1 gpt-") && text.contains("--model"), "{text}");
}

fn listed(ids: &[&str]) -> Vec<ListedModel> {
    ids.iter().map(|id| ListedModel { id: (*id).to_owned(), window: None }).collect()
}

#[test]
fn a_named_server_gives_its_only_model_and_one_on_this_machine_its_first() {
    let far = || endpoint("https://far/v1", Origin::Variable("OPENAI_BASE_URL".into()));
    let here = || endpoint("http://127.0.0.1:9/v1", Origin::Variable("OPENAI_BASE_URL".into()));
    let ollama = || endpoint("http://gpu:11434/v1", Origin::Variable("OLLAMA_HOST".into()));
    let text = |endpoint, ids: &[&str]| told(one_of(endpoint, Ok(listed(ids)))).unwrap_or_else(|error| error);
    assert!(text(far(), &["nomic-embed-text", "a"]).starts_with("https://far/v1 a; no model is named"));
    assert!(text(here(), &["a", "b"]).starts_with("http://127.0.0.1:9/v1 a; "));
    assert!(text(ollama(), &["a", "b"]).starts_with("http://gpu:11434/v1 a; "));
    assert!(text(ollama(), &["all-minilm"]).contains("ollama pull"));
    let refused = text(far(), &["a", "b", "c", "d", "e", "f", "g"]);
    assert!(refused.contains("give --model") && refused.ends_with("It has a, b, c, d, e and 2 more"), "{refused}");
    let refused = text(far(), &[]);
    assert!(refused.contains("https://far/v1") && refused.contains("give --model"), "{refused}");
}

fn seen(software: Software, owner: Owner, ids: &[&str]) -> Seen {
    Seen::Server { software, owner, ids: ids.iter().map(|id| (*id).to_owned()).collect() }
}

fn ollama(ids: &[&str]) -> (LocalServer, Seen) {
    (LocalServer::at("http://o/v1"), seen(Software::Ollama, Owner::Me, ids))
}

fn llama(seen: Seen) -> (LocalServer, Seen) {
    (LocalServer::at("http://l/v1"), seen)
}

// proves X2 in part: a server of this machine may be a stranger's
#[test]
fn a_server_that_may_be_somebody_elses_is_not_used_unasked_and_the_words_to_name_it_are_given() {
    let other = || Owner::Other("ollama".into());
    for (software, owner, why) in [
        (Software::Ollama, other(), "Ollama at http://l/v1 runs as another user (ollama)"),
        (Software::LlamaCpp, Owner::NotKnown, "the llama.cpp server at http://l/v1 runs as a user that can't be told"),
        (
            Software::Unknown,
            Owner::Me,
            "a server at http://l/v1 lists models, but does not answer as Ollama or llama.cpp",
        ),
        (Software::Unknown, other(), "llama.cpp, and runs as another user (ollama)"),
    ] {
        let doubtful = [ollama(&[]), llama(seen(software, owner, &["m"]))];
        let mut told_so = vec![told(found(&doubtful, Some(flag("m")), Otherwise::Demo)).expect_err("not used")];
        for otherwise in [Otherwise::Refuse, Otherwise::Ask] {
            told_so.push(told(found(&doubtful, None, otherwise)).expect_err("not used"));
        }
        let demo = told(found(&doubtful, None, Otherwise::Demo)).expect("the demo");
        assert!(demo.starts_with("demo; "), "{demo}");
        told_so.push(demo);
        for text in told_so {
            assert!(text.contains(why), "{text}");
            for way in ["--base-url http://l/v1", "OPENAI_BASE_URL=http://l/v1", r#"base_url = "http://l/v1""#] {
                assert!(text.contains(way), "{text}");
            }
        }
        // One's own is taken first, wherever it stands.
        let both = [doubtful[1].clone(), ollama(&["m"])];
        for wanted in [None, Some(flag("m"))] {
            let text = told(found(&both, wanted, Otherwise::Refuse)).expect("found");
            assert!(text.starts_with("http://o/v1 m; "), "{text}");
        }
    }
}

#[test]
fn the_first_server_here_that_can_talk_is_taken_and_said() {
    let one = seen(Software::LlamaCpp, Owner::Me, &["m.gguf"]);
    for (all, expected) in [
        (vec![ollama(&["qwen3:8b"]), llama(one.clone())], "http://o/v1 qwen3:8b; qwen3:8b of Ollama on this machine"),
        (vec![ollama(&["nomic-embed-text"]), llama(one.clone())], "http://l/v1 m.gguf; m.gguf of the llama.cpp server"),
        (vec![ollama(&[]), llama(one)], "http://l/v1 m.gguf; "),
    ] {
        for otherwise in [Otherwise::Refuse, Otherwise::Demo] {
            let text = told(found(&all, None, otherwise)).expect("one is found");
            assert!(text.starts_with(expected), "{text}");
        }
    }
}

// proves S5: with neither key nor local server the demo model answers, where it may
#[test]
fn without_a_model_the_demo_answers_or_a_sentence_says_what_to_set() {
    let nothing = [llama(Seen::Nothing)];
    assert_eq!(told(found(&nothing, None, Otherwise::Demo)), Ok("demo".into()));
    let text = told(found(&nothing, None, Otherwise::Refuse)).expect_err("refused");
    for hint in [
        "no model is configured",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "http://127.0.0.1:11434/v1",
        "Ollama",
        "llama.cpp",
        "windlass demo",
    ] {
        assert!(text.contains(hint), "{hint}: {text}");
    }
    for text in
        [told(found(&[ollama(&[])], None, Otherwise::Refuse)), told(found(&[ollama(&[])], None, Otherwise::Demo))]
    {
        let text = text.unwrap_or_else(|error| error);
        assert!(text.contains("`ollama pull qwen3`"), "{text}");
    }
}

#[test]
fn a_named_model_is_looked_for_and_never_replaced_by_another() {
    let seen = [ollama(&["qwen3:latest", "b"]), llama(Seen::Nothing)];
    assert!(
        told(found(&seen, Some(flag("qwen3")), Otherwise::Demo)).expect("found").starts_with("http://o/v1 qwen3; ")
    );
    let text = told(found(&seen, Some(flag("c")), Otherwise::Demo)).expect_err("not here");
    assert!(text.starts_with("--model: ") && text.contains("Ollama on this machine has qwen3:latest, b"), "{text}");
}

#[test]
fn names_tell_what_a_model_is() {
    assert!(is_named("qwen3:latest", "qwen3") && is_named("a", "a") && !is_named("qwen3:8b", "qwen3"));
    for (id, talks) in [("qwen3:8b", true), ("mxbai-embed-large", false), ("BGE-m3", false), ("gpt-4.1-mini", true)] {
        assert_eq!(can_talk(id), talks, "{id}");
    }
    assert_eq!(some_of(&["a", "b"]), "a, b");
}

fn look_at(servers: &[LocalServer]) -> (Vec<Seen>, Duration) {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let seen = runtime.block_on(look(servers));
    (seen.into_iter().map(|(_, seen)| seen).collect(), begun.elapsed())
}

#[test]
fn a_server_is_seen_with_its_models_and_a_dead_port_is_nothing() {
    let server = ModelServer::start(Script::of([Step::say("x")])).expect("a server");
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let dead = LocalServer::at(&format!("http://127.0.0.1:{port}/v1"));
    let (seen, _) = look_at(&[dead, LocalServer::at(&server.base_url())]);
    assert_eq!(seen[0], Seen::Nothing);
    assert!(matches!(&seen[1], Seen::Server { software: Software::Ollama, ids, .. } if ids.len() == 1), "{seen:?}");
    #[cfg(target_os = "linux")]
    assert!(seen[1].is_trusted(), "{seen:?}");
}

#[test]
fn ports_that_never_answer_cost_one_short_wait() {
    // They accept connections and say nothing; one after the other they would cost three seconds.
    let silent: Vec<TcpListener> = (0..10).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let url = |port: &TcpListener| format!("http://{}/v1", port.local_addr().expect("an address"));
    let servers: Vec<LocalServer> = silent.iter().map(|port| LocalServer::at(&url(port))).collect();
    let (seen, took) = look_at(&servers);
    assert!(seen.iter().all(|seen| *seen == Seen::Nothing), "{seen:?}");
    assert!(took < Duration::from_millis(2500), "all at once: {took:?}");
}
