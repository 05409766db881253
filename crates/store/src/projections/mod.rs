//! Folds of the journal that are kept beside it for quick looking up. Each can be thrown away and
//! made again from the records.

mod audit;
mod repairs;
mod session;

pub use audit::audit;
pub use repairs::repairs;
pub use session::{SessionFold, SessionRow, SessionStatus, project};
