//! Scripts that a crash cut short: what they changed unasked is restored when the session is opened again (X4), as after one
//! that ended. It is recorded before the call is settled, whose result then tells the model.

use windlass_machine::{Effect, Fact, outstanding};
use windlass_store::StoreError;

use crate::driver::Driver;
use crate::script_guard::ScriptGuard;

impl Driver {
    /// Restores what interrupted scripts changed unasked. None of them may be running any more.
    pub(crate) async fn restore_after_interrupted_scripts(&mut self) -> Result<(), StoreError> {
        for effect in outstanding(&self.state) {
            // A call that is to be run, but was not started in this process.
            let Effect::RunCall { request, edited, .. } = effect else { continue };
            let arguments = edited.as_ref().unwrap_or(&request.arguments);
            let Some(guard) = ScriptGuard::of(&self.state, &request, arguments, &self.agent.permissions) else {
                continue;
            };
            let (session, keeper) = (self.state.session, self.running_effects.keeper.clone());
            let files = keeper.changed(&self.services, session, request.call, request.snapshot).await;
            let Some(files) = files else { continue };
            if let Some((files, _)) = guard.restore(&self.services, session, &files).await {
                self.step(Fact::FilesChanged(files)).await?;
            }
        }
        Ok(())
    }
}
