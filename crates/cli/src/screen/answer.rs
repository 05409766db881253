//! A reply on its way to the screen: text in, lines out. Lines that are given back are final; what
//! is still growing is laid out on demand.

use super::blocks::{Blocks, Join, Markdown, Piece, Tail};
use super::code::{code_foot, code_head, code_line};
use super::look::Look;
use super::markdown::lay_out;
use super::style::StyledLine;

/// A reply, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Answer {
    blocks: Blocks,
    shown: Shown,
}

/// What of it stands on the screen for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shown {
    #[default]
    Nothing,
    Something,
}

impl Answer {
    /// Takes text; the lines that are finished now are given back.
    pub(super) fn push(&mut self, text: &str, look: Look) -> Vec<StyledLine> {
        let pieces = self.blocks.push(text);
        self.lay_out(pieces, look)
    }

    /// The reply is whole.
    pub(super) fn finish(mut self, look: Look) -> Vec<StyledLine> {
        let pieces = std::mem::take(&mut self.blocks).finish();
        self.lay_out(pieces, look)
    }

    /// Finishes what is there, up to the last whole word.
    pub(super) fn cut(&mut self, look: Look) -> Vec<StyledLine> {
        let pieces = self.blocks.cut();
        self.lay_out(pieces, look)
    }

    /// The lines of what is still growing.
    pub(super) fn tail(&self, look: Look) -> Vec<StyledLine> {
        match self.blocks.tail() {
            None => Vec::new(),
            Some(Tail::Code(line)) => vec![code_line(line)],
            Some(Tail::Markdown(markdown)) => self.joined(markdown.join, lay_out_markdown(&markdown, look)),
        }
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown
    }

    fn lay_out(&mut self, pieces: Vec<Piece>, look: Look) -> Vec<StyledLine> {
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(match piece {
                Piece::Markdown(markdown) => self.joined(markdown.join, lay_out_markdown(&markdown, look)),
                Piece::CodeBegins { info, join } => self.joined(join, vec![code_head(&info, look)]),
                Piece::CodeLine(line) | Piece::Overflow(line) => vec![code_line(&line)],
                Piece::CodeEnds => vec![code_foot(look)],
            });
            if !lines.is_empty() {
                self.shown = Shown::Something;
            }
        }
        lines
    }

    fn joined(&self, join: Join, mut lines: Vec<StyledLine>) -> Vec<StyledLine> {
        if join == Join::Apart && self.shown == Shown::Something && !lines.is_empty() {
            lines.insert(0, StyledLine::default());
        }
        lines
    }
}

fn lay_out_markdown(markdown: &Markdown, look: Look) -> Vec<StyledLine> {
    lay_out(&markdown.source, markdown.number, look)
}
