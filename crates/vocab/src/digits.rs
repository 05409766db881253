//! Formats numbers without `fmt`, which is slower: every record holds about a dozen numbers.

use std::fmt;

/// Room for three 32-bit numbers with dots between them, or for one 64-bit number.
const ROOM: usize = 32;

/// A text of digits and dots, filled from its end.
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

    /// The digits of three numbers, with dots between them.
    pub(crate) fn dotted([first, second, third]: [u32; 3]) -> Self {
        let mut digits = Self::of(third.into());
        for number in [second, first] {
            digits.put_byte(b'.');
            digits.put(number.into());
        }
        digits
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
            let dotted = Digits::dotted([first, second, third]);
            assert_eq!(dotted.to_string(), format!("{first}.{second}.{third}"));
        }
        assert_eq!(Digits::of(0).as_str(), "0");
    }

    #[test]
    fn the_largest_numbers_have_room() {
        assert_eq!(Digits::of(u64::MAX).as_str(), "18446744073709551615");
        assert_eq!(Digits::dotted([u32::MAX; 3]).as_str(), "4294967295.4294967295.4294967295");
    }
}
