//! Typed output in the form that each server accepts: by schema, else by a tool, else by the instructions (L10).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass::{Agent, Builder, Record, ResponseFormat, WireKind};
use windlass_testkit::{FaultKind, ModelServer, RecordedRequest, Script, ScriptStep};
use windlass_vocab::{NextAttempt, OutputForm};

use super::{WIRES, WireCase};

/// A day, and how warm it gets.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Day {
    day: String,
    warmest: f64,
}

fn monday() -> Day {
    Day { day: "Monday".into(), warmest: 21.5 }
}

fn good() -> Value {
    json!({"day": "Monday", "warmest": 21.5})
}

/// A server that answers a request as one that it can't fulfil, in these words.
fn refusing(step: ScriptStep, words: &[&str]) -> ScriptStep {
    words.iter().fold(step, |step, words| {
        let body = json!({"error": {"message": words, "type": "invalid_request_error"}}).to_string();
        step.fault(FaultKind::Status { code: 400, body: Some(body), retry_after: None })
    })
}

/// An agent of which the server offers no tool of its own.
fn plain(case: &WireCase, server: &ModelServer) -> Builder {
    Agent::builder().base_url(server.base_url()).model(case.model).wire(case.wire).in_memory()
}

/// The form in which a request asks for its output, and the tool that must be called.
fn form(wire: WireKind, request: &RecordedRequest) -> (OutputForm, Option<String>) {
    let body = &request.body;
    let (schema, forced) = match wire {
        WireKind::Chat => (&body["response_format"], &body["tool_choice"]["function"]["name"]),
        WireKind::Messages => (&body["output_config"]["format"], &body["tool_choice"]["name"]),
        WireKind::Responses => (&body["text"]["format"], &body["tool_choice"]["name"]),
    };
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_output = |tool: &Value| tool["name"] == "output" || tool["function"]["name"] == "output";
    let form = match (schema.is_null(), tools.iter().any(is_output)) {
        (false, _) => OutputForm::Schema,
        (true, true) => OutputForm::Tool,
        (true, false) => OutputForm::Prompt,
    };
    (form, forced.as_str().map(str::to_owned))
}

fn forms(wire: WireKind, server: &ModelServer) -> Vec<(OutputForm, Option<String>)> {
    assert_eq!(server.refused(), Vec::<String>::new(), "{wire:?}");
    server.requests().iter().map(|request| form(wire, request)).collect()
}

/// The forms that the journal says were tried after the first.
async fn recorded(agent: &Agent<(), Day>) -> Vec<OutputForm> {
    let store = agent.hub().store();
    let session = store.find("local", "s").await.expect("a store").expect("a session");
    let records = store.read(session, 0).await.expect("records").into_iter().map(|envelope| envelope.record);
    let form = |record| match record {
        Record::AttemptFailed(failed) => match failed.next {
            NextAttempt::Output { form } => Some(form),
            _ => None,
        },
        Record::CallRequested(requested) => panic!("the output is no call: {requested:?}"),
        _ => None,
    };
    records.filter_map(form).collect()
}

const NO_SCHEMA: &str = "response_format of type json_schema is not supported by this model";
const NO_CHOICE: &str = "tool_choice: this model can't be made to call a tool";

fn forced() -> (OutputForm, Option<String>) {
    (OutputForm::Tool, Some("output".to_owned()))
}

// proves L10: a server that refuses the schema is asked by a tool, within the same turn and from then on
#[tokio::test]
async fn a_server_that_refuses_the_schema_is_asked_by_a_tool() {
    for case in &WIRES {
        let answer = ScriptStep::call("output", good());
        let steps = [refusing(answer.clone(), &[NO_SCHEMA]), answer];
        let server = ModelServer::start(Script::of(steps)).expect("a server");
        let agent = plain(case, &server).output::<Day>().build().expect("built");
        for _ in 0..2 {
            assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday(), "{:?}", case.wire);
        }
        assert_eq!(forms(case.wire, &server), [(OutputForm::Schema, None), forced(), forced()], "{:?}", case.wire);
        assert_eq!(recorded(&agent).await, [OutputForm::Tool], "{:?}", case.wire);
    }
}

// proves L10
#[tokio::test]
async fn a_server_that_refuses_the_tool_too_is_asked_by_the_instructions() {
    for case in &WIRES {
        let step = refusing(ScriptStep::say(good().to_string()), &[NO_SCHEMA, NO_CHOICE]);
        let server = ModelServer::start(Script::of([step])).expect("a server");
        let agent = plain(case, &server).output::<Day>().build().expect("built");
        assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday(), "{:?}", case.wire);
        let expected = [(OutputForm::Schema, None), forced(), (OutputForm::Prompt, None)];
        assert_eq!(forms(case.wire, &server), expected, "{:?}", case.wire);
        assert_eq!(recorded(&agent).await, [OutputForm::Tool, OutputForm::Prompt], "{:?}", case.wire);
    }
}

// proves L10: abilities decide; beside other tools the output is a tool that may be called
#[tokio::test]
async fn a_model_that_takes_no_schema_is_asked_by_a_tool_at_once() {
    for case in &WIRES {
        let wrong = ScriptStep::call("output", json!({"day": "Monday"}));
        let steps = [ScriptStep::call("note", json!({"n": "1"})), wrong, ScriptStep::call("output", good())];
        let server = ModelServer::start(Script::of(steps)).expect("a server");
        let builder = case.builder(&server).in_memory().response_format(ResponseFormat::Never);
        let agent = builder.output::<Day>().build().expect("built");
        assert_eq!(agent.session("s").run("Monday?").await.expect("an output"), monday(), "{:?}", case.wire);
        let forms = forms(case.wire, &server);
        assert_eq!(forms[..2], [(OutputForm::Tool, None), (OutputForm::Tool, None)], "{:?}", case.wire);
        // The first answer did not fit, and was sent back as what the model had written.
        let last = String::from_utf8(server.requests()[2].raw.clone()).expect("text");
        assert!(last.contains(r#"{\"day\":\"Monday\"}"#) && last.contains("required property"), "{last}");
    }
}
