//! Whether a person can be asked.

use serde::{Deserialize, Serialize};

/// Whether a person is there to answer a question now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attendance {
    /// Somebody can be asked.
    Attended,
    /// Nobody can answer; questions take their default at once.
    #[default]
    Unattended,
}
