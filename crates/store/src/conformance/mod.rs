//! The rules that every store must keep: one suite, run against each implementation:
//!
//! ```
//! # tokio::runtime::Builder::new_multi_thread().build().unwrap().block_on(async {
//! use windlass_store::{MemoryStore, conformance};
//!
//! conformance::check_all(|| {
//!     let store = MemoryStore::new();
//!     [Box::new(store.clone()), Box::new(store)]
//! })
//! .await
//! .unwrap();
//! # });
//! ```

mod backwards;
mod charges;
mod checked;
mod control;
mod fork;
mod inbox;
mod listing;
mod log;
mod ownership;
pub mod sample;
mod transfer;
mod unclear;
mod user_rules;

pub use self::unclear::{DiesAt, UncertainStore};

use std::sync::Arc;

use crate::Store;

/// A rule that a store violates.
#[derive(Debug, thiserror::Error)]
#[error("the store does not conform: {check}: {why}")]
pub struct NotConforming {
    /// The rule: the name of its check.
    pub check: &'static str,
    /// The behaviour seen instead.
    pub why: String,
}

macro_rules! checks {
    ($make:expr; $($file:ident::$check:ident($($store:ident),+);)*) => {
        $(
            $(let [$store, _other]: [Arc<dyn Store>; 2] = $make().map(Arc::from);)+
            $file::$check($(&$store),+).await
                .map_err(|error| NotConforming { check: stringify!($check), why: error.to_string() })?;
        )*
    };
}

/// Runs checks that need two handles on one store.
macro_rules! checks_of_two {
    ($make:expr; $($file:ident::$check:ident;)*) => {
        $(
            let [one, other]: [Arc<dyn Store>; 2] = $make().map(Arc::from);
            $file::$check(&one, &other).await
                .map_err(|error| NotConforming { check: stringify!($check), why: error.to_string() })?;
        )*
    };
}

/// Runs all checks against stores that `make` creates, each empty. `make` returns two handles on one store, as two
/// processes would have.
pub async fn check_all(make: impl Fn() -> [Box<dyn Store>; 2]) -> Result<(), NotConforming> {
    checks! { make;
        log::a_batch_is_read_back_as_it_was_sealed(store);
        log::reading_goes_on_from_any_record(store);
        log::reading_in_pages_gives_the_whole_journal(store);
        log::the_last_records_of_many_sessions_are_read_at_once(store);
        log::an_unknown_session_is_empty(store);
        log::a_stale_writer_is_refused(store);
        log::a_refused_batch_leaves_nothing_behind(store);
        log::the_same_batch_again_is_no_conflict(store);
        log::a_conflict_harms_nobody_else(store);
        log::a_long_body_leaves_its_line_unseen(store);
        log::contents_are_stored_with_their_batch(store);
        log::a_record_of_unknown_kind_survives(store);
        log::a_key_belongs_to_one_session_of_its_owner(store);
        log::a_session_can_change_its_key(store);
        log::rows_are_a_fold_of_the_journal(store);
        log::the_session_that_changed_last_comes_first(store);
        listing::a_session_is_pinned_and_archived_by_its_records(store);
        listing::a_fork_and_an_import_are_neither_pinned_nor_archived(store);
        listing::the_list_has_pinned_sessions_first_and_every_session_once(store);
        listing::a_page_goes_on_where_the_last_one_ended(store);
        listing::the_list_is_searched_and_filtered(store);
        listing::children_are_left_out_of_the_list_unless_asked_for(store);
        ownership::a_session_has_one_owner(store);
        ownership::a_removed_session_leaves_nothing(store);
        ownership::contents_stay_while_another_session_has_them(store);
        inbox::messages_wait_in_order_and_once(store);
        inbox::a_message_taken_up_never_comes_back(store);
        inbox::waiting_messages_can_be_dropped(store);
        inbox::files_wait_with_their_message_and_leave_with_it(store);
        control::a_command_goes_to_the_owner_and_comes_back_with_its_outcome(store);
        control::a_command_to_a_session_that_nobody_owns_is_not_left(store);
        control::a_command_is_kept_by_its_id(store);
        control::an_expired_command_is_not_found_and_removed_in_time(store);
        control::a_withdrawn_command_is_gone_unless_its_owner_is_at_it(store);
        control::commands_go_with_their_session(store);
        transfer::a_journal_moves_byte_for_byte(from, to);
        transfer::a_session_is_not_brought_in_twice(store);
        transfer::a_taken_key_is_refused_or_replaced(from, to);
        transfer::an_imported_journal_belongs_to_its_importer(from, to);
        transfer::a_restored_journal_is_all_or_nothing(from, to);
        transfer::a_journal_goes_on_from_where_it_was_restored(store);
        transfer::a_journal_of_a_newer_version_is_not_added_to(from, to);
        transfer::a_number_that_no_journal_reaches_is_refused(from, to);
        backwards::a_journal_is_read_from_its_end_in_whole_batches(store);
        backwards::every_record_is_met_once_from_the_end(store);
        charges::charges_are_a_fold_of_all_journals_from_a_time_on(store);
        charges::what_other_runs_spend_is_counted_again_and_again(store);
        charges::what_a_fork_copied_is_charged_once(store);
        fork::a_fork_at_any_batch_is_a_journal_of_its_own(store);
        fork::a_fork_in_the_middle_of_a_batch_takes_all_of_it(store);
        fork::a_fork_where_there_is_no_record_is_refused(store);
        fork::a_fork_keeps_to_its_own_key(store);
        fork::a_fork_names_all_it_came_from(store);
        fork::contents_are_shared_and_stay_while_one_has_them(store);
        fork::what_waits_is_not_taken_over(store);
        fork::a_record_of_a_newer_version_is_not_taken_over(store);
        unclear::an_append_of_unknown_outcome_is_settled_by_appending_again(store);
        unclear::a_store_that_stays_out_of_reach_is_said_to_be_so(store);
        unclear::a_journal_of_unknown_outcome_is_restored_once(store);
        user_rules::a_rule_is_kept_for_its_user_until_it_is_forgotten(store);
        user_rules::a_user_has_a_bounded_number_of_rules(store);
    }
    checks_of_two! { make;
        log::what_one_handle_stores_the_other_reads;
        ownership::a_session_has_one_owner_among_all_handles;
        ownership::a_lease_that_was_taken_over_is_lost_and_says_so;
        control::a_command_reaches_the_other_handle_and_is_taken_once;
        control::a_later_owner_is_told_by_the_epoch;
        unclear::an_append_of_unknown_outcome_can_have_lost_its_place;
    }
    Ok(())
}
