//! The guard's side of a command in the sandbox. The guard stays outside: it starts the sandbox's first
//! process ([`super::first_process`]), hands it the request over a socket, and hears from it how the command
//! ended. What is left afterwards is cleared away here, where the command can't reach.

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

/// The kernel does not let a command be held as it should.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct KernelRefused(io::Error);

impl KernelRefused {
    /// What the kernel answered when it was asked for what holds a command: a refusal, unless it may answer otherwise the
    /// next time.
    pub(super) fn by_kernel(error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory | io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, Self(error)),
        }
    }

    /// What a command was not started for, as a report.
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
    /// The guard, outside; with the first process, unless that is a program, which is yet to be started.
    Guard(Option<FirstProcess>),
    /// The first process of the sandbox, which is told over this what to run.
    FirstProcess(UnixStream),
    /// One between them, whose work is done.
    Between,
}

/// Forks the first process where it can be: the kernel's own walls need no other program. Only a process without threads
/// may.
pub(super) fn fork(request: &GuardRequest) -> io::Result<ForkRole> {
    match &request.confinement {
        Some(Confinement { isolation: Isolation::Namespaces, network, .. }) => platform::fork(*network),
        Some(_) | None => Ok(ForkRole::Guard(None)),
    }
}

/// The first process of a sandbox, waiting for its request.
pub(super) struct FirstProcess {
    /// Whom the guard waits for, and whose group is killed.
    pub(super) pid: Pid,
    pub(super) channel: UnixStream,
}

impl FirstProcess {
    /// Starts it as a program, in a process group of its own.
    pub(super) fn start(confinement: &Confinement) -> io::Result<Self> {
        let (channel, theirs) = UnixStream::pair()?;
        let mut command = platform::command(confinement)?;
        let process = command.stdin(OwnedFd::from(theirs)).process_group(0).spawn()?;
        Ok(Self { pid: pid_of(&process)?, channel })
    }

    /// Sends it what it is to run, and what that reads.
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

/// What the first process says before it ends.
pub(super) struct FirstProcessReplies(UnixStream);

impl FirstProcessReplies {
    /// Tells the first process that the command is to end: whoever heeds the signal has time. A signal alone may be one of
    /// the command's own.
    pub(super) fn announce_stop(&self) {
        // One that is gone already shows in its end.
        let _ = (&self.0).write_all(format!("{STOP}\n").as_bytes());
    }

    /// How it went, once the first process has ended: what held the command, and its end. Where it was killed
    /// it has said neither.
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

/// How many entries of a temporary folder are looked at for folders that a command has shut.
const MOST_IN_TEMP: usize = 100_000;

/// Makes the temporary folder of a command, before anybody mounts it.
pub(super) fn make_temp(confinement: &Confinement) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(&confinement.temp)
}

/// Removes the temporary folder of a command.
pub(super) fn remove_temp(confinement: &Confinement) {
    if std::fs::remove_dir_all(&confinement.temp).is_err() {
        open_folders(&confinement.temp);
        // It is in the place for what may be lost.
        let _ = std::fs::remove_dir_all(&confinement.temp);
    }
}

/// Gives their owner the rights to this folder and those below it, which nobody works in any more. No link is followed.
fn open_folders(folder: &Path) {
    let (mut folders, mut left) = (vec![folder.to_owned()], MOST_IN_TEMP);
    while let Some(folder) = folders.pop() {
        // What can't be opened can't be removed either.
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

    /// The first process where it is not forked: this program again, with the arguments it was started with itself.
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

    /// The first process, already held by the profile it is started with.
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

    // proves X3: a machine that is short of something for a moment has not said that it can hold nothing
    #[test]
    fn what_may_pass_is_no_refusal() {
        let report = |kind: io::ErrorKind| KernelRefused::report(&KernelRefused::by_kernel(io::Error::from(kind)));
        assert!(matches!(report(io::ErrorKind::PermissionDenied), GuardReport::KernelRefused(_)));
        assert!(matches!(report(io::ErrorKind::StorageFull), GuardReport::KernelRefused(_)));
        assert!(matches!(report(io::ErrorKind::WouldBlock), GuardReport::Failed(_)));
        assert!(matches!(report(io::ErrorKind::OutOfMemory), GuardReport::Failed(_)));
    }
}
