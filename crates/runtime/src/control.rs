//! Handles commands that other processes left in the store for the sessions this process drives. One task polls for all
//! of them, as long as any session is live, and delivers each as a local handle would.

use std::sync::{Arc, Weak};
use std::time::Duration;

use windlass_store::{AddressedCommand, Store, TakenCommand};

use crate::clock::{Clock as _, SystemClock};
use crate::live::{LiveSessions, PollNext};
use crate::perform_control::perform;

/// How often the store is polled for commands. A person who stops a run does not notice a quarter of a second.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Polls for commands while there are live sessions. It keeps neither the store nor a session alive.
pub(crate) async fn poll_commands(store: Weak<dyn Store>, live: LiveSessions) {
    while live.next_look(LOOK_EVERY).await == PollNext::Again {
        let Some(store) = store.upgrade() else { continue };
        // A store that can't be read ends its sessions itself; the next poll may succeed.
        let Ok(found) = store.commands(SystemClock.now()).await else { continue };
        for command in found {
            if live.epoch(command.session) == Some(command.epoch) {
                take(&store, &live, command).await;
            }
        }
    }
}

/// Takes a command and has it executed in a task of its own, so that a slow session does not delay the others.
async fn take(store: &Arc<dyn Store>, live: &LiveSessions, command: AddressedCommand) {
    // After an error it is unknown whether the command was taken, and it must not be executed twice.
    if let Ok(TakenCommand::Yes) = store.take_command(&command.id).await {
        tokio::spawn(deliver(Arc::clone(store), live.clone(), command));
    }
}

async fn deliver(store: Arc<dyn Store>, live: LiveSessions, command: AddressedCommand) {
    let AddressedCommand { id, session, epoch, control } = command;
    let Some(session) = live.visit(session, epoch, &store) else { return };
    // If the session was closed meanwhile, the sender detects that itself.
    if let Ok(Ok(outcome)) = perform(&session, control).await {
        let _ = store.settle_command(&id, outcome).await;
    }
}
