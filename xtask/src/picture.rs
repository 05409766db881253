//! `cargo xtask picture`: plays the first run, `windlass` without a model, in a pseudo-terminal and draws its output as
//! `docs/demo.svg`, an animation without scripts.
//!
//! The protocol: record bytes with their times → one screen per moment ([`record`]) → rows of coloured
//! pieces → all frames side by side in one drawing, of which a window displays one at a time ([`draw`]).

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::{Cell, Color, Parser, Screen};

use crate::cargo::{cargo, target_dir};

const ROWS: NonZero<u16> = NonZero::new(30).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(92).unwrap();
/// Frames closer together than this are merged.
const FRAME: Duration = Duration::from_millis(120);
/// How long the last frame is displayed before the animation restarts.
const REST: Duration = Duration::from_secs(5);

const CHARACTER: f32 = 8.4;
const LINE: f32 = 18.0;
const MARGIN: f32 = 14.0;

const BUILD: &[&str] = &["build", "--release", "--locked", "-p", "windlass-cli"];

/// The screen at one moment.
struct Frame {
    begins: Duration,
    rows: String,
}

pub(crate) fn run(root: &Path) -> Result<(), String> {
    cargo(root, BUILD, &[])?;
    let frames = record(&target_dir(root).join("release/windlass"))?;
    let picture = root.join("docs/demo.svg");
    fs::write(&picture, draw(&frames)).map_err(|error| format!("{}: {error}", picture.display()))?;
    println!("{} frames in {}", frames.len(), picture.display());
    Ok(())
}

/// Plays the first run and keeps a frame for every moment at which the screen changed.
fn record(windlass: &Path) -> Result<Vec<Frame>, String> {
    let trouble = |error: rustix::io::Errno| format!("no terminal: {error}");
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let person = openpt(flags).map_err(trouble)?;
    grantpt(&person).and_then(|()| unlockpt(&person)).map_err(trouble)?;
    tcsetwinsize(&person, Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 })
        .map_err(trouble)?;
    let end = || -> Result<OwnedFd, String> { ioctl_tiocgptpeer(&person, flags).map_err(trouble) };
    let home = std::env::temp_dir().join(format!("windlass-picture-{}", std::process::id()));
    let mut child = Command::new(windlass)
        .env_clear()
        .envs([("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "C.UTF-8")])
        .env("HOME", &home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(end()?)
        .stdout(end()?)
        .stderr(end()?)
        .spawn()
        .map_err(|error| format!("{}: {error}", windlass.display()))?;
    let frames = watch(File::from(person));
    let status = child.wait().map_err(|error| error.to_string())?;
    // The folder was created for this recording only.
    let _ = fs::remove_dir_all(&home);
    if status.success() { Ok(frames) } else { Err(format!("the chat ended with {status}")) }
}

fn watch(mut person: File) -> Vec<Frame> {
    let (begun, mut screen) = (Instant::now(), Parser::new(ROWS, COLUMNS, 0));
    let mut frames: Vec<Frame> = Vec::new();
    let mut bytes = [0; 4096];
    // Once the chat has exited, reading returns an error.
    while let Ok(read @ 1..) = person.read(&mut bytes) {
        screen.process(&bytes[..read]);
        if is_over(screen.screen()) {
            // Ctrl-D at the prompt exits; the output after that is not part of the picture.
            let _ = person.write_all(b"\x04");
            frames.push(Frame { begins: begun.elapsed(), rows: rows(screen.screen()) });
            while matches!(person.read(&mut bytes), Ok(1..)) {}
            return frames;
        }
        let (begins, rows) = (begun.elapsed(), rows(screen.screen()));
        match frames.last_mut() {
            Some(last) if last.rows == rows => {}
            Some(last) if begins - last.begins < FRAME => last.rows = rows,
            Some(_) | None => frames.push(Frame { begins, rows }),
        }
    }
    frames
}

/// Whether the task is finished and the prompt for the next message is displayed.
fn is_over(screen: &Screen) -> bool {
    let (row, _) = screen.cursor_position();
    let asks = screen.cell(row, 0).is_some_and(|cell| cell.contents() == "›");
    asks && screen.contents().contains("ollama pull")
}

/// The rows of a screen as SVG text.
fn rows(screen: &Screen) -> String {
    let mut drawn = String::new();
    for row in 0..ROWS.get() {
        let mut column = 0;
        while column < COLUMNS.get() {
            let Some(first) = screen.cell(row, column) else { break };
            let (look, start, mut text) = (look(first), column, String::new());
            while let Some(cell) = screen.cell(row, column).filter(|cell| self::look(cell) == look) {
                if !cell.is_wide_continuation() {
                    text.push_str(if cell.has_contents() { cell.contents() } else { " " });
                }
                column += 1;
            }
            if !text.trim().is_empty() {
                piece(&mut drawn, (row, start, column), &text, look);
            }
        }
    }
    drawn
}

/// Draws a piece of a row in one style. Its length is given, so that no font can shift the text after it.
fn piece(drawn: &mut String, (row, start, end): (u16, u16, u16), text: &str, (colour, weight): (&str, &str)) {
    let x = MARGIN + f32::from(start) * CHARACTER;
    let y = MARGIN + (f32::from(row) + 0.8) * LINE;
    let length = f32::from(end - start) * CHARACTER;
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Writing to a string can't fail.
    let _ = write!(
        drawn,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" fill=\"{colour}\"{weight}>{text}</text>"
    );
}

/// Colour and weight of a cell.
fn look(cell: &Cell) -> (&'static str, &'static str) {
    const NAMED: [&str; 16] = [
        "#7f849c", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#cba6f7", "#94e2d5", "#cdd6f4", "#7f849c", "#f38ba8",
        "#a6e3a1", "#f9e2af", "#89b4fa", "#cba6f7", "#94e2d5", "#ffffff",
    ];
    let colour = match cell.fgcolor() {
        _ if cell.dim() => "#7f849c",
        Color::Idx(index) => NAMED.get(usize::from(index)).copied().unwrap_or("#cdd6f4"),
        Color::Default | Color::Rgb(..) => "#cdd6f4",
    };
    (colour, if cell.bold() { " font-weight=\"bold\"" } else { "" })
}

/// Draws all frames side by side, and a window that displays one after the other.
fn draw(frames: &[Frame]) -> String {
    let (width, height) =
        (MARGIN * 2.0 + f32::from(COLUMNS.get()) * CHARACTER, MARGIN * 2.0 + f32::from(ROWS.get()) * LINE);
    let whole = frames.last().map_or(REST, |frame| frame.begins + REST).as_secs_f32();
    let (mut steps, mut strip) = (String::new(), String::new());
    for (number, frame) in frames.iter().enumerate() {
        let (at, place) = (frame.begins.as_secs_f32() / whole * 100.0, width * number as f32);
        let _ = write!(steps, "{at:.2}%{{transform:translateX(-{place:.0}px)}}");
        let _ = writeln!(strip, "<g transform=\"translate({place:.0})\">{}</g>", frame.rows);
    }
    let last = width * frames.len().saturating_sub(1) as f32;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace,Menlo,Consolas,monospace\" \
         font-size=\"14\" xml:space=\"preserve\">\n<title>windlass, first run</title>\n\
         <style>@keyframes play{{0%{{transform:translateX(0)}}{steps}100%{{transform:translateX(-{last:.0}px)}}}}\
         .strip{{animation:play {whole:.1}s steps(1,end) infinite}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e2e\"/>\n<g class=\"strip\">\n{strip}</g>\n</svg>\n"
    )
}
