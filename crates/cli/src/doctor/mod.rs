//! The checks of `windlass doctor`. Each check has its own file, really exercises the thing it checks, and returns a
//! [`Check`]: the state, the finding, and the advice. No check calls a model or costs money.

mod chain;
mod check;
mod context_files;
mod disk;
mod model;
mod sandbox;
mod settings;
mod store;
mod terminal;
mod tools;

pub(crate) use self::check::{Check, CheckState};
pub(crate) use self::context_files::check as context_files;
pub(crate) use self::disk::check as disk;
pub(crate) use self::model::check as model;
pub(crate) use self::sandbox::check as sandbox;
pub(crate) use self::settings::check as settings;
pub(crate) use self::store::check as store;
pub(crate) use self::terminal::check as terminal;
pub(crate) use self::tools::check as tools;
