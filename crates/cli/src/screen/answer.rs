//! A reply being streamed to the screen: text in, lines out. Returned lines are final; the block that still grows is
//! laid out on demand.

use super::blocks::{BlockJoin, Blocks, Markdown, MarkdownPiece, UnfinishedTail};
use super::code::{code_foot, code_head, code_line};
use super::look::TerminalLook;
use super::markdown::lay_out;
use super::style::StyledLine;

/// A reply, as far as it has been received.
#[derive(Debug, Default)]
pub(super) struct StreamedAnswer {
    blocks: Blocks,
    displayed: DisplayedAnswer,
}

/// Which part of the reply is on the screen permanently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum DisplayedAnswer {
    #[default]
    Nothing,
    Something,
}

impl StreamedAnswer {
    /// Adds text. Returns the lines that are now final.
    pub(super) fn push(&mut self, text: &str, look: TerminalLook) -> Vec<StyledLine> {
        let pieces = self.blocks.push(text);
        self.lay_out(pieces, look)
    }

    /// Finishes the reply. Returns its remaining lines.
    pub(super) fn finish(mut self, look: TerminalLook) -> Vec<StyledLine> {
        let pieces = std::mem::take(&mut self.blocks).finish();
        self.lay_out(pieces, look)
    }

    /// Finishes the current text up to its last whole word.
    pub(super) fn cut(&mut self, look: TerminalLook) -> Vec<StyledLine> {
        let pieces = self.blocks.cut();
        self.lay_out(pieces, look)
    }

    /// Returns the lines of the block that still grows.
    pub(super) fn tail(&self, look: TerminalLook) -> Vec<StyledLine> {
        match self.blocks.tail() {
            None => Vec::new(),
            Some(UnfinishedTail::Code(line)) => vec![code_line(line)],
            Some(UnfinishedTail::Markdown(markdown)) => self.joined(markdown.join, lay_out_markdown(&markdown, look)),
        }
    }

    pub(super) fn displayed(&self) -> DisplayedAnswer {
        self.displayed
    }

    fn lay_out(&mut self, pieces: Vec<MarkdownPiece>, look: TerminalLook) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(match piece {
                MarkdownPiece::Markdown(markdown) => self.joined(markdown.join, lay_out_markdown(&markdown, look)),
                MarkdownPiece::CodeBegins { info, join } => self.joined(join, vec![code_head(&info, look)]),
                MarkdownPiece::CodeLine(line) | MarkdownPiece::Overflow(line) => vec![code_line(&line)],
                MarkdownPiece::CodeEnds => vec![code_foot(look)],
            });
            if !lines.is_empty() {
                self.displayed = DisplayedAnswer::Something;
            }
        }
        lines
    }

    fn joined(&self, join: BlockJoin, mut lines: Vec<StyledLine>) -> Vec<StyledLine> {
        if join == BlockJoin::Apart && self.displayed == DisplayedAnswer::Something && !lines.is_empty() {
            lines.insert(0, StyledLine::default());
        }
        lines
    }
}

/// Renders a whole answer as it is displayed when it arrives, a line each.
pub(crate) fn rendered_answer(text: &str, look: TerminalLook) -> Vec<String> {
    let mut answer = StreamedAnswer::default();
    let mut lines = answer.push(text, look);
    lines.extend(answer.finish(look));
    let painted = |line: &StyledLine| {
        let mut text = String::new();
        line.paint(look.colour, &mut text);
        text
    };
    lines.iter().map(painted).collect()
}

fn lay_out_markdown(markdown: &Markdown, look: TerminalLook) -> Vec<StyledLine> {
    lay_out(&markdown.source, markdown.number, look)
}
