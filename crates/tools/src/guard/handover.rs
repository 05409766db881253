//! How a guard is given its request, and with it the standard input of what it is to start: a
//! descriptor can't be smuggled through a fork, but a socket can carry one.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

/// What came over the lifeline up to the end of the request.
pub(super) struct ReceivedRequest {
    /// The request, a line without its end.
    pub(super) line: Vec<u8>,
    /// What came after it already.
    pub(super) rest: Vec<u8>,
    /// The input that came with it.
    pub(super) input: Option<OwnedFd>,
}

/// Sends as much of `bytes` as goes at once, with `input` if there is one. Says how much went.
pub(super) fn send(lifeline: &UnixStream, bytes: &[u8], input: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let descriptors: Vec<BorrowedFd<'_>> = input.into_iter().collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    Ok(rustix::net::sendmsg(lifeline, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::empty())?)
}

/// Waits for the request; `None` if the other end is gone before it was whole.
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
