//! A form that a tool wants filled in (P4): a flat object of texts, numbers, choices and yes or no, asked one line per
//! field in the order in which the server wrote the fields. Its texts come from a server and are displayed as data.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use windlass_vocab::{Json, QuestionAsked};

use crate::output::{harmless_line, short_line};

const TEXT: usize = 200;

/// A form and the values filled in so far.
#[derive(Debug, PartialEq)]
pub(crate) struct ElicitationForm {
    fields: Vec<FormField>,
    content: Map<String, Value>,
    at: usize,
}

#[derive(Debug, PartialEq)]
struct FormField {
    name: String,
    title: String,
    kind: FieldKind,
    usual: Option<Value>,
    need: FieldNeed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldNeed {
    Required,
    Optional,
}

#[derive(Debug, PartialEq)]
enum FieldKind {
    Text {
        least: usize,
        most: usize,
    },
    Integer,
    Number,
    YesNo,
    /// One of these, displayed by their titles.
    Choice(Vec<FormChoice>),
    /// Any of these.
    Choices(Vec<FormChoice>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FormChoice {
    value: String,
    title: String,
}

impl ElicitationForm {
    /// Returns the form of a question, if it has one that can be filled in line by line.
    pub(crate) fn of(asked: &QuestionAsked) -> Option<Self> {
        Self::new(asked.form()?)
    }

    fn new(schema: &Json) -> Option<Self> {
        let FormSchema { properties, required } = serde_json::from_str(schema.as_str()).ok()?;
        let required: Vec<&str> = required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let field = |(name, schema): &(String, Value)| {
            let text = |key: &str| schema[key].as_str().map(|text| short_line(text, TEXT));
            let title = text("title").or_else(|| text("description")).unwrap_or_else(|| harmless_line(name));
            let need = if required.contains(&name.as_str()) { FieldNeed::Required } else { FieldNeed::Optional };
            Some(FormField {
                name: name.clone(),
                title,
                kind: FieldKind::of(schema)?,
                usual: schema.get("default").cloned(),
                need,
            })
        };
        let fields = properties.0.iter().map(field).collect::<Option<Vec<_>>>()?;
        Some(Self { fields, content: Map::new(), at: 0 })
    }

    /// Returns the prompts of all fields.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.fields.iter().map(FormField::question).collect()
    }

    /// Returns the prompt of the next field; none when all are filled in.
    pub(crate) fn question(&self) -> Option<String> {
        self.fields.get(self.at).map(FormField::question)
    }

    /// Takes the answer for the next field, or returns what is wrong with it.
    pub(crate) fn fill(&mut self, line: &str) -> Result<(), String> {
        let Some(field) = self.fields.get(self.at) else { return Ok(()) };
        let value = match (line.trim(), &field.usual, field.need) {
            ("", Some(usual), _) => Some(usual.clone()),
            ("", None, FieldNeed::Optional) => None,
            ("", None, FieldNeed::Required) => return Err("this can't be left out".into()),
            (line, _, _) => Some(field.kind.read(line)?),
        };
        if let Some(value) = value {
            self.content.insert(field.name.clone(), value);
        }
        self.at += 1;
        Ok(())
    }

    /// Returns all values filled in.
    pub(crate) fn content(self) -> Json {
        Json::from(&Value::Object(self.content))
    }
}

impl FormField {
    /// Returns the prompt of the field.
    fn question(&self) -> String {
        let kind = match &self.kind {
            FieldKind::Text { .. } => String::new(),
            FieldKind::Integer => " (a whole number)".into(),
            FieldKind::Number => " (a number)".into(),
            FieldKind::YesNo => " (y or n)".into(),
            FieldKind::Choice(choices) => choices_text(choices, ""),
            FieldKind::Choices(choices) => choices_text(choices, ", any of them with commas between"),
        };
        let usual = match (&self.usual, self.need) {
            (Some(usual), _) => format!(" [{}]", short_line(&plain(usual), TEXT)),
            (None, FieldNeed::Optional) => " [leave it out]".into(),
            (None, FieldNeed::Required) => String::new(),
        };
        format!("{}{kind}{usual}: ", self.title)
    }
}

/// The parts of a JSON schema that make up a form.
#[derive(Deserialize)]
struct FormSchema {
    #[serde(default)]
    properties: Properties,
    #[serde(default)]
    required: Value,
}

/// The fields in the order in which they were written; a [`Map`] would sort them by name.
#[derive(Default)]
struct Properties(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PropertiesVisitor;

        impl<'de> Visitor<'de> for PropertiesVisitor {
            type Value = Properties;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Properties, A::Error> {
                let mut fields: Vec<(String, Value)> = Vec::new();
                while let Some((name, schema)) = members.next_entry::<String, Value>()? {
                    fields.retain(|(known, _)| *known != name);
                    fields.push((name, schema));
                }
                Ok(Properties(fields))
            }
        }
        deserializer.deserialize_map(PropertiesVisitor)
    }
}

impl FieldKind {
    fn of(schema: &Value) -> Option<Self> {
        if let Some(choices) = choices(schema) {
            return Some(Self::Choice(choices));
        }
        let size =
            |key: &str, usual: usize| schema[key].as_u64().and_then(|size| size.try_into().ok()).unwrap_or(usual);
        Some(match schema["type"].as_str()? {
            "string" => Self::Text { least: size("minLength", 0), most: size("maxLength", usize::MAX) },
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::YesNo,
            "array" => Self::Choices(choices(&schema["items"])?),
            _ => return None,
        })
    }

    fn read(&self, line: &str) -> Result<Value, String> {
        match self {
            Self::Text { least, most } => match line.chars().count() {
                count if count < *least => Err(format!("at least {least} characters")),
                count if count > *most => Err(format!("at most {most} characters")),
                _ => Ok(line.into()),
            },
            Self::Integer => line.parse::<i64>().map(Value::from).map_err(|_| "write a whole number".into()),
            Self::Number => match line.parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
                Some(number) => Ok(Value::Number(number)),
                None => Err("write a number".into()),
            },
            Self::YesNo => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err("write y or n".into()),
            },
            Self::Choice(choices) => parse_choice(choices, line).map(Value::from),
            Self::Choices(choices) => {
                let picked = line.split(',').map(|word| parse_choice(choices, word.trim()).map(Value::from));
                picked.collect::<Result<Vec<_>, _>>().map(Value::from)
            }
        }
    }
}

/// Returns the values a schema allows, in any notation of the protocol's revisions.
fn choices(schema: &Value) -> Option<Vec<FormChoice>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(titled) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
        let choice = |one: &Value| {
            let value = text(&one["const"])?;
            Some(FormChoice { title: text(&one["title"]).unwrap_or_else(|| value.clone()), value })
        };
        return titled.iter().map(choice).collect();
    }
    let names = schema["enumNames"].as_array();
    let choice = |(at, one): (usize, &Value)| {
        let value = text(one)?;
        Some(FormChoice { title: names.and_then(|names| text(names.get(at)?)).unwrap_or_else(|| value.clone()), value })
    };
    schema["enum"].as_array()?.iter().enumerate().map(choice).collect()
}

fn choices_text(choices: &[FormChoice], how: &str) -> String {
    let numbered = (1..).zip(choices).map(|(at, choice): (usize, _)| format!("{at} {}", short_line(&choice.title, 60)));
    format!(" ({}{how})", numbered.collect::<Vec<_>>().join(", "))
}

fn parse_choice(choices: &[FormChoice], word: &str) -> Result<String, String> {
    let by_number = word.parse::<usize>().ok().and_then(|at| choices.get(at.checked_sub(1)?));
    let by_name = || choices.iter().find(|choice| choice.value == word || choice.title.eq_ignore_ascii_case(word));
    let choice = by_name().or(by_number);
    choice.map(|choice| choice.value.clone()).ok_or_else(|| format!("write a number from 1 to {}", choices.len()))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: &Value) -> ElicitationForm {
        ElicitationForm::new(&Json::from(schema)).expect("a form")
    }

    // proves P4: the fields are in their author's order
    #[test]
    fn fields_are_asked_in_the_order_the_server_wrote_them() {
        let schema = r#"{"type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"}, "age": {"type": "integer"}}}"#;
        let mut form = ElicitationForm::new(&Json::parse(schema).expect("JSON")).expect("a form");
        for field in ["street", "city", "age"] {
            let question = form.question().expect("a question");
            assert!(question.starts_with(field), "{question}");
            form.fill("").expect("left out");
        }
    }

    // proves P4
    #[test]
    fn a_form_is_filled_in_line_by_line_and_wrong_lines_are_asked_again() {
        let mut form = form(&json!({
            "type": "object",
            "properties": {
                "age": {"type": "integer", "title": "Your age"},
                "colour": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
                "keep": {"type": "boolean", "default": true},
                "name": {"type": "string", "description": "Who you are", "minLength": 2},
                "note": {"type": "string"},
                "tags": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "First"}, {"const": "b"}]}}
            },
            "required": ["age", "name"]
        }));
        let lines = [
            ("Your age (a whole number): ", "old", Some("whole number")),
            ("Your age (a whole number): ", "", Some("left out")),
            ("Your age (a whole number): ", "36", None),
            ("colour (1 Red, 2 Green) [leave it out]: ", "3", Some("from 1 to 2")),
            ("colour (1 Red, 2 Green) [leave it out]: ", "2", None),
            ("keep (y or n) [true]: ", "", None),
            ("Who you are: ", "A", Some("at least 2")),
            ("Who you are: ", " Ada ", None),
            ("note [leave it out]: ", "", None),
            ("tags (1 First, 2 b, any of them with commas between) [leave it out]: ", "first, 2", None),
        ];
        for (question, line, wrong) in lines {
            assert_eq!(form.question().as_deref(), Some(question));
            match (form.fill(line), wrong) {
                (Ok(()), None) => {}
                (Err(told), Some(part)) => assert!(told.contains(part), "{told}"),
                (told, _) => panic!("{question} {line}: {told:?}"),
            }
        }
        assert_eq!(form.question(), None);
        let content = json!({"age": 36, "colour": "g", "keep": true, "name": "Ada", "tags": ["a", "b"]});
        assert_eq!(form.content().to_value(), content);
    }

    #[test]
    fn what_a_server_writes_into_a_form_can_do_nothing_to_the_screen() {
        let form = form(&json!({"properties": {"a": {"type": "string", "title": "x\u{1b}[2J\ny"}}}));
        let question = form.question().expect("a question");
        assert!(!question.contains(['\u{1b}', '\n']), "{question:?}");
    }

    #[test]
    fn a_form_that_lines_can_not_fill_in_is_none() {
        assert_eq!(ElicitationForm::new(&Json::from(&json!({"properties": {"a": {"type": "object"}}}))), None);
        assert_eq!(form(&json!({})).question(), None);
    }
}
