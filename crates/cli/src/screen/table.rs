//! Tables: at their natural width if that fits, else narrowed to the available width, else as a list of rows.

use pulldown_cmark::Alignment;

use super::look::Glyphs;
use super::style::{Span, Style, char_width, push, text_width};
use super::wrap::wrap;

/// Narrowest column of a table.
const NARROWEST: usize = 6;
/// Screen columns between two columns of a table.
const BETWEEN: usize = 3;

type Cell = Vec<Span>;

/// A table being read.
pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    /// The first row is the header.
    rows: Vec<Vec<Cell>>,
    row: Vec<Cell>,
}

impl MarkdownTable {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Cell) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Returns the screen rows of the table.
    pub(super) fn lay_out(self, width: usize, glyphs: Glyphs) -> Vec<Cell> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths, glyphs),
            None => self.list(width),
        }
    }

    /// Returns the widths of the columns, if they fit at all: the widest columns shrink first.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns = self.alignments.len();
        let room = width.checked_sub(BETWEEN * columns.saturating_sub(1))?;
        let widest = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(cell_width).max();
        let mut widths: Vec<usize> =
            (0..columns).map(|column| widest(column).unwrap_or(0).clamp(1, room.max(1))).collect();
        while widths.iter().sum::<usize>() > room {
            let widest = widths.iter_mut().max().filter(|widest| **widest > NARROWEST)?;
            *widest -= 1;
        }
        Some(widths)
    }

    fn grid(self, widths: &[usize], glyphs: Glyphs) -> Vec<Cell> {
        let (bar, cross) = glyphs.column();
        let dashes: Vec<String> = widths.iter().map(|width| glyphs.dash().repeat(*width)).collect();
        let rule = vec![Span { style: Style::DIM, text: dashes.join(cross) }];
        let wrapped: Vec<Vec<Vec<Cell>>> = self
            .rows
            .into_iter()
            .map(|row| row.into_iter().zip(widths).map(|(cell, width)| wrap(&cell, *width)).collect())
            .collect();
        // Rows of several lines need a rule between them to be told apart.
        let airy = wrapped.iter().skip(1).flatten().any(|cell| cell.len() > 1);
        let mut grid = Vec::new();
        for (number, mut row) in wrapped.into_iter().enumerate() {
            if number == 1 || (number > 1 && airy) {
                grid.push(rule.clone());
            }
            if number == 0 {
                row.iter_mut().flatten().flatten().for_each(|span| span.style = span.style.with(Style::BOLD));
            }
            for line in 0..row.iter().map(Vec::len).max().unwrap_or(0) {
                grid.push(grid_line(&mut row, line, widths, &self.alignments, bar));
            }
        }
        grid
    }

    /// Returns each row as `head: cell` lines.
    fn list(self, width: usize) -> Vec<Cell> {
        let mut rows = self.rows.into_iter();
        let heads = rows.next().unwrap_or_default();
        let mut list = Vec::new();
        for (number, row) in rows.enumerate() {
            if number > 0 {
                list.push(Vec::new());
            }
            for (head, cell) in heads.iter().zip(row) {
                let mut spans: Cell = head.clone();
                spans.iter_mut().for_each(|span| span.style = span.style.with(Style::BOLD));
                push(&mut spans, Style::PLAIN, ": ");
                spans.extend(cell);
                list.extend(wrap(&spans, width));
            }
        }
        if list.is_empty() { heads.into_iter().flat_map(|head| wrap(&head, width)).collect() } else { list }
    }
}

/// Returns the width of the widest line of a cell.
fn cell_width(cell: &Cell) -> usize {
    let (mut widest, mut width) = (0, 0);
    for c in cell.iter().flat_map(|span| span.text.chars()) {
        width = if c == '\n' { 0 } else { width + char_width(c) };
        widest = widest.max(width);
    }
    widest
}

fn grid_line(row: &mut [Vec<Cell>], line: usize, widths: &[usize], alignments: &[Alignment], bar: &str) -> Cell {
    let mut spans = Vec::new();
    for (column, width) in widths.iter().enumerate() {
        if column > 0 {
            push(&mut spans, Style::DIM, bar);
        }
        let cell = row.get_mut(column).and_then(|cell| cell.get_mut(line)).map(std::mem::take).unwrap_or_default();
        let used: usize = cell.iter().map(|span| text_width(&span.text)).sum();
        let free = width.saturating_sub(used);
        let (left, right) = match alignments.get(column) {
            Some(Alignment::Right) => (free, 0),
            Some(Alignment::Center) => (free / 2, free - free / 2),
            Some(Alignment::Left | Alignment::None) | None => (0, free),
        };
        push(&mut spans, Style::PLAIN, &" ".repeat(left));
        for span in cell {
            push(&mut spans, span.style, &span.text);
        }
        if column + 1 < widths.len() {
            push(&mut spans, Style::PLAIN, &" ".repeat(right));
        }
    }
    spans
}
