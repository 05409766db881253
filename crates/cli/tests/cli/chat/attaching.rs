//! Files that a line of the chat names (C9).

use std::fs;

use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

use crate::support::Bench;
use crate::support::glass::Glass;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x08\x02\0\0\0";

fn bench() -> Bench {
    let bench =
        Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("I see.")]).then(AfterSteps::RepeatLast)));
    let config = bench.dir.path().join(".config/windlass");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("windlass.toml"), "[models.scripted]\nimages = true\n").expect("written");
    fs::write(bench.workspace().join("notes.png"), PNG).expect("written");
    fs::write(bench.workspace().join("words.png"), "words").expect("written");
    bench
}

fn images(bench: &Bench) -> usize {
    let body = bench.server.requests().last().expect("a request").body.to_string();
    body.matches("data:image/png;base64,iVBORw0").count()
}

// proves C9
#[test]
fn an_at_sign_attaches_a_file_tab_completes_it_and_the_person_is_told() {
    let bench = bench();
    let mut glass = Glass::chat(&bench, &["--session", "k"]);
    glass.wait_for_prompt();
    glass.press("what is on @no\t");
    glass.wait_for("@notes.png");
    glass.say(" please");
    glass.wait_for("attached notes.png, 2 × 1, 29 bytes");
    glass.wait_for("I see.");
    glass.wait_for_prompt();
    assert_eq!(images(&bench), 1);
    // The whole path of an image, as it is dropped into a terminal.
    let whole = bench.workspace().join("notes.png").display().to_string();
    glass.say(&format!("and '{whole}'?"));
    glass.wait("a second answer", |screen| screen.matches("I see.").count() == 2);
    glass.wait_for_prompt();
    assert_eq!(images(&bench), 2);
    glass.say("look at @words.png");
    glass.wait_for("nothing was sent");
    glass.wait_for_prompt();
    assert_eq!(bench.server.count(), 2);
    glass.press("\u{4}");
    assert_eq!(glass.end(), 0);
    bench.assert_whole("attached");
}

// proves C9: what comes through a pipe may be anybody's words
#[test]
fn a_line_of_a_pipe_attaches_nothing() {
    let bench = bench();
    let ran = bench.run_with_input(&["--session", "k"], b"look at @notes.png\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!((images(&bench), bench.last_request("user")), (0, vec!["look at @notes.png".to_owned()]));
}
