//! Compares docs/events.md with what the program serialises.

mod comparison;
mod notation;
mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_vocab::{Delta, DeltaBody, Envelope, Event, Record};

use self::comparison::{Comparison, FoundField};
use super::page::{EventsPage, PagePart};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> EventsPage {
    EventsPage::read(&std::fs::read_to_string(root().join(super::PAGE)).unwrap()).unwrap()
}

fn json(event: &Event) -> Value {
    serde_json::to_value(event).unwrap()
}

/// An event as it is after it was read and written again; `None` where it can't be read.
fn read_again(event: &Value) -> Option<Value> {
    let text = event.to_string();
    let again = if event.get("seq").is_some() {
        serde_json::to_value(Envelope::decode(&text).ok()?)
    } else {
        serde_json::to_value(serde_json::from_str::<Delta>(&text).ok()?)
    };
    Some(again.unwrap())
}

// proves E3
#[test]
fn the_page_has_a_section_for_every_kind_of_event_and_no_other() {
    let page = page();
    let kinds = |part| page.names(part).map(str::to_owned).collect::<BTreeSet<_>>();
    let records: BTreeSet<String> = Record::KINDS.iter().map(|kind| (*kind).to_owned()).collect();
    assert_eq!(kinds(PagePart::Records), records);
    let deltas = samples::deltas().into_iter().map(|body: DeltaBody| {
        let written = serde_json::to_value(body).unwrap();
        written["kind"].as_str().unwrap().to_owned()
    });
    assert_eq!(kinds(PagePart::Deltas), deltas.collect());
}

// proves E3
#[test]
fn every_field_of_every_event_is_on_the_page_and_everything_on_the_page_occurs() {
    let page = page();
    let mut comparison = Comparison::new(&page);
    let mut kinds = BTreeSet::new();
    for event in samples::events() {
        let written = json(&event);
        kinds.insert(written["kind"].as_str().unwrap().to_owned());
        if let Err(wrong) = comparison.event(&written) {
            panic!("{wrong}\n{written}");
        }
    }
    for kind in Record::KINDS {
        assert!(kinds.contains(*kind), "no sample of {kind}");
    }
    assert_eq!(comparison.unseen(), Vec::<String>::new(), "on the page, but in no sample");
    assert_eq!(comparison.seen_defaults(), Vec::<String>::new(), "said to be left out, but written");
}

// proves E3
#[test]
fn the_fields_that_are_left_out_at_times_are_those_with_a_question_mark() {
    let page = page();
    let mut tried = BTreeSet::new();
    for event in samples::events() {
        let written = json(&event);
        assert_eq!(read_again(&written).as_ref(), Some(&written), "the sample reads back as it is");
        for FoundField { place, pointer, is_optional } in Comparison::new(&page).event(&written).unwrap() {
            if tried.insert(place.clone()) {
                assert_eq!(vanishes(&written, &pointer), is_optional, "whether {place} can be absent");
            }
        }
    }
    assert!(tried.len() > 300, "{}", tried.len());
}

/// Whether the field at this place is not written where it is absent, empty or unset.
fn vanishes(event: &Value, pointer: &[String]) -> bool {
    let (name, parent) = pointer.split_last().unwrap();
    let parent = parent.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1")));
    let parent: String = parent.collect();
    let without = {
        let mut event = event.clone();
        event.pointer_mut(&parent).unwrap().as_object_mut().unwrap().remove(name);
        event
    };
    let empty = ["null", "\"\"", "0", "false", "[]", "{}"].map(|empty| {
        let mut event = event.clone();
        event.pointer_mut(&parent).unwrap()[name] = serde_json::from_str(empty).unwrap();
        event
    });
    std::iter::once(without).chain(empty).filter_map(|changed| read_again(&changed)).any(|again| {
        let parent = again.pointer(&parent).and_then(Value::as_object);
        parent.is_some_and(|parent| !parent.contains_key(name))
    })
}

// proves E3
#[test]
fn the_records_of_every_journal_ever_written_are_as_the_page_says() {
    let page = page();
    let mut comparison = Comparison::new(&page);
    let mut records = 0;
    for version in std::fs::read_dir(root().join("fixtures/journals")).unwrap() {
        for file in std::fs::read_dir(version.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            for line in std::fs::read_to_string(&file).unwrap().lines().filter(|line| line.contains(r#","body":"#)) {
                let envelope = Envelope::decode(line).unwrap();
                if !matches!(envelope.record, Record::Unknown(_)) {
                    let written = serde_json::to_value(&envelope).unwrap();
                    comparison.event(&written).unwrap_or_else(|wrong| panic!("{}: {wrong}", file.display()));
                    records += 1;
                }
            }
        }
    }
    assert!(records > 25, "{records}");
}

// proves E3
#[test]
fn every_name_of_the_other_designs_is_mapped() {
    let due = [
        ("local-model", "stream-token"),
        ("local-model", "stream-clear"),
        ("local-model", "stream-complete"),
        ("local-model", "tool-call {id, name, arguments}"),
        ("local-model", "tool-result {content, milliseconds}"),
        ("local-model", "context-budget {total, remaining}"),
        ("assistant", "progress"),
        ("assistant", "tool hints `web_search(\"query\")`"),
        ("task", "LoopStart"),
        ("task", "LoopIteration"),
        ("task", "Thinking*"),
        ("task", "ToolCall"),
        ("task", "ToolResult"),
        ("task", "ToolResultError"),
        ("task", "ToolNotFound"),
        ("task", "NoToolCall"),
        ("task", "LoopEnd"),
        ("operator", "TOKEN"),
        ("operator", "TOOL_START"),
        ("operator", "TOOL_END"),
        ("operator", "THINKING"),
        ("operator", "ERROR"),
        ("operator", "CANCELLED"),
    ];
    let page = page();
    let mapped: Vec<_> = page.mapped.iter().map(|mapped| (mapped.design.as_str(), mapped.name.as_str())).collect();
    assert_eq!(mapped, due);
    assert!(page.mapped.iter().all(|mapped| !mapped.ours.is_empty()));
}
