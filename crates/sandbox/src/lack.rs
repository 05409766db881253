//! Whether a command failed for want of what the sandbox withholds, read off what it printed.

/// What a command lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Other machines.
    Network,
    /// Writing where it wanted to.
    Writing,
}

/// What programs print when there is no network.
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

/// What they print when they may not write.
const WRITING: &[&str] = &[
    "read-only file system",
    "erofs",
    "permission denied",
    "eacces",
    "operation not permitted",
    "device or resource busy",
];

/// How much of the end of what was printed is looked at: the reason stands near it.
const LOOKED_AT: usize = 8 << 10;

/// What a command that failed and printed this lacked, as far as can be told.
#[must_use]
pub fn lacked(printed: &str) -> Option<Lack> {
    let mut start = printed.len().saturating_sub(LOOKED_AT);
    while !printed.is_char_boundary(start) {
        start += 1;
    }
    let end = printed[start..].to_lowercase();
    let any = |texts: &[&str]| texts.iter().any(|text| end.contains(text));
    match (any(NETWORK), any(WRITING)) {
        (true, _) => Some(Lack::Network),
        (false, true) => Some(Lack::Writing),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn what_a_command_lacked_is_read_off_its_own_words() {
        for (printed, want) in [
            ("curl: (6) Could not resolve host: example.org", Some(Lack::Network)),
            ("npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", Some(Lack::Network)),
            ("warning: spurious network error (3 tries remaining)", Some(Lack::Network)),
            ("error: failed to download from `https://example.org/config.json`", Some(Lack::Network)),
            ("sh: 1: cannot create /etc/x: Read-only file system", Some(Lack::Writing)),
            ("touch: cannot touch '/opt/x': Permission denied", Some(Lack::Writing)),
            ("error[E0308]: mismatched types", None),
            ("", None),
        ] {
            assert_eq!(lacked(printed), want, "{printed}");
        }
        assert_eq!(lacked(&format!("Permission denied{}", "é".repeat(9_000))), None);
    }
}
