//! What a new person meets, on the real binary: which model answers, the demo and its crash, doctor,
//! init, and the papers that come with it.

mod choosing;
mod demo;
pub(crate) mod doctor;
mod init;
mod papers;

use std::process::Command;

use crate::support::{Bench, Ran, ran};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

/// A port that nobody listens on.
const DEAD: &str = "http://127.0.0.1:1/v1";

/// A bench whose server answers whatever is said.
fn bench() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)))
}

/// The binary of somebody who has configured nothing, on a machine where no server runs.
fn fresh(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL").env("WINDLASS_TEST_OLLAMA", DEAD);
    command
}

/// Runs it to its end.
fn run(mut command: Command) -> Ran {
    ran(command.spawn().expect("the binary starts"))
}
