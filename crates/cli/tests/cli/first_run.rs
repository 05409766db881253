//! The first steps of a new user, on the real binary: which model is chosen, the demo and its crash, doctor, init,
//! completions and manual pages.

mod choosing;
mod demo;
pub(crate) mod doctor;
mod init;
mod papers;

use std::process::Command;

use crate::support::{Bench, Ran, ran};
use windlass_testkit::{AfterSteps, Scene, Script, ScriptStep};

/// An address where nothing listens.
const DEAD: &str = "http://127.0.0.1:1/v1";

/// A bench whose server answers every message.
fn bench() -> Bench {
    Bench::new(Script::default().scene(Scene::when("", [ScriptStep::say("Aye.")]).then(AfterSteps::RepeatLast)))
}

/// The binary without any configuration, on a machine where no model server runs.
fn fresh(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(arguments);
    command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL").env("WINDLASS_TEST_OLLAMA", DEAD);
    command
}

/// Runs the command to its end.
fn run(mut command: Command) -> Ran {
    ran(command.spawn().expect("the binary starts"))
}
