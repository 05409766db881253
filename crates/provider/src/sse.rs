//! Parses server-sent events from bytes as they arrive.
//!
//! The protocol: pass any bytes, cut anywhere, even inside a character or between CR and LF, until none are returned;
//! each event is emitted at its blank line. `end` emits an event whose blank line never arrived. Lines end in LF, CR
//! or CRLF; comments are dropped; one space after the colon is not data; the `data` lines of one event are joined by
//! a line break.
//!
//! Two habits of model servers go beyond the standard. A line that begins with `{` counts as data, and a field
//! `error` as the data of an event named `error`: that is how some report a failure.
//!
//! Nothing is buffered beyond the cap, so an endless line costs bounded memory.

use memchr::memchr2;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SseEvent<'a> {
    /// The value of its `event` field; empty when it has none.
    pub(crate) name: &'a [u8],
    /// Its data.
    pub(crate) data: &'a [u8],
}

/// An event is longer than the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventTooLong;

/// The parser's state between two pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sse {
    cap: usize,
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    first_line: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Sse {
    /// Returns a parser that refuses events of more than `cap` bytes.
    pub(crate) fn new(cap: usize) -> Self {
        Self {
            cap,
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            first_line: true,
        }
    }

    /// Consumes bytes up to the end of an event and emits it, or all bytes if no event ends in them. Returns the
    /// bytes that follow.
    pub(crate) fn take<'b, E: From<EventTooLong>>(
        &mut self,
        mut bytes: &'b [u8],
        each: &mut dyn FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<&'b [u8], E> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.room_for(bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(&[]);
            };
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            self.after_cr = bytes[end] == b'\r';
            bytes = rest;
            self.room_for(line.len())?;
            if self.line.is_empty() {
                self.line(line, each)?;
                if line.is_empty() {
                    return Ok(rest);
                }
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.line(&whole, each)?;
                whole.clear();
                self.line = whole;
            }
        }
        Ok(&[])
    }

    /// Whether no part of the next event has arrived.
    pub(crate) fn is_between_events(&self) -> bool {
        self.line.is_empty() && self.name.is_empty() && !self.has_data && !self.after_cr
    }

    /// Ends the input: a pending event counts as complete.
    pub(crate) fn end<E: From<EventTooLong>>(
        &mut self,
        each: &mut dyn FnMut(SseEvent<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let last = std::mem::take(&mut self.line);
        if !last.is_empty() {
            self.line(&last, each)?;
        }
        self.dispatch(each)
    }

    fn room_for(&self, more: usize) -> Result<(), EventTooLong> {
        let held = self.line.len() + self.name.len() + self.data.len();
        if held + more > self.cap { Err(EventTooLong) } else { Ok(()) }
    }

    fn line<E>(&mut self, line: &[u8], each: &mut dyn FnMut(SseEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let first = std::mem::take(&mut self.first_line);
        let line = if first { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(each);
        }
        if line[0] == b'{' {
            self.add_data(line);
            return Ok(());
        }
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => self.add_data(value),
            b"event" => value.clone_into(&mut self.name),
            b"error" => {
                b"error".as_slice().clone_into(&mut self.name);
                self.add_data(value);
            }
            // A comment has an empty field name; `id`, `retry` and unknown fields are ignored.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
    }

    fn dispatch<E>(&mut self, each: &mut dyn FnMut(SseEvent<'_>) -> Result<(), E>) -> Result<(), E> {
        let had_data = std::mem::take(&mut self.has_data);
        let result = if had_data { each(SseEvent { name: &self.name, data: &self.data }) } else { Ok(()) };
        self.name.clear();
        self.data.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::{EventTooLong, Sse, SseEvent};

    /// Returns the events of `pushes`, as (name, data).
    fn read(cap: usize, pushes: &[&[u8]]) -> Result<Vec<(String, String)>, EventTooLong> {
        let mut sse = Sse::new(cap);
        let mut events = Vec::new();
        let mut each = |event: SseEvent<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            events.push((text(event.name), text(event.data)));
            Ok::<(), EventTooLong>(())
        };
        for mut bytes in pushes.iter().copied() {
            while !bytes.is_empty() {
                bytes = sse.take(bytes, &mut each)?;
            }
        }
        sse.end(&mut each)?;
        Ok(events)
    }

    fn check(stream: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected.iter().map(|(name, data)| ((*name).into(), (*data).into())).collect();
        let bytes = stream.as_bytes();
        for cut in 0..=bytes.len() {
            let events = read(1000, &[&bytes[..cut], &bytes[cut..]]);
            assert_eq!(events.as_ref(), Ok(&expected), "{stream:?} cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(1000, &single), Ok(expected), "{stream:?} byte by byte");
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        check("data: a\n\ndata: b\n\n", &[("", "a"), ("", "b")]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &[("", "a"), ("", "b")]);
        check("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]);
        check("data:a\ndata:  b\n\n", &[("", "a\n b")]);
        check("data\n\n", &[("", "")]);
        check(": comment\n\n\ndata: é🪝\n: another\n\n", &[("", "é🪝")]);
        check("\u{feff}data: a\n\n", &[("", "a")]);
        check("event: error\nid: 7\nretry: 10\ndata: {}\n\ndata: x\n\n", &[("error", "{}"), ("", "x")]);
        check("event: ping\n\ndata: x\n\n", &[("", "x")]);
        check("error: {\"a\":1}\n\n{\"b\":2}\n\n", &[("error", "{\"a\":1}"), ("", "{\"b\":2}")]);
    }

    #[test]
    fn an_event_whose_blank_line_never_came_is_handed_over_at_the_end() {
        check("data: a\n\ndata: [DONE]", &[("", "a"), ("", "[DONE]")]);
        check("data: a\n", &[("", "a")]);
        check("", &[]);
    }

    #[test]
    fn a_line_over_the_cap_is_refused_before_it_is_kept() {
        let mut sse = Sse::new(1000);
        let mut pushed = 0;
        let refused = loop {
            match sse.take(&[b'x'; 100], &mut |_| Ok::<(), EventTooLong>(())) {
                Ok(_) => pushed += 100,
                Err(EventTooLong) => break pushed,
            }
        };
        assert_eq!(refused, 1000);
        assert!(sse.line.capacity() <= 2000, "kept {}", sse.line.capacity());
        assert_eq!(read(10, &[b"data: 1234\ndata: 5678\ndata: 90\n\n"]), Err(EventTooLong));
    }
}
