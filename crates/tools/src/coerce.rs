//! Converts arguments to what a schema asks for, where that loses nothing (T3): `"5"` for an integer,
//! `5` for a string, a JSON text for an object, one value for a list of such, a null or an empty text for
//! something that may be left out, and `file` for an argument that is called `path`.
//!
//! The protocol: [`coerce_value`] first renames arguments of the call (`SYNONYMS`), where a required one is missing and an
//! unknown one means the same. Then it walks a copy of the value and the schema together and changes only values of another
//! type than the schema has there. The validator decides whether the result fits. A value that already fits is left
//! alone, except for a whole number written with a decimal point: the schema accepts it, but most integer parsers
//! refuse it.

use serde_json::{Map, Value};
use windlass_vocab::Repair;

use crate::dialect::xml;
use crate::repair::mend;

/// How deep references and schemas within schemas are followed.
const DEEPEST: usize = 32;

/// Which changes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CoercionScope {
    /// Only whole numbers written with a decimal point: the value fits.
    Integers,
    /// All changes: the value does not fit.
    All,
}

/// Returns `value` in the form `schema` asks for, and the changes; `None` if nothing needs changing.
pub(crate) fn coerce_value(value: &Value, schema: &Value, scope: CoercionScope) -> Option<(Value, Vec<Repair>)> {
    if scope == CoercionScope::Integers && !holds_whole_number(value) {
        return None;
    }
    let mut made = value.clone();
    let mut walk = Coercion { root: schema, scope, repairs: Vec::new() };
    // Only of the call itself: names within an argument are the tool's own.
    if let (CoercionScope::All, Value::Object(members)) = (scope, &mut made)
        && rename_synonyms(members, schema)
    {
        walk.add_repair(Repair::Renamed);
    }
    walk.value(&mut made, schema, DEEPEST);
    (!walk.repairs.is_empty()).then_some((made, walk.repairs))
}

/// Names of arguments, and other names that models give to the same. Only these are taken for each other: an unknown name
/// says nothing about which argument was meant.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("from", &["path", "file", "source", "src", "old_path", "old_name"]),
    ("to", &["destination", "dest", "target", "new_path", "new_name"]),
    ("path", &["file", "file_path", "filepath", "filename", "file_name", "directory", "folder"]),
    ("content", &["text", "contents"]),
    ("text", &["content", "line", "lines"]),
    ("old_text", &["old", "old_str", "old_string"]),
    ("new_text", &["new", "new_str", "new_string"]),
    ("command", &["cmd"]),
    ("url", &["link", "address"]),
];

/// Gives a text that the schema does not know the name of a required one that is missing, where the two names mean the
/// same: `path` for the `from` of a move. Returns whether anything was renamed.
fn rename_synonyms(members: &mut Map<String, Value>, schema: &Value) -> bool {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return false };
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let is_text =
        |name: &&str| properties.get(*name).and_then(|of| of.get("type")).is_some_and(|kind| kind == "string");
    let missing: Vec<&str> = required.filter(|name| !members.contains_key(*name)).filter(is_text).collect();
    let mut renamed = false;
    for name in missing {
        let Some((_, others)) = SYNONYMS.iter().find(|(known, _)| *known == name) else { continue };
        let given =
            |other: &&&str| members.get(**other).is_some_and(Value::is_string) && !properties.contains_key(**other);
        let [other] = others.iter().filter(given).collect::<Vec<_>>()[..] else { continue };
        if let Some(value) = members.remove(*other) {
            members.insert(name.to_owned(), value);
            renamed = true;
        }
    }
    renamed
}

/// Whether the value contains a whole number written with a decimal point. It nearly never does, which saves
/// copying the value.
fn holds_whole_number(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().any(holds_whole_number),
        Value::Array(elements) => elements.iter().any(holds_whole_number),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => whole_number(value).is_some(),
    }
}

struct Coercion<'s> {
    root: &'s Value,
    scope: CoercionScope,
    repairs: Vec<Repair>,
}

impl<'s> Coercion<'s> {
    fn add_repair(&mut self, repair: Repair) {
        if !self.repairs.contains(&repair) {
            self.repairs.push(repair);
        }
    }

    fn value(&mut self, value: &mut Value, schema: &'s Value, deep: usize) {
        let Some(deep) = deep.checked_sub(1) else { return };
        let Some(schema) = self.resolved(schema) else { return };
        let kinds = self.kinds(schema, deep);
        if let Some(kinds) = &kinds
            && let Some((made, repair)) = self.coerced_to(value, kinds, schema)
        {
            *value = made;
            self.add_repair(repair);
        }
        for part in ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten() {
            if self.takes(value, part, deep) {
                self.value(value, part, deep);
            }
        }
        match value {
            Value::Object(members) => self.members(members, schema, deep),
            Value::Array(elements) => self.elements(elements, schema, deep),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn members(&mut self, members: &mut Map<String, Value>, schema: &'s Value, deep: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let required = |key: &String| {
            schema.get("required").and_then(Value::as_array).is_some_and(|all| all.iter().any(|name| name == key))
        };
        let mut absent = Vec::new();
        for (key, member) in members.iter_mut() {
            let Some(of) = properties.and_then(|all| all.get(key)).or(others) else { continue };
            if self.scope == CoercionScope::All && !required(key) && self.is_left_out(member, of, deep) {
                absent.push(key.clone());
            } else {
                self.value(member, of, deep);
            }
        }
        for key in absent {
            members.remove(&key);
            self.add_repair(Repair::Dropped);
        }
    }

    /// Whether a member stands for one that is left out: a null or an empty text where the schema accepts neither.
    fn is_left_out(&self, member: &Value, schema: &'s Value, deep: usize) -> bool {
        let is_listed =
            |schema: &Value| schema.get("enum").and_then(Value::as_array).is_none_or(|listed| listed.contains(member));
        let is_empty = member.as_str().is_some_and(|text| text.trim().is_empty());
        let accepts = self.takes(member, schema, deep) && self.resolved(schema).is_none_or(is_listed);
        (member.is_null() || is_empty) && !accepts
    }

    fn elements(&mut self, elements: &mut [Value], schema: &'s Value, deep: usize) {
        let first = schema.get("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let rest = schema.get("items").filter(|items| items.is_object());
        for (place, element) in elements.iter_mut().enumerate() {
            if let Some(of) = first.get(place).or(rest) {
                self.value(element, of, deep);
            }
        }
    }

    /// Resolves references within the document.
    fn resolved(&self, schema: &'s Value) -> Option<&'s Value> {
        let mut schema = schema;
        for _ in 0..DEEPEST {
            match schema.get("$ref").and_then(Value::as_str) {
                Some(reference) => schema = self.root.pointer(reference.strip_prefix('#')?)?,
                None => return Some(schema),
            }
        }
        None
    }

    /// Returns the types a schema accepts; `None` if it does not say.
    fn kinds(&self, schema: &'s Value, deep: usize) -> Option<Vec<&'s str>> {
        match schema.get("type") {
            Some(Value::String(kind)) => return Some(vec![kind]),
            Some(Value::Array(kinds)) => return Some(kinds.iter().filter_map(Value::as_str).collect()),
            Some(_) | None => {}
        }
        let deep = deep.checked_sub(1)?;
        let choices = ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array())?;
        let kinds = choices.iter().map(|choice| self.kinds(self.resolved(choice)?, deep));
        kinds.collect::<Option<Vec<_>>>().map(|kinds| kinds.concat())
    }

    /// Whether the schema accepts values of this value's type.
    fn takes(&self, value: &Value, schema: &'s Value, deep: usize) -> bool {
        let Some(schema) = self.resolved(schema) else { return true };
        self.kinds(schema, deep).is_none_or(|kinds| kinds.iter().any(|kind| is_type(value, kind)))
    }

    /// Converts the value to one of `kinds`, if it is of none of them.
    fn coerced_to(&self, value: &Value, kinds: &[&str], schema: &'s Value) -> Option<(Value, Repair)> {
        if let Some(whole) = whole_number(value).filter(|_| kinds.contains(&"integer") && !kinds.contains(&"number")) {
            return Some((whole, Repair::Coerced));
        }
        if self.scope == CoercionScope::Integers || kinds.iter().any(|kind| is_type(value, kind)) {
            return None;
        }
        if let Some(made) = kinds.iter().find_map(|kind| as_kind(value, kind)) {
            return Some((made, Repair::Coerced));
        }
        let listed = kinds.contains(&"array") && !value.is_null() && self.is_element(value, schema);
        listed.then(|| (Value::Array(vec![value.clone()]), Repair::Wrapped))
    }

    /// Whether a list of this schema could contain the value, perhaps converted.
    fn is_element(&self, value: &Value, schema: &'s Value) -> bool {
        let Some(kinds) = schema.get("items").and_then(|items| self.kinds(self.resolved(items)?, DEEPEST)) else {
            return true;
        };
        kinds.iter().any(|kind| is_type(value, kind) || as_kind(value, kind).is_some())
    }
}

fn is_type(value: &Value, kind: &str) -> bool {
    match (value, kind) {
        (Value::Null, "null")
        | (Value::Bool(_), "boolean")
        | (Value::Number(_), "number")
        | (Value::String(_), "string")
        | (Value::Array(_), "array")
        | (Value::Object(_), "object") => true,
        (Value::Number(number), "integer") => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// Larger numbers may have been rounded when they were parsed.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the integer for a number without a fraction that was written with a decimal point.
fn whole_number(value: &Value) -> Option<Value> {
    let number = value.as_number().filter(|number| number.is_f64())?.as_f64()?;
    #[allow(clippy::cast_possible_truncation)]
    let whole = number as i64;
    (number.fract() == 0.0 && number.abs() < EXACT).then(|| Value::from(whole))
}

/// Converts the value to another type, if nothing is lost.
fn as_kind(value: &Value, kind: &str) -> Option<Value> {
    match (value, kind) {
        (Value::String(text), "integer") => {
            let text = text.trim();
            let digits = text.split_once('.').filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'));
            let digits = digits.map_or(text, |(digits, _)| digits);
            let exact = |number: &Value| number.is_i64() || number.is_u64();
            serde_json::from_str::<Value>(digits).ok().filter(exact)
        }
        (Value::String(text), "number") => serde_json::from_str::<Value>(text.trim()).ok().filter(Value::is_number),
        (Value::String(text), "boolean") => match text.trim() {
            "true" | "True" | "TRUE" => Some(Value::Bool(true)),
            "false" | "False" | "FALSE" => Some(Value::Bool(false)),
            _ => None,
        },
        (Value::Number(number), "string") => {
            let exact = number.as_f64().is_some_and(|value| !number.is_f64() || value.abs() < EXACT);
            exact.then(|| Value::String(number.to_string()))
        }
        (Value::Bool(truth), "string") => Some(Value::String(truth.to_string())),
        (Value::String(text), "object") => structured(text).filter(Value::is_object),
        (Value::String(text), "array") => structured(text).filter(Value::is_array),
        _ => None,
    }
}

/// Parses a text that contains JSON, repaired if necessary, or list elements.
fn structured(text: &str) -> Option<Value> {
    let text = text.trim();
    match text.as_bytes().first()? {
        b'{' | b'[' => {
            let strict = serde_json::from_str(text).ok();
            strict.or_else(|| serde_json::from_str(&mend(text).ok()?.text).ok())
        }
        b'<' => xml::elements(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value)]
    fn check(schema: Value, given: Value, want: Value, repairs: &[Repair]) {
        let want = (!repairs.is_empty()).then(|| (want, repairs.to_vec()));
        assert_eq!(coerce_value(&given, &schema, CoercionScope::All), want, "{given} by {schema}");
    }

    // proves T3
    #[test]
    fn a_value_takes_the_type_that_is_asked_for_where_nothing_is_lost() {
        let of = |kind: &str| json!({ "type": kind });
        for (kind, given, want) in [
            ("integer", json!("5"), json!(5)),
            ("integer", json!(" -12 "), json!(-12)),
            ("integer", json!("5.0"), json!(5)),
            ("integer", json!(5.0), json!(5)),
            ("integer", json!("18446744073709551615"), json!(u64::MAX)),
            ("number", json!("2.5"), json!(2.5)),
            ("boolean", json!("true"), json!(true)),
            ("boolean", json!("False"), json!(false)),
            ("string", json!(5), json!("5")),
            ("string", json!(2.5), json!("2.5")),
            ("string", json!(true), json!("true")),
            ("object", json!("{\"a\": 1}"), json!({"a": 1})),
            ("object", json!("{'a': 1,}"), json!({"a": 1})),
            ("array", json!("[1, 2]"), json!([1, 2])),
        ] {
            check(of(kind), given, want, &[Repair::Coerced]);
        }
    }

    // proves T3: only names that mean the same, and only for texts; a flag never becomes the content of a file
    #[test]
    fn an_argument_by_another_name_of_the_same_is_taken() {
        let text = json!({"type": "string"});
        let moves = json!({"type": "object", "required": ["from", "to"], "properties": {"from": text, "to": text}});
        check(moves.clone(), json!({"path": "a", "to": "b"}), json!({"from": "a", "to": "b"}), &[Repair::Renamed]);
        let both = json!({"source": "a", "destination": "b"});
        check(moves.clone(), both, json!({"from": "a", "to": "b"}), &[Repair::Renamed]);
        for unclear in [json!({"path": "a", "file": "b", "to": "c"}), json!({"except": "a", "to": "c"})] {
            check(moves.clone(), unclear, Value::Null, &[]);
        }
        let writes =
            json!({"type": "object", "required": ["path", "content"], "properties": {"path": text, "content": text}});
        for other in [json!({"path": "a", "overwrite": true}), json!({"path": "a", "mode": "append"})] {
            check(writes.clone(), other, Value::Null, &[]);
        }
    }

    // proves T3
    #[test]
    fn what_would_lose_something_stays_as_it_is() {
        for (kind, given) in [
            ("integer", json!("5.5")),
            ("integer", json!(5.5)),
            ("integer", json!("five")),
            ("integer", json!("")),
            ("integer", json!(true)),
            ("integer", json!("99999999999999999999999")),
            ("number", json!("NaN")),
            ("boolean", json!("yes")),
            ("boolean", json!(1)),
            ("string", json!(null)),
            ("string", json!({"a": 1})),
            ("string", json!(1.5e300)),
            ("object", json!("a: b")),
            ("null", json!("null")),
        ] {
            check(json!({ "type": kind }), given.clone(), given, &[]);
        }
    }

    // proves T3
    #[test]
    fn what_is_of_the_type_asked_for_is_left_alone() {
        for (schema, given) in [
            (json!({"type": "string"}), json!("5")),
            (json!({"type": ["string", "integer"]}), json!("5")),
            (json!({"type": "number"}), json!(5.0)),
            (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!("5")),
            (json!({}), json!("5")),
            (json!({"properties": {"a": {"type": ["null", "string"]}}}), json!({"a": null})),
            (json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}), json!({"a": null})),
        ] {
            check(schema, given.clone(), given, &[]);
        }
    }

    // proves T3
    #[test]
    fn one_value_becomes_a_list_and_an_empty_one_is_left_out() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        check(list.clone(), json!("a"), json!(["a"]), &[Repair::Wrapped]);
        check(list, json!({"a": 1}), json!({"a": 1}), &[]);
        let numbers = json!({"type": "array", "items": {"type": "integer"}});
        check(numbers, json!("7"), json!([7]), &[Repair::Wrapped, Repair::Coerced]);
        let optional = json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
        check(optional.clone(), json!({"a": null, "b": "3"}), json!({"b": 3}), &[Repair::Coerced, Repair::Dropped]);
        check(optional, json!({"a": "", "b": " "}), json!({"a": ""}), &[Repair::Dropped]);
        let one_of = json!({"properties": {"a": {"type": "string", "enum": ["x", "y"]}}});
        check(one_of, json!({"a": ""}), json!({}), &[Repair::Dropped]);
        let required = json!({"properties": {"b": {"type": "integer"}}, "required": ["b"]});
        check(required, json!({"b": ""}), json!({"b": ""}), &[]);
    }

    // proves T3
    #[test]
    fn values_within_values_and_behind_references_are_found() {
        let schema = json!({
            "properties": {"list": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
            "$defs": {"item": {"type": "object", "properties": {
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "next": {"$ref": "#/$defs/item"}
            }}}
        });
        let given = json!({"list": [{"n": "1", "next": {"n": "2"}}, "{\"n\": 3}"]});
        check(schema, given, json!({"list": [{"n": 1, "next": {"n": 2}}, {"n": 3}]}), &[Repair::Coerced]);
        let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        check(circle, json!("5"), json!("5"), &[]);
    }

    #[test]
    fn a_value_that_fits_changes_only_in_the_form_of_whole_numbers() {
        let schema = json!({"properties": {"n": {"type": "integer"}, "s": {"type": "array"}}});
        let integers = |value| coerce_value(&value, &schema, CoercionScope::Integers);
        assert_eq!(integers(json!({"n": 5.0, "s": "x"})), Some((json!({"n": 5, "s": "x"}), vec![Repair::Coerced])));
        assert_eq!(integers(json!({"n": 5, "s": "x"})), None);
        assert_eq!(integers(json!({"n": 5, "other": [{"x": 5.0}]})), None);
    }
}
