//! The relevance pre-filter: what of a large catalogue is offered, and how the rest is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_tools::{
    BoxFuture, CallContext, Offer, Permissions, Registry, Relevance, Selection, ServerStage, Tool, ToolServers,
};
use windlass_vocab::{
    EffectClass, FoundTools, Json, Outcome, ReplyCall, SessionId, ToolName, ToolSource, ToolSpec, Verdict,
};

struct NamedTool(ToolSpec);

impl Tool for NamedTool {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn run(&self, _: CallContext, _: Value) -> BoxFuture<'static, Outcome> {
        Box::pin(std::future::ready(Outcome::ok(self.0.name.to_string())))
    }
}

fn tool(name: &str, description: &str) -> Arc<dyn Tool> {
    Arc::new(NamedTool(ToolSpec {
        name: name.into(),
        wire_name: String::new(),
        description: description.into(),
        schema: Json::from(&json!({"type": "object"})),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    }))
}

/// Each has a tool that paints it and one that counts it.
const THINGS: [&str; 20] = [
    "apple", "brick", "cloud", "drum", "eagle", "flute", "goat", "horn", "igloo", "jacket", "kettle", "ladder",
    "mirror", "needle", "otter", "pencil", "quilt", "rabbit", "saddle", "turtle",
];

fn tools_for(server: &str, things: &[&str]) -> Vec<Arc<dyn Tool>> {
    let both = |thing: &&str| {
        [
            tool(&format!("{server}.paint_{thing}"), &format!("Paints one {thing}.")),
            tool(&format!("{server}.tally_{thing}"), &format!("Tells how much {thing} there is.")),
        ]
    };
    things.iter().flat_map(both).collect()
}

/// A registry of two built-in tools and two for each of these things.
fn registry(things: &[&str]) -> Registry {
    let mut registry = Registry::new();
    let core = [tool("local.read_file", "Reads a file."), tool("local.todo", "Keeps a list.")];
    for tool in core.into_iter().chain(tools_for("hub", things)) {
        registry.add(tool).unwrap();
    }
    registry
}

fn selection(request: &str, keep: usize, before: &[&str]) -> Selection {
    let before = before.iter().map(|name| ToolName::from(*name)).collect();
    let selection: Selection = [ToolSource::BuiltIn, ToolSource::Mcp].into_iter().collect();
    selection.with_relevance(Some(Relevance { request: request.into(), keep, before }))
}

fn names(offer: &Offer) -> Vec<&str> {
    offer.specs().iter().map(|spec| spec.name.as_str()).collect()
}

fn verdict(offer: &Offer, name: &str) -> Verdict {
    let call = ReplyCall { name: name.into(), arguments: "{}".into(), ..ReplyCall::default() };
    let permissions = Permissions { allow: vec!["hub.*".parse().unwrap()], ..Permissions::default() };
    offer.prepare(&call, &permissions, &[]).verdict
}

const CORE: [&str; 3] = ["local.find_tools", "local.read_file", "local.todo"];

// proves S4, T2: core tools survive, and nothing changes where there are few tools
#[test]
fn of_a_large_catalogue_what_fits_is_offered_and_of_a_small_one_all() {
    let wanted = selection("Paint a goat!", 3, &[]);
    let offer = registry(&THINGS).offer(&wanted);
    let offered = names(&offer);
    let (server, core) = offered.split_at(offered.len() - 3);
    assert_eq!(core, CORE);
    assert!(server.contains(&"hub.paint_goat") && server.contains(&"hub.tally_goat"), "{server:?}");
    assert_eq!(registry(&THINGS).left_out_of(&offer, &wanted), 37);

    let small = registry(&THINGS[..14]);
    let whole = small.offer(&wanted);
    assert_eq!((whole.specs().len(), small.left_out_of(&whole, &wanted)), (30, 0));
    assert!(!whole.has(&FoundTools::TOOL.into()));
    let all = registry(&THINGS).offer(&selection("Paint a goat!", 40, &[]));
    assert_eq!(all.specs().len(), 42, "where the number is not reached, nothing is left out");
}

// proves S4: small talk brings no tools but those that are always there
#[test]
fn a_request_that_fits_nothing_is_offered_the_core_and_a_way_to_the_rest() {
    let offer = registry(&THINGS).offer(&selection("Hi, how are you?", 15, &[]));
    assert_eq!(names(&offer), CORE);
    let about = &offer.specs()[0].description;
    assert!(about.contains("40 more are there, of: hub."), "{about}");
}

// proves S4: where the words of a request can't choose among tools, nothing is left out
#[test]
fn a_request_in_another_language_is_offered_all_tools() {
    for request in [
        "Male bitte eine Ziege an und zähle danach alle Biber.",
        "Wie wird das Wetter morgen in Berlin?",
        "Peux-tu peindre la chèvre et compter les loutres ?",
        "Нарисуй козу и посчитай всех выдр в пруду",
        "请给山羊上色，然后数一数有多少只水獭",
        "ヤギを塗ってから、カワウソを数えてください",
        // One word that a tool has is no choice: the rest was not understood.
        "Bitte male das neue Logo mit dem Pencil auf die große Wand.",
        "Dispatch Bob tomorrow concerning dinner",
    ] {
        let offer = registry(&THINGS).offer(&selection(request, 15, &[]));
        assert_eq!(offer.specs().len(), 42, "{request}: {:?}", names(&offer));
        assert!(!offer.has(&FoundTools::TOOL.into()), "{request}");
    }
    for greeting in ["Hallo!", "Guten Tag", "你好", "Привет", "今日は"] {
        let offer = registry(&THINGS).offer(&selection(greeting, 15, &[]));
        assert_eq!(names(&offer), CORE, "{greeting}");
    }
}

// proves S4, M6: a conversation in another language keeps its tools
#[test]
fn a_short_follow_up_keeps_an_offer_of_all_tools() {
    let whole = registry(&THINGS).offer(&selection("Male bitte eine Ziege an und zähle danach alle Biber.", 2, &[]));
    let kept = registry(&THINGS).offer(&selection("Ja, genau.", 2, &names(&whole)));
    assert_eq!(names(&kept), names(&whole));
    let chosen =
        registry(&THINGS).offer(&selection("Now paint the goat and the otter with the flute.", 2, &names(&whole)));
    assert_eq!(chosen.specs().len(), 2 + CORE.len());
}

// proves S4, M6: a follow-up keeps the offer, and the provider's cache
#[test]
fn the_offer_of_the_run_before_is_kept_where_it_has_what_fits() {
    let before = ["hub.paint_goat", "hub.tally_goat", "hub.paint_drum", "local.todo"];
    let offered = |request: &str| {
        let offer = registry(&THINGS).offer(&selection(request, 2, &before));
        names(&offer)[..offer.specs().len() - 3].iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let kept = ["hub.paint_drum", "hub.paint_goat", "hub.tally_goat"];
    assert_eq!(offered("Yes, do it."), kept);
    assert_eq!(offered("And now the goat?"), kept);
    assert_eq!(offered("And the turtle?"), ["hub.paint_turtle", "hub.tally_turtle"]);
}

// proves S4: what is left out can be found, called by its full name, and joins the offer
#[tokio::test]
async fn a_tool_that_is_left_out_is_found_and_joins() {
    let (registry, wanted) = (registry(&THINGS), selection("Paint a goat!", 2, &[]));
    let offer = registry.offer(&wanted);
    assert!(matches!(verdict(&offer, "hub.tally_otter"), Verdict::Unknown { .. }));
    assert_eq!(verdict(&registry.with_late(&offer, &wanted), "hub.tally_otter"), Verdict::Allow);

    let session: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let search = |query: &str| {
        let arguments = Json::from(&json!({ "query": query }));
        offer.run(&FoundTools::TOOL.into(), CallContext::detached(session), &arguments, Duration::from_secs(5))
    };
    let outcome = search("how much of the otters").await;
    assert!(outcome.text.contains("hub.tally_otter: Tells how much otter there is."), "{}", outcome.text);
    let found: FoundTools = serde_json::from_str(outcome.structured.expect("names").as_str()).unwrap();
    assert!(found.found.len() <= 5 && found.found.contains(&"hub.tally_otter".into()), "{found:?}");
    let nothing = search("zebra crossing").await;
    assert!(nothing.structured.is_none() && nothing.text.contains("other words"), "{}", nothing.text);

    let found = BTreeSet::from(["hub.tally_otter".into(), "hub.no_such_tool".into()]);
    let grown = registry.with_found(&offer, &found, &wanted);
    assert_eq!(grown.specs().len(), offer.specs().len() + 1);
    assert_eq!(verdict(&grown, "hub.tally_otter"), Verdict::Allow);
    // A resumed run has the same tools, and its search works.
    let again = registry.pinned(grown.specs(), &wanted, &BTreeSet::new());
    assert_eq!(names(&again), names(&grown));
}

async fn found(offer: &Offer, query: &str) -> BTreeSet<ToolName> {
    let session: SessionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let arguments = Json::from(&json!({ "query": query }));
    let outcome =
        offer.run(&FoundTools::TOOL.into(), CallContext::detached(session), &arguments, Duration::from_secs(5)).await;
    let found: Option<FoundTools> = outcome.structured.map(|names| serde_json::from_str(names.as_str()).unwrap());
    found.map(|found| found.found.into_iter().collect()).unwrap_or_default()
}

// proves S4: a search finds what is left out, not what the model has: the request itself brings the next best
#[tokio::test]
async fn a_search_finds_only_what_the_offer_leaves_out() {
    let request = "Paint the goat, please.";
    let (registry, wanted) = (registry(&THINGS), selection(request, 5, &[]));
    let mut offer = registry.offer(&wanted);
    for round in 1..=3 {
        let more = found(&offer, request).await;
        assert_eq!(more.len(), 5, "round {round}: {more:?}");
        assert!(more.iter().all(|name| !offer.has(name) && !name.is_local()), "round {round}: {more:?}");
        let resumed = registry.pinned(offer.specs(), &wanted, &BTreeSet::new());
        assert_eq!(found(&resumed, request).await, more, "a resumed run finds the same");
        offer = registry.with_found(&offer, &more, &wanted);
    }
    assert_eq!(found(&offer, "read a file").await, BTreeSet::new(), "built-in tools are offered anyway");
}

/// A server that is listed.
struct ListedServer(Vec<Arc<dyn Tool>>);

impl ToolServers for ListedServer {
    fn wake(&self) {}

    fn names(&self) -> Vec<String> {
        vec!["late".into()]
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.clone()
    }

    fn stages(&self) -> BTreeMap<String, ServerStage> {
        BTreeMap::from([("late".into(), ServerStage::Listed)])
    }

    fn settled(&self, _: Vec<String>) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

// proves S4, P2: a server that connects late brings what fits, not all it has
#[test]
fn the_tools_of_a_late_server_are_filtered_too() {
    let wanted = selection("Paint a goat!", 2, &[]);
    let mut registry = registry(&THINGS[..3]);
    let offer = registry.offer(&wanted);
    assert_eq!(offer.specs().len(), 8);
    registry.serve(Arc::new(ListedServer(tools_for("late", &THINGS))));
    let grown = registry.with_joined_servers(&offer, &BTreeSet::from(["late".into()]), &wanted, &BTreeSet::new());
    let joined: Vec<&str> = names(&grown).into_iter().filter(|name| name.starts_with("late.")).collect();
    assert_eq!(joined, ["late.paint_goat", "late.tally_goat"]);
    assert!(grown.has(&FoundTools::TOOL.into()));
    assert_eq!(grown.specs().len(), 8 + 2 + 1, "what was offered stays");
}

fn late() -> BTreeSet<String> {
    BTreeSet::from(["late".into()])
}

// proves S4, M6, J3: a run keeps its offer, whether its servers connect again or another process goes on with it
#[tokio::test]
async fn a_server_that_brings_nothing_new_changes_no_spec() {
    let mut registry = registry(&[]);
    registry.serve(Arc::new(ListedServer(tools_for("late", &THINGS))));
    let before = ["late.paint_goat", "late.tally_goat", "late.paint_drum", "late.tally_drum"];
    // What today's words would choose anew is more than the run was offered.
    let wanted = selection("Paint the goat now.", 5, &before);
    let offer = registry.offer(&wanted);
    assert_eq!(names(&offer)[..4], ["late.paint_drum", "late.paint_goat", "late.tally_drum", "late.tally_goat"]);
    assert_eq!(offer.specs().len(), 4 + CORE.len());
    let same = registry.with_joined_servers(&offer, &late(), &wanted, &BTreeSet::new());
    assert_eq!(same.specs(), offer.specs());

    let grown = registry.with_found(&offer, &found(&offer, "tally otter").await, &wanted);
    assert!(grown.has(&"late.tally_otter".into()));
    let pinned: Vec<&str> = names(&grown);
    let wanted = selection("Paint the goat now.", 5, &pinned);
    let resumed = registry.pinned(grown.specs(), &wanted, &BTreeSet::new());
    let joined = registry.with_joined_servers(&resumed, &late(), &wanted, &BTreeSet::new());
    assert_eq!(joined.specs(), grown.specs());
}

// proves S4: a search reaches the tools of a server that connected since, though the model is told nothing new
#[tokio::test]
async fn a_search_reaches_a_server_that_brought_nothing_that_fits() {
    let mut registry = registry(&THINGS);
    let wanted = selection("Paint the goat.", 2, &[]);
    let offer = registry.offer(&wanted);
    registry.serve(Arc::new(ListedServer(vec![tool("late.zebra", "Shows a zebra.")])));
    let same = registry.with_joined_servers(&offer, &late(), &wanted, &BTreeSet::new());
    assert_eq!(same.specs(), offer.specs());
    assert_eq!(found(&same, "zebra").await, BTreeSet::from(["late.zebra".into()]));
}
