//! The final layout of Markdown.

use super::{LOOK, ScreenStage, answer, trimmed};
use crate::screen::{Colour, Glyphs, TerminalLook};

#[track_caller]
fn check(look: TerminalLook, source: &str, expected: &str) {
    let seen = answer(look, source);
    assert_eq!(seen, trimmed(expected.lines()), "\n--- seen ---\n{seen}\n------------");
}

#[test]
fn blocks_are_set_apart_and_paragraphs_are_wrapped() {
    let source = "# Title\nSome *short* words and `code`.\n\nA second paragraph that is longer than the screen is wide, so it is wrapped.\n\n---\nlast\n";
    let expected = "\
# Title

Some *short* words and `code`.

A second paragraph that is longer than the screen is wide,
so it is wrapped.

────────────────────────────────────────────────

last";
    check(LOOK, source, expected);
}

#[test]
fn lists_keep_their_depth_numbers_and_boxes() {
    let source = "Do this:\n1. first\n   - inner one\n   - inner two\n     - deep\n1. second\n\n   with a paragraph\n1. third\n\n- [x] done\n- [ ] open\n";
    let expected = "\
Do this:
1. first
   • inner one
   • inner two
     ◦ deep
2. second

   with a paragraph
3. third

• [x] done
• [ ] open";
    check(LOOK, source, expected);
}

#[test]
fn long_items_and_quotes_are_wrapped_under_themselves() {
    let narrow = TerminalLook { width: 24, ..LOOK };
    let source =
        "- an item that needs more than one row\n\n> a quote that needs more\n> than one row\n>\n> - and a list\n";
    let expected = "\
• an item that needs
  more than one row

│ a quote that needs
│ more
│ than one row
│
│ • and a list";
    check(narrow, source, expected);
}

#[test]
fn code_keeps_every_blank_and_is_never_broken_by_us() {
    let source = "Run:\n```sh title\n  cargo   test --workspace --all-features -- --nocapture --test-threads=1\n\tx\n\n# no heading\n```\ndone\n";
    let expected = "\
Run:

── sh title ────────────────────────────────────
  cargo   test --workspace --all-features -- --nocapture --t
est-threads=1
    x

# no heading
────────────────────────────────────────────────

done";
    check(LOOK, source, expected);
    // The long line is one line to the terminal too, so that it can be copied whole.
    let mut stage = ScreenStage::new(LOOK);
    stage.text(source).replied().process();
    let written = String::from_utf8(stage.written.clone()).expect("text");
    assert!(written.contains("cargo   test --workspace --all-features -- --nocapture --test-threads=1\u{b}\r"));
}

#[test]
fn code_in_an_item_stands_under_its_text() {
    let source = "1. Install:\n   ```sh\n   make\n   ```\n2. Go\n";
    let look = TerminalLook { width: 30, ..LOOK };
    let expected = "\
1. Install:
   ── sh ─────────────────────
   make
   ───────────────────────────
2. Go";
    check(look, source, expected);
}

#[test]
fn a_table_is_as_wide_as_it_needs_else_wrapped_else_a_list() {
    let source =
        "| Name | What it does | Cost |\n|:--|:-:|--:|\n| `a` | reads | 1 |\n| bee | writes **all** of it | 10,000 |\n";
    let wide = "\
Name │    What it does     │   Cost
─────┼─────────────────────┼───────
`a`  │        reads        │      1
bee  │ writes **all** of it │ 10,000";
    let wide = wide
        .replace("    What it does     │", "     What it does     │")
        .replace("─────────────────────┼", "──────────────────────┼");
    check(LOOK, source, &wide.replace("        reads        │", "        reads         │"));
    let wrapped = "\
Name │ What it  │  Cost
     │   does   │
─────┼──────────┼───────
`a`  │  reads   │      1
─────┼──────────┼───────
bee  │  writes  │ 10,000
     │ **all**  │
     │  of it   │";
    let wrapped = wrapped.replace("│  Cost\n", "│   Cost\n");
    check(TerminalLook { width: 24, ..LOOK }, source, &wrapped);
    let list = "\
Name: `a`
What it does:
reads
Cost: 1

Name: bee
What it does:
writes **all**
of it
Cost: 10,000";
    check(TerminalLook { width: 14, ..LOOK }, source, list);
}

#[test]
fn links_say_where_they_go_unless_their_text_does() {
    let source = "See [the docs](https://a.example/x), <https://b.example>, [https://c.example](https://c.example) and ![a cat](cat.png).\n";
    let expected = "\
See the docs (https://a.example/x), https://b.example,
https://c.example and [image: a cat] (cat.png).";
    check(LOOK, source, expected);
}

#[test]
fn wide_characters_and_pictures_take_the_room_they_need() {
    let look = TerminalLook { width: 20, ..LOOK };
    let expected = "\
これは長い日本語の文
章です。

| 🦀 │ 名前
───┼─────
一 │ x";
    let source = "これは長い日本語の文章です。\n\n|🦀|名前|\n|-|-|\n|一|x|\n";
    check(look, source, &expected.replace("| 🦀", "🦀"));
}

#[test]
fn ascii_terminals_get_ascii_marks() {
    let look = TerminalLook { glyphs: Glyphs::Ascii, ..LOOK };
    let source = "- a\n  - b\n\n> q\n\n|x|y|\n|-|-|\n|1|2|\n\n```\nc\n```\n";
    let seen = answer(look, source);
    assert!(seen.is_ascii(), "{seen}");
}

#[test]
fn colours_take_the_place_of_marks() {
    let look = TerminalLook { colour: Colour::Ansi, ..LOOK };
    let mut stage = ScreenStage::new(look);
    stage.text("# T\n**bold** *it* `co` ~~no~~\n").replied();
    stage.shows("T\n\nbold it co no");
    let written = String::from_utf8(stage.written.clone()).expect("text");
    for styled in ["\u{1b}[1;4mT", "\u{1b}[1mbold", "\u{1b}[3mit", "\u{1b}[36mco", "\u{1b}[9mno"] {
        assert!(written.contains(styled), "{styled:?} in {written:?}");
    }
}

#[test]
fn html_and_what_is_no_markdown_are_shown_as_text() {
    check(LOOK, "<b>x</b> a<br>b\n\n<div>\nhi\n</div>\n", "<b>x</b> a\nb\n\n<div>\nhi\n</div>");
    check(LOOK, "1) one\n2) two\n\n+ plus\n", "1. one\n2. two\n\n• plus");
    check(LOOK, "a_b_c and 2 * 3 * 4\n\\*not\\*\n", "a_b_c and 2 * 3 * 4\n*not*");
}
