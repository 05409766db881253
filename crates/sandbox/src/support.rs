//! What this machine can enforce, found out by trying.

use crate::{Isolation, Network, SandboxMode, ScanExtent};

/// What this machine can enforce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSupport {
    /// The best kind of isolation that works.
    pub isolation: Isolation,
    /// The version of Landlock; 0 if none.
    pub landlock: u8,
    /// Why no better isolation works, if there is a better kind.
    pub why: Option<String>,
    /// Why the probe failed, which says nothing about the kernel: no command runs then.
    pub failure: Option<String>,
}

impl SandboxSupport {
    /// Whether anything can be enforced.
    #[must_use]
    pub fn enforces_anything(&self) -> bool {
        self.isolation != Isolation::Landlock || self.landlock > 0
    }

    /// Returns what can't be enforced here, one sentence each.
    #[must_use]
    pub fn gaps(&self) -> Vec<&'static str> {
        let mut gaps = Vec::new();
        if self.failure.is_some() {
            return vec!["nothing is known: a command could not be tried, and none is run"];
        }
        if self.isolation == Isolation::Seatbelt {
            return vec!["other processes are seen", "temporary folders are shared with other programs"];
        }
        if !self.enforces_anything() {
            return vec!["nothing: there is neither Landlock nor a namespace to be had"];
        }
        if self.isolation == Isolation::Landlock {
            gaps.push("what is protected in the workspace (.git/hooks, AGENTS.md) can be changed by a command");
            gaps.push("what a rule denies in the workspace can be read and changed by a command");
            gaps.push("the mode, owner and times of the person's files anywhere can be changed");
            gaps.push("other processes are seen, though not read");
            gaps.push("sockets that are files (docker.sock, an ssh agent) can be reached");
        }
        if self.landlock == 0 {
            gaps.push("there is no Landlock as a second wall");
        } else if self.landlock < 3 && self.isolation == Isolation::Landlock {
            gaps.push("files outside the workspace can be emptied");
        }
        if self.landlock < 6 {
            gaps.push("with the network granted, abstract sockets of other programs (X11) can be reached");
        }
        gaps
    }

    /// Describes for people what confines commands.
    #[must_use]
    pub fn description(&self) -> String {
        let isolation = match &self.isolation {
            Isolation::Namespaces => "namespaces",
            Isolation::Bubblewrap(_) => "bubblewrap",
            Isolation::Landlock => "no namespaces",
            Isolation::Seatbelt => return "Seatbelt".to_owned(),
        };
        match self.landlock {
            0 => format!("{isolation}, no Landlock, seccomp"),
            version => format!("{isolation}, Landlock {version}, seccomp"),
        }
    }
}

/// Returns the line about the sandbox for the approval prompt of a command. `scan_extent` is how much of the workspace
/// was scanned for paths that rules close.
#[must_use]
pub fn describe_sandbox(
    mode: SandboxMode,
    network: Network,
    support: &SandboxSupport,
    scan_extent: ScanExtent,
) -> String {
    let network = match network {
        Network::Off => "no network",
        Network::On => "WITH NETWORK, and writing to package caches",
    };
    let writes = match mode {
        SandboxMode::Off => return "not in a sandbox: it can change and send whatever you can".to_owned(),
        SandboxMode::Workspace => "writes only here",
        SandboxMode::ReadOnly => "writes nothing",
    };
    if support.failure.is_some() {
        return "it can't be run: what the sandbox can do here could not be tried".to_owned();
    }
    if !support.enforces_anything() {
        return "not in a sandbox: this kernel can't hold it, so it can change and send whatever you can".to_owned();
    }
    let gap = match support.isolation {
        Isolation::Namespaces | Isolation::Bubblewrap(_) | Isolation::Seatbelt => "",
        Isolation::Landlock => "; without namespaces what is protected here can be changed",
    };
    let unseen = match scan_extent {
        ScanExtent::Complete => "",
        ScanExtent::WithoutBuildFolders => {
            "; what a pattern denies in folders of build tools (target, node_modules) is open to it"
        }
        ScanExtent::FirstEntries => {
            "; this folder has too many files to be looked through: what is denied or protected by a pattern deep in it \
             is open to it"
        }
    };
    format!("in the sandbox: {writes}, {network}{gap}{unseen}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn what_is_missing_is_told() {
        let support = |isolation, landlock| SandboxSupport { isolation, landlock, why: None, failure: None };
        let describe_sandbox =
            |mode, network, support: &SandboxSupport| describe_sandbox(mode, network, support, ScanExtent::Complete);
        let full = support(Isolation::Namespaces, 7);
        assert_eq!(full.gaps(), Vec::<&str>::new());
        assert_eq!(
            describe_sandbox(SandboxMode::Workspace, Network::Off, &full),
            "in the sandbox: writes only here, no network"
        );
        assert!(describe_sandbox(SandboxMode::Workspace, Network::On, &full).contains("WITH NETWORK"));
        assert!(describe_sandbox(SandboxMode::Off, Network::Off, &full).starts_with("not in a sandbox"));
        let none = support(Isolation::Landlock, 0);
        assert!(!none.enforces_anything() && none.gaps().len() == 1);
        assert!(
            describe_sandbox(SandboxMode::Workspace, Network::Off, &none).starts_with("not in a sandbox: this kernel")
        );
        let mac = support(Isolation::Seatbelt, 0);
        assert!(mac.enforces_anything() && mac.description() == "Seatbelt" && mac.gaps().len() == 2);
        let untried = SandboxSupport { failure: Some("no guard".to_owned()), ..none };
        assert!(describe_sandbox(SandboxMode::Workspace, Network::Off, &untried).starts_with("it can't be run"));
        let half = support(Isolation::Landlock, 5);
        assert!(half.gaps().len() >= 4);
        assert!(describe_sandbox(SandboxMode::Workspace, Network::Off, &half).contains("can be changed"));
    }
    // proves X3
    #[test]
    fn where_nothing_was_looked_for_is_told() {
        let support = SandboxSupport { isolation: Isolation::Namespaces, landlock: 7, why: None, failure: None };
        let said = |scan_extent| describe_sandbox(SandboxMode::Workspace, Network::Off, &support, scan_extent);
        assert!(said(ScanExtent::WithoutBuildFolders).contains("node_modules"));
        assert!(said(ScanExtent::FirstEntries).contains("too many files"));
    }
}
