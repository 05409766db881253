//! What a run is shown of its workspace before the request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use windlass_machine::preset;
use windlass_provider::{BoxFuture, Model, ModelRequest, Segments, Sink};
use windlass_runtime::{
    AgentSettings, Breakers, Hub, Instructions, Services, SessionChoice, Subscription, SystemClock,
};
use windlass_store::MemoryStore;
use windlass_testkit::{Script, ScriptStep, ScriptedModel};
use windlass_tools::{Permissions, Registry, Secrets, Workspace, file_tools};
use windlass_vocab::{
    Attendance, Dialect, Event, Failure, Message, MessageId, OutcomeKind, Overview, Policy, Record, Reply, RunModel,
};

/// A model that keeps the first message of each request.
struct FirstMessageReader {
    inner: ScriptedModel,
    seen: Arc<Mutex<Vec<SentRequest>>>,
}

/// What a request shows the model.
#[derive(Clone)]
struct SentRequest {
    first: String,
    /// The prefix and the tail, where text dialects name the tools.
    around: String,
}

impl Model for FirstMessageReader {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        if let Some(Message::User { text, .. }) = request.history.first() {
            let around = format!("{}\n{}", request.context.prefix, request.tail);
            self.seen.lock().unwrap().push(SentRequest { first: text.clone(), around });
        }
        self.inner.attempt(request, segments, sink)
    }
}

/// Returns the first message of every request that a run with these files sends.
async fn first_messages(files: &[(&str, &str)], request: &str, overview: Overview, model: RunModel) -> Vec<String> {
    let policy = Policy { overview, ..preset("default").expect("a preset") };
    requests(files, request, policy, model).await.into_iter().map(|sent| sent.first).collect()
}

async fn requests(files: &[(&str, &str)], request: &str, policy: Policy, model: RunModel) -> Vec<SentRequest> {
    let dir = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let secrets = Secrets::new([("KEY", "sk-aaaabbbbccccdddd")]);
    let workspace = Arc::new(Workspace::open(dir.path()).expect("a workspace").hiding(secrets.clone()));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let steps = [ScriptStep::call("read_file", serde_json::json!({"path": "a.txt"})), ScriptStep::say("done")];
    let inner = ScriptedModel::new(Script::of(steps));
    let reader: Arc<dyn Model> = Arc::new(FirstMessageReader { inner, seen: Arc::clone(&seen) });
    let hub = hub_with(Arc::new(MemoryStore::new()), reader, workspace, secrets);
    let hides = files.iter().any(|(path, _)| *path == "hidden.txt");
    let deny = hides.then(|| "read(hidden.txt)".parse().expect("a rule")).into_iter().collect();
    let agent = agent_with(policy, model, Permissions { deny, ..Permissions::default() });
    let session = hub.open(opening(), agent).await.expect("opened");
    let mut events = session.events();
    session.send(MessageId("m".into()), request).await.expect("sent");
    until(&mut events, |record| matches!(record, Record::RunEnded(_))).await;
    seen.lock().unwrap().clone()
}

fn opening() -> SessionChoice {
    SessionChoice { owner: "me".into(), key: "k".into(), workspace: None }
}

/// Waits for the first record that `wanted` takes.
async fn until(events: &mut Subscription, wanted: impl Fn(&Record) -> bool) -> Record {
    loop {
        let event = events.next().await.expect("the session is open");
        if let Event::Record(envelope) = &event
            && wanted(&envelope.record)
        {
            return envelope.record.clone();
        }
    }
}

/// A process with the file tools of this workspace.
fn hub_with(store: Arc<MemoryStore>, model: Arc<dyn Model>, workspace: Arc<Workspace>, secrets: Secrets) -> Hub {
    let mut registry = Registry::new();
    for tool in file_tools(Arc::clone(&workspace)) {
        registry.add(tool).expect("a tool");
    }
    Hub::new(Services {
        store,
        models: Arc::new(HashMap::from([("scripted".into(), model)])),
        registry,
        secrets: Arc::new(secrets),
        breakers: Breakers::default(),
        spending: windlass_store::SpendingCounter::default(),
        clock: Arc::new(SystemClock),
        guard_locks: None,
        context_sources: Vec::new(),
        workspace: Some(workspace),
    })
}

fn agent_with(policy: Policy, model: RunModel, permissions: Permissions) -> AgentSettings {
    AgentSettings {
        name: "test".into(),
        policy,
        models: vec![model],
        role_chains: std::collections::BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(permissions),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

fn native() -> RunModel {
    RunModel::named("scripted")
}

const FILES: [(&str, &str); 4] = [
    (".env", "TOKEN=none\n"),
    ("a.txt", "one sk-aaaabbbbccccdddd\n"),
    ("b/c.txt", "two\n"),
    ("hidden.txt", "not for the model\n"),
];

// proves C1, X1, X5, M6: small workspaces are shown whole, without secrets and forbidden files, the same in every turn
#[tokio::test]
async fn a_small_workspace_is_shown_whole_before_the_request() {
    let seen = first_messages(&FILES, "Tidy up.", Overview::On, native()).await;
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0], seen[1]);
    let (files, request) = seen[0].split_once("\n\nRequest: ").expect("both");
    assert_eq!(request, "Tidy up.");
    assert!(files.starts_with(
        "Files in the workspace:\n.env (11 bytes)\na.txt (24 bytes)\nb/c.txt (4 bytes)\n\n=== a.txt ===\none "
    ));
    assert!(files.ends_with("\n\n=== b/c.txt ===\ntwo"), "{files}");
    assert!(!files.contains("sk-aaaa") && !files.contains("hidden") && !files.contains("TOKEN"), "{files}");
}

// proves C1: of a larger workspace only the files that the request names are shown with their text
#[tokio::test]
async fn files_that_the_request_names_are_shown_with_their_text() {
    let long = "x\n".repeat(3_000);
    let files = [("a.txt", "one"), ("b/c.txt", "two"), ("long.txt", long.as_str())];
    let seen = first_messages(&files, "What is in c.txt?", Overview::On, native()).await;
    assert!(seen[0].contains("long.txt (6000 bytes)\n\n=== b/c.txt ===\ntwo\n\nRequest: What"), "{}", seen[0]);
    assert!(!seen[0].contains("=== a.txt"), "{}", seen[0]);
}

// proves C1: models with the wire's own calls get none unless the policy says so
#[tokio::test]
async fn only_models_that_write_calls_as_text_get_it_unless_asked_for() {
    for (overview, toolless, shown) in [
        (Overview::Off, true, false),
        (Overview::TextCalls, false, false),
        (Overview::TextCalls, true, true),
        (Overview::On, false, true),
    ] {
        let model = RunModel { toolless, ..native() };
        let seen = first_messages(&FILES, "Tidy up.", overview, model).await;
        assert_eq!(seen[0].starts_with("Files in"), shown, "{overview:?} {toolless}");
    }
}

/// A model that never answers, for a process that dies meanwhile.
struct SilentModel;

impl Model for SilentModel {
    fn attempt(&self, _: &ModelRequest<'_>, _: &mut Segments, _: Sink) -> BoxFuture<'static, Result<Reply, Failure>> {
        Box::pin(std::future::pending())
    }
}

// proves T2, J3: a run that another process goes on with is offered no more than before
#[tokio::test]
async fn after_a_crash_the_same_tools_are_left_out() {
    let dir = tempfile::tempdir().expect("a folder");
    // Too long to be shown whole, so that tools that read are offered.
    for (name, text) in [("a.txt", "one\n".to_owned()), ("long.txt", "x\n".repeat(3_000))] {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    let workspace = Arc::new(Workspace::open(dir.path()).expect("a workspace"));
    let write = "<tool name=\"write_file\"><path>b.txt</path><content>x</content></tool>";
    let honest = "I could not write a file: a.txt says one.";
    let steps = || ScriptedModel::new(Script::of([ScriptStep::say(write), ScriptStep::say(honest)]));
    let agent = || {
        let policy = preset("local-model").expect("a preset");
        let model = RunModel { dialect: Some(Dialect::ToolTag), ..native() };
        agent_with(policy, model, Permissions::default())
    };
    let mut verdicts = Vec::new();
    for crashes in [false, true] {
        let store = Arc::new(MemoryStore::new());
        if crashes {
            let hub = hub_with(Arc::clone(&store), Arc::new(SilentModel), Arc::clone(&workspace), Secrets::default());
            let session = hub.open(opening(), agent()).await.expect("opened");
            let mut events = session.events();
            session.send(MessageId("m".into()), "What is in a.txt?").await.expect("sent");
            until(&mut events, |record| matches!(record, Record::TurnStarted(_))).await;
            drop((session, events));
            hub.close_all().await;
        }
        let hub = hub_with(store, Arc::new(steps()), Arc::clone(&workspace), Secrets::default());
        let (session, mut events) = hub.open_followed(opening(), agent()).await.expect("opened");
        if !crashes {
            session.send(MessageId("m".into()), "What is in a.txt?").await.expect("sent");
        }
        let requested = until(&mut events, |record| matches!(record, Record::CallRequested(_))).await;
        let Record::CallRequested(requested) = requested else { unreachable!("a call") };
        verdicts.push(requested.verdict);
        until(&mut events, |record| matches!(record, Record::RunEnded(_))).await;
    }
    assert!(!matches!(verdicts[0], windlass_vocab::Verdict::Allow), "{verdicts:?}");
    assert_eq!(verdicts[0], verdicts[1]);
    assert!(!dir.path().join("b.txt").exists());
}

// proves T2: a small model is offered only what a request can need
#[tokio::test]
async fn a_small_model_is_offered_only_the_tools_that_a_request_can_need() {
    let long = "x\n".repeat(3_000);
    let large = [FILES[1], FILES[2], ("long.txt", long.as_str())];
    let writing = ["write_file(", "edit_file(", "append_file("];
    let (moving, deleting) = ("move_file(", "delete_file(");
    for (files, request, changing, reads) in [
        (&FILES[1..3], "Change one to three in a.txt.", &writing[..], false),
        (&large[..], "Change one to three in a.txt.", &writing, true),
        (&FILES[1..3], "Rename a.txt to c.txt.", &[&writing[..], &[moving]].concat(), false),
        (&FILES[1..3], "Remove a.txt.", &[&writing[..], &[deleting]].concat(), false),
        // Its kind is not known: anything may be meant.
        (&FILES[1..3], "Poursuis le travail.", &[&writing[..], &[moving, deleting]].concat(), false),
        (&FILES[1..3], "What is in a.txt?", &[], false),
        (&FILES[1..3], "In which line of a.txt is one? See a.txt.", &[], false),
        (&large[..], "Which file mentions two?", &[], true),
        (&FILES[1..3], "Good morning!", &[], false),
        (&large[..], "Good morning!", &[], false),
    ] {
        let model = RunModel { dialect: Some(Dialect::ToolTag), ..native() };
        let sent = requests(files, request, preset("local-model").expect("a preset"), model).await;
        let has = |name: &str| sent[0].around.contains(name);
        for tool in writing.iter().chain(&[moving, deleting]) {
            assert_eq!(has(tool), changing.contains(tool), "{tool} for {request}: {}", sent[0].around);
        }
        assert_eq!(has("read_file("), reads, "{request}: {}", sent[0].around);
        assert!(!has("list_directory(") && !has("fetch_url("), "{request}: {}", sent[0].around);
    }
}

// proves T2: a tool that is not shown because its answer is shown runs if a model calls it all the same
#[tokio::test]
async fn a_model_that_reads_what_it_was_shown_is_answered() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("a.txt"), "one\n").expect("written");
    let workspace = Arc::new(Workspace::open(dir.path()).expect("a workspace"));
    let read = "<tool name=\"read_file\"><path>a.txt</path></tool>";
    let steps = ScriptedModel::new(Script::of([ScriptStep::say(read), ScriptStep::say("It says one.")]));
    let model = RunModel { dialect: Some(Dialect::ToolTag), ..native() };
    let agent = agent_with(preset("local-model").expect("a preset"), model, Permissions::default());
    let hub = hub_with(Arc::new(MemoryStore::new()), Arc::new(steps), workspace, Secrets::default());
    let (session, mut events) = hub.open_followed(opening(), agent).await.expect("opened");
    session.send(MessageId("m".into()), "Change one to three in a.txt.").await.expect("sent");
    let is_over = |record: &Record| matches!(record, Record::CallFinished(_) | Record::RunEnded(_));
    let record = until(&mut events, is_over).await;
    let Record::CallFinished(finished) = record else { panic!("{record:?}") };
    assert_eq!((finished.outcome, finished.text.contains("one")), (OutcomeKind::Ok, true), "{}", finished.text);
}
