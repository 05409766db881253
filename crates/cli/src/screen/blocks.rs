//! Splits a stream of Markdown into pieces that are final.
//!
//! [`Blocks::push`] takes text as it arrives and returns the pieces that are now final; [`Blocks::tail`] is the rest,
//! which still grows. The split depends on the text alone, never on how the text was divided into fragments, and each
//! line is examined once: the cost is linear. Each list item and each line of a code block is a piece of its own; a
//! block that grows beyond the limits is cut where it is.

use super::marks::{CodeFence, ItemMark, indent, is_heading, is_quote, is_rule, is_table_rule, is_undecided};

/// Limits of the unfinished part, which is laid out again whenever it changes.
const LINES: usize = 200;
const BYTES: usize = 16 * 1024;
const CODE_LINE: usize = 64 * 1024;

/// A piece that is final.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkdownPiece {
    /// One or more blocks.
    Markdown(Markdown),
    /// A code block begins.
    CodeBegins { info: String, join: BlockJoin },
    /// A line of the code block.
    CodeLine(String),
    /// The code block ends.
    CodeEnds,
    /// A line of a block that was cut because it is too long: displayed as is.
    Overflow(String),
}

/// The source of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Markdown {
    pub(super) source: String,
    pub(super) join: BlockJoin,
    /// The number of the list item, which may differ from the one in the source.
    pub(super) number: Option<u64>,
}

/// How a piece is joined to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockJoin {
    /// With a blank line between them.
    #[default]
    Apart,
    /// Without a blank line.
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
    /// In the rest of a block that was cut; it ends where the block would have ended.
    Overflow,
}

/// The facts about the previous block that determine blank lines and numbers.
#[derive(Debug, Default)]
struct PreviousBlock {
    blank: bool,
    /// The kind of the last block; none after code, a heading or a cut.
    kind: Option<BlockKind>,
    /// The number of the last item.
    number: Option<u64>,
    /// Whether the block was cut: the next lines belong to it.
    cut: bool,
}

/// The stream, as far as it has been received.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    state: BlocksState,
    before: PreviousBlock,
    /// The unfinished line.
    partial: String,
    /// Whether the last character was `\r`: a following `\n` belongs to it.
    after_return: bool,
    done: Vec<MarkdownPiece>,
}

impl Blocks {
    /// Adds text. Returns the pieces that are now final.
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

    /// Ends the stream. Returns all remaining pieces.
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

    /// Finishes a paragraph up to its last whole word; the rest continues from there. A block that would mean
    /// something else in two parts stays unfinished.
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

    /// Returns the displayable part of the unfinished text: without a line whose kind is not yet clear.
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

    /// Appends to the unfinished line, and cuts it when it grows too long.
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

    /// Cuts the unfinished line at `at`, and its block with it.
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

    /// Whether a line continues the block.
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
            // An item may continue after a blank line.
            BlocksState::Block(Block { kind: BlockKind::Item(_), markdown, lines }) => {
                markdown.source.push('\n');
                *lines += 1;
            }
            BlocksState::Block(Block { kind: BlockKind::Paragraph | BlockKind::Quote, .. }) => self.end_block(),
            BlocksState::Between | BlocksState::Code(_) | BlocksState::Overflow => {}
        }
        // A block that was cut ends here.
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
            // Code and overflow end with their own lines.
            other @ (BlocksState::Between | BlocksState::Code(_) | BlocksState::Overflow) => self.state = other,
        }
    }

    /// Cuts a block that has not ended.
    fn cut_block(&mut self) {
        let BlocksState::Block(block) = &self.state else { return };
        let heads = table_heads(&block.markdown.source);
        let next = match block.kind {
            // The rest of an item is not valid Markdown by itself.
            BlockKind::Item(_) => BlocksState::Overflow,
            BlockKind::Paragraph | BlockKind::Quote => BlocksState::Between,
        };
        self.end_block();
        self.before = PreviousBlock { cut: true, ..PreviousBlock::default() };
        self.state = next;
        if let Some(heads) = heads {
            // The second part of a long table repeats the header.
            let markdown = Markdown { source: heads, join: BlockJoin::Apart, number: None };
            self.state = BlocksState::Block(Block { kind: BlockKind::Paragraph, markdown, lines: 2 });
        }
    }
}

/// Returns the kind of block that a line begins; `None` for one-line blocks (headings and rules).
fn kind_of(line: &str) -> Option<BlockKind> {
    let whole = is_heading(line) || is_rule(line);
    let kind = match ItemMark::of(line) {
        // Indented too far to be an item: an indented code block.
        Some(mark) if indent(line) < 4 => BlockKind::Item(mark),
        Some(_) | None if is_quote(line) => BlockKind::Quote,
        Some(_) | None => BlockKind::Paragraph,
    };
    (!whole).then_some(kind)
}

/// Returns the end of the last whole word of a line that still grows.
fn whole_words(line: &str) -> usize {
    line.rfind([' ', '\t']).map_or(0, |at| at + 1)
}

/// The unfinished rest of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnfinishedTail<'a> {
    Markdown(Markdown),
    /// A line that is displayed as is.
    Code(&'a str),
}

/// Returns the first two lines of a block that is a table.
fn table_heads(source: &str) -> Option<String> {
    let mut lines = source.lines();
    let (heads, rule) = (lines.next()?, lines.next()?);
    is_table_rule(rule).then(|| format!("{heads}\n{rule}\n"))
}
