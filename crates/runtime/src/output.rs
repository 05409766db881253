//! Typed output (L10): whether a model's answer is the requested output. Checked when the reply arrives, recorded with
//! it, and acted on by the machine.

use std::fmt;
use std::sync::Arc;

use windlass_machine::{Run, read_output};
use windlass_tools::{OutputSchema, Secrets};
use windlass_vocab::{Json, OutputSpec};

/// A check of an output beyond what a schema can express; returns the error for the model.
pub type OutputCheck = Arc<dyn Fn(&Json) -> Result<(), String> + Send + Sync>;

/// The output that an agent's runs must end with, where plain text is not enough.
#[derive(Clone)]
pub struct ExpectedOutput {
    /// Its name and schema.
    pub spec: OutputSpec,
    /// The additional check: that the program can deserialize it.
    pub check: OutputCheck,
}

impl fmt::Debug for ExpectedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExpectedOutput").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// Returns why the answer that ends in `text` does not fit, if `run` must end with an output. A run uses the schema it
/// started with; the agent's own check applies only while the agent's schema is still the same.
pub(crate) fn misfit(run: &Run, text: &str, expected: Option<&ExpectedOutput>, secrets: &Secrets) -> Option<String> {
    let spec = run.started.output.as_deref()?;
    // Text that was cut off before is part of the answer, and secrets are replaced before it is recorded.
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
