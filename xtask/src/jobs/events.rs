//! Counts what a run did, from the events that `windlass run --json` prints: one JSON object on each line.
//!
//! Only a few fields are read, and none must be there, so that the runner can measure older and newer programs too.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EventCounts {
    /// Calls that the model asked for, refused ones included. Calls that only end the run do not count.
    pub(crate) calls: u64,
    /// Calls that were refused, or that failed.
    pub(crate) failed_calls: u64,
    pub(crate) nudges: u64,
    pub(crate) turns: u64,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    /// Why the run ended, as its last record says; empty if it did not end.
    pub(crate) end: String,
    pub(crate) answer: String,
    /// What the end says about files, where it says so.
    pub(crate) stated: Option<StatedChanges>,
}

/// What the record of the end says about files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StatedChanges {
    /// The files that it says were made, changed, moved or deleted.
    pub(crate) paths: BTreeSet<String>,
    /// The list is not complete.
    pub(crate) more: bool,
    /// The model claimed something that the record corrects.
    pub(crate) corrects: bool,
}

impl EventCounts {
    /// Counts the lines of a run. Lines that are no JSON are passed over.
    pub(crate) fn of(lines: &str) -> Self {
        let mut counts = Self::default();
        for event in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            counts.add(event["kind"].as_str().unwrap_or_default(), &event["body"]);
        }
        counts
    }

    fn add(&mut self, kind: &str, body: &Value) {
        match kind {
            "TurnStarted" => self.turns += 1,
            "CallRequested" if body["ending"].is_null() => self.calls += 1,
            "CallFinished" if body["outcome"] != "ok" => self.failed_calls += 1,
            "Nudged" => self.nudges += 1,
            "ModelReplied" | "AttemptFailed" => {
                self.tokens_in += body["usage"]["input"].as_u64().unwrap_or_default();
                self.tokens_out += body["usage"]["output"].as_u64().unwrap_or_default();
            }
            "RunEnded" => {
                body["reason"].as_str().unwrap_or_default().clone_into(&mut self.end);
                body["answer"].as_str().unwrap_or_default().clone_into(&mut self.answer);
                self.stated = StatedChanges::of(&body["changes"]);
            }
            _ => {}
        }
    }

    /// Adds what a child session did; how the run ended is its own.
    pub(crate) fn add_child(&mut self, child: &Self) {
        self.calls += child.calls;
        self.failed_calls += child.failed_calls;
        self.nudges += child.nudges;
        self.turns += child.turns;
        self.tokens_in += child.tokens_in;
        self.tokens_out += child.tokens_out;
    }

    /// Whether the end of the run states changes that were not made, or leaves some out. `None` if it states nothing.
    pub(crate) fn states_falsely(&self, changed: &BTreeSet<String>) -> Option<bool> {
        let stated = self.stated.as_ref()?;
        let invented = !stated.paths.is_subset(changed);
        let concealed = !stated.more && !changed.is_subset(&stated.paths);
        Some(invented || concealed)
    }
}

/// The keys of the child sessions that a run may have started: their records are not among its events.
pub(crate) fn child_keys(lines: &str) -> BTreeSet<String> {
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let spawned = events.filter(|event| event["kind"] == "ChildSpawned");
    let key = |event: Value| Some(format!("{}:{}", event["session"].as_str()?, event["body"]["child"].as_str()?));
    spawned.filter_map(key).collect()
}

impl StatedChanges {
    fn of(changes: &Value) -> Option<Self> {
        let changes = changes.as_object()?;
        let list = |name: &str| changes.get(name).and_then(Value::as_array).into_iter().flatten();
        let plain = ["created", "changed", "deleted"].into_iter().flat_map(list).map(Value::as_str);
        let moved = list("moved").flat_map(|moved| [moved["from"].as_str(), moved["to"].as_str()]);
        // Folders end with a slash; only files are compared.
        let files = plain.chain(moved).flatten().filter(|path| !path.ends_with('/'));
        let commands_ran = list("commands").next().is_some();
        Some(Self {
            paths: files.map(|path| path.trim_start_matches("./").to_owned()).collect(),
            more: commands_ran || changes.get("more").and_then(Value::as_u64).unwrap_or_default() > 0,
            corrects: changes.get("unfounded").is_some_and(|claim| !claim.is_null()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{EventCounts, child_keys};

    const RUN: &str = r#"
{"kind":"TurnStarted","body":{}}
{"kind":"TextDelta","body":{"text":"So"}}
{"kind":"AttemptFailed","body":{"usage":{"input":5}}}
{"kind":"ModelReplied","body":{"usage":{"input":100,"output":7}}}
{"kind":"CallRequested","body":{"name":"read_file"}}
{"kind":"CallFinished","body":{"outcome":"failed"}}
{"kind":"Nudged","body":{}}
{"kind":"TurnStarted","body":{}}
no JSON
{"kind":"ModelReplied","body":{"usage":{"input":120,"output":3}}}
{"kind":"CallRequested","body":{"name":"task_completion","ending":"completion"}}
{"kind":"CallFinished","body":{"outcome":"ok"}}
"#;

    #[test]
    fn calls_nudges_turns_and_tokens_are_counted() {
        let ended = format!("{RUN}{}", r#"{"kind":"RunEnded","body":{"reason":"completed","answer":"Done."}}"#);
        let counts = EventCounts {
            calls: 1,
            failed_calls: 1,
            nudges: 1,
            turns: 2,
            tokens_in: 225,
            tokens_out: 10,
            ..EventCounts::default()
        };
        assert_eq!(EventCounts::of(RUN), counts);
        let counts = EventCounts { end: "completed".into(), answer: "Done.".into(), ..counts };
        assert_eq!(EventCounts::of(&ended), counts);
    }

    #[test]
    fn what_children_do_counts_and_how_they_end_does_not() {
        let mut counts = EventCounts { calls: 1, tokens_in: 5, end: "unfinished".into(), ..EventCounts::default() };
        let child = r#"{"kind":"RunEnded","body":{"reason":"completed","answer":"Done."}}"#;
        counts.add_child(&EventCounts::of(&format!("{RUN}{child}")));
        assert_eq!((counts.calls, counts.nudges, counts.turns, counts.tokens_in), (2, 1, 2, 230));
        assert_eq!((counts.end.as_str(), counts.answer.as_str()), ("unfinished", ""));
        let spawned = r#"{"session":"0192-a","kind":"ChildSpawned","body":{"child":"1.1.0","step":0}}"#;
        assert_eq!(child_keys(&format!("{RUN}{spawned}\n{spawned}")), ["0192-a:1.1.0".to_owned()].into());
    }

    #[test]
    fn what_the_end_states_is_compared_with_what_changed() {
        let changed = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<BTreeSet<_>>();
        let of = |changes: &str| EventCounts::of(&format!(r#"{{"kind":"RunEnded","body":{{"changes":{changes}}}}}"#));
        let end = of(r#"{"created":["new/","new/a"],"moved":[{"from":"b","to":"c"}]}"#);
        assert_eq!(end.states_falsely(&changed(&["new/a", "b", "c"])), Some(false));
        assert_eq!(end.states_falsely(&changed(&["new/a", "b"])), Some(true));
        assert_eq!(end.states_falsely(&changed(&["new/a", "b", "c", "d"])), Some(true));
        assert_eq!(of(r#"{"changed":["a"],"more":1}"#).states_falsely(&changed(&["a", "b"])), Some(false));
        assert_eq!(of("null").states_falsely(&changed(&["a"])), None);
        assert!(of(r#"{"unfounded":"nothing_done"}"#).stated.is_some_and(|stated| stated.corrects));
    }
}
