//! The transport: writes rmcp's messages as lines, and parses incoming lines.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::frame::{self, OpenRequests};
use super::lines::{LineSplitter, ProtocolLine};
use super::process::Process;
use crate::notice::{NoticeKind, OutputFault, SAMPLE};

/// The size of the read buffer.
const CHUNK: usize = 64 << 10;

/// Receives the notices about a server.
pub(crate) type NoticeSink = Arc<dyn Fn(NoticeKind) + Send + Sync>;

/// Lines of JSON over a pair of pipes.
pub(crate) struct LineTransport<R, W> {
    output: R,
    input: Arc<tokio::sync::Mutex<Option<W>>>,
    buffer: Box<[u8]>,
    lines: LineSplitter,
    ready: VecDeque<ServerJsonRpcMessage>,
    asked: Arc<Mutex<OpenRequests>>,
    faults: BTreeMap<OutputFault, u64>,
    publish: NoticeSink,
    process: Option<Process>,
}

impl<R, W> LineTransport<R, W> {
    /// Returns a transport that reads messages of at most `limit` bytes from `output` and writes to `input`.
    pub(crate) fn new(output: R, input: W, limit: usize, publish: NoticeSink) -> Self {
        Self {
            output,
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            buffer: vec![0; CHUNK].into_boxed_slice(),
            lines: LineSplitter::up_to(limit),
            ready: VecDeque::new(),
            asked: Arc::default(),
            faults: BTreeMap::new(),
            publish,
            process: None,
        }
    }

    /// Sets the process that is ended when the transport is closed.
    pub(crate) fn of(self, process: Process) -> Self {
        Self { process: Some(process), ..self }
    }

    fn take(&mut self, lines: Vec<ProtocolLine>) {
        for line in lines {
            let read = frame::read(&line, &mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
            self.ready.extend(read.messages);
            for fault in read.faults {
                self.report_fault(fault, &line);
            }
        }
    }

    /// Handles an incomplete last line: the server died while writing it.
    fn take_rest(&mut self, line: &ProtocolLine) {
        let read = frame::read(line, &mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        // Half an answer is less useful than the error that the server is gone, which the waiting call gets next.
        self.ready.extend(read.messages.into_iter().filter(|message| !frame::is_unreadable(message)));
        if !read.faults.is_empty() {
            self.report_fault(OutputFault::BrokenOff, line);
        }
    }

    /// Reports the 1st, 10th, 100th… fault: a server that logs to its output does it all the time.
    fn report_fault(&mut self, fault: OutputFault, line: &ProtocolLine) {
        let times = self.faults.entry(fault).or_default();
        *times += 1;
        if times.checked_ilog10().is_some_and(|power| 10u64.pow(power) == *times) {
            let (ProtocolLine::Whole(bytes) | ProtocolLine::TooLong { sample: bytes, .. }) = line;
            let sample = match fault {
                OutputFault::Blank | OutputFault::ByteOrderMark | OutputFault::CarriageReturn => String::new(),
                OutputFault::NotJson
                | OutputFault::NotUtf8
                | OutputFault::NotAMessage
                | OutputFault::TooLong
                | OutputFault::TooDeep
                | OutputFault::BrokenOff
                | OutputFault::Unasked => {
                    // The receiver removes secrets and truncates afterwards.
                    String::from_utf8_lossy(&bytes[..bytes.len().min(64 * SAMPLE)]).trim().to_owned()
                }
            };
            (self.publish)(NoticeKind::Garbage { fault, sample, times: *times });
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let ClientJsonRpcMessage::Request(request) = &message {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.insert(request.id.clone(), request.request.method().to_owned());
        }
        let (line, input) = (serde_json::to_vec(&message), Arc::clone(&self.input));
        async move {
            let mut line = line?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let Some(input) = input.as_mut() else {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "the connection is closed"));
            };
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        // Cancellation-safe at every await: received data is kept in `lines` and `ready`.
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let read = self.output.read(&mut self.buffer).await.unwrap_or(0);
            let mut lines = Vec::new();
            if read == 0 {
                if let Some(rest) = self.lines.finish() {
                    self.take_rest(&rest);
                    continue;
                }
                if let Some(process) = &mut self.process {
                    process.ending().await;
                }
                return None;
            }
            self.lines.push(&self.buffer[..read], |line| lines.push(line));
            self.take(lines);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A server that does not read blocks a writer that holds the lock; ending the process releases it.
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        if let Some(process) = self.process.take() {
            process.end().await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientRequest, NumberOrString, PingRequest};
    use tokio::io::AsyncBufReadExt;

    use super::*;

    fn quiet() -> (NoticeSink, Arc<Mutex<Vec<NoticeKind>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&told);
        (Arc::new(move |notice| sink.lock().unwrap().push(notice)), told)
    }

    fn ping(id: i64) -> ClientJsonRpcMessage {
        ClientJsonRpcMessage::request(ClientRequest::PingRequest(PingRequest::default()), NumberOrString::Number(id))
    }

    // proves P4
    #[tokio::test]
    async fn noise_around_an_answer_does_not_hide_it() {
        let ((ours, theirs), (publish, told)) = (tokio::io::duplex(64), quiet());
        let (output, input) = tokio::io::split(ours);
        let mut transport = LineTransport::new(output, input, 1 << 20, publish);
        transport.send(ping(1)).await.unwrap();
        let (from_us, mut to_us) = tokio::io::split(theirs);
        let asked = tokio::io::BufReader::new(from_us).lines().next_line().await.unwrap().unwrap();
        assert!(asked.contains("\"ping\""), "{asked}");
        let noise = "starting\n\n\u{feff}{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\r\ntail";
        tokio::spawn(async move { to_us.write_all(noise.as_bytes()).await });
        assert!(matches!(transport.receive().await, Some(ServerJsonRpcMessage::Response(_))));
        assert!(transport.receive().await.is_none());
        assert!(told.lock().unwrap().len() >= 4, "{told:?}");
    }

    #[tokio::test]
    async fn a_server_that_logs_all_the_time_is_told_of_a_few_times() {
        let (publish, told) = quiet();
        let log = "log line\n".repeat(500);
        let mut transport = LineTransport::new(io::Cursor::new(log), tokio::io::sink(), 1 << 20, publish);
        assert!(transport.receive().await.is_none());
        let times: Vec<u64> = told
            .lock()
            .unwrap()
            .iter()
            .map(|notice| match notice {
                NoticeKind::Garbage { times, .. } => *times,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(times, [1, 10, 100]);
    }
}
