//! Replies that a server holds to a schema: one call of an offered tool, or the answer. The schema only saves a model from
//! writing what can't be read; what it wrote is read and checked like any other reply.
//!
//! Every text is bounded, because small models go on for ever where a grammar lets them. A text that reaches the bound was
//! cut, and is not used.

use serde_json::{Map, Value, json};
use windlass_vocab::{Json, ToolSpec};

/// The most characters of a text. Servers turn the bound into a rule for each character, and refuse more than 2,000.
pub const LONGEST_TEXT: usize = 1_000;
/// The most items of a list.
const MOST_ITEMS: usize = 20;
/// How deep a schema is followed; a text stands for what is deeper.
const DEEPEST: usize = 6;
/// The most schemas that one tool's may consist of: references can make any number of few. A larger one is followed less deep.
const MOST_SCHEMAS: usize = 500;

/// The most characters of an escape in JSON, which may be a pair.
const LONGEST_ESCAPE: usize = 12;

/// The key of an answer.
const ANSWER: &str = "answer";

/// A reply that was held to the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstrainedReply {
    /// The answer.
    Answer {
        /// Its text.
        text: String,
        /// Whether it may be all of it.
        end: ConstrainedEnd,
    },
    /// A text in a call was cut at the bound, so the call must not be made.
    CutCall,
    /// An object that does not end: the call was stopped, or it is malformed.
    Unfinished {
        /// The answer so far; empty where it is a call, or too little has come to tell.
        answer: String,
    },
    /// A call, or something that the schema did not prevent: to be read as any reply.
    Other,
}

/// Whether the server was asked to hold a reply to the schema. Where it was not, nothing bounds a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaUse {
    /// It was.
    Enforced,
    /// The model was only told of the form.
    InPromptOnly,
}

/// Whether a text is all that the model wanted to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstrainedEnd {
    /// It is.
    Whole,
    /// The bound cut it.
    Cut,
}

/// Returns the schema of a reply to which these tools are offered. Properties stand in the order in which they are required,
/// since a model writes them in the order of the schema; optional ones are left out, as in the short form of a tool, because
/// small models fill in whatever they may.
#[must_use]
pub fn reply_schema(offer: &[ToolSpec]) -> Option<Json> {
    let answer = object(&[(ANSWER.to_owned(), text())]);
    let calls = offer.iter().map(|spec| {
        let name = json!({ "const": spec.name.as_str() }).to_string();
        object(&[("name".to_owned(), name), ("arguments".to_owned(), call_arguments(&spec.schema.to_value()))])
    });
    let forms: Vec<String> = calls.chain([answer]).collect();
    Json::parse(&format!(r#"{{"type":"object","anyOf":[{}]}}"#, forms.join(","))).ok()
}

/// Reads a reply of a model that was told of this form, as far as it differs from other replies.
#[must_use]
pub fn read_constrained(reply: &str, held: SchemaUse) -> ConstrainedReply {
    let fields = match serde_json::from_str::<Value>(reply.trim()) {
        Ok(Value::Object(fields)) => fields,
        Err(error) if error.is_eof() && reply.trim_start().starts_with('{') => {
            return ConstrainedReply::Unfinished { answer: answer_so_far(reply).unwrap_or_default() };
        }
        Ok(_) | Err(_) => return ConstrainedReply::Other,
    };
    let is_held = held == SchemaUse::Enforced;
    match answer(&fields) {
        Some(text) => {
            let end = if is_held && is_cut(text) { ConstrainedEnd::Cut } else { ConstrainedEnd::Whole };
            ConstrainedReply::Answer { text: text.to_owned(), end }
        }
        None if is_held && fields.values().any(holds_cut) => ConstrainedReply::CutCall,
        None => ConstrainedReply::Other,
    }
}

fn answer(fields: &Map<String, Value>) -> Option<&str> {
    fields.get(ANSWER)?.as_str().filter(|_| fields.len() == 1)
}

/// Returns the text of an answer whose object does not end.
fn answer_so_far(reply: &str) -> Option<String> {
    let key = reply.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?.strip_prefix(ANSWER)?;
    let text = key.strip_prefix('"')?.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut is_escaped = false;
    let is_end = |letter: char| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    };
    let text = text.split(is_end).next()?;
    // The end may be a part of an escape: `\ud83d\ude0` is the longest.
    let ends = text.char_indices().rev().map(|(at, _)| at).take(LONGEST_ESCAPE);
    let read = |end: usize| serde_json::from_str(&format!("\"{}\"", text.get(..end)?)).ok();
    std::iter::once(text.len()).chain(ends).find_map(read)
}

fn is_cut(text: &str) -> bool {
    text.chars().nth(LONGEST_TEXT - 1).is_some()
}

fn holds_cut(value: &Value) -> bool {
    match value {
        Value::String(text) => is_cut(text),
        Value::Array(items) => items.iter().any(holds_cut),
        Value::Object(fields) => fields.values().any(holds_cut),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn text() -> String {
    json!({ "type": "string", "maxLength": LONGEST_TEXT }).to_string()
}

/// An object with these properties, all of them required, in this order.
fn object(properties: &[(String, String)]) -> String {
    let key = |name: &str| Value::from(name).to_string();
    let rows: Vec<String> = properties.iter().map(|(name, schema)| format!("{}:{schema}", key(name))).collect();
    let names: Vec<String> = properties.iter().map(|(name, _)| key(name)).collect();
    format!(
        r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}}"#,
        rows.join(","),
        names.join(",")
    )
}

/// Writes the schema of a tool's arguments anew, as deep as it can be followed.
fn call_arguments(whole: &Value) -> String {
    let at_depth = |deepest| SchemaWriter { whole, deepest, left: MOST_SCHEMAS }.bounded(whole, 0);
    (0..=DEEPEST).rev().find_map(at_depth).unwrap_or_else(text)
}

/// Writes a schema anew with what every server understands, and bounds.
struct SchemaWriter<'a> {
    /// What references point into.
    whole: &'a Value,
    deepest: usize,
    /// How many schemas may still be written. After that nothing is returned.
    left: usize,
}

impl SchemaWriter<'_> {
    fn bounded(&mut self, schema: &Value, depth: usize) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        if depth > self.deepest {
            return Some(text());
        }
        if let Some(place) = schema.get("$ref").and_then(Value::as_str) {
            let target = place.strip_prefix('#').and_then(|place| self.whole.pointer(place));
            return target.map_or_else(|| Some(text()), |target| self.bounded(target, depth + 1));
        }
        if let Some((key, fixed)) = ["const", "enum"].iter().find_map(|key| Some((key, schema.get(*key)?))) {
            self.left = self.left.checked_sub(fixed.as_array().map_or(0, Vec::len))?;
            return Some(format!(r#"{{"{key}":{fixed}}}"#));
        }
        let choices = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        if let Some(choices) = choices {
            let choices: Option<Vec<_>> = choices.iter().map(|choice| self.bounded(choice, depth + 1)).collect();
            return Some(any_of(&choices?));
        }
        match &schema["type"] {
            Value::Array(types) => {
                let of_name = |name: &Value| self.of_type(name.as_str().unwrap_or_default(), schema, depth + 1);
                let choices: Option<Vec<_>> = types.iter().map(of_name).collect();
                Some(any_of(&choices?))
            }
            Value::String(name) => self.of_type(name, schema, depth),
            _ if schema.get("properties").is_some() => self.of_type("object", schema, depth),
            _ => Some(any_of(&[of_name("boolean"), of_name("number"), text()])),
        }
    }

    fn of_type(&mut self, name: &str, schema: &Value, depth: usize) -> Option<String> {
        Some(match name {
            "object" => self.arguments(schema, depth)?,
            "array" => {
                let items = self.bounded(&schema["items"], depth + 1)?;
                format!(r#"{{"type":"array","items":{items},"maxItems":{MOST_ITEMS}}}"#)
            }
            "integer" | "number" | "boolean" | "null" => of_name(name),
            _ => text(),
        })
    }

    /// The properties that a call must have; where it must have none, those that it may have.
    fn arguments(&mut self, schema: &Value, depth: usize) -> Option<String> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return Some(object(&[]));
        };
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let required = required.iter().filter_map(Value::as_str).filter_map(|name| properties.get_key_value(name));
        let required = self.properties(required, depth)?;
        if !required.is_empty() {
            return Some(object(&required));
        }
        let optional = self.properties(properties.iter(), depth)?;
        let rows: Vec<_> =
            optional.iter().map(|(name, schema)| format!("{}:{schema}", Value::from(name.as_str()))).collect();
        Some(format!(r#"{{"type":"object","properties":{{{}}},"additionalProperties":false}}"#, rows.join(",")))
    }

    fn properties<'p>(
        &mut self,
        named: impl Iterator<Item = (&'p String, &'p Value)>,
        depth: usize,
    ) -> Option<Vec<(String, String)>> {
        named.map(|(name, schema)| Some((name.clone(), self.bounded(schema, depth + 1)?))).collect()
    }
}

fn of_name(name: &str) -> String {
    json!({ "type": name }).to_string()
}

fn any_of(choices: &[String]) -> String {
    format!(r#"{{"anyOf":[{}]}}"#, choices.join(","))
}

#[cfg(test)]
#[cfg(feature = "json-schema")]
mod tests;
