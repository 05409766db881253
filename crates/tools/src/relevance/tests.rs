use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::json;
use windlass_vocab::{EffectClass, Json, ToolSpec};

use super::ToolIndex;

/// A tool of the fixture, and requests that need it.
#[derive(Deserialize)]
struct LabelledTool {
    name: String,
    description: String,
    parameters: BTreeMap<String, String>,
    requests: Vec<String>,
}

fn catalogue() -> Vec<LabelledTool> {
    serde_json::from_str(include_str!("../../../../fixtures/tools/catalogue.json")).unwrap()
}

fn spec(tool: &LabelledTool) -> ToolSpec {
    let parameters = tool.parameters.iter().map(|(name, about)| (name.clone(), json!({"description": about})));
    let properties: serde_json::Map<_, _> = parameters.collect();
    ToolSpec {
        name: tool.name.as_str().into(),
        wire_name: String::new(),
        description: tool.description.as_str().into(),
        schema: Json::from(&json!({"type": "object", "properties": properties})),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: BTreeSet::new(),
    }
}

// proves S4, as far as ranks go. What is measured: 80 of 92 within 15, 58 at first. These requests were not written with the
// words of the tools at hand, unlike most of the public catalogue's, where the target of 99 % is met: docs/decisions/0030.
#[test]
fn the_tool_that_a_request_needs_is_mostly_among_the_fifteen_that_fit_best() {
    let tools = catalogue();
    let specs: Vec<ToolSpec> = tools.iter().map(spec).collect();
    let index = ToolIndex::of(&specs);
    let requests =
        tools.iter().enumerate().flat_map(|(place, tool)| tool.requests.iter().map(move |text| (place, text)));
    let (mut all, mut within, mut first, mut missed) = (0, 0, 0, Vec::new());
    for (place, request) in requests {
        let rank = index.ranked(request).iter().position(|tool| tool.place == place);
        all += 1;
        first += usize::from(rank == Some(0));
        if rank.is_some_and(|rank| rank < 15) {
            within += 1;
        } else {
            missed.push((&tools[place].name, request));
        }
    }
    println!("{} tools, {all} requests: {within} right within 15, {first} right at first", tools.len());
    assert!(tools.len() >= 67, "{}", tools.len());
    assert!(within * 92 >= all * 80, "{within} of {all}; missed {missed:?}");
    assert!(first * 92 >= all * 58, "{first} of {all}");
}

// proves S4: words of small talk fit no tool
#[test]
fn a_request_without_telling_words_ranks_nothing() {
    let specs: Vec<ToolSpec> = catalogue().iter().map(spec).collect();
    let index = ToolIndex::of(&specs);
    for request in ["", "Hi!", "How are you?", "Can you do it, please?", "今日は"] {
        assert_eq!(index.ranked(request), [], "{request}");
    }
    assert_eq!(ToolIndex::default().ranked("send an email"), []);
}

// proves S4: what a request in the tools' language and one in another are told apart by
#[test]
fn the_words_of_a_request_are_counted() {
    let specs: Vec<ToolSpec> = catalogue().iter().map(spec).collect();
    let index = ToolIndex::of(&specs);
    let counted = |request: &str| {
        let words = index.words(request);
        (words.all, words.common, words.known)
    };
    assert_eq!(counted("Send an email to Ada"), (5, 2, 2));
    assert_eq!(counted("Schick bitte Ada eine Nachricht"), (5, 0, 0));
    assert_eq!(counted("发一封 email 给我的房东"), (2 + 1 + 3, 0, 1), "two letters count as a word");
    assert_eq!(counted("!?"), (0, 0, 0));
}

// proves S4: the names and choices of parameters count, and those of their parts
#[test]
fn a_tool_is_found_by_its_parameters() {
    let schema = |inner: &str| {
        json!({"type": "object", "properties": {"items": {"type": "array", "items":
        {"type": "object", "properties": {"kind": {"enum": [inner]}}}}}})
    };
    let tool = |name: &str, choice: &str| ToolSpec {
        name: name.into(),
        schema: Json::from(&schema(choice)),
        ..spec(&catalogue().remove(0))
    };
    let specs = [tool("a.a", "walnut"), tool("a.b", "birch")];
    let found: Vec<usize> = ToolIndex::of(&specs).ranked("birch wood").iter().map(|tool| tool.place).collect();
    assert_eq!(found, [1]);
}
