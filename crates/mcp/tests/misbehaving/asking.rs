//! Servers that send requests to the client or questions to the person.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_testkit::mcp::{AskBack, FakeTool, McpScript, PersonRequest, REVISIONS, ToolAction};
use windlass_tools::CallContext;
use windlass_vocab::{Answer, Elicitation, ElicitationKind, Json, Outcome, OutcomeKind, QuestionOption, Resumption};

use crate::room::{Around, Room, SHORT_CALL, ServerLimits, answer, context, nobody};

crate::trials! {
    one_that_asks_back_before_it_answers_is_answered,
    a_wish_in_the_old_revisions_is_asked_while_the_call_runs,
    a_wish_in_the_new_revision_pauses_the_call_and_goes_on_with_the_answer,
    a_page_to_visit_is_shown_as_such,
    one_that_asks_for_ever_is_stopped,
    progress_is_shown,
    a_call_carries_its_effect_id,
}

fn form() -> PersonRequest {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    PersonRequest::Form { message: "Who are you?".to_owned(), schema }
}

fn one(does: ToolAction) -> McpScript {
    McpScript::with([FakeTool::new("it", does), FakeTool::new("echo", ToolAction::Echo)])
}

// proves P4
async fn one_that_asks_back_before_it_answers_is_answered() {
    let tools = [
        FakeTool::new("ping", ToolAction::AsksBack(AskBack::Ping)),
        FakeTool::new("roots", ToolAction::AsksBack(AskBack::Roots)),
        FakeTool::new("sampling", ToolAction::AsksBack(AskBack::Sampling)),
        FakeTool::new("unknown", ToolAction::AsksBack(AskBack::Unknown)),
    ];
    let room = Room::of(
        ServerLimits::Calls(SHORT_CALL),
        REVISIONS.map(|revision| (revision, McpScript::with(tools.clone()).speaking(&[revision]))),
    );
    for revision in REVISIONS {
        room.connect(revision).await.unwrap();
        for tool in ["ping", "roots", "sampling", "unknown"] {
            let outcome = room.call(&format!("{revision}.{tool}"), json!({})).await;
            // The newest revision has no such requests; a server that sends one gets no answer.
            let answered = outcome.text.starts_with("answered ");
            assert!(answered || revision == "2026-07-28", "{revision}, {tool}: {outcome:?}");
        }
        assert_eq!(room.diary(revision).starts(), 1, "{revision}");
    }
    room.end().await;
}

/// A person who gives this answer to everything, and the list of the questions.
fn person(says: &Answer) -> (Around, Arc<Mutex<Vec<Elicitation>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (seen, says) = (Arc::clone(&asked), says.clone());
    let person = move |elicitation| {
        seen.lock().unwrap().push(elicitation);
        says.clone()
    };
    (Around { person: Arc::new(person), ..nobody() }, asked)
}

fn submits(content: &Value) -> Answer {
    Answer { arguments: Some(Json::from(content)), ..answer(QuestionOption::Submit) }
}

async fn ask(room: &Room, full: &str, context: CallContext) -> Outcome {
    room.tool(full).run(context, json!({"n": 1})).await
}

// proves P4
async fn a_wish_in_the_old_revisions_is_asked_while_the_call_runs() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let room = Room::with(ServerLimits::Long, one(ToolAction::Elicits(form())).speaking(&[revision]));
        room.connect("bad").await.unwrap();
        let (around, asked) = person(&submits(&json!({"name": "Ada"})));
        let outcome = ask(&room, "bad.it", context(&around)).await;
        assert!(outcome.text.contains("accept") && outcome.text.contains("Ada"), "{revision}: {outcome:?}");
        let seen = asked.lock().unwrap().clone();
        assert_eq!((seen[0].from.as_str(), seen[0].message.as_str()), ("bad", "Who are you?"));
        assert!(matches!(seen[0].wants, ElicitationKind::Form { .. }));
        for (option, action) in [(QuestionOption::No, "decline"), (QuestionOption::Dismiss, "cancel")] {
            let (around, _) = person(&answer(option));
            let outcome = ask(&room, "bad.it", context(&around)).await;
            assert!(outcome.text.contains(action), "{revision}: {outcome:?}");
        }
        room.end().await;
    }
}

// proves P4
async fn a_wish_in_the_new_revision_pauses_the_call_and_goes_on_with_the_answer() {
    let mut room = Room::with(ServerLimits::Long, one(ToolAction::Elicits(form())).modern());
    room.connect("bad").await.unwrap();
    let paused = ask(&room, "bad.it", context(&nobody())).await;
    let pause = paused.pause.clone().unwrap_or_else(|| panic!("{paused:?}"));
    assert_eq!(pause.asks.len(), 1);
    assert_eq!(pause.asks[0].message, "Who are you?");
    // Another process resumes the call: the server was restarted and knows only the state.
    room.next().await;
    let answers = vec![(pause.asks[0].key.clone(), submits(&json!({"name": "Ada"})))];
    let resumed = Resumption { state: pause.state, answers };
    let outcome = ask(&room, "bad.it", CallContext { resumed: Some(Arc::new(resumed)), ..context(&nobody()) }).await;
    assert_eq!(outcome.kind, OutcomeKind::Ok, "{outcome:?}");
    assert!(outcome.text.contains("accept") && outcome.text.contains("Ada"), "{outcome:?}");
    let calls = room.diary("bad").calls_of("it");
    assert_eq!(calls[1].request_state.as_deref(), Some("state of it"));
    assert_eq!((calls.len(), &calls[0].arguments), (2, &calls[1].arguments));
    room.end().await;
}

// proves P4
async fn a_page_to_visit_is_shown_as_such() {
    let wish = PersonRequest::Visit { message: "Log in".to_owned(), url: "https://example.com/login".to_owned() };
    let room = Room::of(
        ServerLimits::Long,
        [
            ("old", one(ToolAction::Elicits(wish.clone())).speaking(&["2025-11-25"])),
            ("new", one(ToolAction::Elicits(wish)).modern()),
        ],
    );
    room.connect("old").await.unwrap();
    room.connect("new").await.unwrap();
    let (around, asked) = person(&answer(QuestionOption::Submit));
    let outcome = ask(&room, "old.it", context(&around)).await;
    assert!(outcome.text.contains("accept"), "{outcome:?}");
    let visit = ElicitationKind::Visit { url: "https://example.com/login".to_owned() };
    assert_eq!(asked.lock().unwrap()[0].wants, visit);
    let paused = ask(&room, "new.it", context(&nobody())).await;
    assert_eq!(paused.pause.unwrap().asks[0].wants, visit);
    room.end().await;
}

// proves P4, T7
async fn one_that_asks_for_ever_is_stopped() {
    let room = Room::of(
        ServerLimits::Calls(SHORT_CALL),
        [
            ("old", one(ToolAction::ElicitsForEver(form())).speaking(&["2025-11-25"])),
            ("new", one(ToolAction::ElicitsForEver(form())).modern()),
        ],
    );
    room.connect("old").await.unwrap();
    let (around, asked) = person(&submits(&json!({"name": "Ada"})));
    let outcome = ask(&room, "old.it", context(&around)).await;
    assert_ne!(outcome.kind, OutcomeKind::Ok, "{outcome:?}");
    let times = asked.lock().unwrap().len();
    assert!(times <= 100, "a person was asked {times} times");
    assert_eq!(room.call("old.echo", json!({})).await.text, "echo heard {}");

    room.connect("new").await.unwrap();
    let mut resumed = None;
    for round in 0.. {
        assert!(round < 100, "it is asked for ever");
        let outcome = ask(&room, "new.it", CallContext { resumed, ..context(&nobody()) }).await;
        let Some(pause) = outcome.pause else {
            assert_ne!(outcome.kind, OutcomeKind::Ok, "{outcome:?}");
            break;
        };
        let answers = vec![(pause.asks[0].key.clone(), submits(&json!({"name": "Ada"})))];
        resumed = Some(Arc::new(Resumption { state: pause.state, answers }));
    }
    room.end().await;
}

// proves P4
async fn progress_is_shown() {
    let room = Room::of(
        ServerLimits::Long,
        [("old", one(ToolAction::Progresses(3)).legacy()), ("new", one(ToolAction::Progresses(3)).modern())],
    );
    for server in ["old", "new"] {
        room.connect(server).await.unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&shown);
        let progress = move |text: &str| sink.lock().unwrap().push_str(text);
        let outcome =
            ask(&room, &format!("{server}.it"), context(&Around { progress: Arc::new(progress), ..nobody() })).await;
        assert_eq!(outcome.kind, OutcomeKind::Ok, "{outcome:?}");
        let shown = shown.lock().unwrap().clone();
        let steps: Vec<&str> = shown.lines().collect();
        assert_eq!(steps, ["1/3 step 1", "2/3 step 2", "3/3 step 3"], "{server}: all of it, in order");
    }
    room.end().await;
}

// proves J4
async fn a_call_carries_its_effect_id() {
    let room = Room::with(ServerLimits::Long, one(ToolAction::Echo));
    room.connect("bad").await.unwrap();
    let context = context(&nobody());
    let effect = context.effect_id.to_string();
    ask(&room, "bad.it", context).await;
    let meta = room.diary("bad").calls_of("it")[0].meta.clone();
    let carried = meta.as_object().unwrap().iter().find(|(_, value)| value.as_str() == Some(&effect));
    let (key, _) = carried.unwrap_or_else(|| panic!("{meta}"));
    assert!(key.contains('/'), "the key is namespaced: {key}");
    room.end().await;
}
