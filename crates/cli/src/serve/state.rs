//! The state a client carries from a call that asks to the repeated call with the answers (2026-07-28). It only
//! identifies the awaited run: the rest is in the journal, so that a new process can continue it. It needs no
//! protection from the client, which can access every session by its key.

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

/// Returns the state that identifies the awaited run.
pub(super) fn of(awaited_run: &AwaitedRun) -> String {
    encoded(awaited_run.session.id(), &awaited_run.awaited)
}

fn encoded(session: SessionId, awaited: &AwaitedEnd) -> String {
    let (run, message) = match awaited {
        AwaitedEnd::Run(run) => (Some(*run), None),
        AwaitedEnd::Message(message) => (None, Some(message.clone())),
    };
    // Serializing ids can't fail.
    serde_json::to_string(&RequestState { session, run, message }).unwrap_or_default()
}

/// Returns the session and the run that a client's state identifies.
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
