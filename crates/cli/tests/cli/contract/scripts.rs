//! The dialect `script` on the real binary: a block that the model writes is run as a command, by the same rules and in the
//! same sandbox, and is contained when it is hostile.

use std::net::TcpListener;

use serde_json::{Value, json};
use windlass_testkit::mcp::{FakeTool, McpHttpServer, McpScript, ToolAction};
use windlass_testkit::{Script, ScriptStep};

use super::sandbox::holds;
use crate::support::Bench;
use crate::support::person::Attended;

const SCRIPT: [&str; 2] = ["--dialect", "script"];
const ALLOWED: [&str; 4] = ["--dialect", "script", "--allow", "run_command"];

fn python(script: &str) -> ScriptStep {
    ScriptStep::say(format!("```python\n{script}\n```"))
}

/// A bench whose model writes these scripts and then answers. The workspace has a file `a.txt`.
fn bench(scripts: &[&str]) -> Bench {
    let steps = scripts.iter().map(|script| python(script)).chain([ScriptStep::say("That is all I could do.")]);
    let bench = Bench::new(Script::of(steps.collect::<Vec<_>>()));
    std::fs::write(bench.workspace().join("a.txt"), "old\n").expect("written");
    bench
}

/// Returns what the model was told after its last script.
fn result(bench: &Bench) -> String {
    let said = bench.last_request("user");
    said.into_iter().rfind(|text| text.contains("the script")).expect("a result")
}

/// Runs a request whose scripts are allowed, and returns the result of the last one.
fn result_of(bench: &Bench, request: &str) -> String {
    let ran = bench.run(&[&["run", request, "--session", "s"], &ALLOWED[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    result(bench)
}

fn of(journal: &[Value], kind: &str, field: &str) -> Vec<Value> {
    let records = journal.iter().filter(|record| record["kind"] == kind);
    records.map(|record| record["body"][field].clone()).collect()
}

// proves T4, T9, L3: a script is a command, its changes are told, and undone
#[test]
fn a_block_is_run_and_what_it_changed_is_told_and_undone() {
    let bench = bench(&[
        "text = open('a.txt').read()\nopen('a.txt', 'w').write(text.replace('old', 'new'))\nprint(\"it's new\")",
    ]);
    if !holds(&bench) {
        return;
    }
    let told = result_of(&bench, "Change old to new in a.txt.");
    assert_eq!(told, "Result of the script:\nit's new\n[exit code 0]\n[Changed: a.txt]\na.txt reads now:\nnew");
    assert_eq!(bench.read("a.txt").as_deref(), Some("new\n"));
    for request in bench.server.requests() {
        assert_eq!(
            (&request.body["tools"], &request.body["stop"]),
            (&Value::Null, &json!(["\nResult of the script:\n"]))
        );
    }
    let written = bench.last_request("assistant").concat();
    assert!(written.starts_with("```python\n") && written.contains("print(\"it's new\")\n```"), "{written}");
    let journal = bench.journal("s");
    assert_eq!(of(&journal, "CallRequested", "tool"), ["local.run_command"]);
    assert_eq!(of(&journal, "RunEnded", "changes")[0]["changed"], json!(["a.txt"]));
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"));
    bench.assert_whole("script");
}

// proves X4, T9: a file that a script lost or changed unasked is restored, and nothing else
#[test]
fn what_a_script_did_unasked_is_restored() {
    const MOVES: &str = "import os\nos.replace('a.txt', 'data')\nos.replace('b.txt', 'data')";
    const BOTH: &str = "[open(f, 'w').write('new\\n') for f in ('a.txt', 'b.txt')]";
    let (old, new, other) = (Some("old\n"), Some("new\n"), Some("other\n"));
    for (request, script, restored, left) in [
        ("Rename the files of this folder.", "os.remove('a.txt')", "a.txt", [old, other, None]),
        ("Move the text files into the folder data.", MOVES, "a.txt", [old, None, other]),
        ("Change old to new in a.txt.", BOTH, "b.txt", [new, other, None]),
        ("Delete the folder.", "shutil.rmtree('c')", "c/d.txt", [old, other, None]),
    ] {
        let bench = bench(&[script]);
        std::fs::write(bench.workspace().join("b.txt"), "other\n").expect("written");
        std::fs::create_dir(bench.workspace().join("c")).expect("made");
        std::fs::write(bench.workspace().join("c/d.txt"), "deep\n").expect("written");
        if !holds(&bench) {
            return;
        }
        bench.run(&[&["run", request, "--session", "s", "--preset", "local-model"], &ALLOWED[..]].concat());
        let told = result(&bench);
        assert!(told.contains(&format!("[{restored} is as before: ")), "{request}: {told}");
        let files = ["a.txt", "b.txt", "data"].map(|file| bench.read(file));
        assert_eq!(files.each_ref().map(Option::as_deref), left, "{request}");
        assert_eq!(bench.read("c/d.txt").as_deref(), Some("deep\n"), "{request}");
        let changed = of(&bench.journal("s"), "FilesChanged", "changes");
        assert!(!changed.iter().any(|changes| changes.get(restored).is_some()), "{request}: {changed:?}");
        bench.assert_whole("script restored");
    }
}

// proves X4, T9: a script that gives files names that nobody means is undone as a whole, and the model is told why
#[test]
fn a_script_that_misnames_a_file_is_undone() {
    for (script, why) in [
        ("import os\nos.rename('a.txt', open('a.txt').read() + '.txt')", "\"old\\n.txt\" has a line break"),
        (
            "import os\nopen('b.txt', 'w').write('b')\nos.rename('a.txt', 'a.txt.txt')",
            "\"a.txt.txt\" has its ending twice",
        ),
    ] {
        let bench = bench(&[script]);
        if !holds(&bench) {
            return;
        }
        let line = ["run", "Rename the files by their first line.", "--session", "s", "--preset", "local-model"];
        bench.run(&[&line, &ALLOWED[..]].concat());
        let told = result(&bench);
        assert!(told.contains(&format!("[All files are as before, because the name {why}")), "{told}");
        let names = std::fs::read_dir(bench.workspace()).expect("read").map(|entry| entry.expect("read").file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["a.txt"], "{script}");
        assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"));
        assert_eq!(of(&bench.journal("s"), "FilesChanged", "changes"), Vec::<Value>::new());
    }
}

// proves X4: an order that does not say exactly what to change changes none where nobody can be asked, and the run asks
#[test]
fn a_script_for_a_vague_order_can_not_change_files() {
    for request in ["Change it back.", "Tidy up this folder.", "Give the file a better name."] {
        let bench = bench(&["open('a.txt', 'w').write('new')"]);
        if !holds(&bench) {
            return;
        }
        std::fs::write(bench.workspace().join("b.txt"), "other\n").expect("written");
        let ran = bench.run(&[&["run", request, "--session", "s", "--preset", "local-model"], &ALLOWED[..]].concat());
        assert!(ran.stdout.starts_with("The request does not say exactly what to change"), "{}", ran.stdout);
        assert!(ran.stderr.contains("denied: the request does not say exactly what to change"), "{}", ran.stderr);
        assert_eq!((ran.code, bench.server.count()), (0, 1), "{request}: the first refusal ends the run");
        assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"), "{request}");
    }
}

// proves X4: what was asked for is not restored, nor what a person approved or where nothing is asked
#[test]
fn a_script_that_does_what_was_asked_for_is_left_alone() {
    for (request, script, flags) in [
        ("Delete a.txt.", "import os\nos.remove('a.txt')", &["--allow", "run_command"][..]),
        ("Rename a.txt to d.txt, and write new into it.", RENAMES, &["--allow", "run_command"]),
        ("Delete what is not needed.", "import os\nos.remove('a.txt')", &["--mode", "bypass"]),
    ] {
        let bench = bench(&[script]);
        if !holds(&bench) {
            return;
        }
        let line = ["run", request, "--session", "s", "--preset", "local-model", "--dialect", "script"];
        bench.run(&[&line, flags].concat());
        assert_eq!(bench.read("a.txt"), None, "{request}: {}", result(&bench));
    }
    let bench = bench(&["import os\nos.remove('a.txt')"]);
    let line =
        ["run", "Delete what is not needed.", "--session", "s", "--preset", "local-model", "--dialect", "script"];
    let approved = Attended::start(&bench, &line, &[]).say_yes();
    assert_eq!(bench.read("a.txt"), None, "{}", approved.stderr);
}

const RENAMES: &str = "import os\nos.remove('a.txt')\nopen('d.txt', 'w').write('new')";

// proves T4: a module that the script forgot to import is imported, and an error names the line and what to do
#[test]
fn a_script_is_mended_and_its_error_explained() {
    let bench = bench(&["print(os.getcwd() != '')\nfor line in open('a.txt'):\n    print(line.split()[1])"]);
    if !holds(&bench) {
        return;
    }
    let told = result_of(&bench, "What is the second word of a.txt?");
    let start =
        "Result of the script:\nTrue\nThe script failed in line 4: print(line.split()[1])\nSome lines are empty";
    assert!(told.starts_with(start) && told.contains("not fit.\nIndexError: list index out of range\n[exit"), "{told}");
}

// proves T8: who asked not to be asked is not asked about scripts either
#[test]
fn a_script_without_a_sandbox_is_run_where_nothing_is_asked() {
    let bench = bench(&["open('a.txt', 'w').write('ran')"]);
    let flags = ["--dialect", "script", "--mode", "bypass", "--sandbox", "off"];
    let ran = bench.run(&[&["run", "Write ran into a.txt.", "--session", "s"], &flags[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(bench.read("a.txt").as_deref(), Some("ran"));
}

// proves T8, X3: without a rule somebody must agree, and without a sandbox whatever the rules say
#[test]
fn a_script_that_nobody_agreed_to_is_not_run() {
    for (flags, why) in [
        (&SCRIPT[..], "nobody is there"),
        (&["--dialect", "script", "--allow", "run_command(sh *)"], "nobody is there"),
        (&["--dialect", "script", "--allow", "run_command", "--sandbox", "off"], "switch the sandbox on"),
        (&["--dialect", "script", "--sandbox", "off"], "nobody is there"),
        (&["--dialect", "script", "--mode", "bypass", "--deny", "run_command"], "forbids it"),
    ] {
        let bench = bench(&["open('a.txt', 'w').write('ran')"]);
        let ran = bench.run(&[&["run", "Show me how to write a file in Python.", "--session", "s"], flags].concat());
        let told = result(&bench);
        assert!(told.starts_with("the script was not allowed:") && told.contains(why), "{flags:?}: {told}");
        assert_eq!(bench.read("a.txt").as_deref(), Some("old\n"), "{flags:?}: {}", ran.stderr);
        assert_eq!(of(&bench.journal("s"), "CallFinished", "outcome"), ["denied"], "{flags:?}");
        let is_said = |advice: &str| {
            let text = format!("nobody is there to approve scripts, so none will run: {advice}");
            ran.stderr.contains(&text)
        };
        assert_eq!(is_said("--allow run_command"), flags == &SCRIPT[..], "{flags:?}: {}", ran.stderr);
        let has_sandbox = !flags.contains(&"off");
        assert_eq!(is_said("they need a sandbox"), !has_sandbox, "{flags:?}: {}", ran.stderr);
    }
}

// proves J3, T2: what another process pinned stays the whole offer, though a server is connected by then
#[test]
fn a_resumed_run_writes_scripts_and_has_no_tool_of_a_server() {
    let bench = bench(&["print(1)", "print(2)"]);
    if !holds(&bench) {
        return;
    }
    let tools = [FakeTool::new("echo", ToolAction::Echo)];
    let server = McpHttpServer::start(McpScript::with(tools)).expect("a server");
    let file = bench.dir.path().join("servers.json");
    std::fs::write(&file, json!({"mcpServers": {"hub": {"url": server.url()}}}).to_string()).expect("written");
    let with_server = ["--mcp-config", file.to_str().expect("a path")];
    assert_eq!(bench.run(&[&["mcp", "test", "hub"], &with_server[..]].concat()).code, 0);
    let line = [&["run", "Print 1 and 2.", "--session", "s"], &SCRIPT[..], &with_server[..]].concat();
    let mut asked = Attended::start(&bench, &line, &[]);
    asked.question().expect("it asks");
    asked.kill();
    let line = [&["resume", "s", "--answer", "yes", "--allow", "run_command"], &with_server[..]].concat();
    let ran = bench.run(&line);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(result(&bench).starts_with("Result of the script:\n2\n"), "{}", result(&bench));
    let pinned = of(&bench.journal("s"), "ContextPinned", "context");
    let names = |context: &Value| context["offer"].as_array().expect("an offer").len();
    assert_eq!(pinned.iter().map(names).collect::<Vec<_>>(), [1], "{pinned:?}");
    let prefix = bench.last_request("system").concat();
    assert!(prefix.contains("```python") && !prefix.contains("hub"), "{prefix}");
}

// proves X4: a question is answered with a workspace that can't be changed
#[test]
fn a_script_that_answers_a_question_can_not_change_files() {
    for (preset, allowed, left) in [
        ("local-model", &["--allow", "run_command"], "old\n"),
        ("local-model", &["--mode", "bypass"], "ran"),
        ("default", &["--allow", "run_command"], "ran"),
    ] {
        let bench = bench(&["print(open('a.txt').read())\nopen('a.txt', 'w').write('ran')"]);
        if !holds(&bench) {
            return;
        }
        let ran = bench.run(&[&["run", "What is in a.txt?", "--preset", preset], &SCRIPT[..], &allowed[..]].concat());
        assert_eq!(bench.read("a.txt").as_deref(), Some(left), "{preset} {allowed:?}: {}", ran.stderr);
        let told = result(&bench);
        assert!(told.contains("old"), "it may read: {told}");
        assert_eq!(told.contains("The workspace is read-only here"), left == "old\n", "{told}");
    }
}

// proves X3
#[test]
fn a_hostile_script_reaches_neither_the_network_nor_other_files() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    server.set_nonblocking(true).expect("set");
    let port = server.local_addr().expect("an address").port();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    std::fs::create_dir(outside.path().join(".ssh")).expect("made");
    std::fs::write(outside.path().join(".ssh/key"), "a-secret-key").expect("written");
    let home = outside.path().to_str().expect("a path").to_owned();
    let script = format!(
        "import os, socket\n\
         def attempt(name, act):\n    \
             try:\n        print(name, 'done', act())\n    except OSError as error:\n        print(name, 'refused', error)\n\
         attempt('network', lambda: socket.create_connection(('127.0.0.1', {port}), 5))\n\
         attempt('write', lambda: open('{home}/x', 'w'))\n\
         attempt('key', lambda: open('{home}/.ssh/key').read())\n\
         attempt('data', lambda: os.listdir(os.environ['DATA']))\n\
         attempt('protected', lambda: open('.git/hooks/pre-commit', 'w'))\n\
         print(sorted(name for name in os.environ if 'KEY' in name))"
    );
    let bench = bench(&[&script]);
    if !holds(&bench) {
        return;
    }
    std::fs::create_dir_all(bench.workspace().join(".git/hooks")).expect("made");
    let data = bench.data().to_str().expect("a path").to_owned();
    let environment = [("HOME", home.as_str()), ("DATA", data.as_str()), ("OPENAI_API_KEY", "sk-0123456789")];
    let ran = bench.run_with(&[&["run", "Go on.", "--session", "s"], &ALLOWED[..]].concat(), &environment);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = result(&bench);
    for attempt in ["network", "write", "key", "protected"] {
        assert!(told.contains(&format!("{attempt} refused")), "{attempt}: {told}");
    }
    assert!(told.contains("data refused") || told.contains("data done []"), "{told}");
    assert!(
        !told.contains("a-secret-key") && !told.contains("OPENAI_API_KEY") && told.contains("[No file was changed]")
    );
    assert!(server.accept().is_err(), "nobody called");
    assert!(!outside.path().join("x").exists() && !bench.workspace().join(".git/hooks/pre-commit").exists());
}

// proves X3, T10: nothing outlives its call, and output has its limits
#[test]
fn a_script_that_leaves_processes_or_floods_is_ended() {
    let bench = bench(&[
        "import os, subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n\
         if os.fork() == 0:\n    os.setsid()\n    while True: pass\nprint('left')",
        "import sys\nfor _ in range(100):\n    sys.stdout.write('x' * 1_000_000 + '\\n')",
    ]);
    if !holds(&bench) {
        return;
    }
    let told = result_of(&bench, "Go on.");
    assert!(told.chars().count() < 20_000, "{} characters", told.chars().count());
    assert!(told.contains("[exit code 0]") && told.contains("characters"), "{}", &told[told.len() - 300..]);
    bench.assert_nothing_survives("script");
    bench.assert_whole("script");
}

// proves L8, X3: a script without an end is stopped with its run
#[test]
fn an_endless_script_ends_at_the_deadline() {
    let bench = bench(&["open('begun', 'w').close()\nwhile True:\n    pass"]);
    if !holds(&bench) {
        return;
    }
    // The clock of the bench runs a hundred times as fast.
    let ran = bench.run(&[&["run", "Go on.", "--deadline", "300s", "--session", "s"], &ALLOWED[..]].concat());
    assert_ne!(ran.code, 0, "{}", ran.stderr);
    assert!(bench.read("begun").is_some(), "it ran: {}", ran.stderr);
    bench.assert_nothing_survives("script");
    bench.assert_whole("script");
}

// proves X3, T9: what a script deletes is in the workspace, told, and brought back
#[test]
fn a_script_that_deletes_everything_is_undone() {
    let bench = bench(&["import os, shutil\nfor name in os.listdir('.'):\n    \
         shutil.rmtree(name, ignore_errors=True) if os.path.isdir(name) else os.remove(name)\n\
         shutil.rmtree('..', ignore_errors=True)\nshutil.rmtree(os.environ['HOME'], ignore_errors=True)"]);
    if !holds(&bench) {
        return;
    }
    let path = bench.workspace();
    std::fs::create_dir_all(path.join("docs")).expect("made");
    std::fs::create_dir_all(path.join(".git")).expect("made");
    std::fs::write(path.join("docs/b.txt"), "b\n").expect("written");
    std::fs::write(path.join(".git/config"), "[core]\n").expect("written");
    std::fs::write(bench.dir.path().join("kept"), "kept").expect("written");
    let told = result_of(&bench, "Go on.");
    assert!(told.contains("[Deleted: a.txt, docs, docs/b.txt]"), "{told}");
    assert!(
        !path.join("a.txt").exists() && path.join(".git/config").exists() && bench.dir.path().join("kept").exists()
    );
    assert_eq!(bench.run(&["undo", "s"]).code, 0);
    assert_eq!((bench.read("a.txt").as_deref(), bench.read("docs/b.txt").as_deref()), (Some("old\n"), Some("b\n")));
}

// proves T4: without an interpreter the model is offered what there is
#[test]
fn without_python_scripts_are_in_shell() {
    let bench = Bench::new(Script::of([
        ScriptStep::say("```sh\nread line < a.txt\necho $line\n```"),
        ScriptStep::say("It says old."),
    ]));
    if !holds(&bench) {
        return;
    }
    std::fs::write(bench.workspace().join("a.txt"), "old\n").expect("written");
    // The shell itself is found without it.
    let nothing = tempfile::tempdir().expect("a folder");
    let path = nothing.path().to_str().expect("a path");
    let ran = bench.run_with(&[&["run", "What does a.txt say?"], &ALLOWED[..]].concat(), &[("PATH", path)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no python3 on PATH"), "{}", ran.stderr);
    assert_eq!(result(&bench), "Result of the script:\nold\n[exit code 0]\n[No file was changed]");
    let prefix = bench.last_request("system").concat();
    assert!(prefix.contains("```sh") && !prefix.contains("```python"), "{prefix}");
}
