//! Lays out Markdown: source in, lines out. Pure; takes complete pieces only.
//!
//! One pass over the parser's events. The containers of a block (quotes, list items) form a stack whose marks precede
//! every line of the block.

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::code::{RULE, code_foot, code_head, code_line};
use super::look::{Colour, TerminalLook};
use super::style::{LineFit, Span, Style, StyledLine, harmless_text, push, text_width};
use super::table::MarkdownTable;
use super::wrap::wrap;

/// Returns the lines of a piece of Markdown. `number` is the number of its first item, if it is one.
pub(super) fn lay_out(source: &str, number: Option<u64>, look: TerminalLook) -> Vec<StyledLine> {
    let mut page = MarkdownLayout::new(look, number);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(source, options) {
        page.take(event);
    }
    page.flush();
    page.lines
}

/// A container of a block.
enum Container {
    Quote,
    /// The number of the next item.
    List(Option<u64>),
    Item {
        /// The item's mark; `None` once it was printed.
        mark: Option<String>,
        width: usize,
        /// Whether the item's text has no paragraph around it: no blank lines.
        tight: bool,
    },
}

/// An open link or image: where its text begins, and its target.
struct MarkdownLink {
    begins: usize,
    target: Option<String>,
}

struct MarkdownLayout {
    look: TerminalLook,
    lines: Vec<StyledLine>,
    containers: Vec<Container>,
    /// Text of the current block.
    inline: Vec<Span>,
    styles: Vec<Style>,
    links: Vec<MarkdownLink>,
    /// Code of a nested block (the stream handles top-level code blocks itself).
    code: Option<String>,
    table: Option<MarkdownTable>,
    /// Whether the next block is the first in its container.
    fresh: bool,
    first_number: Option<u64>,
}

impl MarkdownLayout {
    fn new(look: TerminalLook, first_number: Option<u64>) -> Self {
        Self {
            look,
            lines: Vec::new(),
            containers: Vec::new(),
            inline: Vec::new(),
            styles: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            fresh: true,
            first_number,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(code) => self.marked(Style::CODE, "`", &code),
            Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
            Event::SoftBreak | Event::HardBreak => self.break_line(),
            Event::Rule => {
                self.gap();
                let rule = self.look.glyphs.dash().repeat(RULE.min(self.room()));
                self.put(vec![vec![Span::new(Style::DIM, &rule)]], LineFit::Row);
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                let level = level as usize;
                self.styles.push(if level == 1 { Style::BOLD.with(Style::UNDERLINE) } else { Style::BOLD });
                if self.look.colour == Colour::None {
                    self.text(&format!("{} ", "#".repeat(level)));
                }
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.containers.push(Container::Quote);
                self.fresh = true;
            }
            Tag::CodeBlock(kind) => {
                self.gap();
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.as_ref(),
                    CodeBlockKind::Indented => "",
                };
                let head = code_head(info, TerminalLook { width: self.room(), ..self.look });
                self.put(vec![head.spans], LineFit::Row);
                self.code = Some(String::new());
            }
            Tag::List(first) => self.start_list(first),
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.gap();
                self.table = Some(MarkdownTable::new(alignments));
            }
            Tag::Emphasis => self.mark(Style::ITALIC, "*"),
            Tag::Strong => self.mark(Style::BOLD, "**"),
            Tag::Strikethrough => self.mark(Style::STRIKE, "~~"),
            Tag::Link { link_type, dest_url, .. } => {
                let bare = matches!(link_type, LinkType::Autolink | LinkType::Email) || dest_url.starts_with('#');
                self.styles.push(self.style().with(Style::UNDERLINE));
                self.links
                    .push(MarkdownLink { begins: self.inline.len(), target: (!bare).then(|| dest_url.into_string()) });
            }
            Tag::Image { dest_url, .. } => {
                self.text("[image: ");
                self.styles.push(self.style());
                self.links.push(MarkdownLink { begins: self.inline.len(), target: Some(dest_url.into_string()) });
            }
            Tag::HtmlBlock => self.gap(),
            Tag::TableHead | Tag::TableRow | Tag::TableCell => {}
            // The parser options don't enable these.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.containers.pop();
                self.fresh = false;
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.containers.pop();
            }
            TagEnd::Item => self.end_item(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Emphasis => self.unmark("*"),
            TagEnd::Strong => self.unmark("**"),
            TagEnd::Strikethrough => self.unmark("~~"),
            TagEnd::Link => self.end_link(""),
            TagEnd::Image => self.end_link("]"),
            // The parser options don't enable these.
            _ => {}
        }
    }

    fn start_list(&mut self, first: Option<u64>) {
        self.gap();
        let first = first.map(|first| self.first_number.take().unwrap_or(first));
        self.containers.push(Container::List(first));
        self.fresh = true;
    }

    fn start_item(&mut self) {
        let depth = self.containers.iter().filter(|container| matches!(container, Container::List(None))).count();
        let mark = match self.containers.last_mut() {
            Some(Container::List(Some(number))) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(Container::List(None) | Container::Quote | Container::Item { .. }) | None => {
                format!("{} ", self.look.glyphs.bullet(depth.saturating_sub(1)))
            }
        };
        let width = text_width(&mark);
        self.containers.push(Container::Item { mark: Some(mark), width, tight: false });
    }

    fn end_item(&mut self) {
        self.flush();
        if let Some(Container::Item { mark: Some(_), .. }) = self.containers.last() {
            // An empty item still has its mark.
            self.put(vec![Vec::new()], LineFit::Row);
        }
        self.containers.pop();
        self.fresh = false;
    }

    fn end_code(&mut self) {
        let code = self.code.take().unwrap_or_default();
        let lines = code.strip_suffix('\n').unwrap_or(&code).split('\n').map(|line| code_line(line).spans);
        self.put(lines.collect(), LineFit::Whole);
        let foot = code_foot(TerminalLook { width: self.room(), ..self.look });
        self.put(vec![foot.spans], LineFit::Row);
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            let rows = table.lay_out(self.room(), self.look.glyphs);
            self.put(rows, LineFit::Row);
        }
    }

    /// Appends a link's target to its text, unless the text already contains it.
    fn end_link(&mut self, closing: &str) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        self.text(closing);
        let text: String = self.inline.iter().skip(link.begins).map(|span| span.text.as_str()).collect();
        if let Some(target) = link.target.filter(|target| !text.contains(target.as_str()) && !target.is_empty()) {
            let target = format!(" ({})", harmless_text(&target));
            self.inline.push(Span { style: Style::DIM, text: target });
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str) {
        let style = self.style();
        // A link's text begins with a span of its own.
        if self.links.last().is_some_and(|link| link.begins == self.inline.len()) {
            self.inline.push(Span { style, text: String::new() });
        }
        push(&mut self.inline, style, &harmless_text(text));
    }

    /// Begins a style; without colour, writes its Markdown mark.
    fn mark(&mut self, style: Style, mark: &str) {
        self.styles.push(self.style().with(style));
        if self.look.colour == Colour::None {
            self.text(mark);
        }
    }

    fn unmark(&mut self, mark: &str) {
        if self.look.colour == Colour::None {
            self.text(mark);
        }
        self.styles.pop();
    }

    fn marked(&mut self, style: Style, mark: &str, text: &str) {
        self.mark(style, mark);
        self.text(text);
        self.unmark(mark);
    }

    fn html(&mut self, html: &str) {
        if matches!(html, "<br>" | "<br/>" | "<br />") {
            return self.break_line();
        }
        for line in html.split_inclusive('\n') {
            self.text(line.trim_end_matches(['\n', '\r']));
            if line.ends_with('\n') {
                self.break_line();
            }
        }
    }

    fn break_line(&mut self) {
        push(&mut self.inline, Style::PLAIN, "\n");
    }

    /// Puts a blank line before a block that follows another one, except in a tight item.
    fn gap(&mut self) {
        // The text of a tight item has no paragraph that would end it.
        let bare = !self.inline.is_empty();
        self.flush();
        if let Some(Container::Item { tight, .. }) = self.containers.last_mut() {
            *tight |= bare;
            self.fresh |= *tight;
        }
        if !self.fresh {
            let bars = self.containers.iter().filter(|container| matches!(container, Container::Quote)).count();
            let bars = self.look.glyphs.bar().repeat(bars);
            self.lines.push(StyledLine::of(Style::DIM, bars.trim_end()));
        }
        self.fresh = true;
    }

    /// Lays out the text of the current block.
    fn flush(&mut self) {
        let mut inline = std::mem::take(&mut self.inline);
        while inline.last().is_some_and(|span| span.text.trim_end_matches('\n').is_empty()) {
            inline.pop();
        }
        if !inline.is_empty() {
            let rows = wrap(&inline, self.room());
            self.put(rows, LineFit::Row);
        }
    }

    /// Returns the columns left by the containers.
    fn room(&self) -> usize {
        let taken: usize = self.containers.iter().map(Container::width).sum();
        self.look.columns().saturating_sub(taken).max(self.look.columns() / 2)
    }

    fn put(&mut self, rows: Vec<Vec<Span>>, fit: LineFit) {
        for row in rows {
            let mut spans = self.marks();
            spans.extend(row);
            self.lines.push(StyledLine { spans, fit });
            self.fresh = false;
        }
    }

    /// Returns the marks before a line; an item's mark only once. Nesting beyond half the width is not displayed.
    fn marks(&mut self) -> Vec<Span> {
        let (mut spans, mut room) = (Vec::new(), self.look.columns() / 2);
        for container in &mut self.containers {
            let shown = container.width() <= room;
            room = if shown { room - container.width() } else { 0 };
            match container {
                Container::Quote if shown => push(&mut spans, Style::DIM, self.look.glyphs.bar()),
                Container::Item { mark, width, .. } if shown => {
                    let mark = mark.take().unwrap_or_else(|| " ".repeat(*width));
                    push(&mut spans, Style::PLAIN, &mark);
                }
                Container::Item { mark, .. } => *mark = None,
                Container::Quote | Container::List(_) => {}
            }
        }
        spans
    }
}

impl Container {
    fn width(&self) -> usize {
        match self {
            Self::Quote => 2,
            Self::List(_) => 0,
            Self::Item { width, .. } => *width,
        }
    }
}
