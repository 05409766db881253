//! Tests of what is a call and what is not, in every dialect and however the text is cut.

mod long_texts;
mod split_streams;
mod tool_tags;

use windlass_vocab::{CallId, Dialect, Message, OutcomeKind, Parallel, RunId, TurnId};

use super::{
    AcceptedForms, CallLimit, MalformedCall, NamedTools, ParsedReply, ReplyPiece, ReplyReader, TextEnd, prompt, read,
    rendered,
};

const TEXTUAL: [Dialect; 5] =
    [Dialect::ToolBlock, Dialect::ToolTag, Dialect::Bracket, Dialect::Lines, Dialect::BareJson];

fn knows(name: &str) -> bool {
    ["read_file", "local.read_file", "git.log", "list", "local.list"].contains(&name)
}

fn accepted(dialects: &[Dialect], parallel: Parallel) -> AcceptedForms {
    AcceptedForms::of(dialects, None, parallel).expect("something is read")
}

fn all(text: &str) -> ParsedReply {
    read(text, &accepted(&TEXTUAL, Parallel::Safe), NamedTools(knows), TextEnd::Whole)
}

fn calls(reading: &ParsedReply) -> Vec<(&str, &str)> {
    reading.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

const BLOCK: &str = "<tool>\n<server_name>local</server_name>\n<tool_name>read_file</tool_name>\n\
    <arguments>{\"path\": \"a\"}</arguments>\n</tool>";

// proves T4
#[test]
fn a_call_is_read_in_every_dialect_and_its_text_is_not_shown() {
    let path = r#"{"path": "a"}"#;
    for (text, want) in [
        (BLOCK.to_owned(), ("local.read_file", path)),
        (r#"[local.read_file(path="a")]"#.into(), ("local.read_file", r#"{"path":"a"}"#)),
        (format!("Tool: read_file\nArguments: {path}"), ("read_file", path)),
        (format!("Tool: `read_file`\n\nArguments:\n{path}\n"), ("read_file", path)),
        (format!("**Tool:** read_file\n**Arguments:** {path}"), ("read_file", path)),
        (format!("Action: read_file\nAction Input: {path}"), ("read_file", path)),
        (format!(r#"{{"name": "read_file", "arguments": {path}}}"#), ("read_file", path)),
        (format!(r#"[{{"name": "read_file", "parameters": {path}}}]"#), ("read_file", path)),
        (format!("```json\n{{\"name\": \"read_file\", \"arguments\": {path}}}\n```"), ("read_file", path)),
        (format!("<tool_call>\n{{\"name\": \"read_file\", \"arguments\": {path}}}\n</tool_call>"), ("read_file", path)),
        (format!("<function=read_file>{path}</function>"), ("read_file", path)),
        (
            "<tool_call>\n<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>".into(),
            ("read_file", r#"{"path":"a"}"#),
        ),
        (format!("```xml\n{BLOCK}\n```\n"), ("local.read_file", path)),
        (BLOCK.replace("<server_name>local</server_name>\n", ""), ("read_file", path)),
        (format!("<tools>{{\"name\": \"read_file\", \"arguments\": {path}}}</tools>"), ("read_file", path)),
        (format!("{{{{\"name\": \"read_file\", \"arguments\": {path}}}}}"), ("read_file", path)),
        (r#"read_file(path="a")"#.into(), ("read_file", r#"{"path":"a"}"#)),
        ("<tool name=\"read_file\">\n<path>a</path>\n</tool>".into(), ("read_file", r#"{"path":"a"}"#)),
        ("<tool name=read_file><path>a</path></tool>".into(), ("read_file", r#"{"path":"a"}"#)),
        ("<tool name='local.read_file' path='a'/>".into(), ("local.read_file", r#"{"path":"a"}"#)),
        ("<tool name=\"read_file\">{\"path\": \"a\"}</tool>".into(), ("read_file", r#"{"path":"a"}"#)),
        ("<tool_call name=\"read_file\"><path>a</path></tool_call>".into(), ("read_file", r#"{"path":"a"}"#)),
        ("<read_file>\n<path>a</path>\n</read_file>".into(), ("read_file", r#"{"path":"a"}"#)),
        ("<read_file path=\"a\" />".into(), ("read_file", r#"{"path":"a"}"#)),
        ("```xml\n<tool name=\"read_file\">\n<path>a</path>\n</tool>\n```".into(), ("read_file", r#"{"path":"a"}"#)),
        ("```python\nread_file(path=\"a\")\n```".into(), ("read_file", r#"{"path":"a"}"#)),
    ] {
        for (before, after) in [("", ""), ("I look.\n\n", ""), ("I look.\n", "\n\n"), ("  \n", "")] {
            let whole = format!("{before}{text}{after}");
            let reading = all(&whole);
            assert_eq!(calls(&reading), [want], "{whole}");
            assert_eq!(reading.text, before.trim(), "{whole}");
            assert_eq!(reading.malformed, None, "{whole}");
        }
    }
}

// proves T4: several objects without a list around them
#[test]
fn objects_that_follow_each_other_are_several_calls_or_the_first() {
    let (one, two) = (r#"{"name": "read_file", "arguments": {"path": "a"}}"#, r#"{"name": "list", "arguments": {}}"#);
    for text in [
        format!("{one}\n{two}"),
        format!("{one} {two}"),
        format!("```json\n{one}\n{two}\n```"),
        format!("<tool_call>\n{one}\n{two}\n</tool_call>"),
        format!("<tool>\n{one}\n{two}\n</tool>"),
        format!("<tools>{one}{two}</tools>"),
    ] {
        assert_eq!(all(&text).calls.len(), 2, "{text}");
        let first = read(&text, &accepted(&TEXTUAL, Parallel::Off), NamedTools(knows), TextEnd::Whole);
        assert_eq!(calls(&first), [("read_file", r#"{"path": "a"}"#)], "{text}");
    }
}

// proves T4: where one call is wanted, what follows it was invented
#[test]
fn an_invented_result_behind_a_fenced_call_is_dropped() {
    let json = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
    let text = format!("I look.\n```json\n{json}\n```\nOutput:\n```\nhello\n```\nThe file says hello.");
    let one = read(&text, &accepted(&TEXTUAL, Parallel::Off), NamedTools(knows), TextEnd::Whole);
    assert_eq!((calls(&one), one.text.as_str()), (vec![("read_file", r#"{"path": "a"}"#)], "I look."));
    let example = format!("For example:\n```json\n{json}\n```\nThat is how it goes.");
    let one = read(&example, &accepted(&TEXTUAL, Parallel::Off), NamedTools(knows), TextEnd::Whole);
    assert_eq!((calls(&one), one.text.as_str()), (Vec::new(), example.as_str()));
}

// proves T4
#[test]
fn a_reply_that_only_mentions_a_tool_is_no_call() {
    let json = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
    for text in [
        "I could use read_file to look at it.".to_owned(),
        "The tool read_file takes a path.".into(),
        "Use the <tool> tag to call a tool.".into(),
        "A <tool> block ends in </tool>.".into(),
        "The tool: read_file\nArguments: none".into(),
        "Tool: read_file\nIt reads files.".into(),
        "Tool: hammer\nArguments: {\"nail\": 1}".into(),
        "Tool: read_file\nArguments: the path".into(),
        format!("`{BLOCK}`"),
        format!("Write `{json}` to call it."),
        format!("This is how it goes: {json}"),
        format!("> {json}"),
        format!("> {BLOCK}"),
        format!("    {json}"),
        format!("\t{json}"),
        format!("A call looks like this:\n\n{json}\n\nwith the path of the file."),
        format!("For example:\n\n```json\n{json}\n```"),
        format!("The syntax is\n```\n{json}\n```\nand so on."),
        format!("```json\n{json}\n```\nThat is how a call is written."),
        format!("```python\nprint('hello')\n{json}\n```"),
        format!("```rust\n{BLOCK}\n```\n"),
        format!("The format is {BLOCK} and nothing else."),
        format!("In code `see. {BLOCK}` it stands."),
        "You can write [read_file(path=\"a\")] anywhere.".into(),
        "[read_file](https://example.com/read_file)".into(),
        "[read_file(path=\"a\")] is how it is written.".into(),
        "[read_file] was called.".into(),
        "[x] done\n[ ] not done\n[1] a source".into(),
        "[hammer(nail=1)]".into(),
        "hammer(nail=1)".into(),
        "read_file(path) reads a file.".into(),
        "read_file(path=\"a\") is how it is written.".into(),
        "read_file(\"a\")".into(),
        "read_file (or list) will do.".into(),
        r#"{"name": "Bob", "arguments": {"a": 1}}"#.into(),
        r#"{"name": "read_file", "description": "reads", "parameters": {"type": "object"}}"#.into(),
        r#"{"result": {"name": "read_file", "arguments": {}}}"#.into(),
        r#"{"name": "read_file"}"#.into(),
        r#"[{"name": "read_file", "arguments": {}}, {"name": "hammer", "arguments": {}}]"#.into(),
        "[1, 2, 3]".into(),
        "{}".into(),
        "{".into(),
        "<tools>".into(),
        "<tool".into(),
        "<toolbox>\n<tool_name>x</tool_name>".into(),
        "<tool_call> is a tag.".into(),
        "<tool name".into(),
        "<tool named after a person> is here.".into(),
        "The tag is <tool name=\"read_file\"> and needs a path.".into(),
        "`<tool name=\"read_file\"><path>a</path></tool>`".into(),
        "> <tool name=\"read_file\"><path>a</path></tool>".into(),
        "```xml\n<tool name=\"hammer\"><nail>1</nail></tool>\n```".into(),
        "<hammer><nail>1</nail></hammer>".into(),
        "<read_file is the tool>".into(),
        "<read_files>".into(),
        "<read_file> reads a file.".into(),
        "To".into(),
        "Tool".into(),
        String::new(),
        " \n\n ".into(),
    ] {
        let reading = all(&text);
        assert_eq!(reading, ParsedReply { text: text.clone(), ..ParsedReply::default() }, "{text}");
    }
}

// proves T4
#[test]
fn where_calls_are_native_only_a_reply_that_is_a_call_as_a_whole_counts() {
    let probing = accepted(&[Dialect::Native, Dialect::Probe], Parallel::Safe);
    let json = r#"{"name": "read_file", "arguments": {"path": "a"}}"#;
    for text in [json, BLOCK, "\n[read_file(path=\"a\")]\n", "```json\n{\"tool\": \"read_file\", \"path\": \"a\"}\n```"]
    {
        assert_eq!(read(text, &probing, NamedTools(knows), TextEnd::Whole).calls.len(), 1, "{text}");
    }
    for text in
        [format!("I look.\n{json}"), format!("{json}\nThat was it."), format!("{BLOCK}\nDone."), "Hello.".into()]
    {
        let reading = read(&text, &probing, NamedTools(knows), TextEnd::Whole);
        assert_eq!(reading, ParsedReply { text: text.clone(), ..ParsedReply::default() }, "{text}");
    }
    assert_eq!(AcceptedForms::of(&[Dialect::Native], None, Parallel::Off), None);
}

// proves T4
#[test]
fn a_form_that_is_not_spoken_is_text() {
    let brackets = accepted(&[Dialect::Native, Dialect::Bracket], Parallel::Off);
    let text = format!("Look:\n{BLOCK}");
    assert_eq!(read(&text, &brackets, NamedTools(knows), TextEnd::Whole).text, text);
}

// proves T4
#[test]
fn several_calls_are_several_or_the_first_as_the_policy_says() {
    let text = format!("One.\n{BLOCK}\nTwo.\n{BLOCK}{BLOCK}\nThe file says hello.");
    let several = read(&text, &accepted(&[Dialect::ToolBlock], Parallel::On), NamedTools(knows), TextEnd::Whole);
    assert_eq!((several.calls.len(), several.text.as_str()), (3, "One.\nTwo.\nThe file says hello."));
    let one = read(&text, &accepted(&[Dialect::ToolBlock], Parallel::Off), NamedTools(knows), TextEnd::Whole);
    assert_eq!((one.calls.len(), one.text.as_str()), (1, "One."));
    let listed = "[read_file(path=\"a\"), git.log()]";
    assert_eq!(
        read(listed, &accepted(&[Dialect::Bracket], Parallel::On), NamedTools(knows), TextEnd::Whole).calls.len(),
        2
    );
    assert_eq!(
        read(listed, &accepted(&[Dialect::Bracket], Parallel::Off), NamedTools(knows), TextEnd::Whole).calls.len(),
        1
    );
}

// proves T4
#[test]
fn a_block_may_follow_a_sentence_and_lack_the_tag_it_was_stopped_at() {
    let reading = all(&format!("I read it now: {BLOCK}"));
    assert_eq!((reading.calls.len(), reading.text.as_str()), (1, "I read it now:"));
    let stopped = BLOCK.strip_suffix("</tool>").unwrap();
    assert_eq!(calls(&all(stopped)), [("local.read_file", r#"{"path": "a"}"#)]);
    let cut = read(stopped, &accepted(&TEXTUAL, Parallel::Off), NamedTools(knows), TextEnd::Cut);
    assert!(matches!(cut.malformed, Some(MalformedCall::ParseError { .. })), "{cut:?}");
}

// proves T4
#[test]
fn a_closing_tag_within_the_arguments_does_not_end_the_block() {
    let content = r#"{"path": "a", "content": "<p></p></arguments></tool>"}"#;
    let text = BLOCK.replace(r#"{"path": "a"}"#, content);
    assert_eq!(calls(&all(&text)), [("local.read_file", content)]);
    let data = BLOCK.replace(r#"{"path": "a"}"#, "<path><![CDATA[</tool> & co]]></path>");
    assert_eq!(calls(&all(&data)), [("local.read_file", r#"{"path":"</tool> & co"}"#)]);
    // A missing closing brace in the JSON does not hide the end.
    let broken = BLOCK.replace(r#"{"path": "a"}"#, r#"{"path": "a""#);
    assert_eq!(calls(&all(&format!("{broken}\nThen more."))), [("local.read_file", r#"{"path": "a""#)]);
}

// proves T4, L6
#[test]
fn a_call_that_is_half_written_is_malformed_and_shown_to_nobody() {
    for text in [
        "<tool>\n<server_name>local</server_name>\n<tool_name>read_f",
        "<tool>\n<server_name>local</server_name>\n<tool_name>read_file</tool_name>\n<arguments>{\"path\": \"a",
        "<tool>\n<tool_name>hammer</tool_name>\n<arguments>{}</arguments>\n</tool>",
        "<tool>",
        "[read_file(path=\"a",
        "[read_file(\"a\")]",
        "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a",
        "Tool: read_file\nArguments: {\"path\": \"a",
        "<tool_call>{\"name\": \"read_file\", \"arg",
        "<function=read_file>{\"path\": \"a",
    ] {
        let reading = all(&format!("I look.\n{text}"));
        assert_eq!((reading.text.as_str(), reading.calls.len()), ("I look.", 0), "{text}");
        let told = reading.malformed.unwrap_or_else(|| panic!("{text}")).message(Some(Dialect::ToolBlock));
        assert!(told.contains("ParseError") || told.contains("MissingField"), "{told}");
        assert!(told.contains("<server_name>"), "{told}");
    }
}

// proves T4
#[test]
fn what_can_not_become_a_call_is_shown_as_it_comes() {
    let mut reader = ReplyReader::new(accepted(&TEXTUAL, Parallel::Off), Box::new(NamedTools(knows)));
    let mut shown = String::new();
    for (fragment, want) in [
        ("Hel", "Hel"),
        ("lo <t", "Hello"),
        ("o you", "Hello <to you"),
        ("\n{\"name\": \"Bo", "Hello <to you"),
        ("b\"", "Hello <to you\n{\"name\": \"Bob\""),
        ("\n", "Hello <to you\n{\"name\": \"Bob\""),
        ("[read", "Hello <to you\n{\"name\": \"Bob\""),
        ("ing]", "Hello <to you\n{\"name\": \"Bob\"\n[reading]"),
        ("\n<tool><tool_na", "Hello <to you\n{\"name\": \"Bob\"\n[reading]"),
        ("me>x", "Hello <to you\n{\"name\": \"Bob\"\n[reading]"),
    ] {
        reader.push(fragment, &mut |piece| {
            if let ReplyPiece::Text(text) = piece {
                shown.push_str(text);
            }
        });
        assert_eq!(shown, want, "after {fragment:?}");
    }
}

// proves T4: where calls are rare, the reader keeps next to nothing
#[test]
fn what_was_given_out_is_forgotten() {
    let words = "Heave away, haul away, and `<tool>` is no call. ";
    for (dialects, between, most) in [(vec![Dialect::Native, Dialect::Probe], "", 2), (TEXTUAL.to_vec(), "\n", 8)] {
        let mut reader = ReplyReader::new(accepted(&dialects, Parallel::Safe), Box::new(NamedTools(knows)));
        let mut shown = 0;
        for _ in 0..1_000 {
            reader.push(&format!("{words}{between}"), &mut |piece| match piece {
                ReplyPiece::Text(text) => shown += text.len(),
                ReplyPiece::Call { .. } => panic!("a call"),
            });
            assert!(reader.kept() <= most * words.len(), "{} bytes are kept", reader.kept());
        }
        assert_eq!(reader.finish(TextEnd::Whole, &mut |_| {}), None);
        assert!(shown > 999 * words.len());
    }
}

fn id() -> CallId {
    CallId { run: RunId(1), turn: TurnId(1), index: 0 }
}

// proves M6
#[test]
fn a_result_becomes_one_message_of_the_users_role() {
    let result = Message::Tool {
        call: id(),
        provider_id: None,
        name: "read_file".into(),
        outcome: OutcomeKind::Ok,
        text: "hello".into(),
        images: Vec::new(),
    };
    let text = "<tool_result name=\"local.read_file\" outcome=\"ok\">\nhello\n</tool_result>".to_owned();
    assert_eq!(rendered(Dialect::ToolBlock, &result), Message::user(text));
    assert_eq!(rendered(Dialect::ToolTag, &result), Message::user("Result of read_file:\nhello".to_owned()));
    let Message::Tool { call, provider_id, text, images, .. } = result else { panic!("another role") };
    let missing = OutcomeKind::NotFound;
    let result = Message::Tool { call, provider_id, name: "hub__find".into(), outcome: missing, text, images };
    assert_eq!(rendered(Dialect::ToolTag, &result), Message::user("Error from hub.find:\nhello".to_owned()));
}

// proves C1
#[test]
fn the_prompt_explains_the_dialect_and_has_every_schema() {
    let tools = crate::ending_tools();
    let offer: Vec<_> = tools.iter().map(|tool| tool.spec().clone()).collect();
    for (dialect, sign) in [
        (Dialect::ToolBlock, "<tool>"),
        (Dialect::Bracket, "[SERVER.TOOL("),
        (Dialect::Lines, "Arguments: {"),
        (Dialect::BareJson, "{\"name\": \"SERVER.TOOL\""),
    ] {
        let text = prompt(dialect, &offer, CallLimit::One).unwrap();
        assert!(text.contains(sign) && text.contains("one call in a reply"), "{text}");
        assert!(offer.iter().all(|spec| text.contains(spec.schema.as_str()) && text.contains(spec.name.bare())));
    }
    let short = prompt(Dialect::ToolTag, &offer, CallLimit::One).unwrap();
    assert!(
        short.contains("<tool name=\"TOOL\">") && short.contains("\ntask_completion(result): Ends the job\n"),
        "{short}"
    );
    assert_eq!(prompt(Dialect::Native, &offer, CallLimit::One), None);
    assert_eq!(prompt(Dialect::ToolBlock, &[], CallLimit::One), None);
}
