//! Untrusted text is displayed and never acts as a control sequence.

use proptest::prelude::{any, prop_assert, proptest};
use windlass_vocab::{CallId, CallRequested, DeltaBody, OutcomeKind};

use super::{LOOK, ScreenStage};
use crate::sample::{call, finished, requested};
use crate::screen::{Colour, NEXT_LINE, TerminalLook, ThinkingFold};

/// Removes our own escape sequences; the rest must be plain text.
fn without_ours(mut bytes: &str) -> String {
    let mut text = String::new();
    while let Some(at) = bytes.find('\u{1b}') {
        text.push_str(&bytes[..at]);
        let sequence = &bytes[at..];
        let ours = sequence.strip_prefix("\u{1b}[").and_then(|rest| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            let (parameters, last) = (&rest[..end], &rest[end..=end]);
            let moves = ["J", "A"].contains(&last) && parameters.bytes().all(|byte| byte.is_ascii_digit());
            let looks = last == "m"
                && parameters.split(';').all(|code| ["0", "1", "2", "3", "4", "9", "31", "36"].contains(&code));
            let wraps = ["?7l", "?7h"].contains(&&rest[..=end]);
            (moves || looks || wraps).then_some(&rest[end + 1..])
        });
        let Some(rest) = ours else { panic!("not one of ours: {:?}", &sequence[..sequence.len().min(20)]) };
        bytes = rest;
    }
    text + bytes
}

fn show_everywhere(look: TerminalLook, text: &str) -> String {
    let mut stage = ScreenStage::new(look);
    stage.screen.fold(ThinkingFold::Open);
    stage.think(text).wait(40).text(text).wait(40);
    stage.delta(0, DeltaBody::CallDelta { call: CallId::default(), name: Some(text.into()), text: text.into() });
    stage.wait(40).replied();
    let arguments = serde_json::json!({ text: text }).to_string();
    stage.record(CallRequested { tool: None, ..requested(0, text, &arguments) });
    let call = call(0);
    stage.record(windlass_vocab::CallStarted { call, arguments: None });
    stage.delta(0, DeltaBody::CallDelta { call, name: None, text: text.into() }).wait(40);
    stage.record(finished(0, OutcomeKind::ToolError, text, 5));
    stage.screen.notice(text).expect("shown");
    stage.process();
    String::from_utf8(stage.written).expect("text")
}

fn is_tame(shown: &str) -> bool {
    shown.replace(NEXT_LINE, "\n").replace("\r\u{0}", "").chars().all(|c| {
        let tricks =
            matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}');
        c == '\n' || c == '\r' || (!c.is_control() && !tricks)
    })
}

// proves X4 at the terminal: no escape, title, bell or bidi override of a model or tool gets through
#[test]
fn nothing_a_model_or_a_tool_says_steers_the_terminal() {
    for text in [
        "\u{1b}[2Jgone",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]8;;http://evil\u{1b}\\link\u{1b}]8;;\u{1b}\\",
        "\u{9b}31mred",
        "```\n\u{1b}[31mcode\u{1b}[0m\n\u{8}\u{8}```\n",
        "`\u{1b}[1m`",
        "&#27;[2J &#x9b;31m &#8238;x",
        "[a](http://x\u{1b}[2J) <http://x\u{202e}y>",
        "| \u{1b}[7m | b |\n|-|-|\n| \u{0} | \u{202e} |\n",
        "rm\u{200b} -rf \u{2066}x\u{2069}\u{feff}",
        "```sh\u{1b}[31m\nx\n```",
        "50%\r60%\r70%\n",
    ] {
        for look in [LOOK, TerminalLook { colour: Colour::Ansi, ..LOOK }, TerminalLook { width: 20, ..LOOK }] {
            let written = show_everywhere(look, text);
            assert!(is_tame(&without_ours(&written)), "{text:?} → {written:?}");
        }
    }
}

proptest! {
    // proves X4 at the terminal
    #[test]
    fn no_text_at_all_brings_a_control_character_to_the_terminal(text in any::<String>(), width in 20usize..200) {
        let written = show_everywhere(TerminalLook { width, colour: Colour::Ansi, ..LOOK }, &text);
        prop_assert!(is_tame(&without_ours(&written)), "{:?}", written);
    }
}

#[test]
fn what_was_made_harmless_is_still_there_to_see() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("a\u{1b}[31mb &#27;x\n").replied().process();
    let written = String::from_utf8(stage.written).expect("text");
    assert!(written.contains("a\u{fffd}[31mb \u{fffd}x\u{b}\r"), "{written:?}");
}
