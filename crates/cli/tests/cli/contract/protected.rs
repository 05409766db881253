//! Writing a file that runs by convention needs approval, and is denied where nobody can answer (X5).

use serde_json::json;
use windlass_testkit::{Script, ScriptStep};

use crate::support::Bench;

/// Files that programs run or agents obey by convention, and the protected pattern that covers each.
const CONVENTIONAL: [(&str, &str); 27] = [
    (".git/hooks/pre-commit", "**/.git/"),
    (".git/config", "**/.git/"),
    (".hg/hgrc", "**/.hg/"),
    (".envrc", "**/.envrc"),
    (".vscode/tasks.json", "**/.vscode/"),
    (".idea/workspace.xml", "**/.idea/"),
    (".husky/pre-commit", "**/.husky/"),
    (".devcontainer/devcontainer.json", "**/.devcontainer/"),
    (".github/workflows/ci.yml", "**/.github/workflows/"),
    (".gitlab-ci.yml", "**/.gitlab-ci.yml"),
    (".cargo/config.toml", "**/.cargo/config*"),
    (".npmrc", "**/.npmrc"),
    (".ssh/authorized_keys", "**/.ssh/"),
    (".bashrc", "**/.bashrc"),
    (".bash_profile", "**/.bash_profile"),
    (".profile", "**/.profile"),
    (".zshrc", "**/.zshrc"),
    (".zshenv", "**/.zshenv"),
    (".config/fish/config.fish", "**/.config/fish/"),
    (".pre-commit-config.yaml", "**/.pre-commit-config.yaml"),
    ("AGENTS.md", "**/AGENTS.md"),
    ("CLAUDE.md", "**/CLAUDE.md"),
    ("GEMINI.md", "**/GEMINI.md"),
    ("skills/x/SKILL.md", "**/SKILL.md"),
    (".claude/settings.json", "**/.claude/"),
    ("windlass.toml", "**/windlass.toml"),
    (".mcp.json", "**/.mcp.json"),
];

// proves X5
#[test]
fn files_that_run_by_convention_are_not_written_unasked_whatever_allows_it() {
    let steps = || CONVENTIONAL.map(|(path, _)| ScriptStep::call("write_file", json!({"path": path, "content": "x"})));
    for flags in [&[][..], &["--allow", "write_file", "--allow", "*", "--allow", "write"], &["--mode", "strict"]] {
        let bench = Bench::new(Script::of(steps().into_iter().chain([ScriptStep::say("Aye.")])));
        let ran = bench.run(&[&["run", "go"], flags].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let heard = bench.last_request("tool");
        for ((path, pattern), heard) in CONVENTIONAL.iter().zip(&heard) {
            assert!(heard.contains(&format!("{path} is protected ({pattern})")), "{heard}");
            assert!(!heard.contains("unprotected ="), "not for a model: {heard}");
            assert!(ran.stderr.contains(&format!("unprotected = [\"{path}\"]")), "{}", ran.stderr);
            assert!(!bench.workspace().join(path).exists(), "{path}");
        }
        assert_eq!(heard.len(), CONVENTIONAL.len());
        bench.assert_whole("protected");
    }
    let bench = Bench::new(Script::of(steps().into_iter().chain([ScriptStep::say("Aye.")])));
    assert_eq!(bench.run(&["run", "go", "--mode", "bypass"]).code, 0);
    for (path, _) in CONVENTIONAL {
        assert_eq!(bench.read(path).as_deref(), Some("x"), "{path}");
    }
}

// proves X5: each of these symlinks and settings once bypassed the protected paths or a deny rule
#[test]
fn what_a_protected_or_denied_link_leads_to_is_neither_written_nor_read() {
    let write = |path: &str| ScriptStep::call("write_file", json!({"path": path, "content": "evil"}));
    let calls = [
        write("docs/ai.md"),
        write("gen/vscode/tasks.json"),
        write("ci/workflows/x.yml"),
        write("tools/hooks/pre-commit"),
        ScriptStep::call("read_file", json!({"path": "conf/real.env"})),
        ScriptStep::call("search_files", json!({"pattern": "treasure"})),
    ];
    let bench = Bench::new(Script::of(calls.into_iter().chain([ScriptStep::say("Aye.")])));
    let at = |path: &str| bench.workspace().join(path);
    for (path, text) in [
        ("docs/ai.md", "old"),
        ("ci/x", ""),
        ("conf/real.env", "a treasure"),
        (".git/config", "[core]\n\thooksPath = tools/hooks\n"),
    ] {
        std::fs::create_dir_all(at(path).parent().expect("a folder")).expect("made");
        std::fs::write(at(path), text).expect("written");
    }
    for (link, to) in
        [("CLAUDE.md", "docs/ai.md"), (".vscode", "gen/vscode"), (".github", "ci"), (".env", "conf/real.env")]
    {
        std::os::unix::fs::symlink(to, at(link)).expect("a link");
    }
    let ran = bench.run(&["run", "go", "--deny", "read(.env)", "--allow", "write"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = bench.last_request("tool");
    for (text, why) in heard.iter().zip([
        "docs/ai.md is protected (**/CLAUDE.md; CLAUDE.md is a link to it)",
        "gen/vscode/tasks.json is protected (**/.vscode/; .vscode is a link to it)",
        "ci/workflows/x.yml is protected (**/.github/workflows/; .github is a link to it)",
        "tools/hooks/pre-commit is protected (**/.git/; git: core.hooksPath names it)",
        "the rule `read(.env)` forbids it",
        "not shown",
    ]) {
        assert!(text.contains(why) && !text.contains("a treasure"), "{why}: {text}");
    }
    assert_eq!((heard.len(), bench.read("docs/ai.md").as_deref()), (6, Some("old")));
    assert!(!at("gen").exists() && !at("ci/workflows").exists() && !at("tools").exists());
}

// proves X5: each of these calls would have made the person's next git command run a program
#[test]
fn a_git_hook_is_not_made_and_the_settings_of_git_are_not_edited() {
    let steps = [
        ScriptStep::call("move_file", json!({"from": ".git/hooks/pre-commit.sample", "to": ".git/hooks/pre-commit"})),
        ScriptStep::call(
            "edit_file",
            json!({"path": ".git/config", "old_text": "[core]", "new_text": "[core]\nfsmonitor = x"}),
        ),
        ScriptStep::call("move_file", json!({"from": ".git", "to": "git"})),
        ScriptStep::call("move_file", json!({"from": "hooks", "to": ".git/hooks2"})),
        ScriptStep::say("Aye."),
    ];
    let bench = Bench::new(Script::of(steps));
    for (path, text) in [(".git/hooks/pre-commit.sample", "run\n"), (".git/config", "[core]\n"), ("hooks/x", "")] {
        let path = bench.workspace().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    let ran = bench.run(&["run", "go", "--allow", "*", "--allow", "run_command(git status)"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = bench.last_request("tool");
    assert!(heard.len() == 4 && heard.iter().all(|text| text.contains("is protected (**/.git/)")), "{heard:#?}");
    assert_eq!(bench.read(".git/config").as_deref(), Some("[core]\n"));
    assert!(
        !bench.workspace().join(".git/hooks/pre-commit").exists() && !bench.workspace().join(".git/hooks2").exists()
    );
}

// proves X5: files with ordinary names can form a bare repository whose config git obeys
#[test]
fn a_bare_repository_is_not_made_of_ordinary_names() {
    let write = |path: &str, content: &str| ScriptStep::call("write_file", json!({"path": path, "content": content}));
    let steps = [
        write("docs/x/config", "[core]\nfsmonitor = touch ran\nrepositoryformatversion = 0\n"),
        write("docs/x/objects/info/x", ""),
        write("docs/x/refs/heads/x", ""),
        write("docs/x/HEAD", "ref: refs/heads/m\n"),
        ScriptStep::say("Aye."),
    ];
    let bench = Bench::new(Script::of(steps));
    let ran = bench.run(&["run", "go", "--allow", "*"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = bench.last_request("tool");
    let (last, before) = heard.split_last().expect("results");
    assert!(before.len() == 3 && before.iter().all(|text| text.starts_with("Wrote")), "{before:#?}");
    let told = "docs/x/HEAD is protected (git: it would take docs/x for a repository, and obey its config and hooks)";
    assert!(last.contains(told), "{last}");
    assert!(ran.stderr.contains("unprotected = [\"docs/x/HEAD\"]"), "{}", ran.stderr);
    assert!(!bench.workspace().join("docs/x/HEAD").exists());
}

// proves X5, X2
#[test]
fn a_person_takes_the_protection_away_and_a_project_does_not() {
    let write = || ScriptStep::call("write_file", json!({"path": "docs/AGENTS.md", "content": "x"}));
    let bench = Bench::new(Script::of([write(), ScriptStep::say("Aye."), write(), ScriptStep::say("Aye.")]));
    let line = "[permissions]\nunprotected = [\"docs/AGENTS.md\"]\n";
    std::fs::write(bench.workspace().join("windlass.toml"), line).expect("written");
    let ran = bench.run(&["run", "go"]);
    assert!(ran.code == 0 && ran.stderr.contains("an exception to the protected paths: not taken"), "{}", ran.stderr);
    assert_eq!(bench.read("docs/AGENTS.md"), None, "it is protected still");
    let own = bench.dir.path().join(".config/windlass/windlass.toml");
    std::fs::create_dir_all(own.parent().expect("a folder")).expect("made");
    std::fs::rename(bench.workspace().join("windlass.toml"), own).expect("moved");
    assert_eq!(bench.run(&["run", "go"]).code, 0);
    assert_eq!(bench.read("docs/AGENTS.md").as_deref(), Some("x"));
}

// proves X5
#[test]
fn a_workspace_that_is_the_home_folder_is_warned_about_once() {
    let write = || ScriptStep::call("write_file", json!({"path": "a", "content": "x"}));
    let bench = Bench::new(Script::of([write(), write(), ScriptStep::say("Aye."), ScriptStep::say("Aye.")]));
    let home = bench.workspace().canonicalize().expect("a folder");
    let home = home.to_str().expect("a name");
    let told = |ran: &str| ran.matches("the workspace is your home folder").count();
    let ran = bench.run_with(&["run", "go"], &[("HOME", home)]);
    assert_eq!((ran.code, told(&ran.stderr)), (0, 1), "{}", ran.stderr);
    let ran = bench.run(&["run", "go"]);
    assert_eq!((ran.code, told(&ran.stderr)), (0, 0), "{}", ran.stderr);
}
