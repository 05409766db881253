//! What this machine can enforce, found out by doing it.

use crate::{Looked, Network, SandboxMode, Walls};

/// What this machine can enforce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The best walls that stand.
    pub walls: Walls,
    /// The version of Landlock; 0 is none.
    pub landlock: u8,
    /// Why there are no better walls, if there are not.
    pub why: Option<String>,
    /// Why it could not be found out what stands, which is no word about the kernel: no command runs then.
    pub failure: Option<String>,
}

impl Support {
    /// Whether anything can be enforced at all.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.walls != Walls::Landlock || self.landlock > 0
    }

    /// What can't be enforced here, a sentence each.
    #[must_use]
    pub fn gaps(&self) -> Vec<&'static str> {
        let mut gaps = Vec::new();
        if self.failure.is_some() {
            return vec!["nothing is known: a command could not be tried, and none is run"];
        }
        if self.walls == Walls::Seatbelt {
            return vec!["other processes are seen", "temporary folders are shared with other programs"];
        }
        if !self.is_any() {
            return vec!["nothing: there is neither Landlock nor a namespace to be had"];
        }
        if self.walls == Walls::Landlock {
            gaps.push("what is protected in the workspace (.git/hooks, AGENTS.md) can be changed by a command");
            gaps.push("what a rule denies in the workspace can be read and changed by a command");
            gaps.push("the mode, owner and times of the person's files anywhere can be changed");
            gaps.push("other processes are seen, though not read");
            gaps.push("sockets that are files (docker.sock, an ssh agent) can be reached");
        }
        if self.landlock == 0 {
            gaps.push("there is no Landlock as a second wall");
        } else if self.landlock < 3 && self.walls == Walls::Landlock {
            gaps.push("files outside the workspace can be emptied");
        }
        if self.landlock < 6 {
            gaps.push("with the network granted, abstract sockets of other programs (X11) can be reached");
        }
        gaps
    }

    /// What holds commands, for people.
    #[must_use]
    pub fn means(&self) -> String {
        let walls = match &self.walls {
            Walls::Namespaces => "namespaces",
            Walls::Bubblewrap(_) => "bubblewrap",
            Walls::Landlock => "no namespaces",
            Walls::Seatbelt => return "Seatbelt".to_owned(),
        };
        match self.landlock {
            0 => format!("{walls}, no Landlock, seccomp"),
            version => format!("{walls}, Landlock {version}, seccomp"),
        }
    }
}

/// What a person who is asked about a command is told of the sandbox, in a line. `looked` is how far the workspace was
/// looked through for what rules close.
#[must_use]
pub fn told(mode: SandboxMode, network: Network, support: &Support, looked: Looked) -> String {
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
    if !support.is_any() {
        return "not in a sandbox: this kernel can't hold it, so it can change and send whatever you can".to_owned();
    }
    let gap = match support.walls {
        Walls::Namespaces | Walls::Bubblewrap(_) | Walls::Seatbelt => "",
        Walls::Landlock => "; without namespaces what is protected here can be changed",
    };
    let unseen = match looked {
        Looked::Through => "",
        Looked::PastBuildFolders => {
            "; what a pattern denies in folders of build tools (target, node_modules) is open to it"
        }
        Looked::AtTheBeginning => {
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
        let support = |walls, landlock| Support { walls, landlock, why: None, failure: None };
        let told = |mode, network, support: &Support| told(mode, network, support, Looked::Through);
        let full = support(Walls::Namespaces, 7);
        assert_eq!(full.gaps(), Vec::<&str>::new());
        assert_eq!(told(SandboxMode::Workspace, Network::Off, &full), "in the sandbox: writes only here, no network");
        assert!(told(SandboxMode::Workspace, Network::On, &full).contains("WITH NETWORK"));
        assert!(told(SandboxMode::Off, Network::Off, &full).starts_with("not in a sandbox"));
        let none = support(Walls::Landlock, 0);
        assert!(!none.is_any() && none.gaps().len() == 1);
        assert!(told(SandboxMode::Workspace, Network::Off, &none).starts_with("not in a sandbox: this kernel"));
        let mac = support(Walls::Seatbelt, 0);
        assert!(mac.is_any() && mac.means() == "Seatbelt" && mac.gaps().len() == 2);
        let untried = Support { failure: Some("no guard".to_owned()), ..none };
        assert!(told(SandboxMode::Workspace, Network::Off, &untried).starts_with("it can't be run"));
        let half = support(Walls::Landlock, 5);
        assert!(half.gaps().len() >= 4);
        assert!(told(SandboxMode::Workspace, Network::Off, &half).contains("can be changed"));
    }
    // proves X3
    #[test]
    fn where_nothing_was_looked_for_is_told() {
        let support = Support { walls: Walls::Namespaces, landlock: 7, why: None, failure: None };
        let said = |looked| told(SandboxMode::Workspace, Network::Off, &support, looked);
        assert!(said(Looked::PastBuildFolders).contains("node_modules"));
        assert!(said(Looked::AtTheBeginning).contains("too many files"));
    }
}
