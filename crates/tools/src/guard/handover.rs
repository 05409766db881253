//! Sends a guard its request together with the standard input of the program it starts. The descriptor travels over the
//! socket, because a newly started guard does not inherit it.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

/// The bytes received over the lifeline, up to the end of the request.
pub(super) struct ReceivedRequest {
    /// The request: one line, without its newline.
    pub(super) line: Vec<u8>,
    /// Bytes received after it.
    pub(super) rest: Vec<u8>,
    /// The standard input that was sent with it.
    pub(super) input: Option<OwnedFd>,
}

/// Sends as much of `bytes` as one call takes, with `input` if there is one. Returns the number of bytes sent.
pub(super) fn send(lifeline: &UnixStream, bytes: &[u8], input: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    Ok(rustix::net::sendmsg(lifeline, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::empty())?)
}

/// Waits for the request. Returns `None` if the other end closes before the request is complete.
pub(super) fn receive(lifeline: &UnixStream) -> io::Result<Option<ReceivedRequest>> {
    let (mut bytes, mut input) = (Vec::new(), None);
    loop {
        let mut buffer = [0; 4096];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let slices = &mut [IoSliceMut::new(&mut buffer)];
        let read = match rustix::net::recvmsg(lifeline, slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => continue,
            received => received?.bytes,
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                input = input.or(descriptors.last());
            }
        }
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&buffer[..read]);
        if let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let rest = bytes.split_off(end + 1);
            bytes.truncate(end);
            return Ok(Some(ReceivedRequest { line: bytes, rest, input }));
        }
    }
}
