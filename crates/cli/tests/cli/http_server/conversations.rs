//! Messages, events, questions, and what a person does with a run.

use serde_json::{Value, json};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

fn seqs(records: &[Value]) -> Vec<u64> {
    records.iter().map(|record| record["seq"].as_u64().expect("a number")).collect()
}

// proves W3, E1: a message is answered with 202, its events are the journal, and a client that reconnects anywhere gets the
// rest, each record once
#[test]
fn a_conversation_is_sent_followed_and_followed_again_from_any_record() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "x"})),
        ScriptStep::say("I wrote **a.txt**. <script>alert(1)</script>"),
    ]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let mut live = served.follow(&session, 0);
    let sent = served.say(&session, "write a.txt");
    assert_eq!((&sent["run"], &sent["queued"]), (&json!(1), &json!(false)));
    let records = live.records_to("RunEnded");
    let numbers = seqs(&records);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "none is missing, none comes twice");
    assert_eq!(bench.read("a.txt").as_deref(), Some("x"));
    let html = records.last().expect("an end")["html"].as_str().expect("html");
    assert!(html.contains("<strong>a.txt</strong>") && !html.contains("<script"), "{html}");
    for after in [1, 4, numbers.len() as u64 - 1] {
        assert_eq!(
            seqs(&served.follow(&session, after).records_to("RunEnded")),
            (after + 1..=numbers.len() as u64).collect::<Vec<_>>()
        );
    }
    let page = served.get(&format!("/api/sessions/{session}/records")).json();
    assert_eq!(page["records"], json!(records), "a page has the same records");
    assert_eq!(page["more"], json!(false));
    let listed = served.get("/api/sessions?search=WRITE").json();
    assert_eq!(listed["sessions"][0]["id"], json!(session));
    assert_eq!(served.get("/api/sessions?search=nothing").json()["sessions"], json!([]));
}

// proves W3: a page of a journal has a bounded size, and those before it have the rest
#[test]
fn large_records_come_in_more_pages() {
    let calls =
        (0..40).map(|number| ScriptStep::call("write_file", json!({"path": number.to_string(), "content": ""})));
    let bench = Bench::new(Script::of(calls.chain([ScriptStep::say("Done."), ScriptStep::say("Aye.")])));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    served.say(&session, "write");
    let mut all = served.follow(&session, 0).records_to("RunEnded");
    served.say(&session, &"long ".repeat(1_000_000));
    all.extend(served.follow(&session, all.len() as u64).records_to("RunEnded"));
    let (mut pages, mut read, mut path) = (0, Vec::new(), format!("/api/sessions/{session}/records?batches=1000"));
    loop {
        let page = served.get(&path).json();
        let records = page["records"].as_array().expect("records");
        assert!(records.len() < all.len(), "the whole journal is no page");
        (pages, path) =
            (pages + 1, format!("/api/sessions/{session}/records?batches=1000&before={}", records[0]["seq"]));
        read.splice(0..0, records.iter().cloned());
        if page["more"] == json!(false) {
            break;
        }
    }
    assert!(pages > 1 && seqs(&read) == seqs(&all), "{pages}");
}

// proves J6: a message that is sent again counts once
#[test]
fn a_message_with_the_same_key_is_taken_up_once() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let bearer = format!("Bearer {}", served.token);
    let path = format!("/api/sessions/{session}/messages");
    let send = || {
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "m-1")];
        served.send_with("POST", &path, &headers, &json!({"text": "hello"}).to_string())
    };
    let (first, again) = (send(), send());
    assert_eq!((first.status, again.status), (202, 202), "{first:?} {again:?}");
    served.follow(&session, 0).records_to("RunEnded");
    assert_eq!(send().json()["run"], json!(1));
    assert_eq!(bench.server.requests().len(), 1);
}

// proves T8, W3: an approval waits for an answer from the page
#[test]
fn a_question_is_answered_over_http_once() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("run_command", json!({"command": "echo done > made.txt"})),
        ScriptStep::say("Made."),
    ]));
    let served = Served::start(&bench, &["--sandbox", "off"]);
    let session = served.new_session();
    served.say(&session, "make it");
    let mut events = served.follow(&session, 0);
    let asked = events.records_to("QuestionAsked").pop().expect("a question");
    let question = &asked["body"]["question"];
    let path = format!("/api/sessions/{session}/questions/{question}/answer");
    assert_eq!(served.get(&format!("/api/sessions/{session}")).json()["status"], json!("waiting"));
    assert_eq!(served.post(&path, &json!({"option": "submit"})).error(), "not_offered");
    assert_eq!(served.post(&path, &json!({"option": "once"})).json(), json!({"outcome": "answered"}));
    events.records_to("RunEnded");
    assert_eq!(bench.read("made.txt").as_deref(), Some("done\n"));
    let again = served.post(&path, &json!({"option": "no"}));
    assert_eq!(again.status, 409, "{again:?}");
}

// proves L8, J6: a busy session refuses or queues, as it is asked to, and a stop acts at once
#[test]
fn a_busy_session_refuses_when_asked_to_and_is_stopped() {
    let bench = Bench::new(Script::of([ScriptStep::call("run_command", json!({"command": "touch begun; sleep 600"}))]));
    let mut served = Served::start(&bench, &["--sandbox", "off", "--allow", "run_command"]);
    let session = served.new_session();
    served.say(&session, "wait");
    bench.wait_for_file("begun", &mut served.child);
    let path = format!("/api/sessions/{session}/messages");
    let refused = served.post(&path, &json!({"text": "now", "when_busy": "refuse"}));
    assert_eq!((refused.status, refused.error().as_str()), (409, "busy"));
    let stopped = served.post(&format!("/api/sessions/{session}/stop"), &json!({}));
    assert_eq!(stopped.json()["runs"], json!(1), "{stopped:?}");
    let end = served.follow(&session, 0).records_to("RunEnded").pop().expect("an end");
    assert_eq!(end["body"]["reason"], json!("cancelled"));
    assert_eq!(served.post(&format!("/api/sessions/{session}/stop"), &json!({})).json()["runs"], json!(0));
}

// proves J8, T9: fork, undo, rename, export, import and delete over HTTP
#[test]
fn a_session_is_forked_undone_renamed_moved_and_deleted() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "x"})),
        ScriptStep::say("Done."),
    ]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let at = |rest: &str| format!("/api/sessions/{session}{rest}");
    served.say(&session, "write");
    served.follow(&session, 0).records_to("RunEnded");
    let checked = served.post(&at("/undo"), &json!({"check": true})).json();
    assert_eq!((&checked["restored"], bench.read("a.txt").as_deref()), (&json!(["a.txt"]), Some("x")));
    assert_eq!(served.post(&at("/undo"), &json!({})).json()["restored"], json!(["a.txt"]));
    assert_eq!(bench.read("a.txt"), None);
    assert_eq!(served.post(&at("/undo"), &json!({})).error(), "nothing");
    assert_eq!(served.post(&at("/retry"), &json!({})).error(), "nothing");
    let renamed = served.send("PATCH", &at(""), &json!({"title": "A small job"}).to_string()).json();
    assert_eq!(renamed["title"], json!("A small job"));
    let pinned = served.send("PATCH", &at(""), &json!({"pinned": true, "archived": true}).to_string()).json();
    assert_eq!((&pinned["pinned"], &pinned["archived"]), (&json!(true), &json!(true)));
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]), "archived sessions are left out");
    assert_eq!(served.get("/api/sessions?archived=true").json()["sessions"][0]["id"], json!(session));
    let forked = served.post(&at("/fork"), &json!({"at": 3}));
    assert_eq!(forked.status, 201, "{forked:?}");
    assert_ne!(forked.json()["id"], json!(session));
    let exported = served.get(&at("/export"));
    assert!(exported.headers.contains("attachment; filename="), "{exported:?}");
    assert_eq!(served.send("DELETE", &at(""), "").status, 204);
    assert_eq!(served.get(&at("")).error(), "not_found");
    let arrived = served.send("POST", "/api/sessions/import", &exported.body);
    assert_eq!((arrived.status, arrived.json()["title"].clone()), (201, json!("A small job")), "{arrived:?}");
}

// proves W4, T9: what a call did to a file is shown as a diff, though nobody was asked about it and the request has only the new
// content; for as long as the content after the call is known
#[test]
fn the_changes_of_an_allowed_call_are_shown_as_diffs() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "one\n2\n"})),
        ScriptStep::call("delete_file", json!({"path": "b.txt"})),
        ScriptStep::say("Done."),
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "1\n2\n"})),
        ScriptStep::say("Again."),
    ]));
    std::fs::write(bench.workspace().join("a.txt"), "one\ntwo\n").expect("written");
    std::fs::write(bench.workspace().join("b.txt"), "gone\n").expect("written");
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let changes = |records: &[Value]| -> Vec<u64> {
        let changed = records.iter().filter(|record| record["kind"] == "FilesChanged").cloned();
        seqs(&changed.collect::<Vec<_>>())
    };
    let diffs =
        |record: u64| served.get(&format!("/api/sessions/{session}/records/{record}/diffs")).json()["files"].clone();
    served.say(&session, "write");
    let first = served.follow(&session, 0).records_to("RunEnded");
    let [written, deleted] = changes(&first)[..] else { panic!("{first:?}") };
    let overwritten = json!([{"path": "a.txt", "diff": "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"}]);
    assert_eq!(diffs(written), overwritten);
    assert_eq!(diffs(deleted), json!([{"path": "b.txt", "diff": "--- b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"}]));
    // A later call kept what the first one wrote; nobody kept what the last one wrote, once somebody else has changed it.
    served.say(&session, "again");
    let after = *seqs(&first).last().expect("records");
    let [last] = changes(&served.follow(&session, after).records_to("RunEnded"))[..] else { panic!("a change") };
    std::fs::write(bench.workspace().join("a.txt"), "Mine.\n").expect("written");
    assert_eq!((diffs(written), diffs(last)), (overwritten, json!([{"path": "a.txt", "diff": null}])));
    let other = served.get(&format!("/api/sessions/{session}/records/1/diffs"));
    assert_eq!(other.error(), "not_found", "a record of another kind");
}

// proves W3, C5: what was asked for while nothing ran is done by the next run, and once
#[test]
fn a_conversation_is_summarised_before_the_next_answer() {
    let repeat = Scene { steps: vec![ScriptStep::say("Aye.")], ..Scene::default() }.then(AfterSteps::RepeatLast);
    let bench = Bench::new(Script::default().scene(repeat));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let say = |text: &str, after: u64| {
        served.say(&session, text);
        served.follow(&session, after).records_to("RunEnded")
    };
    let mut last = 0;
    for number in 1..=4 {
        last = *seqs(&say(&format!("message {number}"), last)).last().expect("records");
    }
    assert_eq!(served.post(&format!("/api/sessions/{session}/compact"), &json!({})).status, 202);
    let methods = |records: &[Value]| -> Vec<Value> {
        let compacted = records.iter().filter(|record| record["kind"] == "Compacted");
        compacted.map(|record| record["body"]["method"].clone()).collect()
    };
    let next = say("the next", last);
    assert_eq!(methods(&next), ["summarised"]);
    assert_eq!(methods(&say("the one after", *seqs(&next).last().expect("records"))), Vec::<Value>::new());
}
