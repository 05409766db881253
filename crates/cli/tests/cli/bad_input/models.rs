//! Wrong models, keys and settings, and files that instruct the agent and can't be used as they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use windlass_testkit::{AfterSteps, BodyPoint, FaultKind, Scene, Script, ScriptStep};

use crate::support::Bench;

const OPENAI_KEY: &str = "sk-proj-of-another-provider-0123456789";

/// A model with this fault, which then answers.
fn after_fault(fault: FaultKind) -> Bench {
    let steps = [ScriptStep::say("Aye.").fault(fault.times(1))];
    Bench::new(Script::default().scene(Scene::when("", steps).then(AfterSteps::RepeatLast)))
}

fn refused(code: u16, body: &str) -> FaultKind {
    FaultKind::Status { code, body: Some(body.to_owned()), retry_after: None }
}

fn other_shape(event: &str) -> FaultKind {
    FaultKind::OtherShape { after: BodyPoint::Pieces(1), event: event.to_owned() }
}

// proves M2, M3, M4: a sentence, exit code 1, and the request is not lost: a retry answers it
#[test]
fn what_a_provider_refuses_or_garbles_fails_with_a_sentence_and_can_be_tried_again() {
    for (fault, sentences) in [
        (refused(401, r#"{"error":{"message":"Incorrect API key provided."}}"#), &["key", "OPENAI_API_KEY"][..]),
        (refused(403, r#"{"error":{"message":"This key is for another project."}}"#), &["key"]),
        (
            refused(404, r#"{"error":{"message":"The model `scripted` does not exist","code":"model_not_found"}}"#),
            &["does not exist", "--model"],
        ),
        (refused(404, "404 page not found"), &["base URL"]),
        (other_shape("[1, 2]"), &["not of this API"]),
        (other_shape(r#"{"choices": {"text": "x"}}"#), &["not of this API"]),
        (other_shape("<html>"), &["not JSON"]),
    ] {
        let (context, bench) = (format!("{fault:?}"), after_fault(fault));
        let line = ["run", "go", "--session", "s", "--message-id", "m"];
        let ran = bench.run_with(&line, &[("OPENAI_API_KEY", OPENAI_KEY)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{context}: {}", ran.stderr);
        for sentence in sentences {
            assert!(ran.stderr.contains(sentence), "{context}: {sentence:?} is not in {}", ran.stderr);
        }
        assert!(!ran.stderr.contains(OPENAI_KEY), "{context}: {}", ran.stderr);
        let again = bench.run_with(&["retry", "s"], &[("OPENAI_API_KEY", OPENAI_KEY)]);
        assert_eq!((again.code, again.stdout.as_str()), (0, "Aye.\n"), "{context}: {}", again.stderr);
        assert_eq!(bench.last_request("user"), ["go"], "{context}");
        bench.assert_whole(&context);
    }
}

// proves M2, M7, X1: exit code 2 with the place of the mistake, before anything is sent or written down
#[test]
fn a_wrong_model_or_limit_in_the_settings_is_refused_before_anything_is_sent() {
    let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
    let folder = bench.dir.path().join(".config/windlass");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("windlass.toml");
    for (text, sentence) in [
        ("[models.m]\nprice_input = -1\nprice_output = 2\n", "windlass.toml:2:15: this is not the price"),
        ("[models.m]\nprice_input = 'much'\nprice_output = 2\n", "windlass.toml:2:15: this is not the price"),
        ("[models.m]\nprice_input = 1\n", "`price_input` and `price_output` belong together"),
        ("[models.m]\nwindow = 0\n", "windlass.toml:2:10: "),
        ("[models.m]\nwindow = -5\n", "windlass.toml:2:10: "),
        ("[models.m]\nwindow = 'wide'\n", "windlass.toml:2:10: "),
        ("[policy]\nrun_cost_limit = '-1'\n", "windlass.toml:2"),
        ("[policy]\nday_token_limit = 0\n", "windlass.toml:2"),
        ("[policy]\nsession_token_limit = -1\n", "windlass.toml:2"),
        ("[roles]\nsummary = ['a', 'a']\n", "the chain contains the model \"a\" twice"),
        ("[agents.a]\nmodels = 'm'\n", "unknown key \"models\"; did you mean \"model\"?"),
    ] {
        fs::write(&file, text).expect("written");
        let ran = bench.run(&["run", "go", "--session", "s"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains(sentence), "{text}: {}", ran.stderr);
    }
    // A variable would name another model than the file does.
    let twice = "model = ['a', 'b', 'a']\n[agents.x]\nmodel = ['y', 'y']\n";
    fs::write(&file, twice).expect("written");
    for (flags, sentence) in [
        (&[][..], "windlass.toml:1:9: the chain contains the model \"a\" twice"),
        (&["--agent", "x"], "windlass.toml:3:9: the chain contains the model \"y\" twice"),
    ] {
        let mut command = bench.command(&[&["run", "go"], flags].concat());
        command.env_remove("OPENAI_MODEL");
        let ran = crate::support::ran(command.spawn().expect("it starts"));
        assert_eq!(ran.code, 2, "{flags:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(sentence), "{flags:?}: {}", ran.stderr);
    }
    fs::remove_file(&file).expect("removed");
    assert_eq!((bench.server.count(), bench.keys().len()), (0, 0), "nothing was sent or written down");
    assert_eq!(bench.run(&["run", "go"]).stdout, "Aye.\n");
}

/// A file of a project, and what the person is told of it.
struct BadFile {
    path: &'static str,
    content: FileContent,
    notice: &'static str,
}

enum FileContent {
    Text(&'static str),
    Megabytes(usize),
    Link(&'static str),
}

fn bad_files() -> Vec<BadFile> {
    let skill = |path, text, notice| BadFile { path, content: FileContent::Text(text), notice };
    vec![
        skill("skills/a/SKILL.md", "---\nname: [a\n---\n", "a is left out: "),
        skill("skills/b/SKILL.md", "---\nname: b\ndescription: B\n", "b is left out: "),
        skill("skills/c/SKILL.md", "---\nname: ../../c\ndescription: C\n---\n", "c is left out: the name \"../../c\""),
        skill("skills/d/SKILL.md", "---\nname: /etc\ndescription: D\n---\n", "d is left out: the name \"/etc\""),
        BadFile {
            path: "skills/e/SKILL.md",
            content: FileContent::Link("/etc/passwd"),
            notice: "SKILL.md is not used: it is a link that leads out of",
        },
        BadFile { path: "AGENTS.md", content: FileContent::Link("CLAUDE.md"), notice: "AGENTS.md is not used: " },
        BadFile {
            path: "AGENTS.md",
            content: FileContent::Megabytes(10),
            notice: "is longer than 32 KiB: the model is given only its beginning",
        },
    ]
}

// proves C1, C8, T10: a notice for the person, and the run goes on without the file or the rest of it
#[test]
fn a_file_of_instructions_that_can_not_be_used_is_told_and_the_run_goes_on() {
    for BadFile { path, content, notice } in bad_files() {
        let bench = Bench::new(Script::of([ScriptStep::say("Aye.")]));
        let path = PathBuf::from(path);
        let at = match path.starts_with("skills") {
            true => bench.workspace().join(".agents").join(&path),
            false => bench.workspace().join(&path),
        };
        fs::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        match content {
            FileContent::Text(text) => fs::write(&at, text).expect("written"),
            FileContent::Megabytes(count) => fs::write(&at, "haul away\n".repeat(count * 100_000)).expect("written"),
            FileContent::Link(target) => {
                symlink(target, &at).expect("a link");
                symlink("AGENTS.md", bench.workspace().join("CLAUDE.md")).expect("a link");
            }
        }
        let ran = bench.run(&["run", "go"]);
        let context = at.display();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Aye.\n"), "{context}: {}", ran.stderr);
        assert!(ran.stderr.contains(notice), "{context}: {}", ran.stderr);
        let system = bench.last_request("system").concat();
        assert!(system.len() < 60_000 && !system.contains("root:"), "{context}: {} bytes", system.len());
        bench.assert_whole("instructions");
    }
}
