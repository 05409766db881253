//! The demo: a real job with the real loop, journal and tools, and a model that follows a script.
//!
//! The protocol: [`make_scratch`] fills a folder of its own with seven pictures and the text on each;
//! a session whose workspace is that folder is sent [`PROMPT`], and [`model`] answers. Any other message
//! gets one honest sentence. What the model says depends on the conversation alone, so a run that was
//! killed goes on as if nothing had happened.
//!
//! Nothing is faked but the model: names come from what `read_file` returned, files are renamed by
//! `move_file`, and the empty reply on the way is got over by the loop.

mod count;
mod model;
mod pictures;
mod scratch;
mod script;

use std::sync::Arc;

use windlass::provider::Model;
use windlass::runtime::Clock;

pub(crate) use self::count::Count;
pub(crate) use self::scratch::make_scratch;
pub(crate) use self::script::PROMPT;

/// The demo model. `clock` says how fast it talks.
pub(crate) fn model(clock: Arc<dyn Clock>) -> Arc<dyn Model> {
    Arc::new(model::DemoModel::new(clock))
}
