//! The demo model: it follows a script, and everything else is real.
//!
//! A session that is sent [`PROMPT`] in a folder of screenshots gets them renamed; any other message gets one honest
//! sentence. What the model says depends on the conversation alone, so a run that was killed goes on as if nothing had
//! happened.

mod model;
mod script;

use std::sync::Arc;

use windlass_provider::Model;
use windlass_runtime::Clock;

pub use self::script::PROMPT;

/// The demo model. `clock` says how fast it talks.
#[must_use]
pub fn model(clock: Arc<dyn Clock>) -> Arc<dyn Model> {
    Arc::new(model::DemoModel::new(clock))
}
