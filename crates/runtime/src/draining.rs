//! Draining (J3): a driver that is told to drain starts nothing more, waits for what is under way, and ends. The run stays
//! open, nothing in it is recorded as cancelled, and it goes on when the session is opened again.
//!
//! What is under way are calls, model calls whose request was sent, and files being restored; their results are recorded as
//! ever. Everything else that is owed stays owed, because the next opener of the session folds the same journal.

use windlass_machine::Effect;
use windlass_store::StoreError;
use windlass_vocab::EffectClass;

use crate::driver::Driver;
use crate::session::{DriverCommand, DriverEnd, DriverPhase};

impl Driver {
    /// Starts nothing more from now on, and drops what is not under way yet.
    pub(crate) fn begin_drain(&mut self) {
        self.phase = DriverPhase::Draining;
        self.running_effects.keep_only_under_way();
    }

    /// Whether the driver drains and nothing is under way any more.
    pub(crate) fn is_drained(&self) -> bool {
        self.phase == DriverPhase::Draining && self.running_effects.is_empty()
    }

    /// Whether an effect that is owed may start now.
    pub(crate) fn may_start(&self, effect: &Effect) -> bool {
        if self.phase == DriverPhase::Driving {
            return true;
        }
        match effect {
            // What was streamed before a stop; it is there already.
            Effect::HandBack(_) => true,
            // The journal says that the call may have started, and nothing that comes later could tell that it has not: a
            // person would be asked about it after the restart. Other calls are begun, repeated or verified then.
            Effect::RunCall { request, .. } => request.effect == EffectClass::Once,
            Effect::Receive
            | Effect::Pin(_)
            | Effect::CallModel { .. }
            | Effect::CheckPermission { .. }
            | Effect::VerifyCall { .. }
            | Effect::Ask(_)
            | Effect::TakeSnapshot { .. }
            | Effect::Restore(_)
            | Effect::RunStep { .. } => false,
        }
    }

    /// Whether a command is carried out now. One that would begin something is dropped while the driver drains; its sender
    /// is told that the session is closed, and nothing of it was stored.
    pub(crate) fn takes(&self, command: &DriverCommand) -> bool {
        match command {
            DriverCommand::Send { .. }
            | DriverCommand::SendIf { .. }
            | DriverCommand::Retry { .. }
            | DriverCommand::Undo { .. }
            | DriverCommand::UndoCompaction { .. } => self.phase == DriverPhase::Driving,
            DriverCommand::Stop { .. }
            | DriverCommand::Answer { .. }
            | DriverCommand::Edit { .. }
            | DriverCommand::Drain
            | DriverCommand::Close => true,
        }
    }

    /// Closes the child session of a step, so that the next process can open it; one that drains drains its child.
    pub(crate) async fn close_child(&mut self) {
        let Some(session) = self.running_effects.child.leave() else { return };
        match self.phase {
            DriverPhase::Driving => session.close().await,
            DriverPhase::Draining => session.end_driver(DriverEnd::Drained).await,
        }
    }

    /// What is left to do before the session is released: calls that were told to stop get their tools' grace period, and
    /// effects that finish meanwhile are recorded.
    pub(crate) async fn finish(&mut self) -> Result<(), StoreError> {
        self.close_child().await;
        if self.phase == DriverPhase::Driving {
            Box::pin(self.finish_title()).await?;
        }
        while self.running_effects.is_stopping() {
            let next = self.running_effects.next().await;
            self.go_on(next).await?;
            self.running_effects.abort_all_but(&self.owed);
        }
        Ok(())
    }
}
