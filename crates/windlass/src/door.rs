//! For doors: whoever shows sessions to people and takes their answers, as a command line or a server does. They open
//! sessions through the methods of [`Agent`](crate::Agent) that are for them, and follow runs to their ends.

pub use crate::ended::{AwaitedEnd, end_awaited};
pub use crate::follow_error::FollowError;
