//! Commands to a session from a process that does not own it.

use std::sync::Arc;

use windlass_vocab::{CommandId, Control, ControlOutcome, QuestionId, QuestionOption, Timestamp};

use super::checked::{CheckResult, append, batch, live, open, same, session};
use super::sample;
use crate::{AddressedCommand, Addressee, COMMAND_KEPT_MS, CommandState, SentCommand, Store, TakenCommand};

const NOW: Timestamp = Timestamp(1_000);

fn stop(id: &str) -> SentCommand {
    SentCommand { id: id.into(), control: Control::Stop {}, at: NOW, expires: NOW.plus_ms(100) }
}

fn answer(id: &str) -> SentCommand {
    let answer = windlass_vocab::Answer {
        arguments: Some(windlass_vocab::Json::from(&serde_json::json!({"name": "Ada \u{1f6a2}"}))),
        reason: Some("it's\nlike this".into()),
        option: QuestionOption::Submit,
    };
    SentCommand { control: Control::Answer { question: QuestionId(4), answer }, ..stop(id) }
}

fn addressed(n: u8, epoch: u64, sent: SentCommand) -> AddressedCommand {
    AddressedCommand { id: sent.id, session: session(n), epoch, control: sent.control }
}

// proves J5: the session's owner executes the command and stores the outcome; the sender reads and removes it
pub(super) async fn a_command_goes_to_the_owner_and_comes_back_with_its_outcome(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    let lease = store.claim(session(1)).await?;
    let (first, second): (CommandId, CommandId) = ("c1".into(), "c2".into());
    same!(store.command_state(&first).await?, CommandState::Gone);
    same!(store.send_command(session(1), stop("c1")).await?, Addressee::Owner { epoch: 1 });
    same!(store.send_command(session(1), answer("c2")).await?, Addressee::Owner { epoch: 1 });
    same!(store.command_state(&first).await?, CommandState::Waiting);
    same!(store.commands(NOW).await?, [addressed(1, 1, stop("c1")), addressed(1, 1, answer("c2"))]);
    same!(store.take_command(&first).await?, TakenCommand::Yes);
    same!(store.command_state(&first).await?, CommandState::Taken);
    same!(store.commands(NOW).await?, [addressed(1, 1, answer("c2"))]);
    let outcome = ControlOutcome::Stopped { runs: 1, dropped: 7 };
    store.settle_command(&first, outcome).await?;
    store.settle_command(&first, ControlOutcome::NotOffered {}).await?;
    same!(store.command_state(&first).await?, CommandState::Settled(outcome));
    // A command that nobody has taken can't be settled.
    store.settle_command(&second, ControlOutcome::Answered {}).await?;
    same!(store.command_state(&second).await?, CommandState::Waiting);
    same!(store.withdraw_command(&first).await?, CommandState::Settled(outcome));
    same!(store.command_state(&first).await?, CommandState::Gone);
    drop(lease);
    Ok(())
}

pub(super) async fn a_command_to_a_session_that_nobody_owns_is_not_left(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    for n in [1, 2] {
        same!(store.send_command(session(n), stop("c1")).await?, Addressee::Nobody);
    }
    same!(store.command_state(&"c1".into()).await?, CommandState::Gone);
    let lease = store.claim(session(1)).await?;
    same!(store.commands(NOW).await?, []);
    drop(lease);
    Ok(())
}

pub(super) async fn a_command_is_kept_by_its_id(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    let lease = store.claim(session(1)).await?;
    for sent in [stop("c1"), answer("c1")] {
        same!(store.send_command(session(1), sent).await?, Addressee::Owner { epoch: 1 });
    }
    same!(store.commands(NOW).await?, [addressed(1, 1, stop("c1"))]);
    let id = "c1".into();
    same!(store.take_command(&id).await?, TakenCommand::Yes);
    same!(store.take_command(&id).await?, TakenCommand::No);
    store.send_command(session(1), stop("c1")).await?;
    same!((store.commands(NOW).await?.len(), store.take_command(&id).await?), (0, TakenCommand::No));
    drop(lease);
    Ok(())
}

pub(super) async fn an_expired_command_is_not_found_and_removed_in_time(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    let lease = store.claim(session(1)).await?;
    store.send_command(session(1), stop("c1")).await?;
    same!(store.commands(NOW.plus_ms(99)).await?.len(), 1);
    same!(store.commands(NOW.plus_ms(100)).await?, []);
    same!(store.command_state(&"c1".into()).await?, CommandState::Waiting);
    let much_later = NOW.plus_ms(101 + COMMAND_KEPT_MS);
    store.send_command(session(1), SentCommand { at: much_later, expires: much_later, ..stop("c2") }).await?;
    same!(store.command_state(&"c1".into()).await?, CommandState::Gone);
    drop(lease);
    Ok(())
}

pub(super) async fn a_withdrawn_command_is_gone_unless_its_owner_is_at_it(store: &Arc<dyn Store>) -> CheckResult {
    open(store, 1, "notes").await?;
    let lease = store.claim(session(1)).await?;
    let (waiting, taken) = ("c1".into(), "c2".into());
    for id in ["c1", "c2"] {
        store.send_command(session(1), stop(id)).await?;
    }
    store.take_command(&taken).await?;
    same!(store.withdraw_command(&waiting).await?, CommandState::Waiting);
    same!(store.withdraw_command(&waiting).await?, CommandState::Gone);
    same!(store.take_command(&waiting).await?, TakenCommand::No);
    same!(store.withdraw_command(&taken).await?, CommandState::Taken);
    same!(store.command_state(&taken).await?, CommandState::Taken);
    drop(lease);
    Ok(())
}

pub(super) async fn commands_go_with_their_session(store: &Arc<dyn Store>) -> CheckResult {
    live(store, 1).await?;
    let lease = store.claim(session(1)).await?;
    store.send_command(session(1), stop("c1")).await?;
    drop(lease);
    store.remove(session(1)).await?;
    same!(store.command_state(&"c1".into()).await?, CommandState::Gone);
    Ok(())
}

// proves J5: a command is executed once, even if several handles poll
pub(super) async fn a_command_reaches_the_other_handle_and_is_taken_once(
    one: &Arc<dyn Store>,
    other: &Arc<dyn Store>,
) -> CheckResult {
    open(one, 1, "notes").await?;
    let lease = one.claim(session(1)).await?;
    same!(one.commands(NOW).await?, []);
    same!(other.send_command(session(1), stop("c1")).await?, Addressee::Owner { epoch: 1 });
    for handle in [one, other] {
        same!(handle.commands(NOW).await?.len(), 1);
    }
    let id = "c1".into();
    same!((one.take_command(&id).await?, other.take_command(&id).await?), (TakenCommand::Yes, TakenCommand::No));
    one.settle_command(&id, ControlOutcome::Answered {}).await?;
    same!(other.command_state(&id).await?, CommandState::Settled(ControlOutcome::Answered {}));
    same!(other.withdraw_command(&id).await?, CommandState::Settled(ControlOutcome::Answered {}));
    same!(one.command_state(&id).await?, CommandState::Gone);
    drop(lease);
    Ok(())
}

pub(super) async fn a_later_owner_is_told_by_the_epoch(one: &Arc<dyn Store>, other: &Arc<dyn Store>) -> CheckResult {
    let mut writer = open(one, 1, "notes").await?;
    let lease = one.claim(session(1)).await?;
    other.send_command(session(1), stop("c1")).await?;
    drop(lease);
    let lease = other.claim(session(1)).await?;
    append(other, &mut writer, batch([sample::lease(lease.epoch())])).await?;
    one.send_command(session(1), stop("c2")).await?;
    let found = other.commands(NOW).await?;
    same!(found, [addressed(1, 1, stop("c1")), addressed(1, lease.epoch(), stop("c2"))]);
    Ok(())
}
