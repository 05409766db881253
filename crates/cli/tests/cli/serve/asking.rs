//! Questions for a person: sent to a client that can ask, and denied where the client can't.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use super::client::{Client, text};
use crate::support::Bench;

fn bench() -> Bench {
    Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo ran >> marks"})),
        ScriptStep::say("Over."),
    ]))
}

fn ask() -> Value {
    json!({"prompt": "run it", "session": "s"})
}

fn accept(words: &str) -> Value {
    json!({"action": "accept", "content": {"answer": words}})
}

// proves P5, T8: a person behind the client says yes or no during the call
#[test]
fn an_approval_is_asked_of_the_client() {
    for (reply, ran) in [
        (accept("yes, once"), Some("ran\n")),
        (accept("no"), None),
        (accept("whatever"), None),
        (json!({"action": "decline"}), None),
        (json!({"action": "cancel"}), None),
    ] {
        let bench = bench();
        let mut client = Client::shaken(&bench, &[], json!({"elicitation": {}}));
        let id = client.send_call("ask", ask());
        let asked = client.wait_for("elicitation/create");
        let message = asked["params"]["message"].as_str().expect("a message");
        assert!(message.contains("May this call run?") && message.contains("echo ran >> marks"), "{message}");
        let schema = &asked["params"]["requestedSchema"];
        assert_eq!(
            schema["properties"]["answer"]["enum"],
            json!(["no", "yes, once", "yes, for this session", "always"]),
            "{asked}"
        );
        assert_eq!(bench.read("marks"), None, "nothing runs before the answer");
        client.write(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": reply}));
        assert_eq!(text(&client.result(id)), "Over.", "{reply}");
        assert_eq!(bench.read("marks").as_deref(), ran, "{reply}");
        assert_eq!(client.hang_up(), (Some(0), vec![]));
    }
}

// proves T8: when a client that declared elicitation fails to ask, the question's default applies
#[test]
fn a_client_that_fails_to_ask_has_said_no() {
    let bench = bench();
    let mut client = Client::shaken(&bench, &[], json!({"elicitation": {}}));
    let id = client.send_call("ask", ask());
    let asked = client.wait_for("elicitation/create");
    client.write(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}));
    assert_eq!(text(&client.result(id)), "Over.");
    assert_eq!(bench.read("marks"), None);
}

// proves T8: where nobody can be asked the call is denied at once, and the message names the rule that would allow it
#[test]
fn without_anybody_to_ask_it_is_denied_with_the_rule() {
    for inline in [false, true] {
        let bench = bench();
        let mut client =
            if inline { Client::inline(&bench, &[], json!({})) } else { Client::shaken(&bench, &[], json!({})) };
        let id = client.send_call("ask", ask());
        let result = client.result(id);
        assert_eq!(text(&result), "Over.");
        let denied = &result["structuredContent"]["denied"];
        assert_eq!((&denied[0]["call"], &denied[1]), (&json!("1.1.0"), &json!(null)), "{denied}");
        assert!(denied[0]["what"].as_str().is_some_and(|what| what.starts_with("run_command ")), "{denied}");
        assert!(denied[0]["why"].as_str().is_some_and(|why| why.contains("needs approval")), "{denied}");
        assert_eq!(denied[0]["remedy"]["kind"], "allow", "{denied}");
        assert!(denied[0]["advice"].to_string().contains("--allow 'run_command("), "{denied}");
        let heard = bench.last_request("tool").join("\n");
        assert!(heard.contains("nobody is there") && !heard.contains("run_command("), "{heard}");
        let told = client.progress(id).join("\n");
        assert!(told.contains("--allow 'run_command("), "the person is told: {told}");
        assert_eq!(bench.read("marks"), None);
    }
    let bench = bench();
    let mut client = Client::shaken(&bench, &["--allow", "run_command(*)"], json!({}));
    let result = client.call("ask", ask());
    assert_eq!((text(&result).as_str(), &result["structuredContent"]["denied"]), ("Over.", &json!(null)));
    assert_eq!(bench.read("marks").as_deref(), Some("ran\n"));
}

// proves P5, L8: cancelling a call with an open question withdraws the question
#[test]
fn a_cancelled_call_takes_its_question_back() {
    let bench = bench();
    let mut client = Client::shaken(&bench, &[], json!({"elicitation": {}}));
    let id = client.send_call("ask", ask());
    let asked = client.wait_for("elicitation/create");
    client.write(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let taken_back = client.wait_for("notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    assert_eq!(client.hang_up().0, Some(0));
    assert_eq!((bench.read("marks"), bench.records("s", "CancelAsked")), (None, 1));
    bench.assert_whole("taken back");
}

/// Calls `ask` as a client of 2026-07-28 and returns what the client must send back with its answer.
fn asked_by_result(client: &mut Client) -> (String, String) {
    let result = client.call("ask", ask());
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().expect("requests");
    let (key, request) = requests.iter().next().expect("a request");
    assert_eq!(request["method"], "elicitation/create", "{result}");
    assert!(request["params"]["message"].as_str().expect("a message").contains("echo ran >> marks"), "{result}");
    (key.clone(), result["requestState"].as_str().expect("a state").to_owned())
}

fn with_answer(client: &mut Client, (key, state): &(String, String), reply: &Value) -> Value {
    let id = client.send(
        "tools/call",
        json!({"name": "ask", "arguments": ask(), "requestState": state, "inputResponses": {key: reply}}),
    );
    client.result(id)
}

// proves P5, T8: from 2026-07-28 on the client repeats the call with the answers
#[test]
fn a_newer_client_brings_its_answers_with_the_call_made_again() {
    for (reply, ran) in [(accept("yes, once"), Some("ran\n")), (json!({"action": "decline"}), None)] {
        let bench = bench();
        let mut client = Client::inline(&bench, &[], json!({"elicitation": {"form": {}}}));
        let brought = asked_by_result(&mut client);
        assert_eq!(bench.read("marks"), None);
        let result = with_answer(&mut client, &brought, &reply);
        assert_eq!((&result["resultType"], text(&result).as_str()), (&json!("complete"), "Over."), "{reply}");
        assert_eq!(bench.read("marks").as_deref(), ran, "{reply}");
        assert_eq!((bench.records("s", "RunStarted"), bench.records("s", "RunResumed")), (1, 0), "{reply}");
        assert_eq!(client.hang_up(), (Some(0), vec![]));
    }
}

// proves P5, J3: the state that a client carries stays valid after the process that issued it has ended
#[test]
fn a_question_outlives_the_process_that_asked_it() {
    let bench = bench();
    let mut client = Client::inline(&bench, &[], json!({"elicitation": {"form": {}}}));
    let brought = asked_by_result(&mut client);
    client.kill();
    let mut another = Client::inline(&bench, &[], json!({"elicitation": {"form": {}}}));
    let result = with_answer(&mut another, &brought, &accept("yes, once"));
    assert_eq!(text(&result), "Over.", "{result}");
    assert_eq!((bench.read("marks").as_deref(), bench.records("s", "MessageAccepted")), (Some("ran\n"), 1));
    let forged = with_answer(&mut another, &(brought.0, "{}".to_owned()), &accept("no"));
    assert!(text(&forged).contains("make the call anew"), "{forged}");
    bench.assert_whole("outlived");
}

// proves P5: a run that waits for its client can be stopped or resumed
#[test]
fn a_run_that_waits_for_its_client_can_be_stopped_or_taken_up() {
    let bench = bench();
    let mut client = Client::inline(&bench, &[], json!({"elicitation": {"form": {}}}));
    let brought = asked_by_result(&mut client);
    // After `resume` the run asks the same question again.
    let again = client.call("resume", json!({"session": "s"}));
    assert_eq!(
        (&again["resultType"], again["requestState"].as_str()),
        (&json!("input_required"), Some(brought.1.as_str()))
    );
    let stopped = client.call("stop", json!({"session": "s"}));
    assert_eq!(stopped["structuredContent"]["stopped"], 1, "{stopped}");
    let late = with_answer(&mut client, &brought, &accept("yes, once"));
    assert_eq!((&late["isError"], &late["structuredContent"]["reason"]), (&json!(true), &json!("cancelled")), "{late}");
    assert_eq!(bench.read("marks"), None);
    assert_eq!(client.hang_up(), (Some(0), vec![]));
}
