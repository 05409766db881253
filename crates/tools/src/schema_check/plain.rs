//! Checks the keywords that schemas of Rust types use, with the same results as with the feature `json-schema`.

use serde_json::{Map, Value};

use super::fault_line::{FAULTS, fault_line};

/// Keywords that describe a value without restricting it.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// Deeper nesting of references counts as a cycle.
const DEEPEST: usize = 256;

/// A schema, ready to check values.
#[derive(Debug)]
pub(crate) struct PlainCheck(Value);

impl PlainCheck {
    /// Takes a schema if every keyword in it is supported.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        check_schema_words(schema, schema)?;
        Ok(Self(schema.clone()))
    }

    pub(crate) fn fits(&self, value: &Value) -> bool {
        self.check(value).is_empty()
    }

    /// Returns what is wrong with `value`, one line per fault; `whole` is the name of the value.
    pub(crate) fn faults(&self, value: &Value, whole: &str) -> String {
        let faults = self.check(value);
        let lines = faults.iter().take(FAULTS).map(|fault| fault_line(&fault.place, whole, &fault.problem));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn check(&self, value: &Value) -> Vec<SchemaFault> {
        let mut walk = SchemaWalk { root: &self.0, faults: Vec::new() };
        walk.check(&self.0, value, "", 0);
        walk.faults
    }
}

/// Checks that every keyword of a schema is supported.
fn check_schema_words(schema: &Value, root: &Value) -> Result<(), String> {
    let words = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(words) => words,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(format!("{schema} is no schema"));
        }
    };
    for (word, argument) in words {
        let wrong = || Err(format!("`{word}` can't be {argument}"));
        match word.as_str() {
            "type" if types(argument).is_none() => return wrong(),
            "enum" | "required" if !argument.is_array() => return wrong(),
            "required" if !all(argument, Value::is_string) => return wrong(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" if !argument.is_number() => return wrong(),
            "minLength" | "maxLength" | "minItems" | "maxItems" if !argument.is_u64() => return wrong(),
            "uniqueItems" if !argument.is_boolean() => return wrong(),
            "$ref" if target(root, argument).is_none() => return wrong(),
            "type" | "enum" | "const" | "required" | "minimum" | "maximum" | "exclusiveMinimum"
            | "exclusiveMaximum" | "minLength" | "maxLength" | "minItems" | "maxItems" | "uniqueItems" | "$ref" => {}
            "items" | "additionalProperties" | "not" => check_schema_words(argument, root)?,
            "properties" | "$defs" | "definitions" => {
                let Some(named) = argument.as_object() else { return wrong() };
                named.values().try_for_each(|schema| check_schema_words(schema, root))?;
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                let Some(schemas) = argument.as_array() else { return wrong() };
                schemas.iter().try_for_each(|schema| check_schema_words(schema, root))?;
            }
            word if ANNOTATIONS.contains(&word) => {}
            _ => return Err(format!("`{word}` is understood only with the feature `json-schema`")),
        }
    }
    Ok(())
}

fn all(list: &Value, fits: impl Fn(&Value) -> bool) -> bool {
    list.as_array().is_some_and(|list| list.iter().all(fits))
}

/// Returns the types that are named, if all of them are valid.
fn types(argument: &Value) -> Option<Vec<&str>> {
    let named = match argument {
        Value::Array(several) => several.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
        one => vec![one.as_str()?],
    };
    named.iter().all(|name| TYPES.contains(name)).then_some(named)
}

/// Resolves a reference into the same schema.
fn target<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}

struct SchemaFault {
    place: String,
    problem: String,
}

struct SchemaWalk<'a> {
    root: &'a Value,
    faults: Vec<SchemaFault>,
}

impl<'a> SchemaWalk<'a> {
    fn fault(&mut self, place: &str, problem: impl Into<String>) {
        self.faults.push(SchemaFault { place: place.to_owned(), problem: problem.into() });
    }

    /// Whether the value fits, without recording faults.
    fn fits(&self, schema: &'a Value, value: &Value, depth: usize) -> bool {
        let mut walk = SchemaWalk { root: self.root, faults: Vec::new() };
        walk.check(schema, value, "", depth);
        walk.faults.is_empty()
    }

    fn check(&mut self, schema: &'a Value, value: &Value, place: &str, depth: usize) {
        let words = match schema {
            Value::Object(words) => words,
            Value::Bool(true) => return,
            _ => return self.fault(place, "nothing is allowed here"),
        };
        if depth > DEEPEST {
            return self.fault(place, "the schema leads nowhere");
        }
        if let Some(to) = words.get("$ref").and_then(|reference| target(self.root, reference)) {
            self.check(to, value, place, depth + 1);
        }
        self.check_whole(words, value, place);
        self.check_choices(words, value, place, depth);
        match value {
            Value::Object(members) => self.check_object(words, members, place, depth),
            Value::Array(items) => self.check_array(words, items, place, depth),
            Value::String(text) => self.check_length(words, ["minLength", "maxLength"], text.chars().count(), place),
            Value::Number(_) => self.check_number(words, value, place),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn check_whole(&mut self, words: &Map<String, Value>, value: &Value, place: &str) {
        if let Some(types) = words.get("type").and_then(types)
            && !types.iter().any(|name| is_of(value, name))
        {
            let types: Vec<String> = types.iter().map(|name| format!("\"{name}\"")).collect();
            self.fault(place, format!("the value is not of type {}", types.join(", ")));
        }
        if let Some(Value::Array(allowed)) = words.get("enum")
            && !allowed.iter().any(|one| same(one, value))
        {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            self.fault(place, format!("the value is not one of {}", allowed.join(", ")));
        }
        if let Some(only) = words.get("const")
            && !same(only, value)
        {
            self.fault(place, format!("{only} was expected"));
        }
    }

    fn check_choices(&mut self, words: &'a Map<String, Value>, value: &Value, place: &str, depth: usize) {
        let schemas = |word: &str| words.get(word).and_then(Value::as_array);
        for schema in schemas("allOf").into_iter().flatten() {
            self.check(schema, value, place, depth + 1);
        }
        let fitting = |walk: &Self, schemas: &'a [Value]| {
            schemas.iter().filter(|schema| walk.fits(schema, value, depth + 1)).count()
        };
        if let Some(schemas) = schemas("anyOf")
            && fitting(self, schemas) == 0
        {
            self.fault(place, "the value is not valid under any of the schemas listed in the 'anyOf' keyword");
        }
        if let Some(schemas) = schemas("oneOf") {
            match fitting(self, schemas) {
                1 => {}
                0 => self.fault(place, "the value is not valid under any of the schemas listed in the 'oneOf' keyword"),
                _ => self.fault(place, "the value is valid under more than one of the schemas of the 'oneOf' keyword"),
            }
        }
        if let Some(schema) = words.get("not")
            && self.fits(schema, value, depth + 1)
        {
            self.fault(place, "the value is what is not allowed");
        }
    }

    fn check_object(&mut self, words: &'a Map<String, Value>, members: &Map<String, Value>, place: &str, depth: usize) {
        let required = words.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name)) {
            self.fault(place, format!("\"{name}\" is a required property"));
        }
        let properties = words.get("properties").and_then(Value::as_object);
        let additional = words.get("additionalProperties");
        for (name, member) in members {
            let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
            match (properties.and_then(|properties| properties.get(name)), additional) {
                (Some(schema), _) => self.check(schema, member, &place, depth + 1),
                (None, Some(Value::Bool(false))) => {
                    self.fault(&place, format!("Additional properties are not allowed ('{name}' was unexpected)"));
                }
                (None, Some(schema)) => self.check(schema, member, &place, depth + 1),
                (None, None) => {}
            }
        }
    }

    fn check_array(&mut self, words: &'a Map<String, Value>, items: &[Value], place: &str, depth: usize) {
        let first = words.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (n, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(n).or(words.get("items")) {
                self.check(schema, item, &format!("{place}/{n}"), depth + 1);
            }
        }
        self.check_length(words, ["minItems", "maxItems"], items.len(), place);
        let twice = || items.iter().enumerate().any(|(n, item)| items[..n].iter().any(|other| same(other, item)));
        if words.get("uniqueItems") == Some(&Value::Bool(true)) && twice() {
            self.fault(place, "the value has non-unique elements");
        }
    }

    fn check_length(&mut self, words: &Map<String, Value>, [least, most]: [&str; 2], length: usize, place: &str) {
        let bound = |word: &str| words.get(word).and_then(Value::as_u64);
        let length = length as u64;
        if bound(least).is_some_and(|least| length < least) {
            self.fault(place, format!("the value is shorter than `{least}` allows ({length})"));
        }
        if bound(most).is_some_and(|most| length > most) {
            self.fault(place, format!("the value is longer than `{most}` allows ({length})"));
        }
    }

    fn check_number(&mut self, words: &Map<String, Value>, value: &Value, place: &str) {
        type Holds = fn(f64, f64) -> bool;
        let bounds: [(&str, &str, Holds); 4] = [
            ("minimum", "less than the minimum of", |number, bound| number >= bound),
            ("maximum", "greater than the maximum of", |number, bound| number <= bound),
            ("exclusiveMinimum", "not greater than", |number, bound| number > bound),
            ("exclusiveMaximum", "not less than", |number, bound| number < bound),
        ];
        for (word, said, holds) in bounds {
            if let (Some(number), Some(limit)) = (value.as_f64(), words.get(word))
                && limit.as_f64().is_some_and(|limit| !holds(number, limit))
            {
                self.fault(place, format!("the value is {said} {limit}"));
            }
        }
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        "string" => value.is_string(),
        _ => false,
    }
}

/// Whether two values are equal; 1 equals 1.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one == other,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::PlainCheck;

    fn schema() -> Value {
        json!({
            "type": "object",
            "description": "A ship.",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "masts": {"type": ["integer", "null"], "format": "uint8", "minimum": 0, "maximum": 255},
                "rig": {"$ref": "#/$defs/Rig"},
                "crew": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
                "length": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"const": "unknown"}]}
            },
            "required": ["name"],
            "additionalProperties": false,
            "$defs": {"Rig": {"oneOf": [{"enum": ["square", "other"]}, {"type": "object", "required": ["name"]}]}}
        })
    }

    /// Values, each with the place where it does not fit, if it does not.
    fn cases() -> Vec<(Value, Option<&'static str>)> {
        vec![
            (json!({"name": "Anna"}), None),
            (json!({"name": "Anna", "masts": 3.0, "rig": "square", "crew": ["a", "b"], "length": 52}), None),
            (json!({"name": "Anna", "masts": null, "rig": {"name": "x"}, "length": "unknown"}), None),
            (json!([]), Some("arguments")),
            (json!({}), Some("arguments")),
            (json!({"name": ""}), Some("/name")),
            (json!({"name": 7}), Some("/name")),
            (json!({"name": "Anna", "masts": 3.5}), Some("/masts")),
            (json!({"name": "Anna", "masts": 256}), Some("/masts")),
            (json!({"name": "Anna", "masts": -1}), Some("/masts")),
            (json!({"name": "Anna", "rig": "round"}), Some("/rig")),
            (json!({"name": "Anna", "rig": {}}), Some("/rig")),
            (json!({"name": "Anna", "crew": ["a", 1]}), Some("/crew/1")),
            (json!({"name": "Anna", "crew": ["a", "a"]}), Some("/crew")),
            (json!({"name": "Anna", "crew": ["a", "b", "c"]}), Some("/crew")),
            (json!({"name": "Anna", "length": 0}), Some("/length")),
        ]
    }

    // proves T3
    #[test]
    fn what_does_not_fit_is_told_by_place() {
        let check = PlainCheck::new(&schema()).unwrap();
        for (value, place) in cases() {
            assert_eq!(check.fits(&value), place.is_none(), "{value}");
            let faults = check.faults(&value, "arguments");
            assert_eq!(
                faults.lines().next().map(|line| line.split(": ").next().unwrap_or_default()),
                place.map(|place| format!("- {place}")).as_deref(),
                "{value}"
            );
        }
        let unexpected = check.faults(&json!({"name": "Anna", "nme": 1}), "arguments");
        assert!(unexpected.contains("'nme' was unexpected"), "{unexpected}");
    }

    // proves T3: both implementations agree
    #[cfg(feature = "json-schema")]
    #[test]
    fn what_fits_is_the_same_as_with_the_crate_that_knows_every_schema() {
        let full = super::super::full::FullCheck::new(&schema()).unwrap();
        for (value, place) in cases() {
            assert_eq!(full.fits(&value), place.is_none(), "{value}");
        }
    }

    // proves T3: no schema is checked in part
    #[test]
    fn a_schema_that_is_not_understood_is_refused() {
        for (schema, said) in [
            (json!({"type": "string", "pattern": "a"}), "`pattern` is understood only"),
            (json!({"properties": {"a": {"if": {}}}}), "`if` is understood only"),
            (json!({"type": "nonsense"}), "`type` can't be"),
            (json!({"$ref": "http://localhost:1/x.json"}), "`$ref` can't be"),
            (json!({"$ref": "#/$defs/none"}), "`$ref` can't be"),
            (json!({"properties": 7}), "`properties` can't be"),
            (json!(7), "no schema"),
        ] {
            let error = PlainCheck::new(&schema).unwrap_err();
            assert!(error.contains(said), "{schema}: {error}");
        }
        let circle = PlainCheck::new(&json!({"$ref": "#"})).unwrap();
        assert!(!circle.fits(&json!(1)));
    }
}
