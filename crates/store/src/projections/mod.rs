//! Folds of the journal that are kept beside it for quick lookup. Each can be deleted and rebuilt from the records.

mod audit;
mod repairs;
mod session;

pub use audit::audit;
pub use repairs::repairs;
pub use session::{SessionFold, SessionRow, SessionStatus, project};
