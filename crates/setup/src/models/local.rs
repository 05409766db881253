//! Finds model servers on this machine by probing their usual ports, all at once and with a short timeout. A program
//! that answers there without a list of models is not a model server.
//!
//! On a machine with several users a stranger may listen at such a port. So a server is used without asking only if
//! it answers as Ollama or llama.cpp and runs as this user; for any other server the person decides.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use url::{Host, Url};

use super::models_of;
use super::owner::ListenerOwner;
use super::software::Software;
use crate::settings::ModelEndpoint;

/// A server on this machine answers in a millisecond or two, or is not there.
const PROBE_LIMIT: Duration = Duration::from_millis(300);

/// A server to probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The server's base URL.
    pub base_url: String,
}

impl LocalServer {
    /// Returns the server at this address.
    pub fn at(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned() }
    }

    /// The servers to probe: the default ports of Ollama and of llama.cpp. The first one that has a model wins.
    pub fn usual() -> Vec<Self> {
        vec![Self::at("http://127.0.0.1:11434/v1"), Self::at("http://127.0.0.1:8080/v1")]
    }
}

/// What a probe found at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalProbe {
    /// No model server.
    Nothing,
    /// A model server, possibly without models.
    Server {
        software: Software,
        owner: ListenerOwner,
        /// The models that the server lists.
        ids: Vec<String>,
    },
}

impl LocalProbe {
    /// The models that the server lists.
    pub(super) fn ids(&self) -> &[String] {
        match self {
            Self::Nothing => &[],
            Self::Server { ids, .. } => ids,
        }
    }

    /// Whether the server may be used without asking the person.
    pub(super) fn is_trusted(&self) -> bool {
        match self {
            Self::Server { software: Software::Ollama | Software::LlamaCpp, owner: ListenerOwner::Me, .. } => true,
            Self::Server { .. } | Self::Nothing => false,
        }
    }

    /// The program that serves the models.
    pub(super) fn software(&self) -> Software {
        match self {
            Self::Nothing => Software::Unknown,
            Self::Server { software, .. } => *software,
        }
    }

    /// Why the server at `base_url` is not used without asking, as a clause.
    pub(super) fn doubt(&self, base_url: &str) -> String {
        let (software, owner) = match self {
            Self::Server { software, owner, .. } => (*software, owner),
            Self::Nothing => (Software::Unknown, &ListenerOwner::NotKnown),
        };
        let what = match software {
            Software::Ollama | Software::LlamaCpp => format!("{} at {base_url}", software.name()),
            Software::Unknown => {
                format!("a server at {base_url} lists models, but does not answer as Ollama or llama.cpp")
            }
        };
        let gap = if software == Software::Unknown { ", and" } else { "" };
        match owner {
            ListenerOwner::Me => what,
            ListenerOwner::Other(user) => format!("{what}{gap} runs as another user ({user})"),
            ListenerOwner::NotKnown => format!("{what}{gap} runs as a user that can't be told"),
        }
    }
}

/// Probes all servers at the same time.
pub(super) async fn probe_all(servers: &[LocalServer]) -> Vec<(LocalServer, LocalProbe)> {
    let looking: Vec<_> = servers.iter().cloned().map(|server| tokio::spawn(probe(server))).collect();
    let mut seen = Vec::with_capacity(looking.len());
    for one in looking {
        seen.extend(one.await.ok());
    }
    seen
}

async fn probe(server: LocalServer) -> (LocalServer, LocalProbe) {
    let endpoint = ModelEndpoint::found(&server.base_url);
    let Some(address) = address_of(&server.base_url) else { return (server, LocalProbe::Nothing) };
    let (listed, software) = tokio::join!(models_of(&endpoint, PROBE_LIMIT), Software::at(address, PROBE_LIMIT));
    let seen = match listed {
        Ok(models) => {
            let ids = models.into_iter().map(|model| model.id).collect();
            LocalProbe::Server { software, owner: ListenerOwner::of(address), ids }
        }
        Err(_) => LocalProbe::Nothing,
    };
    (server, seen)
}

/// Returns the socket address of a server on this machine.
fn address_of(base_url: &str) -> Option<SocketAddr> {
    let url = Url::parse(base_url).ok()?;
    let ip: IpAddr = match url.host()? {
        Host::Ipv4(ip) => ip.into(),
        Host::Ipv6(ip) => ip.into(),
        Host::Domain("localhost") => Ipv4Addr::LOCALHOST.into(),
        Host::Domain(_) => return None,
    };
    ip.is_loopback().then_some(SocketAddr::new(ip, url.port_or_known_default()?))
}
