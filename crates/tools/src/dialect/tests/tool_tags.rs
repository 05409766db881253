//! `<tool name="…">`, and forms without tags whose arguments fit.

use windlass_vocab::{Dialect, Json, Parallel};

use super::super::{AcceptedForms, CallLimit, MalformedCall, NamedTools, OfferedTools, TextEnd, read, stop_sequence};
use super::{TEXTUAL, accepted, all, calls, knows};

const TAG: &str = "<tool name=\"read_file\">\n<path>a</path>\n</tool>";

fn pinned(parallel: Parallel) -> AcceptedForms {
    AcceptedForms::of(&[Dialect::Native, Dialect::Probe], Some(Dialect::ToolTag), parallel).expect("something is read")
}

// proves T4: the wire drops the stop sequence
#[test]
fn a_tag_that_was_stopped_at_its_end_is_a_whole_call() {
    for text in [
        "<tool name=\"read_file\">\n<path>a</path>\n",
        "<tool name=\"read_file\">\n<path>a",
        "I look. <tool name=\"read_file\"><path>a</path>",
    ] {
        let reading = read(text, &pinned(Parallel::Off), NamedTools(knows), TextEnd::Whole);
        assert_eq!(calls(&reading), [("read_file", r#"{"path":"a"}"#)], "{text}");
        let cut = read(text, &pinned(Parallel::Off), NamedTools(knows), TextEnd::Cut);
        assert!(matches!(cut.malformed, Some(MalformedCall::ParseError { .. })), "{cut:?}");
    }
    for calls in [CallLimit::One, CallLimit::Several] {
        assert_eq!(stop_sequence(Dialect::ToolTag, calls), Some("</tool>"));
    }
    assert_eq!(stop_sequence(Dialect::ToolBlock, CallLimit::Several), None);
}

// proves T4: what follows a call was invented
#[test]
fn what_follows_a_tag_is_dropped_but_another_call() {
    let json = r#"{"name": "list", "arguments": {}}"#;
    for (text, several) in [
        (format!("I look.\n{TAG}\nResult of read_file:\nhello\n{TAG}"), 1),
        (format!("I look.\n{TAG}\n\n{TAG}\nBoth are read."), 2),
        (format!("I look.\n{TAG}{json}\n{TAG}"), 3),
        (format!("I look.\n{TAG}\n<tool name=\"read_file\">oops</tool>\nThen."), 1),
    ] {
        let all = read(&text, &pinned(Parallel::Safe), NamedTools(knows), TextEnd::Whole);
        assert_eq!((all.calls.len(), all.text.as_str()), (several, "I look."), "{text}");
        let one = read(&text, &pinned(Parallel::Off), NamedTools(knows), TextEnd::Whole);
        assert_eq!((one.calls.len(), one.text.as_str()), (1, "I look."), "{text}");
    }
}

// proves T4: a tool that does not exist is answered with those that do
#[test]
fn a_tag_with_an_unknown_name_is_a_call_and_one_without_values_is_malformed() {
    let reading = all("<tool name=\"hammer\"><nail>1</nail></tool>");
    assert_eq!(calls(&reading), [("hammer", r#"{"nail":"1"}"#)]);
    let reading = all("I look.\n<tool name=\"read_file\">a.txt</tool>");
    assert_eq!((reading.text.as_str(), reading.calls.len()), ("I look.", 0));
    let told = reading.malformed.expect("malformed").message(Some(Dialect::ToolTag));
    assert!(told.contains("<tool name=\"TOOL\">") && told.contains("`read_file`"), "{told}");
}

/// Tools of which the required and the known arguments are known.
struct SchemaTools;

impl OfferedTools for SchemaTools {
    fn knows(&self, name: &str) -> bool {
        name == "read_file"
    }

    fn fits(&self, _: &str, arguments: &str) -> bool {
        let schema = serde_json::json!({"properties": {"path": {}, "limit": {}}, "required": ["path"]});
        crate::argument_keys::keys_fit(&Json::from(&schema), arguments)
    }
}

// proves T4: name and arguments fit an offered tool
#[test]
fn a_form_without_tags_is_a_call_if_its_arguments_fit_or_it_is_the_whole_reply() {
    let json = |arguments: &str| format!("{{\"name\": \"read_file\", \"arguments\": {arguments}}}");
    for (text, fits) in [
        (json(r#"{"path": "a"}"#), true),
        (json(r#"{"path": "a", "limit": "5"}"#), true),
        (json(r#"{"limit": 5}"#), false),
        (json(r#"{"path": "a", "colour": "red"}"#), false),
        (format!("```json\n{}\n```", json("{}")), false),
        ("read_file(path=\"a\")".to_owned(), true),
        ("read_file(file=\"a\")".to_owned(), false),
        ("<read_file><path>a</path></read_file>".to_owned(), true),
    ] {
        for parallel in [Parallel::Off, Parallel::Safe] {
            let forms = accepted(&TEXTUAL, parallel);
            let count = |text: &str| read(text, &forms, SchemaTools, TextEnd::Whole).calls.len();
            assert_eq!(count(&text), 1, "{text}");
            assert_eq!(count(&format!("{text}\n\n")), 1, "{text}");
            assert_eq!(count(&format!("I look.\n\n{text}")), usize::from(fits), "{text}");
            if !text.starts_with('`') {
                assert_eq!(count(&format!("{text}\nThat was it.")), usize::from(fits), "{text}");
            }
        }
    }
    let unfit = "<read_file><colour>a</colour></read_file>";
    assert_eq!(read(unfit, &accepted(&TEXTUAL, Parallel::Off), SchemaTools, TextEnd::Whole).text, unfit);
}
