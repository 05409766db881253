//! Streams as they come, and the text that a client gets of them.

use windlass_vocab::{
    AttemptFailed, Delta, DeltaBody, Failure, FailureClass, ModelName, ModelReplied, ModelRole, NextAttempt, Part,
    Record, RunId, StopReason, TurnId, TurnMode, TurnStarted, Usage,
};

use super::{AnswerText, HELD_BACK, ReplyReplaced, TextRelease, whole_text};

/// What happens in a run, in short.
#[derive(Clone, Debug)]
enum Happens {
    Turn(TurnMode),
    Text(String),
    Cleared,
    Failed,
    Replied(String),
    RepliedWithCalls(String),
}
use Happens::{Cleared, Failed, Replied, RepliedWithCalls, Text, Turn};

fn replied(text: &str, calls: &[Part]) -> Record {
    let mut parts = vec![Part::Text { text: text.to_owned() }];
    parts.extend_from_slice(calls);
    Record::from(ModelReplied {
        attempt: 1,
        model: ModelName::from("m"),
        parts,
        stop: StopReason::Stop,
        usage: Usage::default(),
        cost: None,
        partial: false,
        misfit: None,
        malformed: None,
        role: ModelRole::Turn,
        cache: None,
        cut: None,
        retrieved: 0,
        intent: None,
    })
}

fn failed() -> Record {
    Record::from(AttemptFailed {
        attempt: 1,
        model: ModelName::from("m"),
        failure: Failure::new(FailureClass::Transient, "cut"),
        next: NextAttempt::Whole,
        usage: None,
        role: ModelRole::Turn,
    })
}

fn record(happens: &Happens, turn: TurnId) -> Option<Record> {
    match happens {
        Turn(mode) => Some(Record::from(TurnStarted::new(turn, *mode))),
        Failed => Some(failed()),
        Replied(text) => Some(replied(text, &[])),
        RepliedWithCalls(text) => Some(replied(text, &[Part::Call { index: 0 }])),
        Text(_) | Cleared => None,
    }
}

/// Returns what was sent, a string for each piece.
fn sent(release: TextRelease, events: &[Happens], answer: &str) -> Result<Vec<String>, ReplyReplaced> {
    let mut text = AnswerText::new(release);
    let (mut turn, mut pieces) = (TurnId::default(), Vec::new());
    for happens in events {
        if matches!(happens, Turn(_)) {
            turn = turn.next();
        }
        let delta = |body| Delta { run: RunId(1), turn, attempt: 1, offset: 0, body };
        let piece = match happens {
            Text(more) => text.delta(&delta(DeltaBody::TextDelta { text: more.clone() })),
            Cleared => text.delta(&delta(DeltaBody::Cleared {})),
            Turn(_) | Failed | Replied(_) | RepliedWithCalls(_) => {
                record(happens, turn).map_or(Ok(None), |record| text.record(&record))
            }
        };
        pieces.extend(piece?);
    }
    pieces.extend(text.end(answer)?);
    Ok(pieces)
}

fn live(events: &[Happens], answer: &str) -> Result<String, ReplyReplaced> {
    sent(TextRelease::Live, events, answer).map(|pieces| pieces.concat())
}

/// A text of this many characters.
fn long(beginning: &str, chars: usize) -> String {
    let more = "haul away ".chars().cycle();
    beginning.chars().chain(more).take(chars.saturating_sub(1)).chain(['.']).collect()
}

fn parts(text: &str) -> Vec<Happens> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(40).map(|part| Text(part.iter().collect())).collect()
}

fn tools() -> Happens {
    Turn(TurnMode::Tools)
}

// proves W3: a long answer is sent while it comes, whole and once
#[test]
fn a_long_answer_is_sent_while_it_comes() {
    let answer = long("So: ", 1_000);
    let events = [vec![tools()], parts(&answer), vec![Replied(answer.clone())]].concat();
    let pieces = sent(TextRelease::Live, &events, &answer).unwrap();
    assert!(pieces.len() > 10, "{}", pieces.len());
    assert_eq!(pieces.concat(), answer);
}

// proves W3: what is said before a call is progress, unless it is long
#[test]
fn short_text_before_a_call_is_no_answer() {
    let events = [tools(), Text("I look.".into()), RepliedWithCalls("I look.".into()), tools(), Text("Done.".into())];
    assert_eq!(live(&events, "Done.").unwrap(), "Done.");
    let told = long("First ", HELD_BACK + 100);
    let events =
        [vec![tools()], parts(&told), vec![RepliedWithCalls(told.clone()), tools(), Text("Done.".into())]].concat();
    assert_eq!(live(&events, "Done.").unwrap(), format!("{told}\n\nDone."));
}

// proves W3, E1: after `Cleared` nothing comes twice; where that is impossible the stream fails
#[test]
fn a_reply_that_is_made_again_is_not_sent_twice() {
    let answer = long("So: ", 1_000);
    let begun: String = answer.chars().take(600).collect();
    let again = |second: &[Happens]| {
        [vec![tools()], parts(&begun), vec![Failed, Cleared], second.to_vec(), vec![Replied(answer.clone())]].concat()
    };
    assert_eq!(live(&again(&parts(&answer)), &answer).unwrap(), answer, "the same text goes on");
    assert_eq!(live(&again(&[]), &answer).unwrap(), answer, "a whole answer without a stream");
    let other = long("No: ", 1_000);
    assert_eq!(live(&again(&parts(&other)), &other), Err(ReplyReplaced));
    assert_eq!(live(&again(&[]), &other), Err(ReplyReplaced));
    let unsent = [tools(), Text("So far".into()), Failed, Cleared, Text("Other.".into()), Replied("Other.".into())];
    assert_eq!(live(&unsent, "Other.").unwrap(), "Other.", "nothing was sent yet");
    let calls = [vec![tools()], parts(&begun), vec![Failed, Cleared, RepliedWithCalls("Other.".into())]].concat();
    assert_eq!(live(&calls, "Done."), Err(ReplyReplaced));
}

// proves W3: an answer that is not what was sent is never added to it
#[test]
fn an_answer_that_differs_from_what_was_sent_fails() {
    let (said, other) = (long("So: ", 600), long("No: ", 600));
    let events = [vec![tools()], parts(&said), vec![Replied(said.clone())]].concat();
    assert_eq!(live(&events, &other), Err(ReplyReplaced));
}

// proves W3, S2: a reply that was cut off and continued is one answer
#[test]
fn a_continued_reply_is_joined() {
    let (first, second) = (long("So: ", 600), long("and so on ", 600));
    let events = [
        vec![tools()],
        parts(&first),
        vec![Replied(first.clone()), tools()],
        parts(&second),
        vec![Replied(second.clone())],
    ]
    .concat();
    assert_eq!(live(&events, &format!("{first}{second}")).unwrap(), format!("{first}{second}"));
    // A message that joined the run has a reply of its own.
    assert_eq!(live(&events, &second).unwrap(), format!("{first}\n\n{second}"));
}

// proves W3, S1: where a judge decides, nothing is sent before it has
#[test]
fn text_that_is_judged_is_sent_at_the_end() {
    let (first, second) = (long("I will ", 600), long("Done: ", 600));
    let events = [vec![tools()], parts(&first), vec![Cleared, tools()], parts(&second)].concat();
    assert_eq!(sent(TextRelease::AtTheEnd, &events, &second).unwrap(), std::slice::from_ref(&second));
}

// proves W3: titles, summaries and plans are not the answer
#[test]
fn text_of_other_roles_is_not_sent() {
    let plan = long("1. ", 600);
    let events = [vec![Turn(TurnMode::Plan)], parts(&plan), vec![tools(), Text("Done.".into())]].concat();
    assert_eq!(live(&events, "Done.").unwrap(), "Done.");
}

// proves W3: what a stream sent can be told from the records
#[test]
fn records_alone_give_the_same_text() {
    let (told, answer) = (long("First ", 400), long("So: ", 700));
    let events = [
        vec![tools()],
        parts(&told),
        vec![
            RepliedWithCalls(told.clone()),
            tools(),
            Text("Short.".into()),
            RepliedWithCalls("Short.".into()),
            tools(),
        ],
        parts(&answer),
        vec![Replied(answer.clone())],
    ]
    .concat();
    let records: Vec<Record> = events.iter().filter_map(|happens| record(happens, TurnId::default())).collect();
    assert_eq!(whole_text(TextRelease::Live, records.iter(), &answer), live(&events, &answer).unwrap());
}

// proves W3: blanks around a reply are not part of the answer
#[test]
fn blanks_around_the_answer_are_left_out() {
    let answer = long("So: ", 600);
    let padded = format!("\n\n{answer}\n\n");
    let events = [vec![tools()], parts(&padded), vec![Replied(padded.clone())]].concat();
    assert_eq!(live(&events, &answer).unwrap(), answer);
    assert_eq!(live(&[tools()], "  ").unwrap(), "");
}
