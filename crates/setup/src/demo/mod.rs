//! The demo model: its replies follow a script; the tools, the journal and everything else are real.
//!
//! When a session receives [`PROMPT`] in a folder of screenshots, the model renames them; it answers any other
//! message with one sentence that says it is a demo. Replies depend on the conversation alone, so a run that was
//! killed resumes as if nothing had happened.

mod model;
mod pictures;
mod scratch;
mod script;
mod words;

use std::sync::Arc;

use windlass_provider::Model;
use windlass_runtime::Clock;

pub use self::pictures::picture;
pub use self::scratch::{PICTURES, is_scratch, make_scratch};
pub use self::script::PROMPT;
pub use self::words::DemoWords;

/// Builds the demo model. `clock` sets how fast it streams; `words` are those of the door.
#[must_use]
pub fn model(clock: Arc<dyn Clock>, words: DemoWords) -> Arc<dyn Model> {
    Arc::new(model::DemoModel::new(clock, words))
}
