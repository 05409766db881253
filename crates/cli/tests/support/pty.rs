//! Pseudo-terminals.

use std::os::fd::{AsFd, OwnedFd};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

const FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// Opens a new pseudo-terminal and returns the person's end.
pub(crate) fn open() -> OwnedFd {
    let person = openpt(FLAGS).expect("a terminal");
    grantpt(&person).and_then(|()| unlockpt(&person)).expect("a terminal");
    person
}

/// The program's end of the pseudo-terminal.
pub(crate) fn other_end(person: &impl AsFd) -> OwnedFd {
    ioctl_tiocgptpeer(person, FLAGS).expect("its other end")
}
