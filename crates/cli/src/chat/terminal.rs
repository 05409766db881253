//! The person's terminal: keyboard, screen and signals.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use windlass_vocab::MessageId;

use super::console::{self, Console, LineVisibility, TerminalError};
use super::input_splitter::InputPiece;
use super::keys::KeyDecoder;
use super::line::{LineCompletion, LineEditor, PromptLine};
use super::pastes::Pastes;
use super::raw_terminal::RawTerminal;
use crate::screen::{Colour, TerminalLook};
use crate::streams::StandardStream;
use crate::tty;

/// A signal about the terminal or the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalSignal {
    /// The window was resized.
    Resized,
    /// SIGINT, handled as Ctrl-C.
    Interrupt,
    /// The terminal was closed, or the process was asked to terminate.
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

    async fn next(&mut self) -> TerminalSignal {
        tokio::select! {
            _ = self.hang_up.recv() => TerminalSignal::End,
            _ = self.terminate.recv() => TerminalSignal::End,
            _ = self.interrupt.recv() => TerminalSignal::Interrupt,
            _ = self.resize.recv() => TerminalSignal::Resized,
        }
    }
}

/// A keyboard, a screen and the signals.
pub(crate) struct Terminal {
    pub(crate) console: Console,
    pub(crate) pastes: Pastes,
    pub(crate) keys: KeyDecoder,
    /// Messages typed here that were queued.
    pub(crate) queued: Vec<MessageId>,
    raw: RawTerminal,
    signals: Signals,
    /// Input typed ahead, after the end of the line that is being read.
    ahead: Vec<InputPiece>,
    /// `None` while the editor is reading a line.
    editor: Option<LineEditor>,
}

/// Whether the line may be complete. Input after a complete line belongs to the next reader, unless the editor
/// continues the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineComplete {
    Yes,
    No,
}

/// If the editor has not returned the line within this time, it continues the line.
const NOT_TAKEN: Duration = Duration::from_millis(40);

/// Input from the person or the system.
#[derive(Debug)]
pub(crate) enum TerminalInput {
    /// Keys and pastes.
    Typed(Vec<InputPiece>),
    Signal(TerminalSignal),
}

impl Terminal {
    /// Takes over the terminal.
    pub(crate) fn take(
        look: TerminalLook,
        workspace: PathBuf,
        home: Option<PathBuf>,
        data: &Path,
    ) -> Result<Self, TerminalError> {
        let completion = LineCompletion { workspace, home, colour: look.colour };
        let editor = LineEditor::new(completion, data).map_err(io::Error::other)?;
        Ok(Self {
            console: Console::new(look),
            pastes: Pastes::default(),
            keys: KeyDecoder::default(),
            queued: Vec::new(),
            signals: Signals::new()?,
            raw: RawTerminal::take()?,
            ahead: Vec::new(),
            editor: Some(editor),
        })
    }

    /// Waits for input from the person or the system.
    pub(crate) async fn next_input(&mut self) -> TerminalInput {
        if !self.ahead.is_empty() {
            return TerminalInput::Typed(std::mem::take(&mut self.ahead));
        }
        tokio::select! {
            biased;
            sign = self.signals.next() => TerminalInput::Signal(sign),
            pieces = self.raw.read() => match pieces {
                Some(pieces) => TerminalInput::Typed(pieces),
                None => TerminalInput::Signal(TerminalSignal::End),
            },
        }
    }

    /// Starts to accept typing while a run works.
    pub(crate) fn begin_typing(&mut self) -> Result<(), TerminalError> {
        self.console.typing = LineVisibility::Shown;
        // Turns bracketed paste on.
        self.write("\u{1b}[?2004h")?;
        self.console.refresh()
    }

    /// Leaves an empty line for the prompt.
    pub(crate) fn end_typing(&mut self) -> Result<(), TerminalError> {
        self.console.finish_line()?;
        self.write("\u{1b}[?2004l")
    }

    /// Applies the current window size.
    pub(crate) fn resize(&mut self) -> Result<(), TerminalError> {
        match tty::size() {
            Some(size) => self.console.resize(size),
            None => Ok(()),
        }
    }

    /// Applies a window size whose signal was not seen yet.
    fn notice_size(&mut self) -> Result<(), TerminalError> {
        let look = self.console.look();
        match tty::size() {
            Some(size) if size != (look.width, look.height) => self.console.resize(size),
            Some(_) | None => Ok(()),
        }
    }

    /// Suspends the process and gives the terminal to the shell.
    pub(crate) fn suspend(&mut self) -> Result<(), TerminalError> {
        let typing = self.console.typing;
        self.end_typing()?;
        self.raw.suspend()?;
        if typing == LineVisibility::Shown {
            self.begin_typing()?;
        }
        self.resize()
    }

    /// Whether the terminal hung up.
    pub(crate) fn is_gone(&self) -> bool {
        self.raw.is_gone()
    }

    /// Runs a program with exclusive use of the terminal.
    pub(crate) fn lend(&mut self, program: std::process::Command) -> io::Result<std::process::ExitStatus> {
        self.raw.lend(program)
    }

    /// Reads a line with the line editor, starting with the text typed before.
    pub(crate) async fn line(
        &mut self,
        prompt: &'static str,
        begun: (String, String),
    ) -> Result<PromptLine, TerminalError> {
        let Some(mut editor) = self.editor.take() else { return Ok(PromptLine::Ended) };
        let styled = match self.console.look().colour {
            Colour::None => prompt.to_owned(),
            Colour::Ansi => format!("\u{1b}[1;36m{prompt}\u{1b}[0m"),
        };
        let prompt = (prompt.to_owned(), styled);
        let mut reading = tokio::task::spawn_blocking(move || {
            let line = editor.read(&prompt, &begun);
            (editor, line)
        });
        let mut entered = LineComplete::No;
        loop {
            tokio::select! {
                biased;
                read = &mut reading => {
                    let (editor, line) = read.map_err(io::Error::other)?;
                    self.editor = Some(editor);
                    self.notice_size()?;
                    return Ok(line.map_err(io::Error::other)?);
                }
                () = tokio::time::sleep(NOT_TAKEN), if entered == LineComplete::Yes => entered = LineComplete::No,
                input = self.next_input(), if entered == LineComplete::No => match input {
                    TerminalInput::Signal(TerminalSignal::End) => return Ok(PromptLine::Ended),
                    // The editor handles these signals itself.
                    TerminalInput::Signal(TerminalSignal::Interrupt | TerminalSignal::Resized) => self.resize()?,
                    TerminalInput::Typed(pieces) => entered = self.pass_on(pieces)?,
                },
            }
        }
    }

    /// Passes input to the line editor: for a long paste only its mark, and nothing after a key that may end the line.
    fn pass_on(&mut self, pieces: Vec<InputPiece>) -> Result<LineComplete, TerminalError> {
        let mut pieces = pieces.into_iter();
        while let Some(piece) = pieces.next() {
            match piece {
                InputPiece::Keys(keys) => {
                    let (now, later) =
                        keys.split_at(keys.iter().position(|key| *key == b'\r').map_or(keys.len(), |at| at + 1));
                    self.raw.feed(now)?;
                    if now.ends_with(b"\r") {
                        let later = Some(later.to_vec()).filter(|later| !later.is_empty()).map(InputPiece::Keys);
                        self.ahead = later.into_iter().chain(pieces).collect();
                        return Ok(LineComplete::Yes);
                    }
                }
                InputPiece::Paste(text) => self.paste(&text)?,
                InputPiece::Suspend => {
                    self.suspend()?;
                    // Redraws the line.
                    self.raw.feed(b"\x0c")?;
                }
            }
        }
        Ok(LineComplete::No)
    }

    fn paste(&mut self, text: &str) -> Result<(), TerminalError> {
        let shown = self.pastes.take(text);
        Ok(self.raw.feed(format!("\u{1b}[200~{shown}\u{1b}[201~").as_bytes())?)
    }

    /// Adds a line to the history.
    pub(crate) fn keep(&mut self, line: &str) {
        if let Some(editor) = &mut self.editor {
            editor.keep(line);
        }
    }

    /// Returns the prompt between runs.
    pub(crate) fn prompt(&self) -> &'static str {
        console::prompt(self.console.look().glyphs)
    }

    fn write(&self, text: &str) -> Result<(), TerminalError> {
        let mut out = StandardStream::Output;
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
    }
}
