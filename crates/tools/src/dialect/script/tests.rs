//! Which blocks are scripts, how they become commands, and how they are written again.

use proptest::prelude::*;
use windlass_vocab::{CallId, CallInHistory, Dialect, Json, Message, OutcomeKind, Parallel, Part};

use super::super::{AcceptedForms, CallLimit, NamedTools, ParsedReply, ReplyPiece, ReplyReader, TextEnd};
use super::super::{read, rendered, stop_sequence};
use super::is_script_tool;
use crate::dialect::python_command::{python_script, quoted};

fn knows(name: &str) -> bool {
    name == "run_command"
}

fn accepted() -> AcceptedForms {
    let row = [Dialect::Native, Dialect::Bracket, Dialect::BareJson];
    AcceptedForms::of(&row, Some(Dialect::Script), Parallel::Safe).expect("something is read")
}

fn reading(text: &str, ended: TextEnd) -> ParsedReply {
    read(text, &accepted(), NamedTools(knows), ended)
}

/// Returns the commands of a reply, and its text.
fn commands(text: &str) -> (Vec<String>, String) {
    let reading = reading(text, TextEnd::Whole);
    let command = |arguments: &str| {
        let arguments: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
        arguments["command"].as_str().expect("a command").to_owned()
    };
    (reading.calls.iter().map(|call| command(&call.arguments)).collect(), reading.text)
}

fn python(script: &str) -> String {
    format!("python3 -Bu -c {}", quoted(script))
}

// proves T4
#[test]
fn a_block_in_a_language_that_can_be_run_is_a_command() {
    for (text, command, shown) in [
        ("```python\nprint(1)\n```", python("print(1)"), ""),
        ("```py\nprint(1)\n```\n", python("print(1)"), ""),
        ("```python3\nprint(1)\n```", python("print(1)"), ""),
        ("``` Python \nprint(1)\n```", python("print(1)"), ""),
        ("```python title=\"x.py\"\nprint(1)\n```", python("print(1)"), ""),
        ("~~~python\nprint('```')\n~~~", python("print('```')"), ""),
        ("```sh\nls -l\necho 'a'\n```", "ls -l\necho 'a'".to_owned(), ""),
        ("```bash\nls\n```", "ls".to_owned(), ""),
        ("```shell\nls\n```", "ls".to_owned(), ""),
        ("I look.\n\n```sh\nls\n```", "ls".to_owned(), "I look."),
        ("You can do it like this:\n```python\nprint(1)\n```", python("print(1)"), "You can do it like this:"),
        ("```sh\nls\n```\nResult of the script:\na.txt\nDone.", "ls".to_owned(), ""),
        ("```sh\nls\n```\n\n```sh\nrm x\n```", "ls".to_owned(), ""),
        ("```json\n{}\n```\n\n```sh\nls\n```", "ls".to_owned(), "```json\n{}\n```"),
        ("````python\nprint('''\n```\n''')\n````", python("print('''\n```\n''')"), ""),
        ("```python\r\nfor x in [1]:\r\n    print(x)\r\n```\r\n", python("for x in [1]:\n    print(x)"), ""),
        ("1. Do:\n   ```python\n   if True:\n       print(1)\n   ```", python("if True:\n    print(1)"), "1. Do:"),
        ("```python\nprint(1)\n`````", python("print(1)"), ""),
        ("```python\nprint(1)\n   ```\nDone.", python("print(1)"), ""),
        ("```python\nx = '\'\'\n    ```\n\t```\n\'\''\n```", python("x = '\'\'\n    ```\n\t```\n\'\''"), ""),
        ("````sh\ncat > a <<E\n```\nE\n````", "cat > a <<E\n```\nE".to_owned(), ""),
        ("```python\n\n\nprint(1)\n\n```", python("\n\nprint(1)"), ""),
    ] {
        assert_eq!(commands(text), (vec![command], shown.to_owned()), "{text}");
    }
}

// proves T4: some models never close a block
#[test]
fn a_block_without_an_end_is_a_command_unless_it_was_cut_off() {
    for text in ["```python\nprint(1)", "```python\nprint(1)\n", "Now:\n```python\nprint(1)\n"] {
        assert_eq!(commands(text).0, [python("print(1)")], "{text}");
        let cut = reading(text, TextEnd::Cut);
        assert!(cut.calls.is_empty(), "{cut:?}");
        let told = cut.malformed.expect("malformed").message(Some(Dialect::Script));
        assert!(told.contains("cut off") && told.contains("```python"), "{told}");
    }
}

// proves T4: a text with a fence is not written by half
#[test]
fn a_shell_block_that_ends_inside_its_text_is_not_run() {
    let text = "I write it.\n```sh\ncat > README.md <<'EOF'\n# Title\n```\ncargo run\n```\nEOF\nls\n```\n";
    let reading = reading(text, TextEnd::Whole);
    assert_eq!((reading.calls.len(), reading.text.as_str()), (0, "I write it."));
    let told = reading.malformed.expect("malformed").message(Some(Dialect::Script));
    assert!(told.contains("the line EOF") && told.contains("````sh"), "{told}");
}

// proves T4: an answer that shows a block or a file is not cut off; what a model invents is
#[test]
fn a_server_stops_only_where_a_result_is_invented() {
    for calls in [CallLimit::One, CallLimit::Several] {
        let stop = stop_sequence(Dialect::Script, calls).expect("a stop");
        for answer in ["Use this:\n\n```\nls\n```\n\nThen go on.", "```text\na\n```\nResult: 3", "```sh\nls\n```\n"] {
            assert!(!answer.contains(stop), "{answer}");
        }
        let invented = format!("```sh\nls\n```\n{}", result(OutcomeKind::Ok, "a.txt"));
        let sent = invented.split(stop).next().expect("a part");
        assert_eq!((sent, commands(sent).0), ("```sh\nls\n```", vec!["ls".to_owned()]));
    }
}

// proves T4: what is not marked as a script in a known language is text
#[test]
fn other_blocks_and_words_are_an_answer() {
    for text in [
        "All is done.",
        "Use `ls` for that.",
        "```\nls\n```",
        "```text\nls\n```",
        "```json\n{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}\n```",
        "{\"name\": \"run_command\", \"arguments\": {\"command\": \"ls\"}}",
        "<tool name=\"run_command\"><command>ls</command></tool>",
        "```rust\nfn main() {}\n```",
        "```console\n$ ls\n```",
        "```pythonista\nprint(1)\n```",
        "```python",
        "```python\n```",
        "```sh\n  \n```\nNothing.",
        "> ```python\n> print(1)\n> ```",
        "    ```python\n    print(1)\n    ```",
        "Write ```python\nprint(1)\n```",
        "``python\nprint(1)\n``",
    ] {
        let reading = reading(text, TextEnd::Whole);
        assert_eq!((reading.calls.len(), reading.text.as_str(), reading.malformed), (0, text, None), "{text}");
    }
}

// proves T4: a block is a script only where the prefix says so
#[test]
fn other_dialects_read_no_scripts() {
    let text = "```python\nprint(1)\n```";
    for (row, pinned) in [
        (&[Dialect::Native, Dialect::Probe, Dialect::Script][..], None),
        (&[Dialect::Bracket, Dialect::Lines, Dialect::BareJson, Dialect::ToolBlock], None),
        (&[Dialect::Script], Some(Dialect::ToolTag)),
    ] {
        let accepted = AcceptedForms::of(row, pinned, Parallel::Off).expect("something is read");
        assert!(read(text, &accepted, NamedTools(knows), TextEnd::Whole).calls.is_empty(), "{row:?}");
    }
    let unknown = read(text, &accepted(), NamedTools(|_: &str| false), TextEnd::Whole);
    assert_eq!((unknown.calls.len(), unknown.text.as_str()), (0, text), "no tool runs it");
}

// proves X5: the whole script is one word of the shell, whatever it holds
#[test]
fn python_is_handed_over_as_one_word() {
    for script in ["print('a')", "'; rm -rf / #", "'\\''", "a\nb", "\"$(x)\" `y` \\", "''", "é '\n' "] {
        let shell = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(script))).output();
        assert_eq!(String::from_utf8_lossy(&shell.expect("a shell").stdout), script);
        assert_eq!(python_script(&python(script)).as_deref(), Some(script));
    }
    for line in ["python3 -Bu -c 'a' 'b'", "python3 -Bu -c 'a'; rm 'b'", "python3 x.py", "python3 -Bu -c \"a\""] {
        assert_eq!(python_script(line), None, "{line}");
    }
}

/// Returns a result as the model is told it.
fn result(outcome: OutcomeKind, text: &str) -> String {
    let message = Message::Tool {
        call: CallId::default(),
        provider_id: None,
        name: "local.run_command".into(),
        outcome,
        text: text.into(),
        images: Vec::new(),
    };
    match rendered(Dialect::Script, &message) {
        Message::User { text, .. } => text,
        other @ (Message::Assistant { .. } | Message::Tool { .. }) => panic!("{other:?}"),
    }
}

// proves T4: results name no arguments that a script can't set
#[test]
fn a_result_is_of_the_script() {
    assert_eq!(result(OutcomeKind::Ok, "a\n[exit code 0]"), "Result of the script:\na\n[exit code 0]");
    assert_eq!(result(OutcomeKind::Denied, "Not allowed."), "the script was not allowed:\nNot allowed.");
    let hint =
        "[The sandbox gives commands no network. If this needs it, call run_command again with \"network\": true.]";
    let told = result(OutcomeKind::Ok, &format!("[The sandbox is mine]\nno\n[exit code 1]\n{hint}"));
    let want = "[The sandbox is mine]\nno\n[exit code 1]\n[A script has no network, and writes only in the workspace.]";
    assert_eq!(told, format!("Result of the script:\n{want}"));
    let hint = "[The sandbox lets commands write only in /tmp, for it is read-only. If this needs more …]";
    assert!(result(OutcomeKind::Ok, &format!("[exit code 1]\n{hint}")).ends_with("answer, and change nothing.]"));
    for name in ["run_command", "local.run_command", "local__run_command"] {
        assert!(is_script_tool(name), "{name}");
    }
    assert!(!is_script_tool("hub.run_command") && !is_script_tool("xrun_command"));
}

fn in_parts(text: &str, cuts: &[usize]) -> ParsedReply {
    let mut reading = ParsedReply::default();
    let mut reader = ReplyReader::new(accepted(), Box::new(NamedTools(knows)));
    let mut places: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary(cut % (text.len() + 1))).collect();
    places.sort_unstable();
    places.push(text.len());
    let mut from = 0;
    for place in places {
        reader.push(&text[from..place], &mut |piece: ReplyPiece<'_>| reading.take(piece));
        from = place;
    }
    reading.malformed = reader.finish(TextEnd::Whole, &mut |piece| reading.take(piece));
    reading
}

fn fragment() -> impl Strategy<Value = String> {
    let known = [
        "```python\n",
        "```py",
        "```sh\r\n",
        "```\n",
        "```",
        "\n",
        "  ",
        "print(1)",
        "~~~sh\n",
        "~~~",
        "x y",
        "`",
        "> ",
    ];
    prop_oneof![6 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    // proves T4
    #[test]
    fn any_split_of_the_stream_gives_the_same_scripts(
        fragments in prop::collection::vec(fragment(), 0..14),
        cuts in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let text = fragments.concat();
        let whole = reading(&text, TextEnd::Whole);
        prop_assert_eq!(&in_parts(&text, &cuts), &whole);
        prop_assert_eq!(&in_parts(&text, &(0..text.len()).collect::<Vec<_>>()), &whole);
        prop_assert!(whole.calls.len() <= 1);
        if whole.calls.is_empty() && whole.malformed.is_none() {
            prop_assert_eq!(&whole.text, &text);
        }
    }

    // proves T4, M6: what is sent again is read as it was run
    #[test]
    fn a_script_is_read_as_it_is_rendered(script in "[a-z'\"`\\\\$ \n]{0,40}[a-z]") {
        for command in [script.clone(), python(&script)] {
            let arguments = Json::from(&serde_json::json!({"command": command}));
            let name = "run_command".to_owned();
            let call = CallInHistory { call: CallId::default(), provider_id: None, name, arguments };
            let parts = vec![Part::Call { index: 0 }];
            let message = Message::Assistant { parts, calls: vec![call], model: "m".into() };
            let Message::Assistant { parts, .. } = rendered(Dialect::Script, &message) else { panic!("another role") };
            let [Part::Text { text }] = &parts[..] else { panic!("{parts:?}") };
            prop_assert_eq!(&commands(text).0, &[command], "{}", text);
        }
    }
}
