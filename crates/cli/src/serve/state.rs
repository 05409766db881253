//! The state a client carries between a call that asks and the same call with the answers (2026-07-28).
//! It says no more than which run is awaited: the journal has the rest, so a new process can go on with
//! it. Nothing in it must be kept from the client, which may reach every session by its key.

use serde::{Deserialize, Serialize};
use windlass::door::AwaitedEnd;
use windlass_vocab::{MessageId, RunId, SessionId};

use super::awaited_run::AwaitedRun;
use crate::error::CommandError;
use crate::exit::Exit;

#[derive(Serialize, Deserialize)]
struct RequestState {
    session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<MessageId>,
}

/// Which run an errand awaits.
pub(super) fn of(awaited_run: &AwaitedRun) -> String {
    encoded(awaited_run.session.id(), &awaited_run.awaited)
}

fn encoded(session: SessionId, awaited: &AwaitedEnd) -> String {
    let (run, message) = match awaited {
        AwaitedEnd::Run(run) => (Some(*run), None),
        AwaitedEnd::Message(message) => (None, Some(message.clone())),
    };
    // A state of ids can always be written.
    serde_json::to_string(&RequestState { session, run, message }).unwrap_or_default()
}

/// The session and the run a client's state speaks of.
pub(super) fn read(text: &str) -> Result<(SessionId, AwaitedEnd), CommandError> {
    let state: Option<RequestState> = serde_json::from_str(text).ok();
    state
        .and_then(|state| {
            let awaited = match (state.run, state.message) {
                (Some(run), None) => AwaitedEnd::Run(run),
                (None, Some(message)) => AwaitedEnd::Message(message),
                (Some(_), Some(_)) | (None, None) => return None,
            };
            Some((state.session, awaited))
        })
        .ok_or_else(|| {
            let text = "the requestState is not one this server gave; make the call anew, without it";
            CommandError::new(Exit::Usage, text)
        })
}

#[cfg(test)]
mod tests {
    use windlass::door::AwaitedEnd;
    use windlass_vocab::{MessageId, RunId, SessionId};

    use super::{encoded, read};

    // proves P5
    #[test]
    fn a_state_comes_back_as_it_went_and_any_other_is_refused() {
        let session = SessionId(uuid::Uuid::now_v7());
        for awaited in [AwaitedEnd::Run(RunId(3)), AwaitedEnd::Message(MessageId("m \"1\"".into()))] {
            let text = encoded(session, &awaited);
            assert_eq!(read(&text).expect("read"), (session, awaited));
        }
        for text in ["", "{}", "3", "{\"session\":\"x\",\"run\":1}", &format!("{{\"session\":\"{session}\"}}")] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
