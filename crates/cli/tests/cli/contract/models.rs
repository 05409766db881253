//! `windlass models` on the binary: what can be used, and whether it answers.

use serde_json::Value;
use windlass_testkit::{AfterSteps, FaultKind, ModelServer, Scene, Script, ScriptStep};

use crate::support::Bench;

fn always(step: ScriptStep) -> Script {
    Script::default().scene(Scene::when("", [step]).then(AfterSteps::RepeatLast))
}

// proves M2, W2: the chain, what is known of it, and the date of the table
#[test]
fn the_chain_is_listed_with_what_is_known_of_it() {
    let bench = Bench::new(always(ScriptStep::say("yes")));
    let nothing_here = [("WINDLASS_TEST_OLLAMA", "http://127.0.0.1:1/v1"), ("OPENAI_API_KEY", "sk-test-0123456789")];
    let chain = "scripted,gpt-4.1-mini,http://127.0.0.1:1/v1#spare";
    let ran = bench.run_with(&["models", "--json", "--model", chain], &nothing_here);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let listing: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let names: Vec<&str> =
        listing["chain"].as_array().expect("a chain").iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names, ["scripted", "gpt-4.1-mini", "http://127.0.0.1:1/v1#spare"]);
    assert!(listing["chain"][1]["window"].is_u64(), "{listing}");
    assert!(listing["table_date"].is_string());
    assert!(listing["servers"][1]["problem"].is_string(), "a server that is down is told: {listing}");
    let ran = bench.run_with(&["models", "--model", chain], &nothing_here);
    assert!(ran.stdout.starts_with("the chain, in the order it is tried\n  scripted"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("sk-test-0123456789"));
}

// proves M2: one tiny call to each model; what failed is told with its advice
#[test]
fn each_model_of_the_chain_is_tried() {
    let (bench, second) = (
        Bench::new(always(ScriptStep::say("yes").usage(9, 1))),
        ModelServer::start(always(ScriptStep::say("").fault(FaultKind::status(401).times(100)))).expect("a server"),
    );
    let ran = bench.run(&["models", "test"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.starts_with("ok    scripted: answered in ") && ran.stdout.contains(", 9 tokens in, 1 out"),
        "{}",
        ran.stdout
    );
    let refused = format!("{}#m", second.base_url());
    let ran = bench.run(&["models", "test", &format!("scripted,{refused}")]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(&format!("\nfail  {refused}: ")) && ran.stdout.contains("OPENAI_API_KEY"),
        "{}",
        ran.stdout
    );
    assert_eq!((bench.server.count(), second.count()), (2, 1), "one call each");
    let ran = bench.run(&["models", "test", &refused, "--json"]);
    let trials: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&trials["models"][0]["ok"], &trials["models"][0]["failure"]["class"]), (&false.into(), &"auth".into()));
}
