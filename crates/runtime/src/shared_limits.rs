//! Limits that several runs share, of this process or another (M7): what the others have spent is counted right before
//! each model call. If it is too much, the call fails without being made, as one that a breaker forbids: the machine
//! decides what follows, and a replay needs no count. So two runs at once exceed a limit by a call each at most, and a
//! turn stays one write.

use std::sync::Arc;

use windlass_machine::{SharedRoom, State, shared_room};
use windlass_store::{CountingRun, StoreError};
use windlass_vocab::{Failure, FailureClass, SpentElsewhere};

use crate::services::Services;

/// A count that is due before a model call.
pub(crate) struct SharedLimits {
    services: Arc<Services>,
    counting: CountingRun,
    room: Vec<SharedRoom>,
}

impl SharedLimits {
    /// Returns the count for the call that the open run owes; `None` where no limit of its policy is shared.
    pub(crate) fn of(services: &Arc<Services>, state: &State) -> Option<Self> {
        let room = shared_room(state);
        let (run, opened) = (state.control.run.as_ref()?, state.control.opened.as_ref()?);
        let counting = CountingRun {
            session: state.session,
            run: run.id,
            owner: opened.owner.clone(),
            agent: run.started.agent.clone(),
        };
        (!room.is_empty()).then(|| Self { services: Arc::clone(services), counting, room })
    }

    /// Returns why the call must not be made, if others have spent too much.
    pub(crate) async fn check(self) -> Result<(), Failure> {
        let Self { services, counting, room } = self;
        let today = services.clock.now().day_start();
        let others =
            services.spending.count(services.store.as_ref(), &counting, today).await.map_err(|error| unread(&error))?;
        if room.iter().any(|room| room.is_exceeded_by(&others)) { Err(exceeded(others)) } else { Ok(()) }
    }
}

fn exceeded(others: SpentElsewhere) -> Failure {
    let message = "The model was not called: other runs have spent what a limit of the day allows.";
    Failure { spent_elsewhere: Some(Box::new(others)), ..Failure::new(FailureClass::Quota, message) }
}

fn unread(error: &StoreError) -> Failure {
    Failure::new(FailureClass::Store, format!("What other runs have spent can't be counted: {error}."))
}
