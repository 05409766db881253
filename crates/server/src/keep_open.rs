//! Keeps a session open while it has something to do: its driver lives as long as somebody has a handle.

use windlass_runtime::{Session, SessionActivity};

/// Keeps a session open until no run is open and no message waits. A run that waits for a person stays open, so that an
/// answer reaches it at once and its question expires in time.
pub(crate) async fn keep_open(session: Session) {
    loop {
        match session.settled().await {
            SessionActivity::Waiting(questions) => {
                for asked in questions {
                    session.wait_past_question(asked.question).await;
                }
            }
            SessionActivity::Working => {}
            SessionActivity::Idle => break session.close().await,
            SessionActivity::Closed(_) => break,
        }
    }
}
