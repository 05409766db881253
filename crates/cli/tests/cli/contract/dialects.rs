//! The preset `task` on the real binary, in its own dialect: calls are `<tool>` blocks in the text of a reply.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

/// A model that first only talks, then writes a block without the tool's name, then completes the task.
fn mends_itself() -> Script {
    let nameless = "<tool>\n<server_name>local</server_name>\n<arguments>\n{}\n</arguments>\n</tool>";
    Script::of([
        ScriptStep::say("I will write the file now."),
        ScriptStep::say(nameless),
        ScriptStep::block("local", "write_file", &json!({"path": "a.txt", "content": "one\n"})),
        ScriptStep::block("local", "task_completion", &json!({"result": "Written."})),
    ])
}

// proves T4, L6: a reply without a call is nudged, a block that lacks a field is rejected, and a block ends the run
#[test]
fn a_task_is_done_in_blocks_that_the_model_writes() {
    let bench = Bench::new(mends_itself());
    let ran = bench.run(&["run", "go", "--preset", "task", "--session", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Written.\n"), "{}", ran.stderr);
    assert_eq!(bench.read("a.txt").as_deref(), Some("one\n"));
    let journal = bench.journal("s");
    let of = |kind: &str, field: &str| -> Vec<Value> {
        let records = journal.iter().filter(|record| record["kind"] == kind);
        records.map(|record| record["body"][field].clone()).collect()
    };
    assert_eq!(of("CallRequested", "tool"), ["local.write_file", "local.task_completion"]);
    assert_eq!(of("CallFinished", "outcome"), ["ok", "ok"]);
    assert_eq!(of("Nudged", "text").len(), 2);
    let requests = bench.server.requests();
    assert_eq!(requests.len(), 4);
    for request in &requests {
        assert_eq!((&request.body["tools"], &request.body["stop"]), (&Value::Null, &json!(["</tool>"])));
    }
    let said = bench.last_request("user");
    assert!(said.iter().any(|text| text.contains("MissingField") && text.contains("tool_name")), "{said:?}");
    assert!(
        said.iter().any(|text| text.starts_with("<tool_result name=\"local.write_file\" outcome=\"ok\">")),
        "{said:?}"
    );
    bench.assert_whole("task");
}
