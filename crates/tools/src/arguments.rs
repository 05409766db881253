//! Parses the arguments a model wrote into an object that fits the tool's schema, or returns an error message
//! by which the model can correct them (T3).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use windlass_vocab::{Json, Repair};

use crate::coerce::{CoercionScope, coerce_value};
use crate::repair::{Escapes, Unmendable, drive_paths, given_twice, mend, repeated_key};
use crate::schema_check::SchemaCheck;
use crate::shorten::shorten;

/// Arguments as parsed.
pub(crate) struct ParsedArguments {
    /// The object, or why parsing failed.
    pub(crate) value: Result<Value, String>,
    /// The object as text; empty if parsing failed.
    pub(crate) json: Json,
    /// The model's text, if it differs.
    pub(crate) raw: Option<String>,
    /// The repairs that were made.
    pub(crate) repairs: Vec<Repair>,
}

/// Parses the text a model wrote.
pub(crate) fn parse(text: &str) -> ParsedArguments {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return with_repair(Map::new(), None, Repair::Missing);
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(value @ Value::Object(_)) => accept(value, trimmed, text, Vec::new()),
        Ok(Value::Null) => with_repair(Map::new(), Some(text), Repair::Missing),
        Ok(Value::String(inner)) => parse_quoted(inner.trim(), text),
        Ok(Value::Array(_)) => reject(text, "The arguments must be a JSON object, not an array.".into()),
        Ok(Value::Bool(_) | Value::Number(_)) => {
            reject(text, "The arguments must be a JSON object, not a single value.".into())
        }
        Err(error) => parse_malformed(trimmed, text, Vec::new()).unwrap_or_else(|fault| {
            let fault = fault.message().unwrap_or_else(|| error.to_string());
            reject(text, format!("The arguments are not well-formed JSON: {fault}."))
        }),
    }
}

/// Parses arguments that were put in quotes. `raw` is the model's text.
fn parse_quoted(inner: &str, raw: &str) -> ParsedArguments {
    if inner.is_empty() {
        return with_repair(Map::new(), Some(raw), Repair::Missing);
    }
    let repairs = vec![Repair::Unquoted];
    if let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(inner) {
        return accept(value, inner, raw, repairs);
    }
    parse_malformed(inner, raw, repairs).unwrap_or_else(|fault| match fault.message() {
        Some(fault) => reject(raw, format!("The arguments are not well-formed JSON: {fault}.")),
        None => reject(raw, "The arguments must be a JSON object, not a string.".into()),
    })
}

/// Parses malformed JSON, where its meaning is unambiguous. `raw` is the model's text.
fn parse_malformed(malformed: &str, raw: &str, mut repairs: Vec<Repair>) -> Result<ParsedArguments, Unmendable> {
    let mended = mend(malformed)?;
    let value = serde_json::from_str(&mended.text).ok().filter(Value::is_object).ok_or(Unmendable::Unclear)?;
    repairs.push(Repair::Syntax);
    if mended.escapes == Escapes::Literal {
        repairs.push(Repair::Escape);
    }
    Ok(accept(value, &mended.text, raw, repairs))
}

/// Accepts well-formed arguments: `value` is the parsed form of the text `object`.
fn accept(value: Value, object: &str, raw: &str, mut repairs: Vec<Repair>) -> ParsedArguments {
    if let Some(key) = repeated_key(object) {
        return reject(raw, format!("The arguments can't be read: {}.", given_twice(&key)));
    }
    let with_paths = drive_paths(object).and_then(|object| Some((serde_json::from_str(&object).ok()?, object)));
    let (value, json) = match with_paths {
        Some((value, object)) => {
            if !repairs.contains(&Repair::Escape) {
                repairs.push(Repair::Escape);
            }
            (value, Json::parse(&object))
        }
        None => (value, Json::parse(object)),
    };
    let json = json.unwrap_or_else(|_| Json::from(&value));
    let raw = (!repairs.is_empty()).then(|| raw.to_owned());
    ParsedArguments { value: Ok(value), json, raw, repairs }
}

fn with_repair(object: Map<String, Value>, raw: Option<&str>, repair: Repair) -> ParsedArguments {
    let value = Value::Object(object);
    ParsedArguments { json: Json::from(&value), value: Ok(value), raw: raw.map(str::to_owned), repairs: vec![repair] }
}

fn reject(text: &str, reason: String) -> ParsedArguments {
    ParsedArguments { value: Err(reason), json: Json::empty_object(), raw: Some(text.to_owned()), repairs: Vec::new() }
}

/// A tool's argument schema, parsed and compiled on first use: that takes longer than everything else a
/// short run does before its first request.
pub(crate) struct ArgumentSchema {
    written: Json,
    compiled: OnceLock<Result<CompiledSchema, String>>,
}

/// A schema, ready to validate.
pub(crate) struct CompiledSchema {
    source: Value,
    check: SchemaCheck,
}

impl ArgumentSchema {
    /// Takes a schema, which must describe an object.
    pub(crate) fn new(schema: &Json) -> Result<Self, String> {
        let members: BTreeMap<String, &RawValue> =
            serde_json::from_str(schema.as_str()).map_err(|_| "it must be a JSON object")?;
        let is_object = |kind: &RawValue| serde_json::from_str::<Value>(kind.get()).is_ok_and(|kind| kind == "object");
        if members.get("type").is_some_and(|kind| !is_object(kind)) {
            return Err("its `type` must be `object`".into());
        }
        Ok(Self { written: schema.clone(), compiled: OnceLock::new() })
    }

    /// Returns the compiled schema; compiles it on the first call.
    pub(crate) fn compiled(&self) -> Result<&CompiledSchema, &String> {
        let compile = || {
            let source: Value = serde_json::from_str(self.written.as_str()).map_err(|error| error.to_string())?;
            Ok(CompiledSchema { check: SchemaCheck::new(&source)?, source })
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Returns how `arguments` fit: as given, after lossless conversion, or not at all.
    pub(crate) fn fit(&self, tool: &str, arguments: &Value) -> SchemaFit {
        let schema = match self.compiled() {
            Ok(schema) => schema,
            Err(problem) => return SchemaFit::Mismatch(broken_schema_message(tool, problem)),
        };
        let fits = schema.check.fits(arguments);
        let scope = if fits { CoercionScope::Integers } else { CoercionScope::All };
        match coerce_value(arguments, &schema.source, scope) {
            Some((value, repairs)) if schema.check.fits(&value) => SchemaFit::Coerced(value, repairs),
            Some(_) | None if fits => SchemaFit::AsGiven,
            Some(_) | None => SchemaFit::Mismatch(schema.mismatch_message(tool, arguments)),
        }
    }

    /// Returns what is wrong with `arguments`, worded so that a model can correct it.
    pub(crate) fn fault(&self, tool: &str, arguments: &Value) -> Option<String> {
        match self.compiled() {
            Ok(schema) if schema.check.fits(arguments) => None,
            Ok(schema) => Some(schema.mismatch_message(tool, arguments)),
            Err(problem) => Some(broken_schema_message(tool, problem)),
        }
    }
}

impl CompiledSchema {
    fn mismatch_message(&self, tool: &str, arguments: &Value) -> String {
        let faults = self.check.faults(arguments, "arguments");
        format!("The arguments of `{tool}` don't fit its schema:\n{faults}\n{}", outline(&self.source))
    }
}

/// How arguments fit a schema.
#[derive(Debug, PartialEq)]
pub(crate) enum SchemaFit {
    /// Without a change.
    AsGiven,
    /// In this form, after these repairs.
    Coerced(Value, Vec<Repair>),
    /// Not without loss; the text tells a model what to correct.
    Mismatch(String),
}

fn broken_schema_message(tool: &str, problem: &str) -> String {
    format!("`{tool}` can't be called: its argument schema is broken: {problem}.")
}

/// Returns one line that lists the arguments and marks the required ones.
fn outline(schema: &Value) -> String {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "See the tool's schema.".into();
    };
    let describe = |(name, property): (&String, &Value)| {
        let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
        let need = if required.contains(&name.as_str()) { ", required" } else { "" };
        format!("{name} ({kind}{need})")
    };
    let all: Vec<String> = properties.iter().map(describe).collect();
    match all.len() {
        0 => "It takes no arguments: {}.".into(),
        _ => format!("It takes: {}.", shorten(&all.join(", "), 1_000)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // proves T3
    #[test]
    fn arguments_are_understood_or_refused_with_a_reason() {
        for (text, want, repairs) in [
            (r#"{"a": 1}"#, Ok(json!({"a": 1})), vec![]),
            ("", Ok(json!({})), vec![Repair::Missing]),
            ("  \n", Ok(json!({})), vec![Repair::Missing]),
            ("null", Ok(json!({})), vec![Repair::Missing]),
            (r#""{\"a\":1}""#, Ok(json!({"a": 1})), vec![Repair::Unquoted]),
            ("[1]", Err("not an array"), vec![]),
            ("7", Err("not a single value"), vec![]),
            (r#""hello""#, Err("not a string"), vec![]),
            (r#"{"a": 1,}"#, Ok(json!({"a": 1})), vec![Repair::Syntax]),
            (r#"{"a": "C:\Users\x"}"#, Ok(json!({"a": "C:\\Users\\x"})), vec![Repair::Syntax, Repair::Escape]),
            (r#""{'a': 1}""#, Ok(json!({"a": 1})), vec![Repair::Unquoted, Repair::Syntax]),
            ("[1,", Err("EOF"), vec![]),
            (r#"{"a": "#, Err("EOF"), vec![]),
            (r#"{"a": "half"#, Err("EOF"), vec![]),
            (r#"{"path": "a", "content": "x"}{"path": "b", "content": "y"}"#, Err("one object is wanted"), vec![]),
            (r#"{"path": "a.txt"}{"path": "b.txt"}"#, Err("one object is wanted"), vec![]),
            ("{\"path\": \"a.txt\"}\n{\"path\": \"b.txt\"}", Err("one object is wanted"), vec![]),
            (r#"{"path": "a.txt"} then {"path": "b.txt"}"#, Err("one object is wanted"), vec![]),
            (r#""{\"a\": \"x\"}{\"a\": \"y\"}""#, Err("one object is wanted"), vec![]),
            (r#"{"a": 1, "a": 2,}"#, Err("`a` is given twice"), vec![]),
            (r#"{"a": 1, "a": 2}"#, Err("`a` is given twice"), vec![]),
            (r#""{\"a\": 1, \"a\": 2}""#, Err("`a` is given twice"), vec![]),
            (r#"{"path": "C:\new\test.txt"}"#, Ok(json!({"path": "C:\\new\\test.txt"})), vec![Repair::Escape]),
            (
                r#"{"path": "C:\new\test.txt",}"#,
                Ok(json!({"path": "C:\\new\\test.txt"})),
                vec![Repair::Syntax, Repair::Escape],
            ),
            (r#"{"content": "a:\n b"}"#, Ok(json!({"content": "a:\n b"})), vec![]),
        ] {
            let parsed = parse(text);
            match (&parsed.value, want) {
                (Ok(value), Ok(want)) => assert_eq!(value, &want, "{text}"),
                (Err(reason), Err(want)) => assert!(reason.contains(want), "{text}: {reason}"),
                (got, want) => panic!("{text}: {got:?} is not {want:?}"),
            }
            assert_eq!(parsed.repairs, repairs, "{text}");
        }
    }

    // proves T3
    #[test]
    fn arguments_are_kept_as_they_were_written() {
        let parsed = parse(" {\"b\": 1.0, \"a\": 1e2}\n");
        assert_eq!(parsed.json.as_str(), r#"{"b": 1.0, "a": 1e2}"#);
        assert_eq!(parsed.raw, None);
        assert_eq!(parse("{oops").raw.as_deref(), Some("{oops"));
        assert_eq!(parse("{'b': 1.50}").json.as_str(), r#"{"b":1.50}"#);
        assert_eq!(parse("{'b': 1.50}").raw.as_deref(), Some("{'b': 1.50}"));
    }

    #[test]
    fn deep_nesting_is_refused_and_ten_megabytes_are_not() {
        let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse(&deep).value.unwrap_err().contains("recursion limit"));
        let wide = format!(r#"{{"a": "{}"}}"#, "x".repeat(10 << 20));
        let value = parse(&wide).value.unwrap();
        let schema = ArgumentSchema::new(&Json::from(&json!({"properties": {"a": {"type": "integer"}}}))).unwrap();
        assert!(schema.fault("t", &value).unwrap().len() < 1_000);
    }

    // proves T3
    #[test]
    fn a_fault_names_the_place_what_is_expected_and_what_is_required() {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "offset": {"type": "integer", "minimum": 1}},
            "required": ["path"],
            "additionalProperties": false
        });
        let schema = ArgumentSchema::new(&Json::from(&schema)).unwrap();
        assert_eq!(schema.fault("t", &json!({"path": "a"})), None);
        let text = schema.fault("read", &json!({"offset": "x", "pth": "a"})).unwrap();
        for part in
            ["`read`", "/offset", "integer", "\"path\" is a required property", "pth", "path (string, required)"]
        {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
    }

    // proves T3
    #[test]
    fn arguments_are_coerced_only_if_they_fit_after_and_not_before() {
        let schema = json!({
            "properties": {"n": {"type": "integer", "minimum": 1}, "s": {"type": "string"}},
            "required": ["n"],
            "additionalProperties": false
        });
        let schema = ArgumentSchema::new(&Json::from(&schema)).unwrap();
        let coerce_value = |value| SchemaFit::Coerced(value, vec![Repair::Coerced]);
        let fit = |arguments| schema.fit("t", &arguments);
        assert_eq!(fit(json!({"n": "5"})), coerce_value(json!({"n": 5})));
        assert_eq!(fit(json!({"n": 5, "s": 7})), coerce_value(json!({"n": 5, "s": "7"})));
        assert_eq!(fit(json!({"n": 5.0})), coerce_value(json!({"n": 5})));
        assert_eq!(fit(json!({"n": 5})), SchemaFit::AsGiven);
        for misfit in [json!({"n": "0"}), json!({"s": 7})] {
            let Some(fault) = schema.fault("t", &misfit) else { panic!("{misfit} fits") };
            assert_eq!(fit(misfit), SchemaFit::Mismatch(fault));
        }
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        for schema in [
            json!([]),
            json!({"type": "string"}),
            json!({"type": "object", "properties": 7}),
            json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}),
            json!({"type": "object", "properties": {"a": {"pattern": "("}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "http://localhost:1/x.json"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/hostname"}}}),
        ] {
            assert!(
                !ArgumentSchema::new(&Json::from(&schema)).is_ok_and(|schema| schema.compiled().is_ok()),
                "{schema}"
            );
        }
    }

    #[test]
    fn a_pattern_made_to_take_for_ever_is_given_up() {
        let schema = json!({"properties": {"a": {"type": "string", "pattern": "^(a+)+(?=b)$"}}});
        let schema = ArgumentSchema::new(&Json::from(&schema)).unwrap();
        let _ = schema.fault("t", &json!({"a": "a".repeat(5_000)}));
    }
}
