//! A terminal emulator for tests whose size can change; the emulator of the whole-screen tests does not resize as real
//! terminals do. It keeps every row, from the start of the scrollback to the last on the screen, and implements the
//! escape sequences a chat sends. All characters are one column wide.

/// What happens to the rows when the size changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResizeBehaviour {
    /// Lines are rewrapped, and rows come back from the scrollback (tmux, VTE, Konsole).
    Reflows,
    /// Lines are rewrapped, and a taller screen gets empty rows at its bottom (kitty).
    ReflowsAndPads,
    /// Rows on the screen are cut off (xterm, GNU screen).
    Cuts,
}

#[derive(Clone, Debug, Default)]
struct EmulatorRow {
    cells: Vec<char>,
    /// Whether the line continues in the next row.
    wrapped: bool,
}

/// A terminal with its scrollback.
pub(crate) struct Emulator {
    kind: ResizeBehaviour,
    width: usize,
    height: usize,
    rows: Vec<EmulatorRow>,
    /// The first row on the screen.
    top: usize,
    /// The cursor: its row counted from the first in the scrollback, and its column.
    row: usize,
    column: usize,
    /// The last column was written; the next character begins a new row if rows wrap.
    full: bool,
    wraps: bool,
    /// The part of an incomplete escape sequence received so far.
    sequence: Option<String>,
}

impl Emulator {
    pub(crate) fn new(kind: ResizeBehaviour, width: usize, height: usize) -> Self {
        let rows = vec![EmulatorRow::default()];
        let (wraps, sequence) = (true, None);
        Self { kind, width, height, rows, top: 0, row: 0, column: 0, full: false, wraps, sequence }
    }

    /// Returns every line; wrapped lines are joined.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.logical().iter().map(|cells| cells.iter().collect::<String>().trim_end().to_owned()).collect()
    }

    /// Processes output written to the terminal.
    pub(crate) fn feed(&mut self, text: &str) {
        for c in text.chars() {
            match (self.sequence.take(), c) {
                (Some(sequence), c) => self.escaped(sequence, c),
                (None, '\u{1b}') => self.sequence = Some(String::new()),
                (None, '\r') => (self.column, self.full) = (0, false),
                (None, '\n' | '\u{b}') => self.line_feed(),
                (None, c) => self.put(c),
            }
        }
    }

    /// Changes the size.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        let old_top = self.top;
        match self.kind {
            ResizeBehaviour::Reflows | ResizeBehaviour::ReflowsAndPads => self.reflow(width),
            ResizeBehaviour::Cuts => {
                for row in &mut self.rows[self.top..] {
                    row.cells.truncate(width);
                    row.wrapped = false;
                }
                self.column = self.column.min(width - 1);
            }
        }
        while self.rows.len() > self.row + 1 && self.rows.last().is_some_and(|row| row.cells.is_empty()) {
            self.rows.pop();
        }
        (self.width, self.height) = (width, height);
        // The cursor stays on the screen: a lower screen loses the rows below the cursor first.
        self.rows.truncate(self.row + height);
        let lowest = self.rows.len().saturating_sub(height);
        self.top = match self.kind {
            ResizeBehaviour::Reflows | ResizeBehaviour::Cuts => lowest,
            ResizeBehaviour::ReflowsAndPads => old_top.min(self.row).max(lowest),
        };
    }

    fn reflow(&mut self, width: usize) {
        let before = self.rows[..self.row].iter().filter(|row| !row.wrapped).count();
        let begin = self.rows[..self.row].iter().rposition(|row| !row.wrapped).map_or(0, |at| at + 1);
        let offset: usize = self.rows[begin..self.row].iter().map(|row| row.cells.len()).sum();
        let offset = offset + self.column + usize::from(self.full);
        let mut rows = Vec::new();
        for (index, line) in self.logical().into_iter().enumerate() {
            let first = rows.len();
            let mut chunks = line.chunks(width).peekable();
            while let Some(cells) = chunks.next() {
                rows.push(EmulatorRow { cells: cells.to_vec(), wrapped: chunks.peek().is_some() });
            }
            if line.is_empty() {
                rows.push(EmulatorRow::default());
            }
            if index == before {
                let last = rows.len() - 1;
                self.row = (first + offset / width).min(last);
                let column = offset - (self.row - first) * width;
                (self.column, self.full) = (column.min(width - 1), column >= width);
            }
        }
        self.rows = rows;
    }

    fn logical(&self) -> Vec<Vec<char>> {
        let mut lines = vec![Vec::new()];
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(line) = lines.last_mut() {
                line.extend(&row.cells);
            }
            // The last row may be marked as wrapped although its continuation was erased.
            if !row.wrapped || index + 1 == self.rows.len() {
                lines.push(Vec::new());
            }
        }
        lines.pop();
        lines
    }

    fn escaped(&mut self, mut sequence: String, c: char) {
        sequence.push(c);
        if sequence == "[" || !c.is_ascii_alphabetic() {
            self.sequence = Some(sequence);
            return;
        }
        let parameter = &sequence[1..sequence.len() - 1];
        let count = parameter.parse().unwrap_or(1);
        match c {
            'A' => self.row = self.row.saturating_sub(count).max(self.top),
            'C' => self.column = (self.column + count).min(self.width - 1),
            'J' | 'K' => {
                let kept = self.column;
                self.rows[self.row].cells.truncate(kept);
                self.rows[self.row].wrapped = false;
                if c == 'J' {
                    self.rows.truncate(self.row + 1);
                }
            }
            'h' | 'l' if parameter == "?7" => self.wraps = c == 'h',
            'h' | 'l' | 'm' => {}
            other => panic!("a sequence the emulator does not know: {other:?}"),
        }
        self.full = false;
    }

    fn line_feed(&mut self) {
        self.full = false;
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(EmulatorRow::default());
        }
        self.top = self.top.max((self.row + 1).saturating_sub(self.height));
    }

    fn put(&mut self, c: char) {
        if self.full && self.wraps {
            self.rows[self.row].wrapped = true;
            self.column = 0;
            self.line_feed();
        }
        let cells = &mut self.rows[self.row].cells;
        cells.resize(cells.len().max(self.column + 1), ' ');
        cells[self.column] = c;
        self.full = self.column + 1 == self.width;
        self.column = (self.column + 1).min(self.width - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{Emulator, ResizeBehaviour};

    #[test]
    fn the_cursor_stays_on_a_screen_that_shrinks_below_it() {
        for kind in [ResizeBehaviour::Reflows, ResizeBehaviour::ReflowsAndPads, ResizeBehaviour::Cuts] {
            let mut terminal = Emulator::new(kind, 20, 12);
            terminal.feed(&"row\r\n".repeat(10));
            // A frame is read up to the middle: the cursor was moved up, the rows below it not yet erased.
            terminal.feed("\u{1b}[9A");
            terminal.resize(20, 5);
            terminal.feed("\u{1b}[J\u{1b}[1A\u{1b}[Kend");
            assert_eq!(terminal.lines(), ["row", "end"], "{kind:?}");
        }
    }
}
