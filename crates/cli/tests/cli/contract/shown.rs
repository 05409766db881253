//! Printed text can't control a terminal or imitate other output, through a pipe either (X4); a failed write leaves
//! nothing behind.

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

const CODES: &str = "a\u{1b}[2Jb\u{9b}31mc\u{7}";

// proves X4: piped output may end up on a terminal
#[test]
fn no_escape_code_of_a_model_or_a_tool_reaches_a_pipe() {
    for json in [&[][..], &["--json"]] {
        let steps = [
            ScriptStep::call("read_file", json!({"path": "codes.txt"})),
            ScriptStep::call("read_file", json!({"path": CODES})),
            ScriptStep { thinking: CODES.into(), ..ScriptStep::say(format!("{CODES}\tend\n")) },
        ];
        let bench = Bench::new(Script::of(steps));
        std::fs::write(bench.workspace().join("codes.txt"), CODES).expect("written");
        let ran = bench.run(&[&["run", CODES, "--session", "s"], json].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let looks = [&["sessions", "show", "s"][..], &["sessions", "list"], &["replay", "s"], &["audit", "--json"]];
        let shown = looks.map(|look| bench.run(look).stdout).concat();
        for text in [&ran.stdout, &ran.stderr, &shown] {
            let code = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(code, None, "{text:?}");
        }
        match json {
            [] => assert_eq!(ran.stdout, "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}\tend\n"),
            _ => assert!(ran.stdout.contains(r"a\u001b[2Jb\u009b31mc\u0007"), "{}", ran.stdout),
        }
    }
}

// proves X4: a file name can't look like two, and the model can pass it back as it was printed
#[test]
fn a_file_name_with_a_line_break_is_listed_on_one_line() {
    let name = "two\nlines\u{1b}[2J";
    let steps = [
        ScriptStep::call("list_directory", json!({})),
        ScriptStep::call("search_files", json!({"pattern": "needle"})),
        ScriptStep::call("read_file", json!({"path": name})),
        ScriptStep::call("move_file", json!({"from": name, "to": "a\nb"})),
        ScriptStep::say("Done."),
        ScriptStep::say("Aye."),
    ];
    let bench = Bench::new(Script::of(steps));
    std::fs::write(bench.workspace().join(name), "needle\n").expect("written");
    let ran = bench.run(&["run", "go", "--session", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let results = bench.last_request("tool");
    assert_eq!(
        results[..3],
        [
            r#""two\nlines\u001b[2J"  7"#.to_owned(),
            r#""two\nlines\u001b[2J":1: needle"#.to_owned(),
            "needle\n".to_owned(),
        ]
    );
    let undone = bench.run(&["undo", "s"]);
    let told = format!("{}{}", undone.stdout, undone.stderr);
    assert!(told.contains(r#""a\nb""#) && told.contains(r#""two\nlines\u001b[2J""#), "{told}");
    // The note to the model is our own text: a file name must not add a line to it.
    assert_eq!(bench.run(&["run", "more", "--session", "s"]).code, 0);
    let heard = bench.last_request("user").concat();
    assert!(heard.contains(r#"again: "a\nb", "two\nlines\u001b[2J"."#), "{heard}");
}

// proves T10: a refused, failed or denied call changes nothing
#[test]
fn a_write_that_comes_to_nothing_leaves_no_folder_behind() {
    let long = "n".repeat(300);
    let steps = [
        ScriptStep::call("write_file", json!({"path": format!("new/a/{long}"), "content": "x"})),
        ScriptStep::call("write_file", json!({"path": "new/a/../../../out", "content": "x"})),
        ScriptStep::call("write_file", json!({"path": "new/a/b", "content": "⟦secret:API_KEY⟧"})),
        ScriptStep::call("move_file", json!({"from": "f", "to": format!("new/a/{long}")})),
        ScriptStep::say("It can't be done."),
    ];
    for mode in ["default", "strict"] {
        let bench = Bench::new(Script::of(steps.clone()));
        std::fs::write(bench.workspace().join("f"), "x").expect("written");
        let ran = bench.run(&["run", "go", "--mode", mode]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let left: Vec<_> = std::fs::read_dir(bench.workspace()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}: {:?}", bench.last_request("tool"));
    }
}

// proves T8: a change made without asking is displayed in the progress output
#[test]
fn an_edit_that_needs_no_answer_shows_its_change_and_one_that_fails_shows_none() {
    let edit = |old: &str| json!({"path": "src/f", "old_text": old, "new_text": "two\nthree\n"});
    let steps = [
        ScriptStep::call("edit_file", edit("one\n")),
        ScriptStep::call("edit_file", edit("no\n")),
        ScriptStep::say("Done."),
    ];
    let bench = Bench::new(Script::of(steps));
    std::fs::create_dir(bench.workspace().join("src")).expect("a folder");
    std::fs::write(bench.workspace().join("src/f"), "zero\none\n").expect("written");
    let ran = bench.run(&["run", "go"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().skip_while(|line| !line.starts_with("edit_file")).collect();
    // The line ends with the duration: "12 ms" or "1.2 s".
    assert!(lines[0].starts_with("edit_file src/f ") && lines[0].ends_with('s'), "{}", ran.stderr);
    assert_eq!(lines[1..4], ["  -one", "  +two", "  +three"]);
    assert!(lines[4].starts_with("edit_file src/f ") && lines[4].contains("not found"), "{}", ran.stderr);
    assert!(!lines[5..].iter().any(|line| line.starts_with("  ")), "{}", ran.stderr);
}
