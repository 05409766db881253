//! A request of which the server read only a part, without saying so (M8).

use serde::{Deserialize, Serialize};

use crate::ModelSoftware;

/// How much of a request a server read. The rest, usually its beginning, was silently left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutInput {
    /// The tokens of the request, by our count.
    pub counted: u64,
    /// The tokens that the server reported.
    pub read: u64,
    /// The server's software, where it is known: what mends the cut depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<ModelSoftware>,
}
