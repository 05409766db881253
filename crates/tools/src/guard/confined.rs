//! The guard's part of running a command in the sandbox. The guard stays outside: it starts the sandbox's first process
//! ([`super::first_process`]), sends it the request over a socket, and receives from it how the command ended. The
//! guard cleans up afterwards, where the command can't interfere.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Child;

use rustix::process::Pid;
use windlass_sandbox::{Confinement, Isolation};

use super::handover;
use super::wire::{GuardReport, GuardRequest, STOP};

/// The last argument that makes a guard program the first process of a sandbox.
pub(super) const FIRST_PROCESS: &str = "first-process";

/// The kernel does not allow the requested confinement.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct KernelRefused(io::Error);

impl KernelRefused {
    /// Marks an error of the kernel during confinement as a refusal, unless a retry may succeed.
    pub(super) fn by_kernel(error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, Self(error)),
        }
    }

    /// Returns the report for a command that was not started because of `error`.
    pub(super) fn report(error: &io::Error) -> GuardReport {
        if error.get_ref().is_some_and(|inner| inner.is::<Self>()) {
            GuardReport::KernelRefused(error.to_string())
        } else {
            GuardReport::Failed(error.to_string())
        }
    }
}

/// Which process this one is, after a fork.
pub(super) enum ForkRole {
    /// The guard, outside; with the first process, unless that is a separate program that is yet to be started.
    Guard(Option<FirstProcess>),
    /// The first process of the sandbox, which receives its request over this socket.
    FirstProcess(UnixStream),
    /// The intermediate process, which has nothing left to do.
    Between,
}

/// Forks the first process where possible: namespaces need no other program. The caller must have no other threads.
pub(super) fn fork(request: &GuardRequest) -> io::Result<ForkRole> {
    match &request.confinement {
        Some(Confinement { isolation: Isolation::Namespaces, network, .. }) => platform::fork(*network),
        Some(_) | None => Ok(ForkRole::Guard(None)),
    }
}

/// The first process of a sandbox, waiting for its request.
pub(super) struct FirstProcess {
    /// The process that the guard waits for, and whose group it kills.
    pub(super) pid: Pid,
    pub(super) channel: UnixStream,
}

impl FirstProcess {
    /// Starts the first process as a program, in its own process group.
    pub(super) fn start(confinement: &Confinement) -> io::Result<Self> {
        let (channel, theirs) = UnixStream::pair()?;
        let mut command = platform::command(confinement)?;
        let process = command.stdin(OwnedFd::from(theirs)).process_group(0).spawn()?;
        Ok(Self { pid: pid_of(&process)?, channel })
    }

    /// Sends it the command to run, and the command's standard input.
    pub(super) fn hand_over(
        &mut self,
        request: &GuardRequest,
        input: Option<&OwnedFd>,
    ) -> io::Result<FirstProcessReplies> {
        let line = serde_json::to_string(request)? + "\n";
        let sent = handover::send(&self.channel, line.as_bytes(), input.map(AsFd::as_fd))?;
        self.channel.write_all(&line.as_bytes()[sent..])?;
        Ok(FirstProcessReplies(self.channel.try_clone()?))
    }
}

pub(super) fn pid_of(process: &Child) -> io::Result<Pid> {
    i32::try_from(process.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no process id"))
}

/// The replies of the first process before it ends.
pub(super) struct FirstProcessReplies(UnixStream);

impl FirstProcessReplies {
    /// Tells the first process that the command is being stopped, so that processes that handle the signal get the
    /// grace period. The signal alone proves nothing: the command may have sent it.
    pub(super) fn announce_stop(&self) {
        // If the first process is gone, the guard notices its exit.
        let _ = (&self.0).write_all(format!("{STOP}\n").as_bytes());
    }

    /// Reads the Landlock version that confined the command and the command's end, once the first process has ended.
    /// Both are missing if the first process was killed.
    pub(super) fn read(self) -> (Option<u8>, Option<GuardReport>) {
        let (mut landlock, mut end) = (None, None);
        for line in BufReader::new(self.0).lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(GuardReport::Confined { landlock: version, .. }) => landlock = Some(version),
                Ok(report) => end = Some(report),
                Err(_) => {}
            }
        }
        (landlock, end)
    }
}

/// How many entries of a temporary folder are scanned for folders that a command made inaccessible.
const MOST_IN_TEMP: usize = 100_000;

/// Creates the temporary folder of a command, before it is mounted.
pub(super) fn make_temp(confinement: &Confinement) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(&confinement.temp)
}

/// Removes the temporary folder of a command.
pub(super) fn remove_temp(confinement: &Confinement) {
    if std::fs::remove_dir_all(&confinement.temp).is_err() {
        open_folders(&confinement.temp);
        // Failure is harmless: the folder holds only disposable files.
        let _ = std::fs::remove_dir_all(&confinement.temp);
    }
}

/// Gives the owner all permissions on this folder and those below it, which no process uses any more. Follows no
/// symlink.
fn open_folders(folder: &Path) {
    let (mut folders, mut left) = (vec![folder.to_owned()], MOST_IN_TEMP);
    while let Some(folder) = folders.pop() {
        // If this fails, the removal fails too.
        let _ = std::fs::set_permissions(&folder, Permissions::from_mode(0o700));
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use std::process::Command;

    use windlass_sandbox::{Confinement, Isolation, bubblewrap_arguments};

    use super::{FIRST_PROCESS, io};

    pub(super) use crate::guard::namespaces::start as fork;

    /// Starts the first process where it is not forked: this program again, with its own arguments.
    pub(super) fn command(confinement: &Confinement) -> io::Result<Command> {
        let program = std::env::current_exe()?;
        let mut command = match &confinement.isolation {
            Isolation::Namespaces | Isolation::Landlock | Isolation::Seatbelt => Command::new(&program),
            Isolation::Bubblewrap(bubblewrap) => {
                let mut command = Command::new(bubblewrap);
                command.args(bubblewrap_arguments(confinement, &program)).arg(&program);
                command
            }
        };
        command.args(std::env::args_os().skip(1)).arg(FIRST_PROCESS);
        Ok(command)
    }
}

#[cfg(target_os = "macos")]
mod platform {
    use std::process::Command;

    use windlass_sandbox::{Confinement, Network, seatbelt_profile};

    use super::{FIRST_PROCESS, ForkRole, io};

    pub(super) fn fork(_: Network) -> io::Result<ForkRole> {
        Ok(ForkRole::Guard(None))
    }

    /// The first process, confined from the start by its profile.
    pub(super) fn command(confinement: &Confinement) -> io::Result<Command> {
        let mut command = Command::new("/usr/bin/sandbox-exec");
        command.arg("-p").arg(seatbelt_profile(confinement)).arg(std::env::current_exe()?);
        command.args(std::env::args_os().skip(1)).arg(FIRST_PROCESS);
        Ok(command)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod platform {
    use std::process::Command;

    use windlass_sandbox::{Confinement, Network};

    use super::{ForkRole, io};

    pub(super) fn fork(_: Network) -> io::Result<ForkRole> {
        Ok(ForkRole::Guard(None))
    }

    pub(super) fn command(_: &Confinement) -> io::Result<Command> {
        Err(io::Error::other("there is no sandbox for this operating system"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T7: `chmod 0 /tmp/a` by the command
    #[test]
    fn folders_that_a_command_has_shut_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (temp, other) = (folder.path().join("temp"), folder.path().join("other"));
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, temp.join("a/link")).unwrap();
        let shut = |path: &Path| std::fs::set_permissions(path, Permissions::from_mode(0o0)).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        [&temp.join("a/b"), &temp.join("a"), &other].into_iter().for_each(|path| shut(path));
        open_folders(&temp);
        assert_eq!((mode(&temp.join("a")), mode(&temp.join("a/b")), mode(&other)), (0o700, 0o700, 0), "no link");
        shut(&temp.join("a"));
        remove_temp(&Confinement { temp: temp.clone(), ..Confinement::default() });
        assert!(!temp.exists() && other.exists());
    }

    // proves X3: a machine that lacks a resource for a moment may still support confinement
    #[test]
    fn what_may_pass_is_no_refusal() {
        let report = |kind: io::ErrorKind| KernelRefused::report(&KernelRefused::by_kernel(io::Error::from(kind)));
        assert!(matches!(report(io::ErrorKind::PermissionDenied), GuardReport::KernelRefused(_)));
        assert!(matches!(report(io::ErrorKind::StorageFull), GuardReport::KernelRefused(_)));
        assert!(matches!(report(io::ErrorKind::WouldBlock), GuardReport::Failed(_)));
        assert!(matches!(report(io::ErrorKind::OutOfMemory), GuardReport::Failed(_)));
    }
}
