//! The demo: a real job with the real loop, journal and tools, and a model that follows a script.
//!
//! The protocol: [`make_scratch`](windlass_setup::demo::make_scratch) fills a folder of its own with seven pictures and the text on each;
//! a session whose workspace is that folder is sent [`PROMPT`](windlass_setup::demo::PROMPT), and the
//! demo model answers.
//!
//! Only the model is fake: the names come from what `read_file` returned, `move_file` renames the files, and the loop
//! recovers from the script's empty reply.

mod count;
mod words;

pub(crate) use self::count::DemoCount;
pub(crate) use self::words::{PAGE_WORDS, WORDS};
