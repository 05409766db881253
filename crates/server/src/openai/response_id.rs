//! The ids of answers: they name the session and the run, so that an id leads back to them after a restart, too.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;
use windlass_vocab::{RunId, SessionId};

/// The id of an answer made by the Responses API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResponseId {
    pub(super) session: SessionId,
    pub(super) run: RunId,
}

/// The text is no id of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoResponseId;

impl ResponseId {
    /// Returns the part that the ids of the answer and of its items share.
    pub(super) fn stem(self) -> String {
        format!("{}_{}", self.session.0.simple(), self.run.0)
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "resp_{}", self.stem())
    }
}

impl FromStr for ResponseId {
    type Err = NoResponseId;

    fn from_str(text: &str) -> Result<Self, NoResponseId> {
        let (session, run) = text.strip_prefix("resp_").and_then(|stem| stem.split_once('_')).ok_or(NoResponseId)?;
        let session = Uuid::try_parse(session).map_err(|_| NoResponseId)?;
        Ok(Self { session: SessionId(session), run: RunId(run.parse().map_err(|_| NoResponseId)?) })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use windlass_vocab::{RunId, SessionId};

    use super::ResponseId;

    // proves W3
    #[test]
    fn an_id_leads_back_to_its_session_and_run() {
        let id = ResponseId { session: SessionId(Uuid::from_u128(7)), run: RunId(12) };
        assert_eq!(id.to_string(), "resp_00000000000000000000000000000007_12");
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in ["", "resp_", "resp_7_1", "resp_00000000000000000000000000000007", "chatcmpl-1", "resp_x_y"] {
            assert!(wrong.parse::<ResponseId>().is_err(), "{wrong}");
        }
    }
}
