//! The README's program, built and run in a separate crate exactly as printed there.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use windlass_testkit::{ModelServer, Script, ScriptStep};

const README: &str = include_str!("../../../../README.md");

/// Returns the first block of this kind after the heading.
fn block(kind: &str) -> &'static str {
    let (_, part) = README.split_once("## As a library").expect("the heading");
    let (_, rest) = part.split_once(&format!("```{kind}\n")).expect("a block");
    rest.split_once("```").expect("its end").0
}

/// Makes a crate with exactly what the README shows, except for the path to Windlass.
fn fresh_crate(dir: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    let dependencies = block("toml");
    assert!(dependencies.contains("path = \"../windlass/crates/windlass\""), "{dependencies}");
    let ours = root.join("crates/windlass");
    let mut manifest = "[package]\nname = \"fresh\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n".to_owned();
    manifest += &dependencies.replace("../windlass/crates/windlass", &ours.display().to_string());
    // Makes it its own workspace, even if the temporary folder is inside another one.
    writeln!(manifest, "\n[workspace]").expect("written");
    std::fs::create_dir(dir.join("src")).expect("a folder");
    std::fs::write(dir.join("Cargo.toml"), manifest).expect("written");
    std::fs::write(dir.join("src/main.rs"), block("rust,no_run")).expect("written");
    std::fs::copy(root.join("Cargo.lock"), dir.join("Cargo.lock")).expect("copied");
}

// proves W1: the README shows a complete program, with all its dependencies
#[test]
fn the_program_in_readme_works_when_it_is_pasted_into_a_fresh_crate() {
    let dir = tempfile::tempdir().expect("a folder");
    fresh_crate(dir.path());
    let tests = std::env::current_exe().expect("this program");
    let target = tests.ancestors().nth(3).expect("the folder of the build");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--offline"])
        // The same profile as in the workspace, so that dependencies are not built again.
        .args(["--config", "profile.dev.package.'*'.debug=false", "--target-dir"])
        .arg(target)
        .current_dir(dir.path())
        .output()
        .expect("cargo");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let server = ModelServer::start(Script::of([ScriptStep::say("Ahoy!")])).expect("a server");
    let mut program = Command::new(target.join("debug/fresh"));
    program.env_clear().env("WINDLASS_MODEL", server.base_url()).current_dir(dir.path());
    let output = program.output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Ahoy!\n", "{output:?}");
    // HOME is not set here, so the journals are in the current folder.
    assert!(dir.path().join("windlass-data/windlass.db").is_file(), "journals are kept in a folder");
}
