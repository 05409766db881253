use serde_json::{Value, json};
use windlass_vocab::{Dialect, EffectClass, Json, Parallel, ToolSpec};

use super::{ConstrainedEnd, ConstrainedReply, LONGEST_TEXT, SchemaUse, reply_schema};
use crate::dialect::{AcceptedForms, NamedTools, TextEnd, read};

/// Reads a reply that was held to the schema.
fn read_constrained(reply: &str) -> ConstrainedReply {
    super::read_constrained(reply, SchemaUse::Enforced)
}

fn tool(name: &str, schema: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        wire_name: name.replace('.', "_"),
        description: "Does it.".into(),
        schema: Json::parse(schema).expect("JSON"),
        effect: EffectClass::ReadOnly,
        ending: None,
        repeatable: false,
        reads_files: false,
        tags: std::collections::BTreeSet::new(),
    }
}

fn edit() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "old": {"type": "string", "minLength": 1},
            "new": {"type": "string", "maxLength": 50_000},
            "all": {"type": "boolean"},
        },
        "required": ["path", "old", "new"],
    });
    tool("local.edit_file", &schema.to_string())
}

fn list() -> ToolSpec {
    tool("local.list_directory", r#"{"type":"object","properties":{"path":{"type":"string"}}}"#)
}

/// Whether every text and list in a schema has a bound.
fn is_bounded(schema: &Value) -> bool {
    let own = match schema["type"].as_str() {
        Some("string") => schema["maxLength"].as_u64().is_some_and(|most| most <= LONGEST_TEXT as u64),
        Some("array") => schema["maxItems"].is_u64(),
        Some("object") => schema["additionalProperties"] == false || schema.get("anyOf").is_some(),
        Some(_) | None => true,
    };
    let within = match schema {
        Value::Array(items) => items.iter().all(is_bounded),
        Value::Object(fields) => fields.values().filter(|value| !value.is_string()).all(is_bounded),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    own && within
}

fn fits(schema: &Json, reply: &str) -> bool {
    let reply: Value = serde_json::from_str(reply).expect("JSON");
    jsonschema::is_valid(&schema.to_value(), &reply)
}

// proves T4: the schema allows exactly what is read as one call of an offered tool, or as an answer
#[test]
fn what_the_schema_allows_is_read_as_a_call_or_an_answer() {
    let schema = reply_schema(&[edit(), list()]).expect("a schema");
    let accepted = AcceptedForms::of(&[Dialect::BareJson], Some(Dialect::BareJson), Parallel::Off).expect("forms");
    let known = || NamedTools(|name: &str| matches!(name, "local.edit_file" | "local.list_directory"));
    for (reply, name, arguments) in [
        (
            r#"{"name": "local.edit_file", "arguments": {"path": "a", "old": "b", "new": "c"}}"#,
            "local.edit_file",
            json!({"path": "a", "old": "b", "new": "c"}),
        ),
        (r#"{"name":"local.list_directory","arguments":{}}"#, "local.list_directory", json!({})),
        (r#"{"name":"local.list_directory","arguments":{"path":"x"}}"#, "local.list_directory", json!({"path": "x"})),
    ] {
        assert!(fits(&schema, reply), "{reply}");
        assert_eq!(read_constrained(reply), ConstrainedReply::Other);
        let calls = read(reply, &accepted, known(), TextEnd::Whole).calls;
        assert_eq!(calls.len(), 1, "{reply}");
        assert_eq!(calls[0].name, name);
        assert_eq!(serde_json::from_str::<Value>(&calls[0].arguments).expect("JSON"), arguments);
    }
    let answer = r#"{"answer": "Two files.\n\"a\" and \"b\""}"#;
    assert!(fits(&schema, answer));
    let text = "Two files.\n\"a\" and \"b\"".to_owned();
    assert_eq!(read_constrained(answer), ConstrainedReply::Answer { text, end: ConstrainedEnd::Whole });
    for other in [
        r#"{"name":"local.delete_all","arguments":{}}"#,
        r#"{"name":"local.edit_file","arguments":{"path":"a"}}"#,
        r#"{"name":"local.edit_file","arguments":{"path":"a","old":"b","new":"c","all":true}}"#,
        r#"{"answer":"x","name":"local.list_directory"}"#,
        "{}",
        "[]",
    ] {
        assert!(!fits(&schema, other), "{other}");
    }
}

// proves T4: a model is not let go on for ever, and writes arguments in a sensible order
#[test]
fn every_text_is_bounded_and_properties_stand_as_they_are_required() {
    let awkward = json!({
        "$defs": {"tag": {"type": "string"}},
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "either": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "date"}]},
            "maybe": {"type": ["string", "null"]},
            "level": {"enum": ["low", "high"]},
            "any": {},
            "free": {"type": "object"},
            "gone": {"$ref": "#/$defs/none"},
        },
        "required": ["tags", "either", "maybe", "level", "any", "free", "gone"],
    });
    let endless = json!({
        "$defs": {"tree": {"properties": {"sub": {"$ref": "#/$defs/tree"}}, "required": ["sub"]}},
        "$ref": "#/$defs/tree",
    });
    let offer = [edit(), list(), tool("x.y", &awkward.to_string()), tool("x.z", &endless.to_string())];
    let schema = reply_schema(&offer).expect("a schema");
    assert!(is_bounded(&schema.to_value()), "{}", schema.as_str());
    let order = ["name", "arguments", "path", "old", "new"].map(|key| schema.as_str().find(&format!("\"{key}\":")));
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{order:?}: {}", schema.as_str());
    assert!(!schema.as_str().contains("$ref") && !schema.as_str().contains("description"), "{}", schema.as_str());
    let call = json!({"name": "x.y", "arguments": {
        "tags": ["a"], "either": 3, "maybe": null, "level": "low", "any": 1.5, "free": {}, "gone": "x",
    }});
    assert!(fits(&schema, &call.to_string()), "{}", schema.as_str());
}

// proves T4: what was cut at the bound is not used as if it were whole
#[test]
fn a_text_at_the_bound_counts_as_cut() {
    let text = |length: usize| "ä".repeat(length);
    let call =
        |content: &str| json!({"name": "local.write_file", "arguments": {"path": "a", "content": content}}).to_string();
    assert_eq!(read_constrained(&call(&text(LONGEST_TEXT - 1))), ConstrainedReply::Other);
    assert_eq!(read_constrained(&call(&text(LONGEST_TEXT))), ConstrainedReply::CutCall);
    let answer = |length| read_constrained(&json!({ "answer": text(length) }).to_string());
    let expected = |length, end| ConstrainedReply::Answer { text: text(length), end };
    assert_eq!(answer(LONGEST_TEXT - 1), expected(LONGEST_TEXT - 1, ConstrainedEnd::Whole));
    assert_eq!(answer(LONGEST_TEXT), expected(LONGEST_TEXT, ConstrainedEnd::Cut));
    let free = super::read_constrained(&call(&text(5 * LONGEST_TEXT)), SchemaUse::InPromptOnly);
    assert_eq!(free, ConstrainedReply::Other, "nothing bounded it");
    for other in ["", "words", r#"{"answer": 3}"#] {
        assert_eq!(read_constrained(other), ConstrainedReply::Other, "{other}");
    }
}

// proves T4: a tool server's schema can't cost more than a little, however it refers to itself
#[test]
fn a_schema_that_refers_to_itself_fifty_times_stays_small() {
    let names: Vec<String> = (0..50).map(|number| format!("field_{number}")).collect();
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({ "$ref": "#/$defs/node" }))).collect();
    let node = json!({ "type": "object", "properties": properties, "required": names });
    let whole = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "tree": { "$ref": "#/$defs/node" } },
        "required": ["path", "tree"],
        "$defs": { "node": node },
    });
    let schema = reply_schema(&[tool("m.grow", &whole.to_string())]).expect("a schema");
    assert!(schema.as_str().len() < 100_000, "{} bytes", schema.as_str().len());
    let schema = schema.to_value();
    let arguments = &schema["anyOf"][0]["properties"]["arguments"];
    assert_eq!(arguments["required"], json!(["path", "tree"]), "{arguments}");
    assert!(is_bounded(&schema));
    // Too many arguments for any depth.
    let wide: serde_json::Map<_, _> = (0..5_000).map(|number| (number.to_string(), json!({}))).collect();
    let wide = json!({ "type": "object", "properties": wide }).to_string();
    let schema = reply_schema(&[tool("m.wide", &wide)]).expect("a schema").to_value();
    assert_eq!(schema["anyOf"][0]["properties"]["arguments"]["type"], "string");
}

// proves T4: of a reply that is stopped, only the text of an answer is shown, never its JSON
#[test]
fn an_unfinished_reply_is_the_answer_so_far() {
    for (reply, expected) in [
        (r#"{"answer": "It says \"one\" an"#, "It says \"one\" an"),
        (r#" { "answer" : "a\nb\"#, "a\nb"),
        (r#"{"answer": "\ud83d\ude0"#, ""),
        (r#"{"answer": "ok \ud83d\ude00"#, "ok \u{1f600}"),
        (r#"{"answer": "cut of"#, "cut of"),
        (r#"{"answer": "whole""#, "whole"),
        (r#"{"answer": ""#, ""),
        (r#"{"ans"#, ""),
        (r#"{"name": "local.read_file", "argum"#, ""),
    ] {
        let answer = expected.to_owned();
        assert_eq!(read_constrained(reply), ConstrainedReply::Unfinished { answer }, "{reply}");
    }
    for reply in ["It says", "[1, 2", "", "{broken}"] {
        assert_eq!(read_constrained(reply), ConstrainedReply::Other, "{reply}");
    }
}
