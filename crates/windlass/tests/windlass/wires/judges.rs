//! The official SDKs judge what runs send on every wire.

use serde_json::Value;
use windlass_testkit::{RecordedRequest, SdkJudge};

use super::{WIRES, WireCase, chains::chained};

fn bodies(requests: Vec<RecordedRequest>) -> Vec<Value> {
    requests.into_iter().map(|request| request.body).collect()
}

fn check(judge: &SdkJudge, case: &WireCase, bodies: &[Value]) {
    let objections = judge.objections(case.sdk, bodies).expect("the SDK judges");
    for (body, objection) in bodies.iter().zip(objections) {
        assert_eq!(objection, None, "{:?} {body}", case.wire);
    }
}

// proves M1: runs with tools, reasoning and a change of the model in the middle
#[tokio::test]
async fn requests_of_runs_are_requests_by_the_sdks_own_types() {
    let Some(judge) = SdkJudge::installed(env!("CARGO_TARGET_TMPDIR")) else { return };
    for first in &WIRES {
        for second in WIRES.iter().filter(|second| second.wire != first.wire) {
            let run = chained(first, second).await;
            check(&judge, first, &bodies(run.first));
            check(&judge, second, &bodies(run.second));
        }
    }
}
