//! Every example, run as a program against a scripted server.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use windlass_testkit::{ModelServer, Script, Step};

/// The program of an example. Cargo builds them before the tests of a package, unless only some of
/// its tests are asked for.
fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().expect("this program");
    let folder = tests.ancestors().nth(2).expect("the folder of the build");
    let program = folder.join("examples").join(name);
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo).args(["build", "-p", "windlass", "--examples", "--locked"]).status();
        assert!(built.expect("cargo").success(), "the examples don't build");
    }
    program
}

fn run(name: &str, server: &ModelServer) -> Output {
    let mut command = Command::new(program(name));
    command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_MODEL", "scripted").env_remove("OPENAI_API_KEY");
    command.output().expect("it runs")
}

/// What the example prints when the model does these steps.
fn printed(name: &str, steps: impl IntoIterator<Item = Step>) -> (String, ModelServer) {
    let server = ModelServer::start(Script::of(steps)).expect("a server");
    let output = run(name, &server);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name} failed: {errors}");
    assert_eq!(server.refused(), Vec::<String>::new());
    (String::from_utf8(output.stdout).expect("text"), server)
}

/// The results the model was shown, in the last request.
fn results(server: &ModelServer) -> Vec<Value> {
    let body = server.requests().last().expect("a request").body.clone();
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    messages.into_iter().filter(|message| message["role"] == "tool").map(|message| message["content"].clone()).collect()
}

// proves W1
#[test]
fn minimal_says_hello() {
    assert_eq!(printed("minimal", [Step::say("Ahoy!")]).0, "Ahoy!\n");
}

// proves W1
#[test]
fn an_example_without_a_server_says_what_to_do() {
    let output = Command::new(program("minimal")).env_remove("OPENAI_MODEL").output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("set OPENAI_MODEL"), "{output:?}");
}

// proves W1, T5
#[test]
fn closure_tool_answers_from_its_deps_and_says_no() {
    let ask = |fruit: &str| Step::call("app__stock", json!({"fruit": fruit}));
    let (text, server) = printed("closure_tool", [ask("apple"), ask("plum"), Step::say("Three apples, no plums.")]);
    assert_eq!(text, "Three apples, no plums.\n");
    assert_eq!(results(&server), ["3 left", "no such fruit; there are: [\"apple\", \"pear\"]"]);
    let offered = &server.requests()[0].body["tools"][0]["function"];
    assert_eq!(offered["description"], "Says how many of a fruit are left.");
    assert_eq!(offered["parameters"]["properties"]["fruit"]["description"], "In the singular, in English.");
}

// proves W1
#[test]
fn derived_tool_books_and_sums() {
    let book = |purpose: &str, cents: i64| Step::call("app__book_amount", json!({"purpose": purpose, "cents": cents}));
    let steps = [
        book("a song", 2_000),
        book("nothing", 0),
        book("rope", -450),
        Step::call("app__balance", json!({})),
        Step::say("15.50 euros."),
    ];
    let (text, server) = printed("derived_tool", steps);
    assert_eq!(text, "15.50 euros.\n  2000 a song\n  -450 rope\n");
    assert_eq!(results(&server), ["Done.", "there is nothing to book: the amount is 0", "Done.", "1550"]);
}

// proves L10
#[test]
fn typed_output_sends_back_what_does_not_fit() {
    let steps = [
        Step::say("The Anna is a fine ship!"),
        Step::say(r#"{"name": "Anna", "length": "long", "masts": 3, "rig": "square"}"#),
        Step::say(r#"{"name": "Anna", "length": 52, "masts": 3, "rig": "square"}"#),
    ];
    let (text, server) = printed("typed_output", steps);
    assert_eq!(text, "Anna of 52 m with 3 masts, rig Square\n");
    let last = &server.requests()[2].body;
    assert_eq!(last["response_format"]["json_schema"]["name"], "Ship");
    let nudge = last["messages"].as_array().expect("messages").last().expect("a nudge")["content"].to_string();
    assert!(nudge.contains("/length"), "{nudge}");
}

// proves W1
#[test]
fn following_shows_words_and_calls() {
    let roll = || Step::call("app__roll_dice", json!({}));
    let (text, _) = printed("following", [roll(), roll(), Step::say("Two fours.")]);
    let call = "[app__roll_dice {}]\n[Ok: a four]\n";
    assert_eq!(text, format!("{call}{call}Two fours.\n[Completed after 3 turns, 30 tokens written]\n"));
}

// proves W1, L8
#[test]
fn cancelling_stops_the_run_in_the_middle_of_a_call() {
    let (text, _) = printed("cancelling", [Step::call("app__count", json!({"to": 1000}))]);
    assert_eq!(text, "it counts; stopping it\nCancelled\n");
}

// proves W1, J3
#[test]
fn resuming_goes_on_after_a_crash() {
    let haul = |number: u32| Step::call("app__haul", json!({"number": number}));
    let (text, _) = printed("resuming", [haul(1), haul(2), haul(3), Step::say("All are up.")]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("the first process ended with signal"), "{text}");
    assert_eq!(
        lines[1..],
        ["load 1", "taking it up where it was", "All are up.", "load 1", "load 2", "load 3"],
        "each load was hauled once"
    );
}
