//! The corpus of replies (T4): calls in the shapes that small models write, with the right reading, and ordinary answers,
//! in which there is no call. `fixtures/replies/calls.jsonl` has a reply in each line as `{"text", "offer", "calls":
//! [{"name", "arguments"}], "source"}`, `ordinary.jsonl` an answer as `{"text"}`. The source is `issue` where the shape was
//! reported and its text was made up, and `derived` where the shape was made up too; neither is a recorded reply. Those are
//! in `recorded.jsonl`, as `{"text", "dialect", "kind", "calls", "source"}`.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass_tools::dialect::{
    AcceptedForms, MalformedCall, OfferedTools, ParsedReply, ReplyPiece, ReplyReader, TextEnd, read,
};
use windlass_tools::{FetchSettings, Offer, Permissions, Registry, Tool, Workspace, fetch_url, file_tools};
use windlass_vocab::{Dialect, Parallel, ReplyCall, ToolSource};

#[derive(Deserialize)]
struct CallReply {
    text: String,
    /// Which tools were offered; `files` are those that work with files.
    offer: String,
    calls: Vec<ExpectedCall>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct ExpectedCall {
    name: String,
    arguments: Value,
}

#[derive(Deserialize)]
struct OrdinaryReply {
    text: String,
}

fn lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/replies").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

fn file_offer() -> Offer {
    offer_of([])
}

/// Returns an offer of the tools that work with files, and of others.
fn offer_of(others: impl IntoIterator<Item = Arc<dyn Tool>>) -> Offer {
    let dir = tempfile::tempdir().unwrap();
    let workspace = Arc::new(Workspace::open(dir.path()).unwrap());
    let mut registry = Registry::new();
    for tool in file_tools(workspace).into_iter().chain(others) {
        registry.add(tool).unwrap();
    }
    registry.offer(&[ToolSource::BuiltIn].into_iter().collect())
}

/// The forms that small models are read in: those of the preset `local-model`, and those of `tool_tag`.
fn accepted(pinned: Option<Dialect>, parallel: Parallel) -> AcceptedForms {
    let row = [Dialect::Native, Dialect::Bracket, Dialect::Lines, Dialect::BareJson, Dialect::ToolTag];
    AcceptedForms::of(&row, pinned, parallel).unwrap()
}

/// Returns a call as it would be run.
fn prepared(offer: &Offer, call: &ReplyCall) -> ExpectedCall {
    let call = offer.prepare(call, &Permissions::default(), &[]);
    let name = call.tool.map(|tool| tool.bare().to_owned()).unwrap_or(call.name);
    ExpectedCall { name, arguments: call.arguments.to_value() }
}

/// Reads a text that arrives in fragments of `chars` characters.
fn in_fragments(text: &str, chars: usize, accepted: AcceptedForms, offer: &Offer) -> ParsedReply {
    let mut reader = ReplyReader::new(accepted, Box::new(offer.clone()));
    let (mut words, mut calls) = (String::new(), Vec::new());
    let mut sink = |piece: ReplyPiece<'_>| match piece {
        ReplyPiece::Text(text) => words.push_str(text),
        ReplyPiece::Call { call, .. } => calls.push(call),
    };
    let all: Vec<char> = text.chars().collect();
    for fragment in all.chunks(chars) {
        reader.push(&fragment.iter().collect::<String>(), &mut sink);
    }
    let malformed: Option<MalformedCall> = reader.finish(TextEnd::Whole, &mut sink);
    ParsedReply { text: words, calls, malformed }
}

// proves T4: at least 98 of 100 replies of small models are read rightly
#[test]
fn the_calls_of_small_models_are_read() {
    let offer = file_offer();
    let replies: Vec<CallReply> = lines("calls.jsonl");
    assert!(replies.len() >= 60, "{} replies", replies.len());
    let mut missed = Vec::new();
    for reply in &replies {
        assert_eq!(reply.offer, "files", "{}", reply.text);
        let read = |parallel| {
            let reading = read(&reply.text, &accepted(Some(Dialect::ToolTag), parallel), offer.clone(), TextEnd::Whole);
            reading.calls.iter().map(|call| prepared(&offer, call)).collect::<Vec<_>>()
        };
        let (several, one) = (read(Parallel::Safe), read(Parallel::Off));
        if several != reply.calls || one[..] != reply.calls[..reply.calls.len().min(1)] {
            missed.push(format!("{}\n  read: {several:?} or {one:?}", reply.text));
        }
    }
    let right = replies.len() - missed.len();
    println!("calls of small models: {right} of {} replies are read rightly", replies.len());
    assert!(right * 100 >= replies.len() * 98, "{right} of {}:\n{}", replies.len(), missed.join("\n"));
}

/// A reply of a real model, with what it means by the reading of a person who did not see ours.
#[derive(Deserialize)]
struct RecordedReply {
    text: String,
    /// The dialect in which the model was asked to write calls.
    dialect: Dialect,
    kind: RecordedKind,
    calls: Vec<ExpectedCall>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum RecordedKind {
    Calls,
    /// An answer without a call.
    Text,
    /// A careful reader can't tell which call is meant.
    Unclear,
}

/// The offer of a run whose model writes scripts.
struct ScriptTool;

impl OfferedTools for ScriptTool {
    fn knows(&self, name: &str) -> bool {
        name == "run_command"
    }

    fn fits(&self, name: &str, _: &str) -> bool {
        self.knows(name)
    }
}

/// Returns the script of a call, by its language.
fn script_in(call: &ReplyCall) -> ExpectedCall {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    let command = arguments["command"].as_str().unwrap();
    let python = command.strip_prefix("python3 -Bu -c '").and_then(|rest| rest.strip_suffix('\''));
    let arguments = match python {
        Some(script) => json!({"python": script.replace("'\\''", "'")}),
        None => json!({"shell": command}),
    };
    ExpectedCall { name: call.name.clone(), arguments }
}

/// Returns a call without line breaks around its values: whether those beside tags belong to a value is not certain.
fn without_outer_breaks(call: &ExpectedCall) -> ExpectedCall {
    let mut arguments = call.arguments.clone();
    for value in arguments.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if let Value::String(text) = value {
            *text = text.trim_matches('\n').to_owned();
        }
    }
    ExpectedCall { name: call.name.clone(), arguments }
}

// proves T4: at least 98 of 100 recorded replies with calls are read rightly, and no call is read into those without
#[test]
fn recorded_replies_are_read_as_a_person_reads_them() {
    let offer = offer_of([fetch_url(FetchSettings::default())]);
    let replies: Vec<RecordedReply> = lines("recorded.jsonl");
    assert!(replies.len() >= 200, "{} replies", replies.len());
    let (mut with_calls, mut missed, mut read_into) = (0, Vec::new(), Vec::new());
    for reply in &replies {
        let accepted = accepted(Some(reply.dialect), Parallel::Safe);
        let calls: Vec<ExpectedCall> = if reply.dialect == Dialect::Script {
            let reading = read(&reply.text, &accepted, ScriptTool, TextEnd::Whole);
            reading.calls.iter().map(script_in).collect()
        } else {
            let reading = read(&reply.text, &accepted, offer.clone(), TextEnd::Whole);
            reading.calls.iter().map(|call| prepared(&offer, call)).collect()
        };
        match reply.kind {
            RecordedKind::Calls => {
                with_calls += 1;
                if !calls.iter().map(without_outer_breaks).eq(reply.calls.iter().map(without_outer_breaks)) {
                    missed.push(format!("{}\n  meant: {:?}\n  read: {calls:?}", reply.text, reply.calls));
                }
            }
            RecordedKind::Text if !calls.is_empty() => read_into.push(format!("{}\n  read: {calls:?}", reply.text)),
            RecordedKind::Text | RecordedKind::Unclear => {}
        }
    }
    let right = with_calls - missed.len();
    println!("recorded replies: {right} of {with_calls} with calls are read rightly, {} in all", replies.len());
    assert!(right * 100 >= with_calls * 98, "{right} of {with_calls}:\n{}", missed.join("\n"));
    assert!(read_into.is_empty(), "{}", read_into.join("\n"));
}

/// Every ordinary answer: those in the file, and as many as are composed of parts.
fn ordinary() -> Vec<String> {
    let mut texts: Vec<String> = lines::<OrdinaryReply>("ordinary.jsonl").into_iter().map(|reply| reply.text).collect();
    assert!(texts.len() >= 150, "{} answers are written by hand", texts.len());
    for (place, begin) in BEGINS.iter().enumerate() {
        for (number, block) in BLOCKS.iter().enumerate() {
            let end = ENDS[(place * 7 + number * 3) % ENDS.len()];
            texts.push(format!("{begin}\n\n{block}\n\n{end}"));
        }
    }
    texts
}

// proves T4: a mention of a tool is no call
#[test]
fn no_call_is_read_into_ordinary_answers() {
    let offer = file_offer();
    let texts = ordinary();
    assert!(texts.len() >= 500, "{} answers", texts.len());
    let mut read_into = Vec::new();
    for text in &texts {
        for pinned in [None, Some(Dialect::ToolTag)] {
            for parallel in [Parallel::Off, Parallel::Safe] {
                let reading = read(text, &accepted(pinned, parallel), offer.clone(), TextEnd::Whole);
                if reading != (ParsedReply { text: text.clone(), ..ParsedReply::default() }) {
                    read_into.push(format!("{text}\n  {pinned:?} {parallel:?}: {reading:?}"));
                }
            }
        }
    }
    println!("ordinary answers: {} of {} without a call", texts.len() - read_into.len().min(texts.len()), texts.len());
    assert!(read_into.is_empty(), "{}", read_into.join("\n"));
}

// proves T4: the reading does not depend on where the stream is cut
#[test]
fn replies_are_read_alike_however_they_arrive() {
    let offer = file_offer();
    let calls = lines::<CallReply>("calls.jsonl").into_iter().map(|reply| reply.text);
    for text in calls.chain(ordinary().into_iter().step_by(5)) {
        for parallel in [Parallel::Off, Parallel::Safe] {
            let accepted = accepted(Some(Dialect::ToolTag), parallel);
            let whole = read(&text, &accepted, offer.clone(), TextEnd::Whole);
            for chars in [1, 2, 3, 7] {
                assert_eq!(in_fragments(&text, chars, accepted, &offer), whole, "{chars} at a time: {text}");
            }
        }
    }
}

// proves T4: nor on any single place
#[test]
fn a_reply_may_be_cut_at_every_character() {
    let offer = file_offer();
    for reply in lines::<CallReply>("calls.jsonl").iter().step_by(4) {
        let accepted = accepted(Some(Dialect::ToolTag), Parallel::Safe);
        let whole = read(&reply.text, &accepted, offer.clone(), TextEnd::Whole);
        for (cut, _) in reply.text.char_indices() {
            let mut reader = ReplyReader::new(accepted, Box::new(offer.clone()));
            let mut calls = Vec::new();
            let mut sink = |piece: ReplyPiece<'_>| {
                if let ReplyPiece::Call { call, .. } = piece {
                    calls.push(call);
                }
            };
            reader.push(&reply.text[..cut], &mut sink);
            reader.push(&reply.text[cut..], &mut sink);
            assert_eq!(reader.finish(TextEnd::Whole, &mut sink), whole.malformed, "{cut}: {}", reply.text);
            assert_eq!(calls, whole.calls, "{cut}: {}", reply.text);
        }
    }
}

const BEGINS: &[&str] = &[
    "Here is what you asked for:",
    "The file looks like this now.",
    "I found it in `docs/setup.md`:",
    "There are two ways. The first one:",
    "This should work on every system:",
    "Below is the part that matters.",
    "Das ist der Inhalt der Datei:",
    "Voici un exemple complet :",
    "# How it works\n\nThe program reads its settings at the start.",
    "You wanted to know how a tool such as read_file is described to a model.",
    "1. Open a terminal.\n2. Go to the folder.\n3. Type this:",
    "Yes, that is possible. Save the following as a new file:",
    "The server answered with an error. Its body was:",
    "**Short answer:** no.\n\n**Long answer:**",
    "The old version and the new one differ in one line:",
    "这是文件的内容:",
    "I did not change anything. For comparison, this is the original:",
    "> How do I do that?\n\nLike so:",
];

const BLOCKS: &[&str] = &[
    "```json\n{\"port\": 8080, \"debug\": false}\n```",
    "```json\n{\"name\": \"demo\", \"arguments\": {\"speed\": 3}}\n```",
    "```json\n{\"name\": \"read_file\", \"description\": \"Reads a file.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"path\": {\"type\": \"string\"}}}}\n```",
    "```json\n[{\"name\": \"a\", \"size\": 1}, {\"name\": \"b\", \"size\": 2}]\n```",
    "```xml\n<server>\n  <name>main</name>\n  <path>/srv</path>\n</server>\n```",
    "```xml\n<tool name=\"lathe\">\n  <weight>300</weight>\n</tool>\n```",
    "```html\n<form action=\"/search\"><input name=\"q\"></form>\n```",
    "```python\nwith open(\"a.txt\") as f:\n    for line in f:\n        print(line.strip())\n```",
    "```python\ndef edit_file(path, old_text, new_text):\n    text = open(path).read()\n    open(path, \"w\").write(text.replace(old_text, new_text))\n```",
    "```bash\nfor f in *.txt; do mv \"$f\" \"old-$f\"; done\n```",
    "```rust\nlet names: Vec<String> = list_directory(\".\")?;\n```",
    "```yaml\ntools:\n  - name: read_file\n    arguments: [path]\n```",
    "```toml\n[tools]\nread_file = \"allow\"\n```",
    "```\ntotal 8\n-rw-r--r-- 1 ann ann 12 a.txt\n-rw-r--r-- 1 ann ann 99 b.txt\n```",
    "| name | path |\n|---|---|\n| read_file | a.txt |\n| write_file | b.txt |",
    "- `read_file`: look at a file\n- `edit_file`: change a part of it\n- `<tool name=\"…\">`: how a call begins",
    "{\"status\": \"ok\", \"items\": [1, 2, 3]}",
    "    {\"name\": \"read_file\", \"arguments\": {\"path\": \"a.txt\"}}",
];

const ENDS: &[&str] = &[
    "Let me know if something is missing.",
    "That is all.",
    "I did not run it.",
    "The first line sets the port, the second one the host.",
    "Shall I write it into a file?",
    "Mehr ist nicht nötig.",
    "C'est tout.",
    "With read_file you could check it, but I have already seen the whole text.",
    "Note that `name` must be unique, and that `arguments` may be left out.",
    "Nothing was changed.",
    "1. It is short.\n2. It is fast.",
    "Source: docs/setup.md, lines 3 to 9.",
    "如果还有问题,请告诉我。",
];
