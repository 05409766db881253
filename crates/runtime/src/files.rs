//! The driver's file effects: saves files before a call, records the changes of a stopped call, restores files.

use std::sync::Arc;

use windlass_machine::{Effect, Fact};
use windlass_provider::BoxFuture;
use windlass_store::{Batch, StoreError};
use windlass_tools::FileRules;
use windlass_vocab::UndoStarted;

use crate::call::EndedCall;
use crate::driver::Driver;
use crate::running_effects::EffectOutcome;
use crate::undo::{PlannedUndo, UndoFiles};
use crate::undo_report::{UndoError, UndoMode, UndoReport, UndoRequest};

impl Driver {
    /// Returns the future of an effect on files.
    pub(crate) fn file_effect(&mut self, effect: &Effect) -> Option<BoxFuture<'static, EffectOutcome>> {
        match effect {
            Effect::TakeSnapshot { request, edited } => {
                let offer = self.offer();
                let taken = self.running_effects.keeper.take(&self.services, &offer, request, edited.as_ref());
                Some(Box::pin(async move { EffectOutcome::Call(taken.await) }))
            }
            Effect::Restore(started) => Some(self.restoring(Arc::clone(started))),
            Effect::Receive
            | Effect::Pin(_)
            | Effect::CallModel { .. }
            | Effect::HandBack(_)
            | Effect::RunCall { .. }
            | Effect::CheckPermission { .. }
            | Effect::VerifyCall { .. }
            | Effect::RunStep { .. }
            | Effect::Ask(_) => None,
        }
    }

    fn undo_files(&self) -> Option<UndoFiles> {
        let workspace = self.services.workspace.clone()?;
        Some(UndoFiles {
            store: Arc::clone(&self.services.store),
            workspace,
            secrets: Arc::clone(&self.services.secrets),
            rules: FileRules::of(Arc::clone(&self.agent.permissions)),
        })
    }

    /// Finishes an undo that another process started and did not finish.
    fn restoring(&self, started: Arc<UndoStarted>) -> BoxFuture<'static, EffectOutcome> {
        let (files, session) = (self.undo_files(), self.state.session);
        Box::pin(async move {
            let left_alone = match files {
                Some(files) => files.restore(session, &started).await,
                None => {
                    let nowhere = |path: &String| (path.clone(), "there is no workspace".to_owned());
                    Ok(started.changes.keys().map(nowhere).collect())
                }
            };
            EffectOutcome::Restored(started.undo, left_alone)
        })
    }

    /// Records the file changes of a call that has ended after it was told to stop; its result is recorded already.
    pub(crate) async fn left_behind(&mut self, done: EffectOutcome) -> Result<(), StoreError> {
        if let EffectOutcome::Call(EndedCall { fact: Fact::CallDone { finished, .. }, .. }) = done
            && let Some(files) = finished.files
        {
            self.step(Fact::FilesChanged(files)).await?;
        }
        Ok(())
    }

    /// Undoes something now. The inner error is for the caller; the outer one ends the driver.
    pub(crate) async fn undo(&mut self, request: UndoRequest) -> Result<Result<UndoReport, UndoError>, StoreError> {
        if self.state.control.run.is_some() || self.state.control.undo.is_some() {
            return Ok(Err(UndoError::RunOpen));
        }
        let Some(files) = self.undo_files() else { return Ok(Err(UndoError::NoWorkspace)) };
        let PlannedUndo { asked, blobs, mut report } = match files.plan(self.state.session, request).await {
            Err(UndoError::Store(error)) => return Err(error),
            Err(refused) => return Ok(Err(refused)),
            Ok(planned) => planned,
        };
        if request.mode == UndoMode::DryRun {
            return Ok(Ok(report));
        }
        self.step_with(Fact::Undo(Box::new(asked)), Batch { blobs, ..Batch::default() }).await?;
        let Some(started) = self.state.control.undo.clone() else { return Ok(Err(UndoError::RunOpen)) };
        let left_alone = files.restore(self.state.session, &started).await?;
        let undo = started.undo;
        self.step(Fact::Restored { undo, left_alone: left_alone.clone() }).await?;
        report.undo = Some(undo);
        report.finished(left_alone);
        Ok(Ok(report))
    }
}
