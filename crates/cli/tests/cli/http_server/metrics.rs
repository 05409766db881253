//! What the server counts (G3).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;
use crate::support::served::Served;

// proves G3: runs, calls, tokens and requests are counted under bounded labels, for the operator alone
#[test]
fn what_happens_is_counted_and_only_the_operator_reads_it() {
    let bench = Bench::new(Script::of([
        ScriptStep::call("write_file", json!({"path": "a.txt", "content": "x"})),
        ScriptStep::say("Done, and nobody counts these words."),
    ]));
    let served = Served::start(&bench, &[]);
    let session = served.new_session();
    let mut events = served.follow(&session, 0);
    served.say(&session, "write the unspeakable");
    events.records_to("RunEnded");
    let refused = served.send_with("GET", "/metrics", &[], "");
    assert_eq!((refused.status, refused.error().as_str()), (401, "unauthorized"));
    let metrics = served.get("/metrics");
    assert!(metrics.headers.contains("content-type: application/openmetrics-text"), "{}", metrics.headers);
    for line in [
        "windlass_runs_started_total 1\n",
        "windlass_runs_ended_total{reason=\"completed\"} 1\n",
        "windlass_model_calls_total{model=\"scripted\",outcome=\"ok\"} 2\n",
        "windlass_tokens_total{model=\"scripted\",kind=\"input\"} 20\n",
        "windlass_tool_calls_total{outcome=\"ok\"} 1\n",
        "windlass_tool_call_seconds_count{outcome=\"ok\"} 1\n",
        "windlass_http_requests_total{method=\"POST\",route=\"/api/sessions/{session}/messages\",status=\"202\"} 1\n",
        "windlass_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"401\"} 1\n",
        "windlass_followers 1\n",
        "windlass_queued_messages 0\n",
        "# EOF\n",
    ] {
        assert!(metrics.body.contains(line), "{line}: {}", metrics.body);
    }
    for word in [session.as_str(), "unspeakable", "nobody counts", "a.txt"] {
        assert!(!metrics.body.contains(word), "{word}: {}", metrics.body);
    }
    served.get("/no/such/place");
    assert!(served.get("/metrics").body.contains("route=\"none\",status=\"404\""));
}
