//! Compares JSON with the types of the page, and notes which parts of the page occurred.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::events::page::{EventsPage, PagePart, Shape};
use crate::events::page_type::{PageField, PageType};

/// What the meaning of a value begins with that is never written.
const DEFAULT: &str = "Left out, as the default. ";

/// A field of an event.
pub(super) struct FoundField {
    /// Where it is on the page: `Usage.input`.
    pub(super) place: String,
    /// Where it is in the event.
    pub(super) pointer: Vec<String>,
    pub(super) is_optional: bool,
}

/// Compares events with a page.
pub(super) struct Comparison<'a> {
    page: &'a EventsPage,
    seen: BTreeSet<String>,
}

/// What one value shows: its fields, and the places on the page that it has.
#[derive(Default)]
struct Found {
    fields: Vec<FoundField>,
    places: Vec<String>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(page: &'a EventsPage) -> Self {
        Self { page, seen: BTreeSet::new() }
    }

    /// Compares an event. The error says where it is not as the page says.
    pub(super) fn event(&mut self, event: &Value) -> Result<Vec<FoundField>, String> {
        let kind = event["kind"].as_str().ok_or("an event without a kind")?;
        let part = self.page.definition(kind).ok_or_else(|| format!("no section for {kind}"))?.part;
        let envelope = match part {
            PagePart::Records => "RecordEnvelope",
            PagePart::Deltas => "DeltaEnvelope",
            PagePart::Envelopes | PagePart::Types => return Err(format!("{kind} is not listed as an event")),
        };
        let mut found = Found::default();
        let walk = Walk { page: self.page, kind };
        walk.named(envelope, event, &mut Vec::new(), &mut found)?;
        self.seen.extend(found.places);
        Ok(found.fields)
    }

    /// Fields and values on the page that occurred in no event.
    pub(super) fn unseen(&self) -> Vec<String> {
        self.listed().filter(|(place, is_default)| !is_default && !self.seen.contains(place)).map(|at| at.0).collect()
    }

    /// Values that are said to be left out, and did occur.
    pub(super) fn seen_defaults(&self) -> Vec<String> {
        self.listed().filter(|(place, is_default)| *is_default && self.seen.contains(place)).map(|at| at.0).collect()
    }

    /// Every place on the page, and whether it is a value that is never written.
    fn listed(&self) -> impl Iterator<Item = (String, bool)> {
        let mut places = Vec::new();
        for definition in &self.page.definitions {
            places.push((definition.name.clone(), false));
            match &definition.shape {
                Shape::Fields(fields) => list_fields(&definition.name, fields, &mut places),
                Shape::OneOf(cases) => {
                    for case in cases {
                        let place = case_place(&definition.name, &case.of);
                        places.push((place.clone(), case.meaning.starts_with(DEFAULT)));
                        list(&place, &case.of, &mut places);
                    }
                }
                Shape::Same(of) => list(&definition.name, of, &mut places),
            }
        }
        places.into_iter()
    }
}

fn case_place(name: &str, of: &PageType) -> String {
    format!("{name} = {of}")
}

fn list(place: &str, of: &PageType, places: &mut Vec<(String, bool)>) {
    match of {
        PageType::Name(_) | PageType::Literal(_) => {}
        // An empty list would not show what may be in it.
        PageType::List(of) | PageType::Map(_, of) => {
            let place = format!("{place}[]");
            places.push((place.clone(), false));
            list(&place, of, places);
        }
        PageType::Tuple(all) => all.iter().for_each(|of| list(place, of, places)),
        PageType::Object(fields) => list_fields(place, fields, places),
    }
}

fn list_fields(place: &str, fields: &[PageField], places: &mut Vec<(String, bool)>) {
    for field in fields {
        let place = format!("{place}.{}", field.name);
        places.push((place.clone(), false));
        list(&place, &field.of, places);
    }
}

/// Compares the values of one event.
#[derive(Clone, Copy)]
struct Walk<'a> {
    page: &'a EventsPage,
    kind: &'a str,
}

impl Walk<'_> {
    /// Compares a value with the type of this name.
    fn named(self, name: &str, value: &Value, pointer: &mut Vec<String>, found: &mut Found) -> Result<(), String> {
        let is = |fits: bool| if fits { Ok(()) } else { Err(format!("/{} is no {name}: {value}", pointer.join("/"))) };
        match name {
            "string" => return is(value.is_string()),
            "number" => return is(value.is_i64() || value.is_u64()),
            "boolean" => return is(value.is_boolean()),
            "unknown" => return Ok(()),
            "Kind" => return is(value == self.kind),
            "Body" => return self.named(self.kind, value, pointer, found),
            _ => {}
        }
        let definition = self.page.definition(name).ok_or_else(|| format!("{name} is not defined"))?;
        found.places.push(name.to_owned());
        match &definition.shape {
            Shape::Fields(fields) => self.object(name, fields, value, pointer, found),
            Shape::Same(of) => self.compare(name, of, value, pointer, found),
            Shape::OneOf(cases) => {
                let mut fitting = Vec::new();
                let mut wrong = Vec::new();
                for case in cases {
                    let (place, mut within) = (case_place(name, &case.of), Found::default());
                    match self.compare(&place, &case.of, value, pointer, &mut within) {
                        Ok(()) => fitting.push((place, within)),
                        Err(why) => wrong.push(why),
                    }
                }
                let [(place, within)] = <[_; 1]>::try_from(fitting).map_err(|fitting| {
                    let (at, many) = (pointer.join("/"), fitting.len());
                    format!("/{at} is {many} of the cases of {name}: {value}\n  {}", wrong.join("\n  "))
                })?;
                found.places.push(place);
                found.places.extend(within.places);
                found.fields.extend(within.fields);
                Ok(())
            }
        }
    }

    fn compare(
        self,
        place: &str,
        of: &PageType,
        value: &Value,
        pointer: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), String> {
        let other = |pointer: &[String]| format!("/{} is no {of}: {value}", pointer.join("/"));
        match of {
            PageType::Name(name) => self.named(name, value, pointer, found),
            PageType::Literal(text) => (value == text).then_some(()).ok_or_else(|| other(pointer)),
            PageType::List(of) => {
                let all = value.as_array().ok_or_else(|| other(pointer))?;
                let all = all.iter().enumerate().map(|(at, value)| (at.to_string(), value));
                self.elements(place, of, all, pointer, found)
            }
            PageType::Map(_, of) => {
                let all = value.as_object().ok_or_else(|| other(pointer))?;
                let all = all.iter().map(|(key, value)| (key.clone(), value));
                self.elements(place, of, all, pointer, found)
            }
            PageType::Tuple(types) => {
                let all = value.as_array().filter(|all| all.len() == types.len()).ok_or_else(|| other(pointer))?;
                for (at, (of, value)) in types.iter().zip(all).enumerate() {
                    self.below(at.to_string(), pointer, |pointer| self.compare(place, of, value, pointer, found))?;
                }
                Ok(())
            }
            PageType::Object(fields) => self.object(place, fields, value, pointer, found),
        }
    }

    fn elements<'v>(
        self,
        place: &str,
        of: &PageType,
        all: impl Iterator<Item = (String, &'v Value)>,
        pointer: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), String> {
        let place = format!("{place}[]");
        for (step, value) in all {
            found.places.push(place.clone());
            self.below(step, pointer, |pointer| self.compare(&place, of, value, pointer, found))?;
        }
        Ok(())
    }

    fn object(
        self,
        place: &str,
        fields: &[PageField],
        value: &Value,
        pointer: &mut Vec<String>,
        found: &mut Found,
    ) -> Result<(), String> {
        let at = pointer.join("/");
        let members = value.as_object().ok_or_else(|| format!("/{at} is no object: {value}"))?;
        if let Some(name) = members.keys().find(|name| fields.iter().all(|field| field.name != **name)) {
            return Err(format!("/{at} has `{name}`, which {place} on the page has not"));
        }
        for field in fields {
            let place = format!("{place}.{}", field.name);
            let Some(value) = members.get(&field.name) else {
                if field.is_optional {
                    continue;
                }
                return Err(format!("/{at} has no `{}`, which the page says is always there", field.name));
            };
            found.places.push(place.clone());
            let is_optional = field.is_optional;
            self.below(field.name.clone(), pointer, |pointer| {
                found.fields.push(FoundField { place: place.clone(), pointer: pointer.clone(), is_optional });
                self.compare(&place, &field.of, value, pointer, found)
            })?;
        }
        Ok(())
    }

    fn below<T>(self, step: String, pointer: &mut Vec<String>, compare: impl FnOnce(&mut Vec<String>) -> T) -> T {
        pointer.push(step);
        let compared = compare(pointer);
        pointer.pop();
        compared
    }
}
