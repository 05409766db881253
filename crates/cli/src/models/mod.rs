//! What `windlass models` and `/model` say of models.

mod listing;
mod measured;
mod probe;
mod pull;
mod pull_progress;
mod row;
mod trial;

pub(crate) use self::listing::{ListedModels, list};
pub(crate) use self::measured::{jobs_text, preset_text, scripts_text};
pub(crate) use self::probe::{ModelProbe, probe, probe_table};
pub(crate) use self::pull::{PulledModel, PulledSize, no_name};
pub(crate) use self::pull_progress::PullProgress;
pub(crate) use self::trial::{ModelTrial, try_models};
