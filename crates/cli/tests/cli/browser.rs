//! The page in a real browser (W4): Debian's chromium, driven by the scripts in `web/tests/browser`.
//!
//! A script says what the model replies and what a person does, and waits for what the page shows; [`stage`] has the
//! processes. The pictures lie in `tmp/browser` of the target folder.

mod stage;

use stage::play;

// proves W4, T8, T9: tools side by side, each of the five answers, a stop, steering, a retry, an undo, a reload in mid-stream
// and a fork
#[test]
fn a_person_works_through_a_whole_conversation() {
    play("conversation");
}

// proves W4, T8, L8: only the edited command runs, Escape stops nothing by accident, and no text is lost to a stop, a refusal or
// a view that changes
#[test]
fn what_is_written_and_edited_is_what_is_sent_and_run() {
    play("composing");
}

// proves W3, W4: without a model the demo plays, labelled; without a token nothing is shown
#[test]
fn a_first_visit_says_what_is_missing() {
    play("first_visit");
}

// proves W4, E1, J3: a server that is killed while it streams or asks loses and repeats nothing on the page
#[test]
fn the_page_recovers_from_a_killed_server() {
    play("restart");
}

// proves W4: a page that is opened again asks for no file, and its session does not wait for the list
#[test]
fn a_page_that_is_opened_again_asks_for_little() {
    play("opening");
}

// proves W4: a session without the mouse, with the focus always somewhere sensible
#[test]
fn everything_is_done_with_the_keyboard_alone() {
    play("keyboard");
}

// proves W4: one column, sheets, and controls that a thumb hits
#[test]
fn a_phone_shows_everything_in_its_width() {
    play("phone");
}

// proves W4: titles, pins, archive, search, the scrubber, files, notifications
#[test]
fn sessions_are_organised_and_walked_through() {
    play("organise");
}

// proves W3, W4, T8: what a terminal drives is followed and answered
#[test]
fn a_session_of_a_terminal_is_answered_on_the_page() {
    play("terminal");
}

// proves W4, X4: nothing in the text of a model or a tool runs, loads or hides anything
#[test]
fn hostile_text_stays_text() {
    play("hostile");
}

// proves W4: pictures at three widths, light and dark; axe-core finds no serious fault
#[test]
fn the_conversation_is_accessible_in_every_look() {
    play("looks");
}

// proves W4: a reply of 2,000 tokens a second and ten open calls move nothing; a session of thousands of messages is read to its
// beginning. Prints the longest frames.
#[test]
fn a_long_session_and_a_fast_reply_stay_smooth_prints_frames() {
    play("smooth");
}

// proves W4
#[test]
fn every_dialog_and_sheet_is_accessible() {
    play("dialogs");
}

// proves W4, M3, M7, T9, C5, P2: tries, limits, changes, compaction, and a tool server that failed
#[test]
fn the_panel_and_the_lines_say_what_happened() {
    play("panel");
}

// proves W4, S3
#[test]
fn a_plan_is_followed_step_by_step() {
    play("plan");
}
