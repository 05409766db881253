//! A reply that comes in parts is read like one that comes whole.

use proptest::prelude::*;
use windlass_vocab::{CallInHistory, Dialect, Json, Message, Parallel, Part};

use super::super::{AcceptedForms, NamedTools, ParsedReply, ReplyPiece, ReplyReader, TextEnd, read, rendered};
use super::{TEXTUAL, accepted, id, knows};

/// Reads a text that arrives in parts.
fn in_parts(text: &str, cuts: &[usize], accepted: AcceptedForms) -> ParsedReply {
    let mut reader = ReplyReader::new(accepted, Box::new(NamedTools(knows)));
    let mut reading = ParsedReply::default();
    let mut sink = |piece: ReplyPiece<'_>| reading.take(piece);
    let mut from = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
    cuts.sort_unstable();
    for cut in cuts.into_iter().chain([text.len()]) {
        reader.push(&text[from..cut], &mut sink);
        from = cut;
    }
    reading.malformed = reader.finish(TextEnd::Whole, &mut sink);
    reading
}

fn fragment() -> impl Strategy<Value = String> {
    let known = [
        "<tool>",
        "</tool>",
        "<server_name>local</server_name>",
        "<tool_name>read_file</tool_name>",
        "<arguments>",
        "</arguments>",
        "{\"path\": \"a\"}",
        "<![CDATA[",
        "]]>",
        "[read_file(path=\"a\")]",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "\"",
        "'",
        "\\",
        "Tool: read_file\n",
        "Arguments: ",
        "{\"name\": \"read_file\", \"arguments\": ",
        "\n",
        "\n\n",
        " ",
        "```",
        "```json\n",
        "~~~",
        ". ",
        "Look: ",
        "<tool_call>",
        "</tool_call>",
        "<function=read_file>",
        "</function>",
        "<tool name=\"read_file\">",
        "<tool name=",
        "<read_file>",
        "</read_file>",
        "<path>",
        "</path>",
        " path=\"a\"",
        "/>",
        ">",
        "For example:\n",
        "`",
        "> ",
        "    ",
        "<",
        "é",
        "x",
    ];
    prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

fn dialects() -> impl Strategy<Value = AcceptedForms> {
    let rows = vec![
        vec![Dialect::ToolBlock],
        vec![Dialect::Native, Dialect::Probe],
        vec![Dialect::Native, Dialect::Bracket, Dialect::Lines, Dialect::BareJson],
        TEXTUAL.to_vec(),
    ];
    let parallel = prop::sample::select(vec![Parallel::Off, Parallel::Safe]);
    let pinned = prop::sample::select(vec![None, Some(Dialect::ToolTag)]);
    (prop::sample::select(rows), pinned, parallel)
        .prop_map(|(row, pinned, parallel)| AcceptedForms::of(&row, pinned, parallel).expect("something is read"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // proves T4
    #[test]
    fn any_split_of_the_stream_gives_the_same_result(
        fragments in prop::collection::vec(fragment(), 0..16),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
        accepted in dialects(),
    ) {
        let text = fragments.concat();
        let whole = read(&text, &accepted, NamedTools(knows), TextEnd::Whole);
        prop_assert_eq!(&in_parts(&text, &cuts, accepted), &whole);
        let every: Vec<usize> = (0..text.len()).collect();
        prop_assert_eq!(&in_parts(&text, &every, accepted), &whole);
        if whole.calls.is_empty() && whole.malformed.is_none() {
            prop_assert_eq!(&whole.text, &text);
        }
    }

    // proves T4
    #[test]
    fn no_text_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), accepted in dialects()) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = read(&text, &accepted, NamedTools(knows), TextEnd::Whole);
        let _ = read(&text, &accepted, NamedTools(knows), TextEnd::Cut);
    }

    // proves T4, M6
    #[test]
    fn a_call_is_read_as_it_is_rendered(path in "\\PC{0,30}|[a-z<>/\"'\\\\\n ]{0,30}", piece in "[A-Z][a-z ]{0,9}[.]|") {
        let arguments = Json::from(&serde_json::json!({"path": path, "n": 5}));
        let call = CallInHistory { call: id(), provider_id: None, name: "local.read_file".into(), arguments };
        let parts = vec![Part::Text { text: piece.clone() }, Part::Call { index: 0 }];
        let message = Message::Assistant { parts, calls: vec![call.clone()], model: "m".into() };
        for dialect in TEXTUAL {
            let Message::Assistant { parts, calls, .. } = rendered(dialect, &message) else { panic!("another role") };
            prop_assert!(calls.is_empty());
            let [Part::Text { text }] = &parts[..] else { panic!("{parts:?}") };
            let reading = read(text, &accepted(&[dialect], Parallel::Off), NamedTools(knows), TextEnd::Whole);
            prop_assert_eq!(&reading.text, &piece);
            let read: serde_json::Value = serde_json::from_str(&reading.calls[0].arguments).unwrap();
            let (name, arguments) = match dialect {
                // Its values are texts, which are coerced once the tool is known.
                Dialect::ToolTag => ("read_file", serde_json::json!({"path": path, "n": "5"})),
                _ => (call.name.as_str(), call.arguments.to_value()),
            };
            prop_assert_eq!(&reading.calls[0].name, name);
            prop_assert_eq!(read, arguments, "{}", text);
        }
    }
}
