//! Typed output (L10): whether a model's answer is the output that was asked for. Found out when the
//! reply comes in, recorded with it, decided on by the machine.

use std::fmt;
use std::sync::Arc;

use windlass_machine::{Run, read_output};
use windlass_tools::{OutputSchema, Secrets};
use windlass_vocab::{Json, OutputSpec};

/// A look at an output that a schema can't take: what is wrong with it, for the model.
pub type OutputCheck = Arc<dyn Fn(&Json) -> Result<(), String> + Send + Sync>;

/// What an agent's runs must end with, where plain text is not enough.
#[derive(Clone)]
pub struct ExpectedOutput {
    /// Its name and schema.
    pub spec: OutputSpec,
    /// What must hold besides: that the program can read it.
    pub check: OutputCheck,
}

impl fmt::Debug for ExpectedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpectedOutput").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// What is wrong with the answer that ends in `text`, if `run` must end with an output. A run goes by
/// the schema it began with; the agent's own check counts while it is still about that one.
pub(crate) fn misfit(run: &Run, text: &str, expected: Option<&ExpectedOutput>, secrets: &Secrets) -> Option<String> {
    let spec = run.started.output.as_ref()?;
    // What was cut off before is part of the answer, and secrets are replaced before it is recorded.
    let answer = format!("{}{text}", run.answer);
    let check = || {
        let output = read_output(&secrets.scrub(&answer))?;
        OutputSchema::new(&spec.schema)?.check(&output)?;
        match expected.filter(|expected| expected.spec == *spec) {
            Some(expected) => (expected.check)(&output),
            None => Ok(()),
        }
    };
    check().err()
}
