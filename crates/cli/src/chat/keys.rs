//! Keys from bytes, for the line that is typed while a run works.

/// A key that means something in that line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    /// Alt-Enter or Ctrl-J: another line of the same message.
    Newline,
    Backspace,
    Delete,
    WordBack,
    KillToStart,
    KillToEnd,
    Left,
    Right,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
}

/// Divides bytes, wherever they are cut, into keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    held: Vec<u8>,
}

enum Step {
    Key(Key, usize),
    Skip(usize),
    More,
}

impl Keys {
    /// The keys that are complete with these bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.held.extend_from_slice(bytes);
        let (mut keys, mut at) = (Vec::new(), 0);
        while at < self.held.len() {
            match step(&self.held[at..]) {
                Step::Key(key, length) => {
                    keys.push(key);
                    at += length;
                }
                Step::Skip(length) => at += length,
                Step::More => break,
            }
        }
        self.held.drain(..at);
        keys
    }
}

fn step(bytes: &[u8]) -> Step {
    let key = match bytes[0] {
        b'\r' => Key::Enter,
        b'\n' => Key::Newline,
        0x01 => Key::Home,
        0x02 => Key::Left,
        0x03 => Key::Interrupt,
        0x04 => Key::EndOfInput,
        0x05 => Key::End,
        0x06 => Key::Right,
        0x08 | 0x7f => Key::Backspace,
        0x0b => Key::KillToEnd,
        0x15 => Key::KillToStart,
        0x17 => Key::WordBack,
        b'\t' => Key::Char(' '),
        0x1b => return escape(bytes),
        0x00..0x20 => return Step::Skip(1),
        _ => return character(bytes),
    };
    Step::Key(key, 1)
}

fn character(bytes: &[u8]) -> Step {
    let length = match bytes[0] {
        0x20..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return Step::Skip(1),
    };
    let Some(encoded) = bytes.get(..length) else { return Step::More };
    match std::str::from_utf8(encoded).ok().and_then(|text| text.chars().next()) {
        // Signs of control in the upper half are no text.
        Some(c) if !c.is_control() => Step::Key(Key::Char(c), length),
        Some(_) | None => Step::Skip(1),
    }
}

fn escape(bytes: &[u8]) -> Step {
    match bytes.get(1) {
        None => Step::More,
        Some(b'\r' | b'\n') => Step::Key(Key::Newline, 2),
        Some(0x7f | 0x08) => Step::Key(Key::WordBack, 2),
        Some(b'[' | b'O') => sequence(bytes),
        Some(0x1b) => Step::Skip(1),
        Some(_) => Step::Skip(2),
    }
}

/// `ESC [ … final`, or `ESC O final`.
fn sequence(bytes: &[u8]) -> Step {
    let Some(end) = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else { return Step::More };
    let length = 2 + end + 1;
    let key = match (&bytes[2..2 + end], bytes[2 + end]) {
        (_, b'D') => Key::Left,
        (_, b'C') => Key::Right,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (b"3", b'~') => Key::Delete,
        // Shift-Enter and its like, where the terminal tells them apart.
        (b"13;2" | b"13;3" | b"13;5", b'u') => Key::Newline,
        _ => return Step::Skip(length),
    };
    Step::Key(key, length)
}

#[cfg(test)]
mod tests {
    use super::{Key, Keys};

    #[test]
    fn keys_are_read_wherever_bytes_are_cut() {
        let input = "aß€🦀\x1b[D\x1b[3~\x1bOH\x1b\r\x1b[1;5A\x03\r".as_bytes();
        let expected = [
            Key::Char('a'),
            Key::Char('ß'),
            Key::Char('€'),
            Key::Char('🦀'),
            Key::Left,
            Key::Delete,
            Key::Home,
            Key::Newline,
            Key::Interrupt,
            Key::Enter,
        ];
        for cut in 0..=input.len() {
            let mut keys = Keys::default();
            let mut read = keys.read(&input[..cut]);
            read.extend(keys.read(&input[cut..]));
            assert_eq!(read, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_text_is_no_key() {
        assert_eq!(Keys::default().read(b"\x00\x0e\xff\xc2\x9b\x80x"), [Key::Char('x')]);
        assert_eq!(Keys::default().read(b"\x1b\x1b[D"), [Key::Left]);
    }
}
