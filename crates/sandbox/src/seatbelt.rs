//! The same for macOS, as a profile for `sandbox-exec`. Compiled and tested as text on all systems; its effect on macOS
//! is not tested.
//!
//! If several rules match, the last one counts. Paths are matched without symlinks, so `/tmp` is `/private/tmp`.

use std::fmt::Write as _;
use std::path::Path;

use crate::{Confinement, Network};

/// Devices that every command may write to.
const DEVICES: &str = "(allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") \
                       (literal \"/dev/dtracehelper\") (regex #\"^/dev/ttys[0-9]+$\") (subpath \"/dev/fd\"))";

/// Returns the profile that confines a command to `confinement`.
#[must_use]
pub fn seatbelt_profile(confinement: &Confinement) -> String {
    let mut profile = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    profile.push_str(DEVICES);
    profile.push('\n');
    let mut rule = |rule: &str, path: &Path| {
        let _ = writeln!(profile, "({rule} (subpath {}))", quoted(path));
    };
    for path in confinement.writable.iter().chain([&confinement.temp]) {
        rule("allow file-write*", path);
    }
    for path in confinement.protected.iter().chain(&confinement.absent) {
        rule("deny file-write*", path);
    }
    for path in &confinement.unreadable {
        if !confinement.writable.iter().any(|folder| folder.starts_with(path)) {
            rule("deny file-read* file-write*", path);
        }
    }
    // A folder that contains a protected path can't be moved away.
    for path in &confinement.protected {
        let root = confinement.writable.iter().find(|folder| path.starts_with(folder));
        for parent in path.ancestors().skip(1).take_while(|parent| root.is_some_and(|root| parent.starts_with(root))) {
            let _ = writeln!(profile, "(deny file-write-unlink (literal {}))", quoted(parent));
        }
    }
    if confinement.network == Network::Off {
        profile.push_str("(deny network*)\n(allow network* (local ip \"localhost:*\") (remote ip \"localhost:*\"))\n");
        profile.push_str(
            "(allow network-bind (local unix-socket))\n(deny mach-lookup (global-name \"com.apple.dnssd.service\"))\n",
        );
    }
    profile.push_str("(deny process-info* (target others))\n(allow process-info* (target same-sandbox))\n");
    profile
        .push_str("(deny signal (target others))\n(allow signal (target same-sandbox))\n(deny mach-priv-task-port)\n");
    profile
}

/// Returns a path as a string literal of the profile language.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn confinement() -> Confinement {
        Confinement {
            writable: vec![PathBuf::from("/src/a \"b\"")],
            protected: vec![PathBuf::from("/src/a \"b\"/.git/hooks")],
            absent: vec![PathBuf::from("/src/a \"b\"/.envrc")],
            unreadable: vec![PathBuf::from("/Users/me/.ssh"), PathBuf::from("/src")],
            temp: PathBuf::from("/private/var/tmp/t"),
            ..Confinement::default()
        }
    }

    // proves X3
    #[test]
    fn what_is_allowed_comes_before_what_is_taken_away_from_it() {
        let profile = seatbelt_profile(&confinement());
        let at = |text: &str| profile.find(text).unwrap_or_else(|| panic!("{text} is not in {profile}"));
        let deny = at("(deny file-write*)\n");
        let allow = at("(allow file-write* (subpath \"/src/a \\\"b\\\"\"))");
        let protect = at("(deny file-write* (subpath \"/src/a \\\"b\\\"/.git/hooks\"))");
        assert!(deny < allow && allow < protect);
        assert!(at("(deny file-write* (subpath \"/src/a \\\"b\\\"/.envrc\"))") > allow);
        assert!(at("(deny file-read* file-write* (subpath \"/Users/me/.ssh\"))") > allow);
        assert!(!profile.contains("(subpath \"/src\")"), "the workspace is in it");
        at("(deny file-write-unlink (literal \"/src/a \\\"b\\\"/.git\"))");
        at("(deny network*)");
    }

    // proves X3
    #[test]
    fn a_granted_network_is_not_denied() {
        let profile = seatbelt_profile(&Confinement { network: Network::On, ..confinement() });
        assert!(!profile.contains("network"), "{profile}");
    }
}
