//! Writes the types of the page as TypeScript: an interface for each object, a type for each choice, and the union of all
//! events, told apart by `kind`.

use std::fmt::Write as _;

use super::page::{Definition, EventsPage, PagePart, Shape};

const HEAD: &str = "\
// The events of a session. Written from docs/events.md by `cargo xtask events`: change that page, not this file.
";

/// The whole file.
pub(super) fn declarations(page: &EventsPage) -> String {
    let mut file = HEAD.to_owned();
    for definition in &page.definitions {
        comment(&mut file, "", &definition.meaning);
        declaration(&mut file, definition);
    }
    union(
        &mut file,
        "A record, as it is stored and sent.",
        "RecordEvent",
        "RecordEnvelope",
        page.names(PagePart::Records),
    );
    union(&mut file, "A delta, which is only sent.", "DeltaEvent", "DeltaEnvelope", page.names(PagePart::Deltas));
    comment(&mut file, "", "An event of a session; a later version may send kinds that are not listed here.");
    file.push_str("export type SessionEvent = RecordEvent | DeltaEvent;\n");
    file
}

/// Writing to a string can't fail.
fn put(file: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = file.write_fmt(words);
}

fn comment(file: &mut String, indent: &str, words: &str) {
    if indent.is_empty() {
        file.push('\n');
    }
    put(file, format_args!("{indent}/** {} */\n", words.replace("*/", "*\\/")));
}

fn declaration(file: &mut String, Definition { name, part, shape, .. }: &Definition) {
    match shape {
        Shape::Fields(fields) if fields.is_empty() => {
            put(file, format_args!("export type {name} = Record<string, never>;\n"));
        }
        Shape::Fields(fields) => {
            let parameters = if *part == PagePart::Envelopes { "<Kind extends string, Body>" } else { "" };
            put(file, format_args!("export interface {name}{parameters} {{\n"));
            for field in fields {
                comment(file, "  ", &field.meaning);
                put(file, format_args!("  {field};\n"));
            }
            file.push_str("}\n");
        }
        Shape::OneOf(cases) => {
            put(file, format_args!("export type {name} ="));
            for case in cases {
                file.push('\n');
                comment(file, "  ", &case.meaning);
                put(file, format_args!("  | {}", case.of));
            }
            file.push_str(";\n");
        }
        Shape::Same(of) => put(file, format_args!("export type {name} = {of};\n")),
    }
}

fn union<'a>(file: &mut String, meaning: &str, name: &str, envelope: &str, kinds: impl Iterator<Item = &'a str>) {
    comment(file, "", meaning);
    put(file, format_args!("export type {name} ="));
    for kind in kinds {
        put(file, format_args!("\n  | {envelope}<\"{kind}\", {kind}>"));
    }
    file.push_str(";\n");
}
