//! The HTML of finished records: Markdown of a model or a person, made harmless. The page never makes HTML of such text itself.

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::Builder;
use pulldown_cmark::{Event, Options, Parser, Tag, html};
use windlass_narrate::harmless_lines;
use windlass_vocab::{Envelope, Part, Record};

/// What may stand in the result. Links open elsewhere, and tell nobody where they were followed from; images are not
/// loaded, because that would tell their server who reads what.
static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "em",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "input",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ];
    let mut builder = Builder::default();
    builder
        .tags(HashSet::from(tags))
        .tag_attributes(
            [
                ("a", HashSet::from(["href", "title"])),
                ("code", HashSet::from(["class"])),
                ("input", HashSet::from(["type", "checked", "disabled"])),
                ("ol", HashSet::from(["start"])),
            ]
            .into(),
        )
        .generic_attributes(HashSet::new())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .add_tag_attributes("a", ["target"])
        .set_tag_attribute_value("a", "target", "_blank")
        .link_rel(Some("noopener noreferrer"));
    builder
});

/// The longest text that is formatted, in bytes, and how deep its quotes, lists and emphasis may be in each other: cleaning
/// takes time that grows with the square of the depth. Nobody writes such texts to be read.
const LONGEST: usize = 256 * 1024;
const DEEPEST: usize = 64;

/// The most ampersands of a text that is formatted: each is looked up as the beginning of an entity, in all that follows.
const MOST_AMPERSANDS: usize = 4_096;

/// Returns the HTML of a Markdown text. A text that is too long or too deep comes as it was written.
pub(crate) fn html_of(markdown: &str) -> String {
    formatted(markdown).unwrap_or_else(|| as_written(markdown))
}

fn formatted(markdown: &str) -> Option<String> {
    let ampersands = markdown.bytes().filter(|byte| *byte == b'&').count();
    if markdown.len() > LONGEST || ampersands > MOST_AMPERSANDS {
        return None;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut depth, mut deepest) = (0_usize, 0);
    let events = Parser::new_ext(markdown, options).inspect(|event| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    });
    // HTML in the text is shown as the text it is, and nothing in it hides or reorders what is read.
    let events = events.map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => Event::Text(harmless_lines(&text).into()),
        Event::Code(text) => Event::Code(harmless_lines(&text).into()),
        Event::Start(tag) => Event::Start(harmless_tag(tag)),
        event => event,
    });
    let mut made = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut made, events);
    (deepest <= DEEPEST).then(|| CLEANER.clean(&made).to_string())
}

/// Returns a text as it was written, as HTML.
fn as_written(text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 16);
    made.push_str("<pre>");
    for character in harmless_lines(text).chars() {
        match character {
            '&' => made.push_str("&amp;"),
            '<' => made.push_str("&lt;"),
            '>' => made.push_str("&gt;"),
            '"' => made.push_str("&quot;"),
            character => made.push(character),
        }
    }
    made.push_str("</pre>");
    made
}

/// From how many bytes on a text is formatted where it holds up nobody else.
const LONG: usize = 8 * 1024;

/// Whether the text of a record takes a while to format.
pub(crate) fn is_long(envelope: &Envelope) -> bool {
    let bytes = match &envelope.record {
        Record::ModelReplied(replied) => replied.parts.iter().map(text_bytes).sum(),
        Record::MessageAccepted(accepted) => accepted.text.len(),
        Record::RunEnded(ended) => ended.answer.len(),
        _ => 0,
    };
    bytes > LONG
}

fn text_bytes(part: &Part) -> usize {
    if let Part::Text { text } = part { text.len() } else { 0 }
}

/// Returns a tag without hidden characters in what is shown of it: the title of a link.
fn harmless_tag(tag: Tag<'_>) -> Tag<'_> {
    match tag {
        Tag::Link { link_type, dest_url, title, id } => {
            Tag::Link { link_type, dest_url, title: harmless_lines(&title).into(), id }
        }
        tag => tag,
    }
}

/// Returns the HTML of the text of a record; `None` for records without a text to read.
pub(crate) fn record_html(envelope: &Envelope) -> Option<String> {
    match &envelope.record {
        Record::ModelReplied(replied) => {
            let texts: Vec<&str> = replied
                .parts
                .iter()
                .filter_map(|part| match part {
                    Part::Text { text } => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            let text = texts.join("\n\n");
            (!text.trim().is_empty()).then(|| html_of(&text))
        }
        Record::MessageAccepted(accepted) => Some(html_of(&accepted.text)),
        Record::RunEnded(ended) => (!ended.answer.trim().is_empty()).then(|| html_of(&ended.answer)),
        _ => None,
    }
}

/// Returns a record as JSON with one more field, `html`, where it has a text to read.
pub(crate) fn with_html(json: &str, envelope: &Envelope) -> String {
    let Some(html) = record_html(envelope) else { return json.to_owned() };
    let (Some(open), Ok(html)) = (json.strip_suffix('}'), serde_json::to_string(&html)) else { return json.to_owned() };
    format!("{open},\"html\":{html}}}")
}

#[cfg(test)]
mod tests {
    use windlass_narrate::harmless_lines;

    use super::html_of;

    // proves W3, X4: nothing in a model's text acts in the page
    #[test]
    fn text_of_a_model_makes_no_script_frame_image_or_handler() {
        for hostile in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<iframe src='https://evil.example'></iframe>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,<script>alert(1)</script>)",
            "![x](https://evil.example/track.png)",
            "<a href=\"https://a.example\" onclick=\"x()\">a</a>",
            "<svg><animate onbegin=alert(1)></svg>",
            "<style>body{display:none}</style>",
            "```\"><script>alert(1)</script>\nx\n```",
            "<form action=//evil.example><input name=token></form>",
        ] {
            let made = html_of(hostile);
            for part in [
                "<script",
                "<img",
                "<iframe",
                "<svg",
                "<style",
                "<form",
                "href=\"javascript",
                "href=\"data",
                "<a onclick",
            ] {
                assert!(!made.to_lowercase().contains(part), "{part} in {made}");
            }
            assert!(!made.contains("name=\"token\""), "{made}");
        }
    }

    // proves X4: what is hidden in a text stays visible when its record takes the place of the streamed text
    #[test]
    fn characters_that_hide_or_reorder_text_are_replaced() {
        let hidden = "a\u{202e}b `c\u{2066}d`\n\n```\ne\u{200b}f\n```\n\n<b\u{ad}> &#x202e;";
        let made = html_of(hidden);
        for part in ["a\u{fffd}b", "<code>c\u{fffd}d</code>", "e\u{fffd}f\n", "&lt;b\u{fffd}&gt; \u{fffd}"] {
            assert!(made.contains(part), "{part:?} in {made:?}");
        }
        let kept = "👨\u{200d}👩 می\u{200c}خواهم\ttab";
        assert!(html_of(kept).contains(kept), "joiners belong to scripts and emoji");
    }

    // proves W3: no text takes long to format: too deep or too long ones are shown as they were written
    #[test]
    fn a_text_that_is_too_deep_or_too_long_is_shown_as_it_was_written() {
        let deep = [
            ">".repeat(10_000),
            "> ".repeat(65) + "x",
            "- ".repeat(10_000) + "x",
            "1. ".repeat(10_000) + "x",
            "*".repeat(200_000) + "x",
            "*a ".repeat(30_000) + &" b*".repeat(30_000),
            "**a ".repeat(30_000) + &" b**".repeat(30_000),
        ];
        for text in &deep {
            let made = html_of(text);
            assert_eq!(made.contains("<pre>"), made.starts_with("<pre>"), "{}", &made[..40]);
            assert!(made.matches("<blockquote").count() <= 64 && made.matches("<li").count() <= 64, "{}", &made[..40]);
        }
        assert_eq!(html_of(&deep[1]), format!("<pre>{}x</pre>", "&gt; ".repeat(65)));
        assert_eq!(html_of(&format!("{}x", "> ".repeat(63))).matches("<blockquote>").count(), 63, "and a paragraph");
        let long = "<b>&\u{202e}".repeat(60_000);
        assert!(html_of(&long) == format!("<pre>{}</pre>", "&lt;b&gt;&amp;\u{fffd}".repeat(60_000)));
    }

    // proves X4: one table for the terminal and the page. A character that the terminal replaces reaches the page nowhere.
    #[test]
    fn no_character_that_the_terminal_replaces_is_in_the_html() {
        let hides = |c: char| harmless_lines(&format!("a{c}")) != format!("a{c}");
        let hidden: Vec<char> = ('\0'..=char::MAX).filter(|c| hides(*c)).collect();
        assert!(hidden.len() > 4_000, "{}", hidden.len());
        // Each after a letter; 100 a line, for what a line may hold is bounded.
        let lines: Vec<String> =
            hidden.chunks(100).map(|some| some.iter().map(|c| format!("a{c}")).collect::<String>()).collect();
        let text = lines.join("\n");
        for markdown in [text.clone(), format!("```\n{text}\n```"), format!("`{}`", lines.join("` `"))] {
            let made = html_of(&markdown);
            let left: Vec<char> = made.chars().filter(|c| hides(*c)).collect();
            assert_eq!(left, Vec::<char>::new());
            assert!(made.matches('\u{fffd}').count() > 4_000, "they are made visible, not removed");
        }
        let link = html_of("[docs](https://docs.example/ \"a\u{202e}b\")");
        assert!(link.contains("title=\"a\u{fffd}b\""), "{link}");
    }

    // proves W4
    #[test]
    fn ordinary_markdown_is_shown_as_written() {
        let made = html_of(
            "# Plan\n\n- [x] *one*\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n\n[docs](https://docs.example/x)",
        );
        for part in [
            "<h1>Plan</h1>",
            "<em>one</em>",
            "<td>1</td>",
            "<code class=\"language-rust\">fn main() {}",
            "<a href=\"https://docs.example/x\" target=\"_blank\" rel=\"noopener noreferrer\">docs</a>",
        ] {
            assert!(made.contains(part), "{part} in {made}");
        }
        assert!(html_of("a <b>bold</b> claim, 1 < 2 && x").contains("&lt;b&gt;bold&lt;/b&gt;"), "tags are shown");
    }
}
