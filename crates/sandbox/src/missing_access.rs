//! Detects from a command's output whether it failed because of the sandbox.

/// The access that a command lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingAccess {
    /// Access to other machines.
    Network,
    /// Access to a server on this machine: the sandbox has its own loopback.
    Loopback,
    /// Write access.
    Writing,
}

/// Messages of programs that have no network.
const NETWORK: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "network is unreachable",
    "no address associated with hostname",
    "nodename nor servname provided",
    "getaddrinfo eai_again",
    "getaddrinfo enotfound",
    "eai_again",
    "failed to establish a new connection",
    "failed to lookup address information",
    "spurious network error",
    "failed to download from",
    "failed to get successful http response",
    "could not connect to server",
    "dial tcp: lookup",
    "server misbehaving",
    "no route to host",
    "unable to resolve host address",
    "temporary failure resolving",
    "unable to access 'http",
    "could not read from remote repository",
    "err_name_not_resolved",
    "err_internet_disconnected",
    "unknownhostexception",
    "connection refused - connect(2) for",
    "cannot assign requested address",
];

/// Messages of programs that may not write.
const WRITING: &[&str] = &[
    "read-only file system",
    "erofs",
    "permission denied",
    "eacces",
    "operation not permitted",
    "device or resource busy",
];

/// Messages of programs when nothing listens on a local port, on one line with a name of this machine.
const NOBODY_LISTENS: &[&str] =
    &["connection refused", "econnrefused", "could not connect to server", "couldn't connect to server"];

/// Names of this machine.
const LOOPBACK: &[&str] = &["127.0.0.1", "localhost", "[::1]", "::1 ", "::1:", "\"::1\""];

/// Errors of the kernel for a write to a read-only mount, or for the removal of a mount point.
const BLOCKED_CHANGE_ERRORS: [&str; 2] = ["Device or resource busy", "Read-only file system"];

/// How many bytes at the end of the output are searched: the reason is near the end.
const SEARCHED_BYTES: usize = 8 << 10;

/// Returns the access that a failed command with this output lacked, as far as can be detected.
#[must_use]
pub fn find_missing_access(printed: &str) -> Option<MissingAccess> {
    let mut start = printed.len().saturating_sub(SEARCHED_BYTES);
    while !printed.is_char_boundary(start) {
        start += 1;
    }
    let end = printed[start..].to_lowercase();
    let any_in = |line: &str, texts: &[&str]| texts.iter().any(|text| line.contains(text));
    let (here, elsewhere): (Vec<&str>, Vec<&str>) =
        end.lines().partition(|line| any_in(line, NOBODY_LISTENS) && any_in(line, LOOPBACK));
    let any = |texts: &[&str]| elsewhere.iter().any(|line| any_in(line, texts));
    match (any(NETWORK), here.is_empty(), any(WRITING)) {
        (true, _, _) => Some(MissingAccess::Network),
        (false, false, _) => Some(MissingAccess::Loopback),
        (false, true, true) => Some(MissingAccess::Writing),
        (false, true, false) => None,
    }
}

/// Whether the output of a successful command reports something that it could not change: `git checkout` continues if
/// it can't replace a file, and reports that it has switched. The kernel's message ends such a line; in the middle of a
/// line it may be any text.
#[must_use]
pub fn reports_blocked_change(printed: &str) -> bool {
    printed
        .lines()
        .filter_map(|line| line.trim_end_matches(['.', ' ', '\r']).rsplit_once(": "))
        .any(|(_, error)| BLOCKED_CHANGE_ERRORS.contains(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn what_a_command_lacked_is_read_off_its_own_words() {
        for (printed, want) in [
            ("curl: (6) Could not resolve host: example.org", Some(MissingAccess::Network)),
            ("npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", Some(MissingAccess::Network)),
            ("warning: spurious network error (3 tries remaining)", Some(MissingAccess::Network)),
            ("error: failed to download from `https://example.org/config.json`", Some(MissingAccess::Network)),
            ("sh: 1: cannot create /etc/x: Read-only file system", Some(MissingAccess::Writing)),
            ("touch: cannot touch '/opt/x': Permission denied", Some(MissingAccess::Writing)),
            ("error[E0308]: mismatched types", None),
            ("", None),
        ] {
            assert_eq!(find_missing_access(printed), want, "{printed}");
        }
        for printed in [
            "curl: (7) Failed to connect to 127.0.0.1 port 8000 after 0 ms: Could not connect to server",
            "psql: error: connection to server at \"localhost\" (::1), port 5432 failed: Connection refused",
            "Error: connect ECONNREFUSED ::1:3000",
            "host='localhost', port=80: Failed to establish a new connection: [Errno 111] Connection refused",
        ] {
            assert_eq!(find_missing_access(printed), Some(MissingAccess::Loopback), "{printed}");
        }
        assert_eq!(find_missing_access("connect to db.example.org port 5432: Connection refused"), None);
        assert_eq!(
            find_missing_access("listening on localhost\nCould not resolve host: x"),
            Some(MissingAccess::Network)
        );
        assert_eq!(find_missing_access(&format!("Permission denied{}", "é".repeat(9_000))), None);
    }

    // proves X3: a partial change is not reported as complete
    #[test]
    fn what_a_command_that_ended_well_could_not_change_is_read_off_its_own_words() {
        for (printed, want) in [
            ("error: unable to unlink old 'AGENTS.md': Device or resource busy\nSwitched to branch 'x'\n", true),
            ("cp: cannot create regular file '.envrc': Read-only file system\r\ndone", true),
            ("src/lack.rs:41:    \"read-only file system\",\nRead-only file system is what it says", false),
            ("Switched to branch 'x'", false),
        ] {
            assert_eq!(reports_blocked_change(printed), want, "{printed}");
        }
    }
}
