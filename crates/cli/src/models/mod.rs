//! What `windlass models` and `/model` say of models.

mod listing;
mod probe;
mod row;
mod trial;

pub(crate) use self::listing::{ListedModels, list};
pub(crate) use self::probe::{ModelProbe, probe, probe_table};
pub(crate) use self::trial::{ModelTrial, try_models};
