//! What `windlass doctor` looks at. Each check really does the thing it is about, in a file of its own,
//! and comes out as a [`Check`]: how it stands, what was seen, and what to do. Nothing here calls a
//! model or costs money.

mod check;
mod disk;
mod model;
mod sandbox;
mod settings;
mod store;
mod terminal;
mod tools;

pub(crate) use self::check::{Check, CheckState};
pub(crate) use self::disk::check as disk;
pub(crate) use self::model::check as model;
pub(crate) use self::sandbox::check as sandbox;
pub(crate) use self::settings::check as settings;
pub(crate) use self::store::check as store;
pub(crate) use self::terminal::check as terminal;
pub(crate) use self::tools::check as tools;
