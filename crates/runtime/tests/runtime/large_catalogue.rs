//! A run with more tools than a model is offered at once: what it is offered, how it reaches the rest, and that a crash
//! changes nothing. And runs that are offered none, because a router said so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_machine::preset;
use windlass_provider::{BoxFuture, Model, ModelRequest, Segments, Sink};
use windlass_runtime::{
    AgentSettings, Breakers, Hub, Instructions, Services, SessionActivity, SessionChoice, SystemClock,
};
use windlass_store::{MemoryStore, SessionLog as _, SpendingCounter};
use windlass_testkit::{FaultKind, Scene, Script, ScriptStep, ScriptedModel};
use windlass_tools::{CallContext, Permissions, Registry, Secrets, ServerStage, Tool, ToolServers};
use windlass_vocab::{
    Attendance, EffectClass, Event, Failure, IntentRouter, Json, MaxTokens, MessageId, Outcome, Policy, Reasoning,
    Record, Reply, RunModel, ToolSpec, TurnMode,
};

/// The mode of each request, and the tools that it offers.
type SentOffers = Vec<(TurnMode, Vec<String>)>;

/// What a request had besides the conversation.
#[derive(Clone, Debug, PartialEq)]
struct RequestKept {
    mode: TurnMode,
    specs: Vec<ToolSpec>,
    temperature_milli: Option<u32>,
    max_tokens: MaxTokens,
    reasoning: Reasoning,
}

/// A model that keeps what each request had.
#[derive(Clone)]
struct OfferReader {
    inner: ScriptedModel,
    seen: Arc<Mutex<Vec<RequestKept>>>,
}

impl OfferReader {
    fn new(script: Script) -> Self {
        Self { inner: ScriptedModel::new(script), seen: Arc::default() }
    }

    fn seen(&self) -> Vec<RequestKept> {
        self.seen.lock().unwrap().clone()
    }
}

impl Model for OfferReader {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        self.seen.lock().unwrap().push(RequestKept {
            mode: request.mode,
            specs: request.context.offer.clone(),
            temperature_milli: request.temperature_milli,
            max_tokens: request.max_tokens,
            reasoning: request.reasoning,
        });
        self.inner.attempt(request, segments, sink)
    }
}

struct NamedTool(ToolSpec);

impl Tool for NamedTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(Outcome::ok(format!("{} was here", self.0.name.bare()))))
    }
}

const THINGS: [&str; 40] = [
    "anchor", "apple", "basket", "brick", "candle", "cloud", "diamond", "drum", "eagle", "engine", "feather", "flute",
    "garden", "goat", "hammer", "horn", "igloo", "island", "jacket", "jungle", "kettle", "kitten", "ladder", "lemon",
    "magnet", "mirror", "needle", "nutmeg", "orchid", "otter", "pencil", "piano", "quilt", "rabbit", "rocket",
    "saddle", "timber", "turtle", "violin", "walnut",
];

/// A server whose tools are always known.
struct PaintServer;

impl ToolServers for PaintServer {
    fn wake(&self) {}

    fn names(&self) -> Vec<String> {
        vec!["hub".into()]
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        THINGS.map(paint_tool).to_vec()
    }

    fn stages(&self) -> BTreeMap<String, ServerStage> {
        BTreeMap::from([("hub".into(), ServerStage::Listed)])
    }

    fn settled(&self, _: Vec<String>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn paint_tool(thing: &str) -> Arc<dyn Tool> {
    Arc::new(NamedTool(ToolSpec {
        name: format!("hub.paint_{thing}").into(),
        wire_name: String::new(),
        description: format!("Paints the {thing}.").into(),
        schema: Json::from(&json!({"type": "object"})),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    }))
}

fn hub(store: &Arc<MemoryStore>, reader: &OfferReader) -> Hub {
    let mut registry = Registry::new();
    registry.serve(Arc::new(PaintServer));
    let model: Arc<dyn Model> = Arc::new(reader.clone());
    Hub::new(Services {
        store: Arc::clone(store) as _,
        models: Arc::new(HashMap::from([("scripted".into(), model)])),
        registry,
        secrets: Arc::new(Secrets::default()),
        breakers: Breakers::default(),
        spending: SpendingCounter::default(),
        clock: Arc::new(SystemClock),
        guard_locks: None,
        context_sources: Vec::new(),
        workspace: None,
    })
}

fn agent(policy: Policy, model: RunModel) -> AgentSettings {
    AgentSettings {
        name: "test".into(),
        policy,
        models: vec![model],
        role_chains: BTreeMap::new(),
        instructions: Instructions::default(),
        permissions: Arc::new(Permissions { allow: vec!["hub.*".parse().unwrap()], ..Permissions::default() }),
        deadline_ms: None,
        attendance: Attendance::Unattended,
        output: None,
    }
}

fn opening() -> SessionChoice {
    SessionChoice { owner: "me".into(), key: "k".into(), workspace: None }
}

/// What a process sent and recorded.
struct Told {
    requests: Vec<RequestKept>,
    offers: SentOffers,
    records: Vec<Record>,
}

/// Sends these messages, each in a run of its own.
async fn told(policy: Policy, model: RunModel, script: Script, messages: &[&str]) -> Told {
    let reader = OfferReader::new(script);
    let session = hub(&Arc::new(MemoryStore::new()), &reader).open(opening(), agent(policy, model)).await.unwrap();
    let (mut events, mut records) = (session.events(), Vec::new());
    for (number, message) in messages.iter().enumerate() {
        session.send(MessageId(format!("m{number}")), *message).await.unwrap();
        loop {
            let Event::Record(envelope) = events.next().await.unwrap() else { continue };
            records.push(envelope.record.clone());
            if matches!(envelope.record, Record::RunEnded(_)) {
                break;
            }
        }
    }
    let names = |sent: &RequestKept| sent.specs.iter().map(|spec| spec.wire_name.clone()).collect();
    let requests = reader.seen();
    Told { offers: requests.iter().map(|sent| (sent.mode, names(sent))).collect(), requests, records }
}

fn usual() -> Policy {
    preset("default").unwrap()
}

fn model() -> RunModel {
    RunModel::named("scripted")
}

fn call(name: &str) -> ScriptStep {
    ScriptStep::call(name, json!({}))
}

// proves S4, T2, M6: what fits is offered, what was looked for joins once, as a record
#[tokio::test]
async fn a_run_is_offered_what_fits_and_reaches_the_rest_in_two_steps() {
    let steps = vec![
        ScriptStep::call("find_tools", json!({"query": "paint an otter"})),
        call("hub__paint_otter"),
        ScriptStep::say("done"),
    ];
    let policy = Policy { tools_offered: 3, ..usual() };
    let told = told(policy, model(), Script::of(steps), &["Make the goat and the rocket red."]).await;
    let [first, second, third] = &told.offers[..] else { panic!("three turns: {:?}", told.offers) };
    assert_eq!(first.1, ["hub__paint_goat", "hub__paint_rocket", "find_tools"]);
    assert!(second.1.contains(&"hub__paint_otter".to_owned()) && second.1.len() <= 3 + 5, "{second:?}");
    assert_eq!(second, third, "the offer does not change again");
    let pinned = told.records.iter().filter_map(|record| match record {
        Record::ContextPinned(pinned) => pinned.context.as_ref(),
        _ => None,
    });
    let left_out: Vec<u32> = pinned.map(|context| context.left_out).collect();
    assert_eq!((left_out.len(), left_out[0]), (2, 38));
    let results: Vec<&str> = told
        .records
        .iter()
        .filter_map(|record| match record {
            Record::CallFinished(finished) => Some(finished.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(results[1], "paint_otter was here");
}

// proves S4: by its full name, a tool that is left out can be called at once
#[tokio::test]
async fn a_tool_that_is_left_out_runs_when_it_is_called_by_its_name() {
    let policy = Policy { tools_offered: 3, ..usual() };
    let steps = vec![call("hub__paint_violin"), ScriptStep::say("done")];
    let told = told(policy, model(), Script::of(steps), &["Make the goat red."]).await;
    let ran = |record: &Record| matches!(record, Record::CallFinished(done) if done.text == "paint_violin was here");
    assert!(told.records.iter().any(ran), "{:?}", told.records);
}

// proves S4: the number is the model's own, else the policy's; 0 means all
#[tokio::test]
async fn a_models_entry_says_how_many_tools_it_is_offered() {
    let words = "Paint the goat, the rocket, the otter and the piano.";
    for (of_policy, of_model, offered) in
        [(2, None, 3), (2, Some(4), 5), (2, Some(0), 40), (0, None, 40), (15, None, 16)]
    {
        let policy = Policy { tools_offered: of_policy, ..usual() };
        let model = RunModel { tools_offered: of_model, ..model() };
        let told = told(policy, model, Script::of([ScriptStep::say("done")]), &[words]).await;
        assert_eq!(told.offers[0].1.len(), offered, "{of_policy} {of_model:?}: {:?}", told.offers);
    }
}

// proves T2: hidden comes last; what is hidden is neither offered nor found, and is refused
#[tokio::test]
async fn a_hidden_tool_is_refused_however_well_it_fits() {
    let policy = Policy { tools_offered: 3, hidden: ["hub.paint_goat".to_owned()].into(), ..usual() };
    let steps = vec![
        ScriptStep::call("find_tools", json!({"query": "paint a goat"})),
        call("hub__paint_goat"),
        ScriptStep::say("done"),
    ];
    let told = told(policy, model(), Script::of(steps), &["Paint the goat."]).await;
    assert!(told.offers.iter().all(|(_, offer)| !offer.contains(&"hub__paint_goat".to_owned())), "{:?}", told.offers);
    let refused =
        |record: &Record| matches!(record, Record::CallFinished(done) if done.text.contains("is not available here"));
    assert!(told.records.iter().any(refused), "{:?}", told.records);
}

// proves S4, M6: a follow-up that names nothing keeps the offer of the run before
#[tokio::test]
async fn a_follow_up_is_offered_the_same_tools() {
    let policy = Policy { tools_offered: 3, ..usual() };
    let script = Script::of(["one", "two", "three"].map(ScriptStep::say));
    let told = told(policy, model(), script, &["Paint the goat.", "Yes, do it.", "Paint the walnut."]).await;
    let [first, second, third] = &told.offers[..] else { panic!("three turns: {:?}", told.offers) };
    assert_eq!(first, second);
    assert!(third.1.contains(&"hub__paint_walnut".to_owned()), "{third:?}");
}

// proves S4, M6, J3: another process that goes on with a run sends the same definitions, byte for byte
#[tokio::test]
async fn a_crash_after_a_search_changes_no_definition() {
    let slow = call("hub__paint_otter").fault(FaultKind::Delay { ms: 3_600_000 }.times(1));
    let steps = vec![ScriptStep::call("find_tools", json!({"query": "paint an otter"})), slow, ScriptStep::say("done")];
    let (store, reader) = (Arc::new(MemoryStore::new()), OfferReader::new(Script::of(steps)));
    let agent = || agent(Policy { tools_offered: 3, ..usual() }, model());
    let words = "Paint the goat and the rocket red.";
    let session = hub(&store, &reader).open(opening(), agent()).await.unwrap();
    session.send(MessageId("m".into()), words).await.unwrap();
    while reader.seen().len() < 2 {
        tokio::task::yield_now().await;
    }
    session.close().await;

    let session = hub(&store, &reader).open(opening(), agent()).await.unwrap();
    session.send(MessageId("m".into()), words).await.unwrap();
    while session.settled().await != SessionActivity::Idle {}
    let seen = reader.seen();
    let [first, left, resumed, last] = &seen[..] else { panic!("four requests: {}", seen.len()) };
    assert_ne!(first.specs, left.specs, "what was found joined");
    assert_eq!((&resumed.specs, &last.specs), (&left.specs, &left.specs));
    let id = store.find("me", "k").await.unwrap().expect("a session");
    let records = store.read(id, 0).await.unwrap();
    let pinned = records.iter().filter(|envelope| matches!(envelope.record, Record::ContextPinned(_))).count();
    assert_eq!(pinned, 2, "once at first, and once with what was found");
}

// proves T2: a verdict of one word is asked for coldly, briefly and without the effort of the run
#[tokio::test]
async fn a_router_does_not_reason_as_the_run_does() {
    for (of_run, of_router) in [(Reasoning::High, Reasoning::Low), (Reasoning::ModelOwn, Reasoning::ModelOwn)] {
        let policy = Policy { router: IntentRouter::Model, reasoning: of_run, ..usual() };
        let script = Script::when("Reply with one word", [ScriptStep::say("AGENT")])
            .scene(Scene::when("What is a goat?", [ScriptStep::say("Hello.")]));
        let told = told(policy, model(), script, &["What is a goat?"]).await;
        let [router, run] = &told.requests[..] else { panic!("two requests: {:?}", told.offers) };
        assert_eq!((router.mode, router.reasoning, router.temperature_milli), (TurnMode::Route, of_router, Some(0)));
        assert_eq!(router.max_tokens, MaxTokens::Fixed(512));
        assert_eq!(run.reasoning, of_run);
    }
}

// proves T2: DIRECT sends no definitions at all, AGENT sends what fits; a router is asked without tools
#[tokio::test]
async fn a_router_decides_whether_tools_are_sent() {
    for (verdict, mode, offered) in
        [("DIRECT", TurnMode::Talk, 0), ("AGENT", TurnMode::Tools, 2), ("?", TurnMode::Tools, 2)]
    {
        let policy = Policy { router: IntentRouter::Model, tools_offered: 15, ..usual() };
        let script = Script::when("Reply with one word", [ScriptStep::say(verdict)])
            .scene(Scene::when("What is a goat?", [ScriptStep::say("Hello.")]));
        let told = told(policy, model(), script, &["What is a goat?"]).await;
        let sent: Vec<(TurnMode, usize)> = told.offers.iter().map(|(mode, offer)| (*mode, offer.len())).collect();
        assert_eq!(sent, [(TurnMode::Route, 0), (mode, offered)], "{verdict}");
        let Some(Record::RunEnded(ended)) = told.records.last() else { panic!("it ended") };
        assert_eq!(ended.answer, "Hello.");
    }
}
