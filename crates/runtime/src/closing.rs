//! What a session still does before it is closed: it waits for its title, which nobody else waits for (M9).

use std::time::Duration;

use windlass_machine::Effect;
use windlass_store::StoreError;
use windlass_vocab::{Attendance, ModelRole};

use crate::driver::Driver;

/// How long a session that is being closed waits for its title; a person who leaves is not kept.
const WAIT: Duration = Duration::from_secs(5);
const ATTENDED_WAIT: Duration = Duration::from_secs(3);

impl Driver {
    /// Gives the title that is owed a little time before the session is closed. What is not done by then is owed to the
    /// process that opens the session next.
    pub(crate) async fn finish_title(&mut self) -> Result<(), StoreError> {
        let is_title = |effect: &Effect| matches!(effect, Effect::CallModel { role: ModelRole::Title, .. });
        let wait = match self.agent.attendance {
            Attendance::Attended => ATTENDED_WAIT,
            Attendance::Unattended => WAIT,
        };
        let out_of_time = tokio::time::sleep(self.services.clock.real(wait));
        tokio::pin!(out_of_time);
        while self.owed.iter().any(is_title) {
            self.start_what_is_owed();
            tokio::select! {
                () = self.lease.lost() => return Ok(()),
                () = &mut out_of_time => return Ok(()),
                next = self.running_effects.next() => self.go_on(next).await?,
            }
        }
        Ok(())
    }
}
