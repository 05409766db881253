//! Converts a page of HTML to readable text: headings, lists, links and code as Markdown, without scripts and styles.
//!
//! It takes one pass over the page, whatever the page contains: an unclosed tag ends the page there. The output is
//! bounded as well, because relative links become longer.

mod tags;

use self::tags::{HtmlPiece, HtmlTag, pieces};
use super::exchange::BodyExtent;
use crate::address::Address;

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadablePage {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) extent: BodyExtent,
}

/// The maximum nesting that is indented.
const DEEPEST: usize = 8;
const LONGEST_TITLE: usize = 300;

/// Returns the text of `html` from `address`, not much longer than `room` bytes.
pub(super) fn readable(html: &str, address: &Address, room: usize) -> ReadablePage {
    let mut page = PageWriter { address, ..PageWriter::new(address) };
    for piece in pieces(html) {
        match piece {
            HtmlPiece::Text(text) => page.text(&text),
            HtmlPiece::Tag(tag) => page.tag(&tag),
        }
        if page.out.len() > room {
            return page.finished(BodyExtent::Cut);
        }
    }
    page.finished(BodyExtent::Whole)
}

/// White space to write before the next word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Blank,
    Line,
    Paragraph,
}

/// The markers of a list.
enum ListStyle {
    Dots,
    Numbers(u32),
}

/// A link whose text is being written: its target, and where its text begins.
struct OpenLink {
    to: String,
    from: usize,
}

struct PageWriter<'a> {
    address: &'a Address,
    out: String,
    title: String,
    in_title: bool,
    gap: Gap,
    /// Nesting depth of preformatted elements.
    verbatim: usize,
    quoted: usize,
    lists: Vec<ListStyle>,
    link: Option<OpenLink>,
}

impl<'a> PageWriter<'a> {
    fn new(address: &'a Address) -> Self {
        Self {
            address,
            out: String::new(),
            title: String::new(),
            in_title: false,
            gap: Gap::None,
            verbatim: 0,
            quoted: 0,
            lists: Vec::new(),
            link: None,
        }
    }

    fn finished(mut self, extent: BodyExtent) -> ReadablePage {
        self.end_link();
        // The text must not control a terminal: remove control characters.
        self.out.retain(|c| !c.is_control() || matches!(c, '\n' | '\t'));
        self.title.retain(|c| !c.is_control() || c.is_whitespace());
        self.out.truncate(self.out.trim_end().len());
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        ReadablePage { title: crate::shorten::shorten(&title, LONGEST_TITLE), text: self.out, extent }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
        } else if self.verbatim > 0 {
            self.settle();
            self.out.push_str(text);
        } else {
            self.words(text);
        }
    }

    fn words(&mut self, text: &str) {
        if text.starts_with(char::is_whitespace) {
            self.owe(Gap::Blank);
        }
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            self.settle();
            self.out.push_str(word);
            if words.peek().is_some() || text.ends_with(char::is_whitespace) {
                self.owe(Gap::Blank);
            }
        }
    }

    fn owe(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Writes the pending white space.
    fn settle(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        let begun = !self.out.is_empty();
        match gap {
            Gap::None => {}
            Gap::Blank if begun && !self.out.ends_with(char::is_whitespace) => self.out.push(' '),
            Gap::Blank => {}
            Gap::Line if begun => self.new_line(),
            Gap::Paragraph if begun => {
                self.out.push('\n');
                self.new_line();
            }
            Gap::Line | Gap::Paragraph => self.begin_line(),
        }
    }

    fn new_line(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
        self.begin_line();
    }

    fn begin_line(&mut self) {
        (0..self.quoted.min(DEEPEST)).for_each(|_| self.out.push_str("> "));
    }

    fn tag(&mut self, tag: &HtmlTag<'_>) {
        match tag {
            HtmlTag::Open { name, .. } => self.open(name, tag),
            HtmlTag::Close { name } => self.close(name),
        }
    }

    fn open(&mut self, name: &str, tag: &HtmlTag<'_>) {
        match name {
            "title" if self.title.is_empty() => self.in_title = true,
            "br" => self.owe(Gap::Line),
            "hr" => {
                self.owe(Gap::Paragraph);
                self.words("---");
                self.owe(Gap::Paragraph);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.end_link();
                self.owe(Gap::Paragraph);
                let level = name.as_bytes().get(1).map_or(1, |digit| usize::from(digit - b'0'));
                self.words(&"#".repeat(level));
                self.owe(Gap::Blank);
            }
            "pre" => {
                self.owe(Gap::Paragraph);
                self.words("```");
                self.owe(Gap::Line);
                self.verbatim += 1;
            }
            "code" | "kbd" | "samp" if self.verbatim == 0 => self.mark("`"),
            "ul" | "ol" => self.begin_list(name),
            "li" => self.item(),
            "blockquote" => {
                self.owe(Gap::Paragraph);
                self.quoted += 1;
            }
            "td" | "th" => {
                if !self.out.is_empty() && !self.out.ends_with('\n') && self.gap < Gap::Line {
                    self.words(" | ");
                }
            }
            "img" => {
                if let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
                    self.words(&format!("[image: {}]", alt.trim()));
                }
            }
            "a" => self.begin_link(tag),
            _ => self.owe(gap_of(name)),
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "title" => self.in_title = false,
            "a" => self.end_link(),
            "pre" if self.verbatim > 0 => {
                self.verbatim -= 1;
                self.gap = Gap::Line;
                self.words("```");
                self.owe(Gap::Paragraph);
            }
            "code" | "kbd" | "samp" if self.verbatim == 0 => {
                self.gap = Gap::None;
                self.out.push('`');
            }
            "ul" | "ol" => {
                self.lists.pop();
                self.owe(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
            }
            "blockquote" => {
                self.quoted = self.quoted.saturating_sub(1);
                self.owe(Gap::Paragraph);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.owe(Gap::Paragraph),
            _ => self.owe(gap_of(name)),
        }
    }

    fn mark(&mut self, mark: &str) {
        self.settle();
        self.out.push_str(mark);
    }

    fn begin_list(&mut self, name: &str) {
        self.owe(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push(if name == "ol" { ListStyle::Numbers(0) } else { ListStyle::Dots });
    }

    fn item(&mut self) {
        self.owe(Gap::Line);
        self.settle();
        let depth = self.lists.len().saturating_sub(1).min(DEEPEST);
        (0..depth).for_each(|_| self.out.push_str("  "));
        match self.lists.last_mut() {
            Some(ListStyle::Numbers(number)) => {
                *number += 1;
                self.out.push_str(&format!("{number}. "));
            }
            Some(ListStyle::Dots) | None => self.out.push_str("- "),
        }
    }

    fn begin_link(&mut self, tag: &HtmlTag<'_>) {
        self.end_link();
        let Some(to) = tag.attribute("href") else { return };
        let to = to.trim();
        if to.is_empty() || to.starts_with('#') {
            return;
        }
        if let Ok(to) = self.address.url().join(to)
            && matches!(to.scheme(), "http" | "https" | "mailto")
        {
            self.settle();
            self.link = Some(OpenLink { to: to.into(), from: self.out.len() });
        }
    }

    /// Puts the link around the text written since it began.
    fn end_link(&mut self) {
        let Some(OpenLink { to, from }) = self.link.take() else { return };
        let text = self.out[from..].trim_end();
        if text.trim().is_empty() {
            return;
        }
        let gap = self.out.len() > from + text.len();
        self.out.truncate(from + text.len());
        if self.out[from..] == to {
            return;
        }
        self.out.insert(from, '[');
        self.out.push_str("](");
        self.out.push_str(&to);
        self.out.push(')');
        if gap {
            self.owe(Gap::Blank);
        }
    }
}

/// Returns the white space around an element.
fn gap_of(name: &str) -> Gap {
    match name {
        "p" | "table" | "dl" | "figure" | "details" | "form" | "fieldset" => Gap::Paragraph,
        "div" | "section" | "article" | "main" | "nav" | "header" | "footer" | "aside" | "tr" | "dt" | "dd" | "li"
        | "body" | "head" | "figcaption" | "summary" | "option" | "address" | "caption" | "thead" | "tbody" => {
            Gap::Line
        }
        _ => Gap::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &str) -> ReadablePage {
        readable(html, &Address::parse("https://example.org/dir/page").unwrap(), 1 << 20)
    }

    // proves T10: HTML to text
    #[test]
    fn a_page_becomes_text_with_its_structure_and_links() {
        let html = "<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if(a<b)x()</script>\
            </head><body><!-- no --><h1>Hauling</h1><p>One\n  <b>two</b> three.<p>See <a href='../x?y=1&amp;z'>the docs</a>, <a href=#top>top</a><ul><li>a<li>b<ol><li>c</ol></ul><pre>  x &lt; y\n  z</pre><blockquote>said\
            </blockquote><table><tr><td>1<td>2<tr><td>3<td>4</table>use <code>cargo</code>.<br>end<img alt='A boat'>";
        let want = "# Hauling\n\nOne two three.\n\nSee [the docs](https://example.org/x?y=1&z), top\n\n- a\n- b\n  1. c\n\n\
            ```\n  x < y\n  z\n```\n\n> said\n\n1 | 2\n3 | 4\n\nuse `cargo`.\nend[image: A boat]";
        let ReadablePage { title, text, extent } = page(html);
        assert_eq!((title.as_str(), text.as_str(), extent), ("A & B", want, BodyExtent::Whole));
    }

    // proves X4: only the text of a page is returned
    #[test]
    fn what_runs_or_hides_is_left_out() {
        for (html, want) in [
            ("a<script>b</script>c", "ac"),
            ("a<SCRIPT src=x>b</ScRiPt >c", "ac"),
            ("a<script>b", "a"),
            ("a<style>b</style>c<svg><text>d</text></svg>e", "ace"),
            ("a<!-- b --><!-->c", "ac"),
            ("a<!-- b", "a"),
            ("a<b title='x>y'>c</b>", "ac"),
            ("a < b", "a < b"),
            ("a<b", "a"),
            ("<a href='javascript:x()'>go</a>", "go"),
            ("<a href=data:x>go</a>", "go"),
            ("&lt;b&gt; &#65;&#x42; &nosuch; &amp &copy;", "<b> AB &nosuch; & ©"),
            ("a\u{1b}[31mb\0c\u{9b}d<pre>e\u{7}\tf</pre>", "a[31mbcd\n\n```\ne\tf\n```"),
            ("&#27;[2J&#155;x", "[2Jx"),
            ("&#0;&#xD800;&#99999999999;", "\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(page(html).text, want, "{html}");
        }
    }

    // proves T10: hostile pages take time linear in their length
    #[test]
    fn no_page_is_slow_or_grows_beyond_its_bound() {
        let address = Address::parse(&format!("https://example.org/{}/", "d".repeat(2_000))).unwrap();
        for unit in [
            "<",
            "<a",
            "<a href='",
            "<a href=x>y",
            "<div>",
            "<ul><li>",
            "<!--",
            "<script>",
            "&",
            "&amp",
            "</",
            "\"",
            "<pre>",
            "<a href=x>y</a>",
            "<blockquote>x",
            "<h1>",
            "<td>",
            "<![CDATA[",
            "<x y=",
            "<a b='c' ",
        ] {
            let html = unit.repeat(1_000_000 / unit.len());
            let made = readable(&html, &address, 1 << 20);
            assert!(made.text.len() < 3 << 20, "{unit}: {}", made.text.len());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_read(html in "[<>a-c/!='\"& #;\n-]{0,200}") {
            let _ = page(&html);
        }
    }
}
