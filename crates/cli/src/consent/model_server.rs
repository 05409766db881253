//! Asks whether to use a server on this machine that may not belong to the person.

use std::io::{self, BufRead, Write};

use windlass_setup::asking::YesNo;

use crate::output::harmless_line;

/// Asks the question. `doubt` is a clause that names the server. The end of input, and any answer but yes, is a no.
pub(super) fn ask(doubt: &str, mut input: impl BufRead, mut screen: impl Write) -> io::Result<YesNo> {
    write!(screen, "{}. Send it what you say here? [y] yes, for this chat  [N] no: ", harmless_line(doubt))?;
    screen.flush()?;
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        writeln!(screen)?;
    }
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => YesNo::Yes,
        _ => YesNo::No,
    })
}

#[cfg(test)]
mod tests {
    use super::{YesNo, ask};

    #[test]
    fn only_a_yes_is_a_yes() {
        for (typed, answer) in
            [("y\n", YesNo::Yes), (" YES \n", YesNo::Yes), ("\n", YesNo::No), ("n\n", YesNo::No), ("", YesNo::No)]
        {
            let mut screen = Vec::new();
            let said = ask("a server at X\u{1b}[2J", typed.as_bytes(), &mut screen);
            assert_eq!(said.ok(), Some(answer), "{typed:?}");
            let shown = String::from_utf8(screen).expect("text");
            assert!(shown.starts_with("a server at X") && !shown.contains('\u{1b}'), "{shown:?}");
        }
    }
}
