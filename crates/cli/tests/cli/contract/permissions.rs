//! Which calls may run where nobody can be asked. The model gets the reason for a refusal; the person, the rule that
//! would allow the call.

use serde_json::{Value, json};
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

struct Case {
    flags: &'static [&'static str],
    command: &'static str,
    /// Which of the files `keep` and `made` exist after the command.
    files: &'static [&'static str],
    /// Text that the tool result contains.
    told: &'static str,
}

/// Runs one call and returns the files of the workspace and the tool result.
fn call(flags: &[&str], tool: &str, arguments: Value) -> (Vec<String>, String) {
    let (files, heard, _) = told_call(flags, tool, arguments);
    (files, heard)
}

/// Like `call`, and returns standard error as well.
fn told_call(flags: &[&str], tool: &str, arguments: Value) -> (Vec<String>, String, String) {
    let bench = Bench::new(Script::of([ScriptStep::call(tool, arguments), ScriptStep::say("Aye.")]));
    std::fs::write(bench.workspace().join("keep"), "").expect("written");
    let ran = bench.run(&[&["run", "go"], flags].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{flags:?}: {}", ran.stderr);
    bench.assert_whole("one call");
    let entries = std::fs::read_dir(bench.workspace()).expect("a folder").flatten();
    let mut files: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    files.sort();
    let heard = bench.last_request("tool").concat();
    assert!(!heard.contains("--allow") && !heard.contains("windlass.toml"), "not for a model: {heard}");
    (files, heard, ran.stderr)
}

// proves T8
#[test]
fn a_command_runs_only_under_a_rule_that_covers_all_of_it() {
    let allow = &["--allow", "run_command(touch *)"][..];
    for Case { flags, command, files, told } in [
        Case { flags: &[], command: "touch made", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made", files: &["keep", "made"], told: "" },
        Case { flags: allow, command: "touch made; rm keep", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made && rm keep", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made | rm keep", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made\nrm keep", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made $(rm keep)", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touch made `rm keep`", files: &["keep"], told: "nobody is there" },
        Case { flags: allow, command: "touchy made", files: &["keep"], told: "nobody is there" },
        Case {
            flags: &["--allow", "run_command(touch *)", "--deny", "run_command(touch made)"],
            command: "touch made",
            files: &["keep"],
            told: "the rule `run_command(touch made)` forbids it",
        },
        Case {
            flags: &["--mode", "bypass", "--deny", "run_command(rm *)"],
            command: "touch made; rm keep",
            files: &["keep"],
            told: "the rule `run_command(rm *)` forbids it",
        },
        Case {
            flags: &["--mode", "bypass", "--deny", "run_command(rm *)"],
            command: "timeout -s KILL 5 rm keep",
            files: &["keep"],
            told: "the rule `run_command(rm *)` forbids it",
        },
        Case { flags: &["--mode", "bypass"], command: "touch made; rm keep", files: &["made"], told: "" },
        Case { flags: &["--mode", "strict"], command: "touch made", files: &["keep"], told: "nobody is there" },
    ] {
        let (left, heard) = call(flags, "run_command", json!({"command": command}));
        assert_eq!(left, files, "{flags:?} {command}: {heard}");
        assert!(heard.contains(told), "{flags:?} {command}: {heard}");
    }
}

// proves T8: the person gets a rule to copy, and the model does not
#[test]
fn the_rule_that_would_allow_a_call_is_named_to_the_person() {
    let (_, heard, told) = told_call(&[], "run_command", json!({"command": "touch made"}));
    assert!(heard.contains("nobody is there") && !heard.contains("touch made"), "{heard}");
    for line in [
        "  --allow 'run_command(touch made)' would let it run;\n",
        "  for good: allow = [\"run_command(touch made)\"] under [permissions] in your own windlass.toml\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

// proves T8
#[test]
fn strict_asks_before_every_change_and_default_does_not() {
    let write = || json!({"path": "made", "content": "x"});
    assert_eq!(call(&[], "write_file", write()).0, ["keep", "made"]);
    let (files, _, told) = told_call(&["--mode", "strict"], "write_file", write());
    assert!(files == ["keep"] && told.contains("--allow 'write_file"), "{files:?} {told}");
    assert_eq!(call(&["--mode", "strict", "--allow", "write_file"], "write_file", write()).0, ["keep", "made"]);
    assert_eq!(call(&["--mode", "strict"], "list_directory", json!({"path": "."})).0, ["keep"]);
    let (files, heard) = call(&["--deny", "write_file"], "write_file", write());
    assert!(files == ["keep"] && heard.contains("the rule `write_file` forbids it"), "{files:?} {heard}");
}

// proves T8: a rule about a path protects it, however the path is written
#[test]
fn a_path_is_forbidden_however_the_rule_writes_it() {
    let write = |flags: &[&str]| call(flags, "write_file", json!({"path": "./.env", "content": "x"}));
    for pattern in ["**/.env", "./.env", "**/*env", "./", ".env"] {
        let rule = format!("write_file({pattern})");
        let (files, heard) = write(&["--deny", &rule]);
        assert!(files == ["keep"] && heard.contains(&format!("the rule `{rule}` forbids it")), "{files:?} {heard}");
        assert_eq!(write(&["--mode", "strict", "--allow", &rule]).0, [".env", "keep"], "{rule}");
    }
    assert_eq!(write(&["--deny", "write_file(sub/)"]).0, [".env", "keep"]);
}

// proves T8: a rule from a settings file is not reported as a flag
#[test]
fn a_rule_of_a_file_protects_a_path_by_its_whole_name() {
    for (key, told) in [("deny", "the rule `write_file("), ("ask", "nobody is there")] {
        let step = ScriptStep::call("write_file", json!({"path": "sub/a", "content": "x"}));
        let bench = Bench::new(Script::of([step, ScriptStep::say("Aye.")]));
        let folder = bench.workspace().canonicalize().expect("a folder").join("sub");
        let file = bench.dir.path().join(".config/windlass/windlass.toml");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, format!("[permissions]\n{key} = ['write_file({}/)']\n", folder.display()))
            .expect("written");
        let ran = bench.run(&["run", "go"]);
        let heard = bench.last_request("tool").concat();
        assert_eq!((ran.code, bench.read("sub/a")), (0, None), "{key}: {} {heard}", ran.stderr);
        assert!(heard.contains(told) && !heard.contains("--deny"), "{key}: {heard}");
    }
}

// proves T8: unsupported wildcards in paths are refused, so that nobody relies on them
#[test]
fn a_path_with_a_sign_that_stands_for_nothing_is_refused_before_anything_starts() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let told = |sign: char| format!("`{sign}` stands for nothing in a path");
    for (pattern, sign) in [("?env", '?'), ("[.]env", '['), ("{.env,x}", '{'), ("~/.env", '~')] {
        for flag in ["--allow", "--deny"] {
            let ran = bench.run(&["run", "go", flag, &format!("write_file({pattern})")]);
            assert!(ran.code == 2 && ran.stderr.contains(&told(sign)), "{flag} {pattern}: {}", ran.stderr);
        }
    }
    let file = bench.dir.path().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    for key in ["allow", "ask", "deny"] {
        std::fs::write(&file, format!("[permissions]\n{key} = ['read_file(?env)']\n")).expect("written");
        let ran = bench.run(&["run", "go"]);
        let place = format!("windlass.toml:2:{}: ", key.len() + 5);
        let is_told = ran.stderr.contains(&place) && ran.stderr.contains(&told('?'));
        assert!(ran.code == 2 && is_told, "{key}: {}", ran.stderr);
    }
    assert_eq!(bench.server.count(), 0);
}

#[test]
fn a_rule_that_is_none_is_refused_before_anything_starts() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    for flag in ["--allow", "--deny"] {
        let ran = bench.run(&["run", "go", flag, "run_command(git *"]);
        assert!(
            ran.code == 2 && ran.stderr.contains(flag) && ran.stderr.contains("run_command(git *"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(bench.server.count(), 0);
}

// proves T8: an answer given before its question was asked is refused
#[test]
fn an_answer_is_not_kept_for_the_next_question() {
    let call = ScriptStep::call("run_command", json!({"command": "touch made"}));
    let bench = Bench::new(Script::of([call, ScriptStep::say("Aye.")]));
    let died = bench.run_with(&["run", "go", "--session", "s"], &[("WINDLASS_TEST_DIE", "after:3")]);
    assert_eq!(died.code, -9);
    let refused = bench.run(&["resume", "s", "--answer", "yes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("the run asks nothing; leave --answer out"), "{}", refused.stderr);
    let ran = bench.run(&["resume", "s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{}", ran.stderr);
    assert_eq!(bench.read("made"), None);
    bench.assert_whole("answered too early");
}

// proves T8: a misspelt rule is always reported, and no run starts if it is a deny or ask rule
#[test]
fn a_rule_about_a_tool_that_is_not_there_is_told() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let told = "the rule `run_comand(rm *)` means nothing: no tool is called \"run_comand\"; did you mean \
                \"run_command\"?";
    for (key, code, asked) in [("deny", 2, 0), ("ask", 2, 0), ("allow", 0, 1)] {
        let rules = format!("[permissions]\n{key} = ['run_comand(rm *)']\n");
        let file = bench.dir.path().join(".config/windlass/windlass.toml");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, rules).expect("written");
        let ran = bench.run(&["run", "go"]);
        assert_eq!((ran.code, bench.server.count()), (code, asked), "{key}: {}", ran.stderr);
        let place = format!("windlass.toml:2:{}: {told}", key.len() + 5);
        assert!(ran.stderr.contains(&place), "{key}: {place}: {}", ran.stderr);
    }
    let flag = bench.run(&["run", "go", "--deny", "delete_repository"]);
    assert!(flag.code == 2 && flag.stderr.contains("--deny: the rule `delete_repository` means nothing"), "{flag:?}");
}

/// A server that answers every request with a page.
fn page() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut head);
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>Ahoy</h1>";
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        }
    });
    address
}

// proves T8, T10: a fetch needs approval, and a local address must also be named by a flag
#[test]
fn a_page_is_fetched_only_where_a_person_agreed() {
    let address = page();
    let url = format!("http://{address}/a?b=1");
    let fetch = |flags: &[&str]| {
        let (_, heard, told) = told_call(flags, "fetch_url", json!({"url": url}));
        assert!(!heard.contains("--fetch-private"), "not for a model: {heard}");
        (heard, told)
    };
    let (_, told) = fetch(&[]);
    let is_asked = |told: &str| told.contains(&format!("--allow 'fetch_url(http://{address}/*)'"));
    assert!(told.contains(&format!("--fetch-private {address}")) && !is_asked(&told), "a yes means nothing: {told}");
    let (_, told) = fetch(&["--fetch-private", &address]);
    assert!(is_asked(&told), "{told}");
    let rule = format!("fetch_url(http://{address}/*)");
    let (heard, told) = fetch(&["--allow", &rule]);
    assert!(heard.contains("this machine") && told.contains(&format!("--fetch-private {address}")), "{heard} {told}");
    let (heard, _) = fetch(&["--allow", &rule, "--fetch-private", &address]);
    assert!(heard.contains("(200, text/html, 13 bytes)") && heard.contains("# Ahoy"), "{heard}");
    let (heard, _) = fetch(&["--mode", "bypass", "--fetch-private", "*", "--deny", "fetch_url(127.0.0.1)"]);
    assert!(heard.contains("forbids it"), "{heard}");
}
