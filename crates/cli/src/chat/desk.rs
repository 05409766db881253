//! What a person sits at: a keyboard, a screen, and the signals the system sends them.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass_vocab::MessageId;

use super::console::{self, Console, TerminalError, Typing};
use super::gate::Piece;
use super::keys::Keys;
use super::line::{Aid, Line, LineEditor};
use super::pastes::Pastes;
use super::terminal::Terminal;
use crate::screen::{Colour, Look};
use crate::tty;

/// What the system says about the terminal or the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The window has another size.
    Resized,
    /// As Ctrl-C.
    Interrupt,
    /// The terminal is closed, or the process is asked to go.
    End,
}

struct Signals {
    resize: Signal,
    interrupt: Signal,
    hang_up: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            resize: signal(SignalKind::window_change())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Sign {
        tokio::select! {
            _ = self.hang_up.recv() => Sign::End,
            _ = self.terminate.recv() => Sign::End,
            _ = self.interrupt.recv() => Sign::Interrupt,
            _ = self.resize.recv() => Sign::Resized,
        }
    }
}

/// A keyboard, a screen and the signals.
pub(crate) struct Desk {
    pub(crate) console: Console,
    pub(crate) pastes: Pastes,
    pub(crate) keys: Keys,
    /// Messages typed here that had to wait.
    pub(crate) queued: Vec<MessageId>,
    terminal: Terminal,
    signals: Signals,
    /// Typed ahead: not for the line that is being read.
    ahead: Vec<Piece>,
    /// Away while it reads.
    editor: Option<LineEditor>,
}

/// Whether the line may be at its end. What is typed after it belongs to whatever comes next, unless
/// the editor goes on with the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    Yes,
    No,
}

/// A line that was not taken by then is gone on with.
const NOT_TAKEN: Duration = Duration::from_millis(40);

/// What came from the person or the system.
#[derive(Debug)]
pub(crate) enum Touch {
    /// Keys and pastes.
    Typed(Vec<Piece>),
    Sign(Sign),
}

impl Desk {
    /// Takes the terminal.
    pub(crate) fn take(
        look: Look,
        workspace: PathBuf,
        home: Option<PathBuf>,
        data: &Path,
    ) -> Result<Self, TerminalError> {
        let aid = Aid { workspace, home, colour: look.colour };
        let editor = LineEditor::new(aid, data).map_err(io::Error::other)?;
        Ok(Self {
            console: Console::new(look),
            pastes: Pastes::default(),
            keys: Keys::default(),
            queued: Vec::new(),
            signals: Signals::new()?,
            terminal: Terminal::take()?,
            ahead: Vec::new(),
            editor: Some(editor),
        })
    }

    /// Waits for the person or the system.
    pub(crate) async fn touched(&mut self) -> Touch {
        if !self.ahead.is_empty() {
            return Touch::Typed(std::mem::take(&mut self.ahead));
        }
        tokio::select! {
            biased;
            sign = self.signals.next() => Touch::Sign(sign),
            pieces = self.terminal.read() => match pieces {
                Some(pieces) => Touch::Typed(pieces),
                None => Touch::Sign(Sign::End),
            },
        }
    }

    /// Begins to take typing while a run works.
    pub(crate) fn begin_typing(&mut self) -> Result<(), TerminalError> {
        self.console.typing = Typing::Shown;
        // Pastes are marked as such.
        self.write("\u{1b}[?2004h")?;
        self.console.refresh()
    }

    /// Leaves a clean line for the prompt.
    pub(crate) fn end_typing(&mut self) -> Result<(), TerminalError> {
        self.console.rest()?;
        self.write("\u{1b}[?2004l")
    }

    /// The window has another size, or has it again.
    pub(crate) fn resize(&mut self) -> Result<(), TerminalError> {
        match tty::size() {
            Some(size) => self.console.resize(size),
            None => Ok(()),
        }
    }

    /// Lets the shell have the terminal for a while.
    pub(crate) fn suspend(&mut self) -> Result<(), TerminalError> {
        let typing = self.console.typing;
        self.end_typing()?;
        self.terminal.suspend()?;
        if typing == Typing::Shown {
            self.begin_typing()?;
        }
        self.resize()
    }

    /// Whether the terminal hung up.
    pub(crate) fn is_gone(&self) -> bool {
        self.terminal.is_gone()
    }

    /// Runs a program that has the terminal to itself.
    pub(crate) fn lend(&mut self, program: std::process::Command) -> io::Result<std::process::ExitStatus> {
        self.terminal.lend(program)
    }

    /// Asks for a line with the line editor, beginning with what was typed before.
    pub(crate) async fn line(&mut self, prompt: &'static str, begun: (String, String)) -> Result<Line, TerminalError> {
        let Some(mut editor) = self.editor.take() else { return Ok(Line::Ended) };
        let styled = match self.console.look().colour {
            Colour::None => prompt.to_owned(),
            Colour::Ansi => format!("\u{1b}[1;36m{prompt}\u{1b}[0m"),
        };
        let prompt = (prompt.to_owned(), styled);
        let mut reading = tokio::task::spawn_blocking(move || {
            let line = editor.read(&prompt, &begun);
            (editor, line)
        });
        let mut entered = Entered::No;
        loop {
            tokio::select! {
                biased;
                read = &mut reading => {
                    let (editor, line) = read.map_err(io::Error::other)?;
                    self.editor = Some(editor);
                    return Ok(line.map_err(io::Error::other)?);
                }
                () = tokio::time::sleep(NOT_TAKEN), if entered == Entered::Yes => entered = Entered::No,
                touch = self.touched(), if entered == Entered::No => match touch {
                    Touch::Sign(Sign::End) => return Ok(Line::Ended),
                    // The editor hears of these itself.
                    Touch::Sign(Sign::Interrupt | Sign::Resized) => self.resize()?,
                    Touch::Typed(pieces) => entered = self.pass_on(pieces)?,
                },
            }
        }
    }

    /// Gives the line editor what it may see: of a long paste its mark, and nothing beyond the key
    /// that may end the line.
    fn pass_on(&mut self, pieces: Vec<Piece>) -> Result<Entered, TerminalError> {
        let mut pieces = pieces.into_iter();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Keys(keys) => {
                    let (now, later) =
                        keys.split_at(keys.iter().position(|key| *key == b'\r').map_or(keys.len(), |at| at + 1));
                    self.terminal.feed(now)?;
                    if now.ends_with(b"\r") {
                        let later = Some(later.to_vec()).filter(|later| !later.is_empty()).map(Piece::Keys);
                        self.ahead = later.into_iter().chain(pieces).collect();
                        return Ok(Entered::Yes);
                    }
                }
                Piece::Paste(text) => self.paste(&text)?,
                Piece::Suspend => {
                    self.suspend()?;
                    // Redraws the line.
                    self.terminal.feed(b"\x0c")?;
                }
            }
        }
        Ok(Entered::No)
    }

    fn paste(&mut self, text: &str) -> Result<(), TerminalError> {
        let shown = self.pastes.take(text);
        Ok(self.terminal.feed(format!("\u{1b}[200~{shown}\u{1b}[201~").as_bytes())?)
    }

    /// Keeps a line in the history.
    pub(crate) fn keep(&mut self, line: &str) {
        if let Some(editor) = &mut self.editor {
            editor.keep(line);
        }
    }

    /// What stands before what a person types.
    pub(crate) fn prompt(&self) -> &'static str {
        console::prompt(self.console.look().glyphs)
    }

    fn write(&self, text: &str) -> Result<(), TerminalError> {
        let mut out = io::stdout();
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
    }
}
