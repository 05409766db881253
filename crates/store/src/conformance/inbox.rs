//! The inbox: messages that wait.

use std::sync::Arc;

use super::checked::{CheckResult, append, batch, open, same, session};
use super::sample;
use crate::{Batch, PutOutcome, Store, WaitingMessage};

// proves J6
pub(super) async fn messages_wait_in_order_and_once(store: &Arc<dyn Store>) -> CheckResult {
    let messages = ["m3", "m1", "m2"].map(|id| sample::waiting(id, "hello"));
    for message in &messages {
        same!(store.put(session(1), message.clone()).await?, PutOutcome::Added);
    }
    same!(store.put(session(1), sample::waiting("m1", "again")).await?, PutOutcome::AlreadyThere);
    same!(store.put(session(2), sample::waiting("m1", "elsewhere")).await?, PutOutcome::Added);
    same!(store.waiting(session(1)).await?, messages);
    Ok(())
}

// proves J6, J1
pub(super) async fn a_message_taken_up_never_comes_back(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    for id in ["m1", "m2", "m3"] {
        store.put(session(1), sample::waiting(id, "hello")).await?;
    }
    append(store, &mut writer, batch([sample::accepted("m1", "hello")])).await?;
    append(store, &mut writer, Batch { takes: vec!["m2".into()], ..batch([sample::lease(1)]) }).await?;
    same!(store.waiting(session(1)).await?, [sample::waiting("m3", "hello")]);
    same!(store.put(session(1), sample::waiting("m1", "hello")).await?, PutOutcome::AlreadyThere);
    append(store, &mut writer, batch([sample::accepted("m4", "straight in")])).await?;
    same!(store.put(session(1), sample::waiting("m4", "straight in")).await?, PutOutcome::AlreadyThere);
    same!(store.waiting(session(1)).await?.len(), 1);
    Ok(())
}

pub(super) async fn waiting_messages_can_be_dropped(store: &Arc<dyn Store>) -> CheckResult {
    for id in ["m1", "m2"] {
        store.put(session(1), sample::waiting(id, "hello")).await?;
    }
    store.put(session(2), sample::waiting("m1", "hello")).await?;
    same!(store.drop_waiting(session(1)).await?, 2);
    same!(store.drop_waiting(session(1)).await?, 0);
    same!(store.waiting(session(2)).await?.len(), 1);
    same!(store.put(session(1), sample::waiting("m1", "hello")).await?, PutOutcome::Added);
    Ok(())
}

// proves J6, C9
pub(super) async fn files_wait_with_their_message_and_leave_with_it(store: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(store, 1, "notes").await?;
    let attached = |id: &str| WaitingMessage { files: sample::files(), ..sample::waiting(id, "look") };
    for id in ["m1", "m2", "m3"] {
        same!(store.put(session(1), attached(id)).await?, PutOutcome::Added);
    }
    // A message that is known leaves the files of the first one alone.
    same!(store.put(session(1), sample::waiting("m1", "look")).await?, PutOutcome::AlreadyThere);
    same!(store.waiting(session(1)).await?, ["m1", "m2", "m3"].map(attached));
    append(store, &mut writer, batch([sample::accepted("m1", "look")])).await?;
    append(store, &mut writer, Batch { takes: vec!["m2".into()], ..batch([sample::lease(1)]) }).await?;
    same!(store.waiting(session(1)).await?, [attached("m3")]);
    same!(store.drop_waiting(session(1)).await?, 1);
    // The id of a dropped message may be used again, without the files of the first one.
    same!(store.put(session(1), sample::waiting("m3", "look")).await?, PutOutcome::Added);
    same!(store.waiting(session(1)).await?, [sample::waiting("m3", "look")]);
    Ok(())
}
