//! Cutting a stream of Markdown into pieces that are finished and never change again.
//!
//! [`Blocks::push`] takes text as it comes and gives back what is now finished; [`Blocks::tail`] is
//! the rest, still growing. Where it is cut depends on the text alone, never on how it was split on
//! its way here, and each line is looked at once: the cost is linear. Items of a list are pieces of
//! their own, and so is each line of a code block; a block that grows beyond all bounds is cut where
//! it stands.

use super::marks::{Fence, ItemMark, indent, is_heading, is_quote, is_rule, is_table_rule, is_undecided};

/// Bounds of what may be unfinished: it is laid out anew whenever it changes.
const LINES: usize = 200;
const BYTES: usize = 16 * 1024;
const CODE_LINE: usize = 64 * 1024;

/// Something finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A block, or several.
    Markdown(Markdown),
    /// A code block begins.
    CodeBegins { info: String, join: Join },
    /// A line of it.
    CodeLine(String),
    /// It ends.
    CodeEnds,
    /// A line of a block that was cut because it is too long: shown as it is.
    Overflow(String),
}

/// The source of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Markdown {
    pub(super) source: String,
    pub(super) join: Join,
    /// The number of the list item it is, which need not be the one written.
    pub(super) number: Option<u64>,
}

/// How a piece stands to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Join {
    /// With a blank line between them.
    #[default]
    Apart,
    /// Without.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Paragraph,
    Quote,
    Item(ItemMark),
}

#[derive(Debug)]
struct Block {
    kind: Kind,
    markdown: Markdown,
    lines: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Between,
    Block(Block),
    Code(Fence),
    /// In the rest of a block that was cut; it ends as the block would have.
    Overflow,
}

/// What came before, as far as it decides on blank lines and numbers.
#[derive(Debug, Default)]
struct Before {
    blank: bool,
    /// The kind of the last block; none after code, a heading or a cut.
    kind: Option<Kind>,
    /// The number of the last item.
    number: Option<u64>,
    /// Set when a block was cut: what follows belongs to it.
    cut: bool,
}

/// The stream, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    state: State,
    before: Before,
    /// The line that is not finished.
    partial: String,
    /// A `\r` was the last character: a `\n` now belongs to it.
    after_return: bool,
    done: Vec<Piece>,
}

impl Blocks {
    /// Takes text; what is finished now is given back.
    pub(super) fn push(&mut self, text: &str) -> Vec<Piece> {
        for line in text.split_inclusive(['\n', '\r']) {
            let body = line.trim_end_matches(['\n', '\r']);
            self.grow(body);
            let return_ended = self.after_return && line == "\n";
            self.after_return = line.ends_with('\r');
            if body.len() < line.len() && !return_ended {
                let line = std::mem::take(&mut self.partial);
                self.line(&line);
            }
        }
        std::mem::take(&mut self.done)
    }

    /// The stream is over: everything is finished.
    pub(super) fn finish(mut self) -> Vec<Piece> {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(&line);
        }
        self.end_block();
        if let State::Code(_) = self.state {
            self.done.push(Piece::CodeEnds);
        }
        self.done
    }

    /// Finishes a paragraph up to its last whole word; the rest will go on from there. What would
    /// mean something else in two parts stays unfinished.
    pub(super) fn cut(&mut self) -> Vec<Piece> {
        let begun = match &self.state {
            State::Block(block) => block.markdown.source.as_str(),
            State::Between => self.partial.as_str(),
            State::Code(_) | State::Overflow => return Vec::new(),
        };
        if kind_of(begun) == Some(Kind::Paragraph) && !begun.contains('|') && indent(begun) == 0 {
            self.cut_partial(whole_words(&self.partial));
        }
        std::mem::take(&mut self.done)
    }

    /// What is not finished, as it may be shown: nothing of which it is not yet clear what it is.
    pub(super) fn tail(&self) -> Option<Tail<'_>> {
        let partial = self.partial.as_str();
        let shown = if is_undecided(partial) { "" } else { partial };
        match &self.state {
            State::Code(fence) if fence.may_be_closed_by(partial) => None,
            State::Code(_) | State::Overflow => (!partial.is_empty()).then_some(Tail::Code(partial)),
            State::Between if shown.is_empty() => None,
            State::Between => {
                let join = self.join(kind_of(shown));
                Some(Tail::Markdown(Markdown { source: shown.to_owned(), join, number: None }))
            }
            State::Block(block) => {
                let source = format!("{}{shown}", block.markdown.source);
                Some(Tail::Markdown(Markdown { source, ..block.markdown.clone() }))
            }
        }
    }

    /// Adds to the unfinished line, which is cut when it grows too long.
    fn grow(&mut self, mut text: &str) {
        while self.partial.len() + text.len() > self.longest_line() {
            let room = text.floor_char_boundary(self.longest_line().saturating_sub(self.partial.len()));
            self.partial.push_str(&text[..room]);
            text = &text[room..];
            if let State::Code(fence) = &self.state {
                let line = fence.code(&self.partial).to_owned();
                self.done.push(Piece::CodeLine(line));
                self.partial.clear();
            } else {
                let words = whole_words(&self.partial);
                self.cut_partial(if words == 0 { self.partial.len() } else { words });
            }
        }
        self.partial.push_str(text);
    }

    fn longest_line(&self) -> usize {
        match self.state {
            State::Code(_) => CODE_LINE,
            State::Between | State::Block(_) | State::Overflow => BYTES,
        }
    }

    /// Cuts the unfinished line at `at`, and with it the block.
    fn cut_partial(&mut self, at: usize) {
        let rest = self.partial.split_off(at);
        let line = std::mem::replace(&mut self.partial, rest);
        if !line.trim().is_empty() {
            self.line(&line);
        }
        self.cut_block();
    }

    fn line(&mut self, line: &str) {
        match &self.state {
            State::Code(fence) => {
                let closed = fence.is_closed_by(line);
                let code = fence.code(line).to_owned();
                self.done.push(if closed { Piece::CodeEnds } else { Piece::CodeLine(code) });
                if closed {
                    self.state = State::Between;
                }
            }
            State::Overflow if self.overflows(line) => {
                self.before.blank = line.trim().is_empty();
                self.done.push(Piece::Overflow(line.to_owned()));
            }
            State::Overflow => {
                self.state = State::Between;
                self.line(line);
            }
            State::Between | State::Block(_) if line.trim().is_empty() => self.blank_line(),
            State::Between => self.begin(line),
            State::Block(block) if self.goes_on(block, line) => self.append(line),
            State::Block(_) => {
                self.end_block();
                self.begin(line);
            }
        }
    }

    /// Whether a line belongs to the block before it.
    fn goes_on(&self, block: &Block, line: &str) -> bool {
        let mark = ItemMark::of(line).filter(|_| indent(line) < 4);
        if let Kind::Item(item) = block.kind {
            if indent(line) >= item.content {
                return true;
            }
            if mark.is_some() || self.before.blank || is_rule(line) {
                return false;
            }
        }
        let interrupts = Fence::opened_by(line).is_some()
            || is_heading(line)
            || (is_quote(line) && block.kind != Kind::Quote)
            || mark.is_some_and(|mark| mark.interrupts());
        !interrupts
    }

    /// Whether a line still belongs to the block that was cut.
    fn overflows(&self, line: &str) -> bool {
        let begins = self.before.blank || ItemMark::of(line).is_some() || Fence::opened_by(line).is_some();
        line.trim().is_empty() || indent(line) > 0 || !begins
    }

    fn blank_line(&mut self) {
        self.before.blank = true;
        match &mut self.state {
            // An item may go on after it.
            State::Block(Block { kind: Kind::Item(_), markdown, lines }) => {
                markdown.source.push('\n');
                *lines += 1;
            }
            State::Block(Block { kind: Kind::Paragraph | Kind::Quote, .. }) => self.end_block(),
            State::Between | State::Code(_) | State::Overflow => {}
        }
        // Whatever was cut is over.
        if matches!(self.state, State::Between) {
            self.before.cut = false;
        }
    }

    fn begin(&mut self, line: &str) {
        if let Some(fence) = Fence::opened_by(line) {
            let join = self.join(None);
            self.before = Before::default();
            self.done.push(Piece::CodeBegins { info: fence.info.clone(), join });
            self.state = State::Code(fence);
            return;
        }
        let kind = kind_of(line);
        let join = self.join(kind);
        let number = match (kind, self.before.kind) {
            (Some(Kind::Item(mark)), Some(Kind::Item(last))) if mark.kind == last.kind => {
                self.before.number.map(|number| number.saturating_add(1))
            }
            (Some(Kind::Item(mark)), _) => mark.number,
            (Some(Kind::Paragraph | Kind::Quote) | None, _) => None,
        };
        self.before = Before { blank: false, kind, number, cut: false };
        let markdown = Markdown { source: String::new(), join, number };
        self.state = State::Block(Block { kind: kind.unwrap_or(Kind::Paragraph), markdown, lines: 0 });
        self.append(line);
        if kind.is_none() {
            self.end_block();
        }
    }

    fn join(&self, kind: Option<Kind>) -> Join {
        let Before { blank, kind: last, cut, .. } = self.before;
        match (last, kind) {
            _ if cut => Join::Close,
            (Some(Kind::Item(_) | Kind::Paragraph), Some(Kind::Item(_))) if !blank => Join::Close,
            _ => Join::Apart,
        }
    }

    fn append(&mut self, line: &str) {
        let State::Block(block) = &mut self.state else { return };
        block.markdown.source.push_str(line);
        block.markdown.source.push('\n');
        block.lines += 1;
        self.before.blank = false;
        if block.lines >= LINES || block.markdown.source.len() >= BYTES {
            self.cut_block();
        }
    }

    fn end_block(&mut self) {
        match std::mem::take(&mut self.state) {
            State::Block(block) => self.done.push(Piece::Markdown(block.markdown)),
            // Code and overflow are ended by their own lines.
            other @ (State::Between | State::Code(_) | State::Overflow) => self.state = other,
        }
    }

    /// Finishes a block that is not over.
    fn cut_block(&mut self) {
        let State::Block(block) = &self.state else { return };
        let heads = table_heads(&block.markdown.source);
        let next = match block.kind {
            // What is left of an item is not Markdown by itself.
            Kind::Item(_) => State::Overflow,
            Kind::Paragraph | Kind::Quote => State::Between,
        };
        self.end_block();
        self.before = Before { cut: true, ..Before::default() };
        self.state = next;
        if let Some(heads) = heads {
            // A table this long says its heads again.
            let markdown = Markdown { source: heads, join: Join::Apart, number: None };
            self.state = State::Block(Block { kind: Kind::Paragraph, markdown, lines: 2 });
        }
    }
}

/// What a line begins; nothing for what is over with its line.
fn kind_of(line: &str) -> Option<Kind> {
    let whole = is_heading(line) || is_rule(line);
    let kind = match ItemMark::of(line) {
        // Too far in to be a mark: code by indentation.
        Some(mark) if indent(line) < 4 => Kind::Item(mark),
        Some(_) | None if is_quote(line) => Kind::Quote,
        Some(_) | None => Kind::Paragraph,
    };
    (!whole).then_some(kind)
}

/// Where the last whole word of a line that still grows ends.
fn whole_words(line: &str) -> usize {
    line.rfind([' ', '\t']).map_or(0, |at| at + 1)
}

/// What is not finished.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tail<'a> {
    Markdown(Markdown),
    /// A line that is shown as it is.
    Code(&'a str),
}

/// The first two lines of a block that is a table.
fn table_heads(source: &str) -> Option<String> {
    let mut lines = source.lines();
    let (heads, rule) = (lines.next()?, lines.next()?);
    is_table_rule(rule).then(|| format!("{heads}\n{rule}\n"))
}
