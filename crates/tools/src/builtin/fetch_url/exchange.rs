//! One request and its response, within bounds: the head is limited by the HTTP client, the body by the caller's limit,
//! before and after decompression. Bytes beyond the limit are not read.

use std::io::{self, Write};
use std::pin::Pin;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::{HeaderMap, Request, StatusCode, header};
use http_body::{Body as _, Frame};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::fetch_failure::FetchFailure;
use crate::address::Address;
use crate::shorten::shorten;

/// The largest response head.
const HEAD: usize = 64 << 10;
const AGENT: &str = concat!("windlass/", env!("CARGO_PKG_VERSION"));
const ACCEPT: &str = "text/html, application/xhtml+xml, text/plain, text/markdown, application/json, text/*;q=0.9, \
                      application/xml;q=0.8, */*;q=0.1";

/// The head of a response.
pub(super) struct ResponseHead {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
}

impl ResponseHead {
    pub(super) fn text(&self, name: header::HeaderName) -> Option<String> {
        self.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

/// The part of a body that is kept.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResponseBody {
    pub(super) bytes: Vec<u8>,
    pub(super) extent: BodyExtent,
}

/// Whether the body is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyExtent {
    Whole,
    Cut,
}

/// Requests `address` over `stream`. `wanted` decides from the head how many bytes of the body to read.
pub(super) async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    address: &Address,
    wanted: impl FnOnce(&ResponseHead) -> usize,
) -> Result<(ResponseHead, ResponseBody), FetchFailure> {
    let lost = |error: hyper::Error| lost(address, &error);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(HEAD).handshake(TokioIo::new(stream)).await.map_err(lost)?;
    let answer = async {
        let answer = sender.send_request(request(address)?).await.map_err(lost)?;
        let (parts, mut incoming) = answer.into_parts();
        let head = ResponseHead { status: parts.status, headers: parts.headers };
        let room = wanted(&head);
        let body = if room == 0 { nothing() } else { read(&head, &mut incoming, room, address).await? };
        Ok((head, body))
    };
    tokio::pin!(answer, connection);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        // Bytes that arrived before the connection ended can still be read.
        _ = &mut connection => answer.await,
    }
}

fn nothing() -> ResponseBody {
    ResponseBody { bytes: Vec::new(), extent: BodyExtent::Whole }
}

fn lost(address: &Address, error: &hyper::Error) -> FetchFailure {
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
    FetchFailure::Unreachable(format!(
        "{} broke off or gave no sound answer: {}.",
        address.origin(),
        shorten(&why, 200)
    ))
}

fn request(address: &Address) -> Result<Request<String>, FetchFailure> {
    let host = match address.url().port() {
        Some(port) => format!("{}:{port}", address.host()),
        None => address.host().to_owned(),
    };
    Request::get(address.path())
        .header(header::HOST, host)
        .header(header::USER_AGENT, AGENT)
        .header(header::ACCEPT, ACCEPT)
        .header(header::ACCEPT_ENCODING, "gzip")
        .header(header::CONNECTION, "close")
        .body(String::new())
        .map_err(|error| {
            FetchFailure::Refused(format!("`{}` can't be asked for: {error}.", shorten(address.as_str(), 200)))
        })
}

async fn read(
    head: &ResponseHead,
    incoming: &mut Incoming,
    room: usize,
    address: &Address,
) -> Result<ResponseBody, FetchFailure> {
    let mut kept = BodyUnpacker::new(head, room)?;
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut *incoming).poll_frame(context)).await;
        match frame.transpose().map_err(|error| lost(address, &error))?.map(Frame::into_data) {
            None => return kept.finished(),
            Some(Ok(bytes)) => {
                if kept.take(&bytes)? == BodyExtent::Cut {
                    return kept.finished();
                }
            }
            // Trailers are not needed.
            Some(Err(_)) => {}
        }
    }
}

/// Collects and decompresses a body.
enum BodyUnpacker {
    Plain(BoundedBuffer),
    Packed { decoder: Box<MultiGzDecoder<BoundedBuffer>>, read: usize },
}

impl BodyUnpacker {
    fn new(head: &ResponseHead, room: usize) -> Result<Self, FetchFailure> {
        let bounded = BoundedBuffer { bytes: Vec::new(), room, extent: BodyExtent::Whole };
        match head.text(header::CONTENT_ENCODING).map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Plain(bounded)),
            Some("gzip" | "x-gzip") => Ok(Self::Packed { decoder: Box::new(MultiGzDecoder::new(bounded)), read: 0 }),
            Some(other) => Err(FetchFailure::Refused(format!(
                "The answer is packed as `{}`, which was not asked for.",
                shorten(other, 40)
            ))),
        }
    }

    /// Adds bytes. Returns whether there is room for more.
    fn take(&mut self, bytes: &Bytes) -> Result<BodyExtent, FetchFailure> {
        match self {
            Self::Plain(bounded) => {
                let _ = bounded.write(bytes);
                Ok(bounded.extent)
            }
            Self::Packed { decoder, read } => {
                *read = read.saturating_add(bytes.len());
                let unpacked = decoder.write_all(bytes);
                let bounded = decoder.get_mut();
                if *read > bounded.room {
                    // So much input without reaching the output limit can only be empty blocks.
                    bounded.extent = BodyExtent::Cut;
                }
                match (unpacked, bounded.extent) {
                    (_, BodyExtent::Cut) => Ok(BodyExtent::Cut),
                    (Ok(()), BodyExtent::Whole) => Ok(BodyExtent::Whole),
                    (Err(error), BodyExtent::Whole) => Err(unsound(&error)),
                }
            }
        }
    }

    fn finished(self) -> Result<ResponseBody, FetchFailure> {
        match self {
            Self::Plain(BoundedBuffer { bytes, extent, .. }) => Ok(ResponseBody { bytes, extent }),
            Self::Packed { mut decoder, .. } => {
                let ended = decoder.try_finish();
                let BoundedBuffer { bytes, extent, .. } = decoder.get_mut();
                let (bytes, extent) = (std::mem::take(bytes), *extent);
                match (ended, extent) {
                    (Ok(()), _) | (Err(_), BodyExtent::Cut) => Ok(ResponseBody { bytes, extent }),
                    (Err(error), BodyExtent::Whole) => Err(unsound(&error)),
                }
            }
        }
    }
}

fn unsound(error: &io::Error) -> FetchFailure {
    FetchFailure::Unreachable(format!("The answer is packed as gzip but can't be unpacked: {error}."))
}

/// Keeps bytes up to its limit, and refuses more.
struct BoundedBuffer {
    bytes: Vec<u8>,
    room: usize,
    extent: BodyExtent,
}

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room - self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() {
            self.extent = BodyExtent::Cut;
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
