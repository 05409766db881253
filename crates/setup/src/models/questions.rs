//! Asks the servers of a chain what they know of their models, without a model call (M8). A server on this machine answers
//! in a millisecond, and may have been started anew with other settings: it is asked for every run. Others are asked when
//! nothing is remembered of the model, or only what is old; one that did not answer delays no other run for some minutes.

use std::path::Path;
use std::time::Duration;

use windlass::door::ResolvedModel;
use windlass_provider::{Endpoint, HttpClient, ListingError, ask_about_model};
use windlass_vocab::Timestamp;

use super::memory::{DatedAnswers, ModelMemory, RememberedModel};
use super::notice::ModelNotice;

/// How long a server on this machine may take, and any other.
const LIMIT_HERE: Duration = Duration::from_millis(500);
const LIMIT: Duration = Duration::from_secs(3);

/// Which servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedServers {
    /// Those on this machine, and those whose last answer is old.
    Due,
    /// All: a person wants to know it now.
    All,
}

/// What is known of the models of a chain, and notices for the person.
#[derive(Debug, Default)]
pub struct LearnedModels {
    /// What is remembered of each.
    pub models: Vec<RememberedModel>,
    /// Files that can't be read.
    pub notices: Vec<ModelNotice>,
}

/// Asks about the models of a chain, and remembers the answers in this data folder.
pub async fn learn(
    chain: &[ResolvedModel],
    data_dir: &Path,
    now: Timestamp,
    asks: AskedServers,
    http: &HttpClient,
) -> LearnedModels {
    let memory = ModelMemory::at(data_dir);
    let mut learned = LearnedModels::default();
    let mut asked = Vec::new();
    for model in chain {
        let mut remembered = memory.load(&model.base_url, &model.id).unwrap_or_else(|unreadable| {
            learned.notices.push(ModelNotice::UnreadableMemory(unreadable));
            RememberedModel::nothing(&model.base_url, &model.id)
        });
        // The model behind an id may be another by now.
        remembered.probed = remembered.probed.filter(|probed| probed.is_fresh(now));
        let limit = if is_on_this_machine(&model.base_url) { LIMIT_HERE } else { LIMIT };
        let is_known = remembered.declared.is_some_and(|declared| declared.is_fresh(now));
        let is_due = asks == AskedServers::All || limit == LIMIT_HERE || !(is_known || remembered.was_just_silent(now));
        let config = (is_due && model.server.can_be_asked()).then(|| model.config());
        let (kind, http) = (model.server, http.clone());
        asked.push(tokio::spawn(async move {
            let answer = match config {
                Some(config) => Some(ask_about_model(&config, kind, &http, limit).await),
                None => None,
            };
            (remembered, answer, limit)
        }));
    }
    for one in asked {
        let Ok((mut remembered, answer, limit)) = one.await else { continue };
        let is_new = match answer {
            Some(Ok(declared)) => {
                let declared = DatedAnswers::new(now, &declared);
                let is_new = declared.replaces(remembered.declared.as_ref()) || remembered.silent.is_some();
                (remembered.declared, remembered.silent) = (Some(declared), None);
                is_new
            }
            Some(Err(ListingError::Failed(failure))) if failure.status.is_none() && limit == LIMIT => {
                remembered.silent = Some(now);
                true
            }
            // It may be loading its model, or want another key: what is remembered stays.
            Some(Err(_)) | None => false,
        };
        if is_new {
            // What can't be written is asked for again.
            let _ = memory.save(&remembered);
        }
        learned.models.push(remembered);
    }
    learned
}

/// Whether the server of a model can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelReach {
    /// It answers.
    Answers,
    /// It does not.
    Silent,
    /// It is not asked: its provider is not for asking.
    NotAsked,
}

/// Asks the servers of a chain, all at once, whether they answer; whatever they answer counts.
pub async fn reach(chain: &[ResolvedModel], http: &HttpClient) -> Vec<ModelReach> {
    let asked: Vec<_> = chain.iter().map(|model| tokio::spawn(reach_one(model.clone(), http.clone()))).collect();
    let mut found = Vec::with_capacity(asked.len());
    for one in asked {
        found.push(one.await.unwrap_or(ModelReach::NotAsked));
    }
    found
}

async fn reach_one(model: ResolvedModel, http: HttpClient) -> ModelReach {
    if !model.server.can_be_asked() {
        return ModelReach::NotAsked;
    }
    let limit = if is_on_this_machine(&model.base_url) { LIMIT_HERE } else { LIMIT };
    match ask_about_model(&model.config(), model.server, &http, limit).await {
        Err(ListingError::Failed(failure)) if failure.status.is_none() => ModelReach::Silent,
        Err(ListingError::Config(_)) => ModelReach::NotAsked,
        Ok(_) | Err(ListingError::Failed(_)) => ModelReach::Answers,
    }
}

/// Fills in what is known of the models of a chain.
pub fn fill_in(chain: &mut [ResolvedModel], learned: &[RememberedModel]) {
    for model in chain {
        let known = learned.iter().find(|known| known.server == model.base_url && known.model == model.id);
        model.declared = known.map(RememberedModel::answers).unwrap_or_default();
    }
}

fn is_on_this_machine(base_url: &str) -> bool {
    Endpoint { base_url: base_url.to_owned(), model: String::new(), key: None }.is_on_this_machine()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, Write as _};

    use serde_json::{Value, json};
    use windlass::door::{ModelFigures, ResolvedModel};
    use windlass_provider::abilities::Ability::{self, No, Unknown, Yes};
    use windlass_provider::server_kind::ServerKind;
    use windlass_provider::{DeclaredModel, HttpClient, HttpConfig, Secret};
    use windlass_testkit::{ModelServer, Script};
    use windlass_vocab::{ModelSoftware, Timestamp};

    use super::{AskedServers, ModelReach, fill_in, learn, reach};
    use crate::models::memory::{DatedAnswers, ModelMemory, RememberedModel};

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn model(server: ServerKind, base_url: &str) -> ResolvedModel {
        ResolvedModel {
            name: "m".into(),
            server,
            base_url: base_url.to_owned(),
            id: "m".to_owned(),
            key: Some(Secret::new("a-key")),
            figures: ModelFigures::default(),
            declared: DeclaredModel::default(),
        }
    }

    fn client() -> HttpClient {
        HttpClient::new(HttpConfig::default()).unwrap()
    }

    /// Learns about one model; returns it with what is known of it.
    fn learned(model: ResolvedModel, data_dir: &std::path::Path) -> ResolvedModel {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut chain = vec![model];
        let learned = runtime.block_on(learn(&chain, data_dir, NOW, AskedServers::Due, &client()));
        fill_in(&mut chain, &learned.models);
        chain.remove(0)
    }

    fn list(owner: &str, extra: Value) -> Value {
        let mut entry = json!({"id": "m", "object": "model", "owned_by": owner});
        if let (Some(entry), Value::Object(extra)) = (entry.as_object_mut(), extra) {
            entry.extend(extra);
        }
        json!({"object": "list", "data": [entry]})
    }

    /// Starts a server that answers each path with a status and a body, and all others with 404. Returns its address.
    fn answering(answers: Vec<(&'static str, u16, Value)>) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = std::io::BufReader::new(&stream);
                let mut first = String::new();
                let _ = reader.read_line(&mut first);
                let mut line = String::from("-");
                while !line.trim().is_empty() {
                    line.clear();
                    let _ = reader.read_line(&mut line);
                }
                let path = first.split(' ').nth(1).unwrap_or_default();
                let found = answers.iter().find(|(known, ..)| *known == path);
                let (status, body) = found.map_or((404, Value::Null), |(_, status, body)| (*status, body.clone()));
                let body = body.to_string();
                let head =
                    format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = (&stream).write_all((head + &body).as_bytes());
            }
        });
        url
    }

    fn remember(data_dir: &std::path::Path, server: &str) {
        let known = DeclaredModel { window: Some(4096), native_calls: No, ..DeclaredModel::default() };
        let declared = Some(DatedAnswers::new(NOW, &known));
        let remembered = RememberedModel { declared, ..RememberedModel::nothing(server, "m") };
        ModelMemory::at(data_dir).save(&remembered).unwrap();
    }

    // proves M8: a server in trouble has said nothing about its model
    #[test]
    fn only_a_server_without_the_question_makes_us_forget() {
        let kept = (Some(4096), No);
        for (status, expected) in [
            (401, kept),
            (429, kept),
            (500, kept),
            (503, kept),
            (404, (None, Unknown)),
            (405, (None, Unknown)),
            (501, (None, Unknown)),
        ] {
            let url = answering(vec![("/v1/models", status, Value::Null)]);
            let room = tempfile::tempdir().unwrap();
            remember(room.path(), &url);
            let known = learned(model(ServerKind::Other, &url), room.path()).declared;
            assert_eq!((known.window, known.native_calls), expected, "{status}");
        }
        for (status, expected) in [(503, kept), (404, (Some(9000), Unknown)), (403, (Some(9000), Unknown))] {
            let list = list("llamacpp", json!({"context_length": 9000}));
            let url = answering(vec![("/v1/models", 200, list), ("/props", status, Value::Null)]);
            let room = tempfile::tempdir().unwrap();
            remember(room.path(), &url);
            let known = learned(model(ServerKind::Other, &url), room.path()).declared;
            assert_eq!((known.window, known.native_calls), expected, "its list, then {status}");
        }
    }

    // proves M8: a server elsewhere that is down delays one run in some minutes, not each
    #[test]
    fn a_server_that_did_not_answer_is_not_asked_again_soon() {
        let room = tempfile::tempdir().unwrap();
        let chain = [model(ServerKind::Other, "http://llm.invalid/v1")];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let silent_at = |minutes: u64, asks| {
            let now = NOW.plus_ms(minutes * 60_000);
            runtime.block_on(learn(&chain, room.path(), now, asks, &client())).models[0].silent
        };
        assert_eq!(silent_at(0, AskedServers::Due), Some(NOW));
        assert_eq!(silent_at(4, AskedServers::Due), Some(NOW), "it was not asked");
        assert_eq!(silent_at(4, AskedServers::All), Some(NOW.plus_ms(4 * 60_000)), "a person wants to know");
        assert_eq!(silent_at(10, AskedServers::Due), Some(NOW.plus_ms(10 * 60_000)));
    }

    // proves W3: whatever a server answers, it can be reached
    #[test]
    fn a_server_is_reached_when_it_answers_and_silent_when_nobody_listens() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let here = answering(vec![("/v1/models", 503, Value::Null)]);
        let nobody = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            format!("http://{}/v1", listener.local_addr().unwrap())
        };
        let chain = [model(ServerKind::Other, &here), model(ServerKind::Other, &nobody)];
        assert_eq!(runtime.block_on(reach(&chain, &client())), [ModelReach::Answers, ModelReach::Silent]);
    }

    // proves M8: a server may have another model under the same id
    #[test]
    fn an_old_probe_counts_no_more() {
        for (days, expected) in [(29, No), (31, Unknown)] {
            let room = tempfile::tempdir().unwrap();
            let url = "http://127.0.0.1:1/v1";
            let found = DeclaredModel { native_calls: No, ..DeclaredModel::default() };
            let at = Timestamp(NOW.0 - days * 24 * 60 * 60 * 1000);
            let probed = Some(DatedAnswers::new(at, &found));
            let remembered = RememberedModel { probed, ..RememberedModel::nothing(url, "m") };
            ModelMemory::at(room.path()).save(&remembered).unwrap();
            let known = learned(model(ServerKind::Other, url), room.path()).declared;
            assert_eq!(known.native_calls, expected, "{days} days");
        }
    }

    /// Native calls, images, window.
    type Seen = (Option<ModelSoftware>, Ability, Ability, Option<u64>);

    // proves M8: a server is recognized by its list of models, and asked in its own way
    #[test]
    fn servers_of_every_kind_say_what_their_models_can_do() {
        let caps = json!({"supports_tools": true, "supports_tool_calls": true});
        let props = json!({"default_generation_settings": {"n_ctx": 8192}, "chat_template_caps": caps});
        let show = json!({"capabilities": ["completion", "vision"], "parameters": "num_ctx 16384"});
        let lm_studio = json!({"data": [
            {"id": "m", "type": "vlm", "loaded_context_length": 4096, "capabilities": ["tool_use"]},
        ]});
        let nothing = Value::Null;
        let script = |list: Value| Script::default().answering("/v1/models", list);
        let cases: [(Script, &[ServerKind], Seen, usize); 5] = [
            (
                script(list("llamacpp", nothing.clone())).answering("/props", props),
                &[ServerKind::Other, ServerKind::LlamaCpp],
                (Some(ModelSoftware::LlamaCpp), Yes, Unknown, Some(8192)),
                2,
            ),
            (
                script(list("library", nothing.clone())).answering("/api/show", show),
                &[ServerKind::Other, ServerKind::Ollama],
                (Some(ModelSoftware::Ollama), No, Yes, Some(16384)),
                3,
            ),
            (
                script(list("organization_owner", nothing)).answering("/api/v0/models", lm_studio),
                &[ServerKind::Other, ServerKind::LmStudio],
                (Some(ModelSoftware::LmStudio), Yes, Yes, Some(4096)),
                2,
            ),
            (
                script(list("vllm", json!({"max_model_len": 32768}))),
                &[ServerKind::Other, ServerKind::Vllm],
                (Some(ModelSoftware::Vllm), Unknown, Unknown, Some(32768)),
                1,
            ),
            (
                script(list("somebody", json!({"context_length": 9000}))),
                &[ServerKind::Other],
                (None, Unknown, Unknown, Some(9000)),
                1,
            ),
        ];
        for (script, kinds, expected, questions) in cases {
            let server = ModelServer::start(script).unwrap();
            for kind in kinds {
                let room = tempfile::tempdir().unwrap();
                let before = server.questions().len();
                let known = learned(model(*kind, &server.base_url()), room.path()).declared;
                assert_eq!((known.software, known.native_calls, known.images, known.window), expected, "{kind:?}");
                let asked = server.questions().len() - before;
                assert!((1..=questions).contains(&asked), "{kind:?}: {asked} questions");
            }
            assert_eq!(server.count(), 0, "no model was called");
            let keys: Vec<_> = server.questions().into_iter().flat_map(|question| question.headers).collect();
            assert!(keys.iter().any(|(name, value)| name == "authorization" && value == "Bearer a-key"));
        }
    }

    // proves M8: providers are known by the table
    #[test]
    fn a_provider_is_not_asked() {
        let server = ModelServer::start(Script::default()).unwrap();
        let room = tempfile::tempdir().unwrap();
        let known = learned(model(ServerKind::OpenAi, &server.base_url()), room.path());
        assert_eq!((known.declared, server.questions().len()), (DeclaredModel::default(), 0));
    }

    // proves M8: what is remembered stands in for a server that does not answer, and one far away is not asked again soon
    #[test]
    fn what_is_remembered_is_used_without_asking() {
        let room = tempfile::tempdir().unwrap();
        for server in ["http://127.0.0.1:1/v1", "http://llm.invalid/v1"] {
            remember(room.path(), server);
            let known = learned(model(ServerKind::Other, server), room.path()).declared;
            assert_eq!((known.window, known.native_calls), (Some(4096), No), "{server}");
        }
    }

    // proves M8: a server that never answers costs a short wait
    #[test]
    fn a_silent_server_is_not_waited_for() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let (room, begun) = (tempfile::tempdir().unwrap(), std::time::Instant::now());
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        assert_eq!(learned(model(ServerKind::Other, &url), room.path()).declared, DeclaredModel::default());
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));
        assert!(!room.path().join("models").exists(), "it may answer the next time");
    }
}
