//! Cutting a stream of Markdown into pieces that are finished and never change again.
//!
//! [`Blocks::push`] takes text as it comes and gives back what is now finished; [`Blocks::tail`] is
//! the rest, still growing. Where it is cut depends on the text alone, never on how it was split on
//! its way here, and each line is looked at once: the cost is linear. Items of a list are pieces of
//! their own, and so is each line of a code block; a block that grows beyond all bounds is cut where
//! it stands.

use super::marks::{CodeFence, ItemMark, indent, is_heading, is_quote, is_rule, is_table_rule, is_undecided};

/// Bounds of what may be unfinished: it is laid out anew whenever it changes.
const LINES: usize = 200;
const BYTES: usize = 16 * 1024;
const CODE_LINE: usize = 64 * 1024;

/// Something finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownPiece {
    /// A block, or several.
    Markdown(Markdown),
    /// A code block begins.
    CodeBegins { info: String, join: BlockJoin },
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
    pub(super) join: BlockJoin,
    /// The number of the list item it is, which need not be the one written.
    pub(super) number: Option<u64>,
}

/// How a piece stands to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockJoin {
    /// With a blank line between them.
    #[default]
    Apart,
    /// Without.
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Paragraph,
    Quote,
    Item(ItemMark),
}

#[derive(Debug)]
struct Block {
    kind: BlockKind,
    markdown: Markdown,
    lines: usize,
}

#[derive(Debug, Default)]
enum BlocksState {
    #[default]
    Between,
    Block(Block),
    Code(CodeFence),
    /// In the rest of a block that was cut; it ends as the block would have.
    Overflow,
}

/// What came before, as far as it decides on blank lines and numbers.
#[derive(Debug, Default)]
struct PreviousBlock {
    blank: bool,
    /// The kind of the last block; none after code, a heading or a cut.
    kind: Option<BlockKind>,
    /// The number of the last item.
    number: Option<u64>,
    /// Set when a block was cut: what follows belongs to it.
    cut: bool,
}

/// The stream, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    state: BlocksState,
    before: PreviousBlock,
    /// The line that is not finished.
    partial: String,
    /// A `\r` was the last character: a `\n` now belongs to it.
    after_return: bool,
    done: Vec<MarkdownPiece>,
}

impl Blocks {
    /// Takes text; what is finished now is given back.
    pub(super) fn push(&mut self, text: &str) -> Vec<MarkdownPiece> {
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
    pub(super) fn finish(mut self) -> Vec<MarkdownPiece> {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(&line);
        }
        self.end_block();
        if let BlocksState::Code(_) = self.state {
            self.done.push(MarkdownPiece::CodeEnds);
        }
        self.done
    }

    /// Finishes a paragraph up to its last whole word; the rest will go on from there. What would
    /// mean something else in two parts stays unfinished.
    pub(super) fn cut(&mut self) -> Vec<MarkdownPiece> {
        let begun = match &self.state {
            BlocksState::Block(block) => block.markdown.source.as_str(),
            BlocksState::Between => self.partial.as_str(),
            BlocksState::Code(_) | BlocksState::Overflow => return Vec::new(),
        };
        if kind_of(begun) == Some(BlockKind::Paragraph) && !begun.contains('|') && indent(begun) == 0 {
            self.cut_partial(whole_words(&self.partial));
        }
        std::mem::take(&mut self.done)
    }

    /// What is not finished, as it may be shown: nothing of which it is not yet clear what it is.
    pub(super) fn tail(&self) -> Option<UnfinishedTail<'_>> {
        let partial = self.partial.as_str();
        let shown = if is_undecided(partial) { "" } else { partial };
        match &self.state {
            BlocksState::Code(fence) if fence.may_be_closed_by(partial) => None,
            BlocksState::Code(_) | BlocksState::Overflow => {
                (!partial.is_empty()).then_some(UnfinishedTail::Code(partial))
            }
            BlocksState::Between if shown.is_empty() => None,
            BlocksState::Between => {
                let join = self.join(kind_of(shown));
                Some(UnfinishedTail::Markdown(Markdown { source: shown.to_owned(), join, number: None }))
            }
            BlocksState::Block(block) => {
                let source = format!("{}{shown}", block.markdown.source);
                Some(UnfinishedTail::Markdown(Markdown { source, ..block.markdown.clone() }))
            }
        }
    }

    /// Adds to the unfinished line, which is cut when it grows too long.
    fn grow(&mut self, mut text: &str) {
        while self.partial.len() + text.len() > self.longest_line() {
            let room = text.floor_char_boundary(self.longest_line().saturating_sub(self.partial.len()));
            self.partial.push_str(&text[..room]);
            text = &text[room..];
            if let BlocksState::Code(fence) = &self.state {
                let line = fence.code(&self.partial).to_owned();
                self.done.push(MarkdownPiece::CodeLine(line));
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
            BlocksState::Code(_) => CODE_LINE,
            BlocksState::Between | BlocksState::Block(_) | BlocksState::Overflow => BYTES,
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
            BlocksState::Code(fence) => {
                let closed = fence.is_closed_by(line);
                let code = fence.code(line).to_owned();
                self.done.push(if closed { MarkdownPiece::CodeEnds } else { MarkdownPiece::CodeLine(code) });
                if closed {
                    self.state = BlocksState::Between;
                }
            }
            BlocksState::Overflow if self.overflows(line) => {
                self.before.blank = line.trim().is_empty();
                self.done.push(MarkdownPiece::Overflow(line.to_owned()));
            }
            BlocksState::Overflow => {
                self.state = BlocksState::Between;
                self.line(line);
            }
            BlocksState::Between | BlocksState::Block(_) if line.trim().is_empty() => self.blank_line(),
            BlocksState::Between => self.begin(line),
            BlocksState::Block(block) if self.goes_on(block, line) => self.append(line),
            BlocksState::Block(_) => {
                self.end_block();
                self.begin(line);
            }
        }
    }

    /// Whether a line belongs to the block before it.
    fn goes_on(&self, block: &Block, line: &str) -> bool {
        let mark = ItemMark::of(line).filter(|_| indent(line) < 4);
        if let BlockKind::Item(item) = block.kind {
            if indent(line) >= item.content {
                return true;
            }
            if mark.is_some() || self.before.blank || is_rule(line) {
                return false;
            }
        }
        let interrupts = CodeFence::opened_by(line).is_some()
            || is_heading(line)
            || (is_quote(line) && block.kind != BlockKind::Quote)
            || mark.is_some_and(|mark| mark.interrupts());
        !interrupts
    }

    /// Whether a line still belongs to the block that was cut.
    fn overflows(&self, line: &str) -> bool {
        let begins = self.before.blank || ItemMark::of(line).is_some() || CodeFence::opened_by(line).is_some();
        line.trim().is_empty() || indent(line) > 0 || !begins
    }

    fn blank_line(&mut self) {
        self.before.blank = true;
        match &mut self.state {
            // An item may go on after it.
            BlocksState::Block(Block { kind: BlockKind::Item(_), markdown, lines }) => {
                markdown.source.push('\n');
                *lines += 1;
            }
            BlocksState::Block(Block { kind: BlockKind::Paragraph | BlockKind::Quote, .. }) => self.end_block(),
            BlocksState::Between | BlocksState::Code(_) | BlocksState::Overflow => {}
        }
        // Whatever was cut is over.
        if matches!(self.state, BlocksState::Between) {
            self.before.cut = false;
        }
    }

    fn begin(&mut self, line: &str) {
        if let Some(fence) = CodeFence::opened_by(line) {
            let join = self.join(None);
            self.before = PreviousBlock::default();
            self.done.push(MarkdownPiece::CodeBegins { info: fence.info.clone(), join });
            self.state = BlocksState::Code(fence);
            return;
        }
        let kind = kind_of(line);
        let join = self.join(kind);
        let number = match (kind, self.before.kind) {
            (Some(BlockKind::Item(mark)), Some(BlockKind::Item(last))) if mark.kind == last.kind => {
                self.before.number.map(|number| number.saturating_add(1))
            }
            (Some(BlockKind::Item(mark)), _) => mark.number,
            (Some(BlockKind::Paragraph | BlockKind::Quote) | None, _) => None,
        };
        self.before = PreviousBlock { blank: false, kind, number, cut: false };
        let markdown = Markdown { source: String::new(), join, number };
        self.state = BlocksState::Block(Block { kind: kind.unwrap_or(BlockKind::Paragraph), markdown, lines: 0 });
        self.append(line);
        if kind.is_none() {
            self.end_block();
        }
    }

    fn join(&self, kind: Option<BlockKind>) -> BlockJoin {
        let PreviousBlock { blank, kind: last, cut, .. } = self.before;
        match (last, kind) {
            _ if cut => BlockJoin::Close,
            (Some(BlockKind::Item(_) | BlockKind::Paragraph), Some(BlockKind::Item(_))) if !blank => BlockJoin::Close,
            _ => BlockJoin::Apart,
        }
    }

    fn append(&mut self, line: &str) {
        let BlocksState::Block(block) = &mut self.state else { return };
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
            BlocksState::Block(block) => self.done.push(MarkdownPiece::Markdown(block.markdown)),
            // Code and overflow are ended by their own lines.
            other @ (BlocksState::Between | BlocksState::Code(_) | BlocksState::Overflow) => self.state = other,
        }
    }

    /// Finishes a block that is not over.
    fn cut_block(&mut self) {
        let BlocksState::Block(block) = &self.state else { return };
        let heads = table_heads(&block.markdown.source);
        let next = match block.kind {
            // What is left of an item is not Markdown by itself.
            BlockKind::Item(_) => BlocksState::Overflow,
            BlockKind::Paragraph | BlockKind::Quote => BlocksState::Between,
        };
        self.end_block();
        self.before = PreviousBlock { cut: true, ..PreviousBlock::default() };
        self.state = next;
        if let Some(heads) = heads {
            // A table this long says its heads again.
            let markdown = Markdown { source: heads, join: BlockJoin::Apart, number: None };
            self.state = BlocksState::Block(Block { kind: BlockKind::Paragraph, markdown, lines: 2 });
        }
    }
}

/// What a line begins; nothing for what is over with its line.
fn kind_of(line: &str) -> Option<BlockKind> {
    let whole = is_heading(line) || is_rule(line);
    let kind = match ItemMark::of(line) {
        // Too far in to be a mark: code by indentation.
        Some(mark) if indent(line) < 4 => BlockKind::Item(mark),
        Some(_) | None if is_quote(line) => BlockKind::Quote,
        Some(_) | None => BlockKind::Paragraph,
    };
    (!whole).then_some(kind)
}

/// Where the last whole word of a line that still grows ends.
fn whole_words(line: &str) -> usize {
    line.rfind([' ', '\t']).map_or(0, |at| at + 1)
}

/// What is not finished.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnfinishedTail<'a> {
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
