//! No text takes longer to read than its length allows.

use std::time::Instant;

use windlass_vocab::Parallel;

use super::super::{AcceptedForms, NamedTools, ReplyReader, TextEnd, read};
use super::{TEXTUAL, accepted, knows};

/// Texts constructed to take long.
fn adversaries(bytes: usize) -> Vec<String> {
    let seeds = [
        "<tool",
        "<tool>",
        "<tool><tool_name>",
        "<tool><arguments>{\"",
        ". <tool><tool_name>x</tool_name></tool>",
        "[",
        "[read_file(",
        "[read_file(\n",
        "{",
        "{\"name\": \"read_file\", ",
        "{\"type\": \n",
        "\n{\"id\":",
        "```json\n{\"id\": ",
        "```\n",
        "`",
        "Tool: read_file\nArguments: {",
        "Tool: read_file\n",
        "<tool_call>{",
        "<![CDATA[",
        "\n",
        " ",
        "'\"",
        "[read_file(\"\n",
        "<function=read_file>",
        "<tool name=\"",
        "<tool name=\"x\">",
        "<read_file>",
        "\n<read_file path=\"",
        "]\n[read_file(",
        "{\"name\": \"read_file\"}\n",
        "a\n",
        "<",
    ];
    let mut all: Vec<String> = seeds.iter().map(|seed| seed.repeat(bytes / seed.len())).collect();
    let half = bytes / 24;
    all.push("[read_file(\n".repeat(half) + &")".repeat(half) + " x");
    all.push("{\"id\": [\n".repeat(half) + &"]}".repeat(half) + " x");
    all
}

// proves T4
#[test]
fn texts_made_to_take_long_take_no_longer_than_their_length_allows() {
    let time = |text: &str, accepted: AcceptedForms| {
        let begun = Instant::now();
        let _ = read(text, &accepted, NamedTools(knows), TextEnd::Whole);
        begun.elapsed()
    };
    let everything = accepted(&TEXTUAL, Parallel::Safe);
    for (small, large) in adversaries(1 << 15).iter().zip(adversaries(1 << 19)) {
        // Sixteen times as long: quadratic time would be 256 times as long.
        let (short, long) = (time(small, everything), time(&large, everything));
        let limit = short * 64 + std::time::Duration::from_millis(400);
        assert!(long < limit, "{:?}…: {short:?}, then {long:?}", &small[..small.len().min(24)]);
    }
}

// proves T4
#[test]
fn a_text_that_comes_byte_by_byte_takes_no_longer_than_its_length_allows() {
    let everything = accepted(&TEXTUAL, Parallel::Safe);
    for text in adversaries(1 << 16) {
        let begun = Instant::now();
        let mut reader = ReplyReader::new(everything, Box::new(NamedTools(knows)));
        for at in 0..text.len() {
            reader.push(&text[at..=at], &mut |_| {});
        }
        let _ = reader.finish(TextEnd::Whole, &mut |_| {});
        assert!(begun.elapsed().as_millis() < 2_000, "{:?}…: {:?}", &text[..24], begun.elapsed());
    }
}
