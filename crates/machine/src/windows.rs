//! The windows of a run's models: what is known of them, and what a reply says about them (M8).

use std::sync::Arc;

use windlass_vocab::{ModelName, ModelReplied, RunStarted};

use crate::control::{LoopState, Run};
use crate::found_window::FoundWindow;

impl LoopState {
    /// Takes in how much of a request the server read. It has room for at least that much.
    pub(crate) fn find_window(&mut self, replied: &ModelReplied) {
        let Some(run) = &mut self.run else { return };
        let read = replied.usage.input;
        let known = run.found_windows.get(&replied.model).copied();
        let found = match (replied.cut, known) {
            (_, Some(known)) if read > known.window && !replied.usage.estimated => {
                FoundWindow { window: read, ..known }
            }
            (Some(cut), None) => {
                let believed = run.started.model(&replied.model).and_then(|model| model.window);
                FoundWindow { window: cut.read, believed }
            }
            (Some(_) | None, _) => return,
        };
        Arc::make_mut(&mut run.found_windows).insert(replied.model.clone(), found);
        self.found_windows = Arc::clone(&run.found_windows);
    }

    /// Forgets the windows of models that a new run knows otherwise: the person has mended the server or its entry.
    pub(crate) fn keep_found_windows(&mut self, started: &RunStarted) {
        let is_unchanged = |name: &ModelName, found: &FoundWindow| {
            started.model(name).is_none_or(|model| model.window == found.believed)
        };
        if self.found_windows.iter().any(|(name, found)| !is_unchanged(name, found)) {
            Arc::make_mut(&mut self.found_windows).retain(|name, found| is_unchanged(name, found));
        }
    }
}

impl Run {
    /// Returns the size of a model's window, where it is known.
    pub(crate) fn window(&self, model: &ModelName) -> Option<u64> {
        let told = self.started.model(model)?.window.filter(|window| *window > 0);
        let found = self.found_windows.get(model).map(|found| found.window);
        match (told, found) {
            (Some(told), Some(found)) => Some(told.min(found)),
            (told, found) => told.or(found),
        }
    }
}
