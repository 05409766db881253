//! For doors: programs that display sessions to people and take their answers, as a command line or a server does. They
//! open sessions through the methods of [`Agent`](crate::Agent) for doors, and follow runs to their ends.

pub use crate::ended::{AwaitedEnd, end_awaited};
pub use crate::follow_error::FollowError;
