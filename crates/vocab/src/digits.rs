//! Numbers as text without the machinery of `fmt`: every record has a dozen of them.

use std::fmt;

/// Room for three numbers of 32 bits with dots between them, or for one of 64 bits.
const ROOM: usize = 32;

/// A text of numbers and dots, written from its end.
pub(crate) struct Digits {
    text: [u8; ROOM],
    begins: usize,
}

impl Digits {
    /// The digits of a number.
    pub(crate) fn of(number: u64) -> Self {
        let mut digits = Self { text: [0; ROOM], begins: ROOM };
        digits.put(number);
        digits
    }

    /// `number`, a dot, and what is there.
    pub(crate) fn after(mut self, number: u32) -> Self {
        self.put_byte(b'.');
        self.put(number.into());
        self
    }

    fn put(&mut self, mut number: u64) {
        loop {
            self.put_byte(b'0' + u8::try_from(number % 10).unwrap_or_default());
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }

    fn put_byte(&mut self, byte: u8) {
        self.begins -= 1;
        self.text[self.begins] = byte;
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text[self.begins..]
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Digits;

    #[test]
    fn digits_are_what_fmt_writes() {
        for shift in 0..64 {
            for number in [u64::MAX >> shift, 1 << shift, 10u64.pow(shift % 20)] {
                assert_eq!(Digits::of(number).as_str(), number.to_string());
            }
            let [first, second, third] = [u32::MAX >> (shift / 2), shift, 0xdead_beef >> (shift / 3)];
            let dotted = Digits::of(third.into()).after(second).after(first);
            assert_eq!(dotted.to_string(), format!("{first}.{second}.{third}"));
        }
        assert_eq!(Digits::of(0).as_str(), "0");
        let longest = Digits::of(u32::MAX.into()).after(u32::MAX).after(u32::MAX);
        assert_eq!(longest.as_str(), [u32::MAX.to_string(), u32::MAX.to_string(), u32::MAX.to_string()].join("."));
    }
}
