//! Streaming: however a reply is split, the final screen is the same, and the cost is linear.

use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert, prop_assert_eq, proptest};

use super::{LOOK, ScreenStage, answer};
use crate::screen::TerminalLook;

/// Each case is a whole reply in an emulated terminal.
const CASES: u32 = 32;

/// A sample of every Markdown construct.
const SAMPLE: &str = "# Héading\nText with **bold**, `code` and a [link](http://x.y).\r\nNext line 日本語 🦀.\n\n\
Setext\n---\n\n1. one\n   - in\n\n   more\n1. two\n- x\n- y\n\n> quote\nlazy\n\n|a|b|\n|-|-|\n|1|2|\n|3|4|\n\n\
```rust\nfn main() {}\n\n# x\n```\nafter\n~~~\nopen fence";

fn streamed(look: TerminalLook, parts: &[&str], wait: u64) -> String {
    let mut stage = ScreenStage::new(look);
    for part in parts {
        stage.text(part).wait(wait).process();
    }
    stage.replied().seen()
}

fn split_at(text: &str, mut cuts: Vec<usize>) -> Vec<&str> {
    cuts.sort_unstable();
    let mut parts = Vec::new();
    let mut from = 0;
    for cut in cuts {
        let cut = text.floor_char_boundary(cut);
        parts.push(&text[from..cut.max(from)]);
        from = cut.max(from);
    }
    parts.push(&text[from..]);
    parts
}

// The display does not depend on how the stream was split.
#[test]
fn every_way_to_split_a_reply_in_two_shows_the_same() {
    for look in [LOOK, TerminalLook { width: 20, height: 6, ..LOOK }] {
        let whole = answer(look, SAMPLE);
        for cut in 0..=SAMPLE.len() {
            assert_eq!(streamed(look, &split_at(SAMPLE, vec![cut]), 40), whole, "cut at {cut}");
        }
        let letters: Vec<String> = SAMPLE.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(streamed(look, &letters, 40), whole);
    }
}

// The same for blocks that are cut because they are too long.
#[test]
fn no_split_of_an_endless_block_changes_what_is_shown() {
    let numbered = |line: &str, n: usize| (0..n).map(|n| line.replace('#', &n.to_string())).collect::<String>();
    for text in [
        numbered("word# ", 6_000),
        format!("```\n{}\n```\nend", numbered("x#", 20_000)),
        format!("|a|b|\n|-|-|\n{}\nend", numbered("|c#|d|\n", 450)),
        format!("- item\n{}\nend", numbered("  line #\n", 450)),
        format!("- item\n\n  ```\n{}  ```\n- next\n\nend", numbered("  - code #\n", 450)),
        format!("{}\nend", numbered("> quote #\n", 450)),
    ] {
        let whole = answer(LOOK, &text);
        for size in [4_099, 16_385] {
            let cuts = (0..text.len() / size).map(|n| n * size).collect();
            assert_eq!(streamed(LOOK, &split_at(&text, cuts), 40), whole, "in pieces of {size}");
        }
        for n in [0, 199, 200, 201, 449] {
            assert!(whole.contains(&n.to_string()), "{n} in {whole}");
        }
        assert!(whole.lines().count() < 2_600, "{whole}");
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "# h",
        "word ",
        "**b**",
        "`c`",
        "\n",
        "\n",
        "\n\n",
        "- i",
        "  - n",
        "1. o",
        "> q",
        "```",
        "~~~",
        "|a|b|",
        "|-|-|",
        "---",
        "    x",
        "\r",
        "\t",
        "[l](u)",
        "世界",
        "🦀",
        "e\u{301}",
        "* ",
        "<br>",
        "&lt;",
        "===",
        "\u{1b}[31m",
        "*",
        "_",
        "![i](u)",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_split_of_any_markdown_changes_what_is_shown(
        text in markdown(),
        cuts in prop::collection::vec(0usize..400, 0..8),
        width in 20usize..200,
        wait in 0u64..80,
    ) {
        let look = TerminalLook { width, height: 8, ..LOOK };
        let cuts = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        prop_assert_eq!(streamed(look, &split_at(&text, cuts), wait), answer(look, &text));
    }

    #[test]
    fn no_letter_of_any_markdown_is_lost_or_shown_twice(text in markdown(), width in 20usize..200) {
        // Except for text that Markdown itself drops (excess cells) and labels too long for their line.
        let text = text.replace("```", "```\n").replace("~~~", "~~~\n").replace('|', " ") + "\n\nEND";
        let seen = answer(TerminalLook { width, height: 8, ..LOOK }, &text);
        for letter in ['w', 'h', '世', '🦀', 'E'] {
            prop_assert_eq!(seen.matches(letter).count(), text.matches(letter).count(), "{}", seen);
        }
    }

    #[test]
    fn the_live_region_never_wraps_or_leaves_anything_behind(text in markdown(), width in 20usize..100) {
        let look = TerminalLook { width, height: 10, ..LOOK };
        let mut stage = ScreenStage::new(look);
        for letter in text.chars() {
            stage.text(&letter.to_string()).wait(40);
            let seen = stage.seen();
            prop_assert!(seen.matches("answering").count() <= 1, "{}", seen);
        }
        let whole = answer(look, &text);
        prop_assert_eq!(stage.replied().seen(), whole);
    }
}

#[test]
fn a_block_taller_than_the_terminal_is_shown_whole_and_once() {
    let look = TerminalLook { height: 8, width: 30, ..LOOK };
    let text: String = (0..120).map(|n| format!("line {n}\n")).collect();
    let mut stage = ScreenStage::new(look);
    for line in text.split_inclusive('\n') {
        stage.text(line).wait(40).process();
    }
    // While the reply grows, its end is visible.
    let seen = stage.seen();
    assert!(seen.ends_with("line 119\n\n⠋ answering … 4 s") || seen.contains("line 119"), "{seen}");
    stage.replied().shows(&text);
}

#[test]
fn finished_blocks_are_written_once_and_lines_of_code_as_they_come() {
    let mut stage = ScreenStage::new(LOOK);
    stage.text("First.\n\n```\nlet a = 1;\nlet b").wait(40);
    stage.shows("First.\n\n────────────────────────────────────────────────\nlet a = 1;\nlet b\n\n⠋ answering");
    stage.text(" = 2;\n").wait(40).text("```\nlast words").wait(40).replied().process();
    let written = String::from_utf8(stage.written.clone()).expect("text");
    assert_eq!((written.matches("First.").count(), written.matches("let a = 1;").count()), (1, 1), "{written:?}");
}

/// Returns the bytes written for a reply that is streamed word by word, 2,000 words a second.
fn bytes_written(text: &str) -> usize {
    let mut stage = ScreenStage::new(LOOK);
    let mut tokens = 0;
    for token in text.split_inclusive([' ', '\n']) {
        tokens += 1;
        stage.text(token);
        if tokens % 2 == 0 {
            stage.now += 1;
        }
    }
    stage.replied().screen.out().len()
}

// proves the figure: rendering is linear in the length of the answer, for every construct
#[test]
fn twice_as_long_a_reply_costs_twice_as_many_bytes() {
    let paragraph = "word and more words in a row that go on ".repeat(10) + "\n\n";
    let prose = |n: usize| paragraph.repeat(n);
    let code = |n: usize| format!("```rust\n{}```\n", "    let value = compute(other, thing);\n".repeat(n * 20));
    let one_line = |n: usize| "endless ".repeat(n * 50);
    let list = |n: usize| "- an item of a list\n  - with another in it\n".repeat(n * 10);
    let item = |n: usize| format!("- start\n{}", "  goes on in the item\n".repeat(n * 20));
    let table = |n: usize| format!("|a|b|\n|-|-|\n{}", "|cell one|cell two|\n".repeat(n * 20));
    let shapes: [&dyn Fn(usize) -> String; 6] = [&prose, &code, &one_line, &list, &item, &table];
    for (shape, make) in shapes.iter().enumerate() {
        let (short, long) = (bytes_written(&make(40)), bytes_written(&make(80)));
        assert!(long < short * 5 / 2, "shape {shape}: {short} bytes, then {long}");
    }
}

#[test]
fn repaints_are_as_rare_as_they_may_be() {
    let mut stage = ScreenStage::new(LOOK);
    for n in 0..2_000u64 {
        stage.now = n / 2;
        stage.text("word ");
    }
    stage.process();
    let repaints = stage.written.windows(4).filter(|bytes| bytes == b"\x1b[?7").count() / 2;
    assert!((20..=32).contains(&repaints), "{repaints} repaints in a second");
}
