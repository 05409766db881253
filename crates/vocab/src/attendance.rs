//! Whether a person is available to answer questions.

use serde::{Deserialize, Serialize};

/// Whether a person is available to answer a question now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attendance {
    /// A person can answer.
    Attended,
    /// Nobody can answer; questions take their default at once.
    #[default]
    Unattended,
}
