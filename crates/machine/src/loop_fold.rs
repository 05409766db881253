//! The fold of the loop's state: what each record changes in it.

use std::sync::Arc;

use windlass_vocab::{ModelRole, NextAttempt, QuestionId, Record, SessionChanged};

use crate::control::{LoopState, Run};
use crate::found_window::FoundWindows;
use crate::judge::RequestWords;

impl LoopState {
    /// Returns the number of the next question.
    #[must_use]
    pub fn next_question(&self) -> QuestionId {
        QuestionId(self.questions + 1)
    }

    /// Applies one record.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::SessionOpened(opened) => self.opened = Some(Arc::new(opened.clone())),
            Record::RunStarted(started) => {
                self.runs = started.run.0;
                self.compaction_wanted = false;
                self.forget_raised_limits();
                self.begin_plan(started);
                self.keep_found_windows(started);
                if let Some(system) = &started.system {
                    self.system = Some(system.as_ref().into());
                }
                self.run = Some(Run::new(started, self.found_windows.clone(), &self.request));
            }
            Record::RunEnded(ended) => self.end_run(ended),
            Record::QuestionAsked(asked) => {
                self.questions = asked.question.0;
                self.in_run(record);
            }
            Record::AttemptFailed(failed) => {
                self.charge_failure(failed);
                if failed.role == ModelRole::Title {
                    return self.title_failed(failed);
                }
                if let NextAttempt::Dialect { .. } = failed.next {
                    self.toolless.insert(failed.model.clone());
                }
                if let NextAttempt::Output { form } = failed.next {
                    self.output_forms.insert(failed.model.clone(), form);
                }
                self.in_run(record);
            }
            Record::Unknown(unknown) => self.unknown = Some(unknown.kind.as_str().into()),
            Record::UndoStarted(started) => {
                self.undos = started.undo.0;
                self.undo = Some(Arc::new(started.clone()));
            }
            Record::Undone(_) => self.undo = None,
            Record::SessionChanged(changed) => self.session_changed(changed),
            Record::QuestionAnswered(answered) => {
                self.raise_limit(answered);
                self.in_run(record);
            }
            Record::MessageAccepted(accepted) => {
                self.request = Arc::new(RequestWords::of(accepted));
                self.in_run(record);
            }
            Record::LeaseTaken(_) => {}
            Record::ModelReplied(replied) => {
                self.charge_reply(replied);
                if replied.role == ModelRole::Title {
                    self.title = None;
                    return;
                }
                self.in_run(record);
                self.find_window(replied);
            }
            Record::PlanChanged(changed) => self.plan_changed(changed),
            Record::ChildSpawned(spawned) => self.child_spawned(spawned),
            Record::ChildReported(reported) => self.child_reported(reported),
            Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::RunResumed(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::CallRequested(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::CallFinished(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_) => self.in_run(record),
        }
    }

    fn session_changed(&mut self, changed: &SessionChanged) {
        self.compaction_wanted = changed.compact.unwrap_or(self.compaction_wanted);
        if changed.imported.is_some() {
            self.toolless.clear();
            self.output_forms.clear();
            self.found_windows = FoundWindows::default();
            self.raised_limits.clear();
            self.title = None;
            // Nobody here asked for it.
            self.compaction_wanted = false;
            // Who wrote it is not known here: it may not instruct the agent (X6).
            self.system = None;
        }
    }

    fn in_run(&mut self, record: &Record) {
        if let Some(run) = &mut self.run {
            run.apply(record);
        }
    }
}
