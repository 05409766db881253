//! `fetch_url`: fetches a web page as text.
//!
//! The protocol: the URL is normalized ([`Address`]); its host is resolved and connected to only if that is allowed
//! ([`network`], [`private_address`]); the response is read within bounds ([`exchange`]). A redirect repeats these
//! steps, and every URL of it is checked against the person's rules. A redirect that the rules allow without asking is
//! followed. So is a redirect within the host of a call that a person approved, unless a rule asks about its target; a
//! rule that allowed the call allows only the URLs it matches. Otherwise the result tells the model the target, which
//! the model may request: approval of one host does not cover any other (X4).

mod charset;
mod exchange;
mod fetch_failure;
mod html;
mod network;
mod page;
mod private_address;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{EffectClass, Outcome, Preview, TextOrigin, ToolSpec, Verdict};

use self::exchange::{ResponseBody, ResponseHead, exchange};
use self::fetch_failure::FetchFailure;
use self::network::{HostConnector, SystemConnector};
use self::page::HtmlForm;
use super::answer::{invalid_arguments, ready};
use super::arguments::{parse_arguments, refuse_placeholder};
use super::spec::spec;
use crate::address::{Address, HostPattern};
use crate::shorten::shorten;
use crate::{About, AskPolicy, BoxFuture, CallContext, CertainFailure, Permissions, Secrets, Tool};

/// The most bytes of a page that are read, decompressed.
const LARGEST: usize = 4 << 20;
/// The same for the body of an error response.
const LARGEST_ERROR: usize = 64 << 10;
const REDIRECTS: usize = 10;
/// The time limit for all requests of a call together.
const TIME: Duration = Duration::from_secs(30);

/// Settings of the tool.
#[derive(Clone, Debug, Default)]
pub struct FetchSettings {
    /// Hosts that may be on this machine or in a private network.
    pub private: Vec<HostPattern>,
    /// The person's rules, for the targets of redirects.
    pub permissions: Permissions,
    /// Secrets that are replaced in a page (X1).
    pub secrets: Secrets,
}

/// What allowed a call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FetchConsent {
    /// A rule, or the mode: it covers what it matches.
    Rule,
    /// A person who was asked: the approval covers the host of the URL they saw.
    Person(Address),
}

#[derive(Deserialize)]
struct FetchUrlArguments {
    url: String,
    #[serde(default)]
    raw: bool,
}

/// Returns the tool `fetch_url`.
#[must_use]
pub fn fetch_url(fetching: FetchSettings) -> Arc<dyn Tool> {
    Arc::new(FetchUrl::new(fetching, Arc::new(SystemConnector)))
}

#[derive(Clone)]
struct FetchUrl {
    spec: ToolSpec,
    fetching: Arc<FetchSettings>,
    network: Arc<dyn HostConnector>,
    time: Duration,
}

impl fmt::Debug for FetchUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchUrl").field("fetching", &self.fetching).finish_non_exhaustive()
    }
}

impl FetchUrl {
    fn new(fetching: FetchSettings, network: Arc<dyn HostConnector>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "minLength": 1, "description": "The whole address, with http:// or https://."},
                "raw": {"type": "boolean", "description": "Give HTML as it is instead of as text."}
            },
            "required": ["url"],
            "additionalProperties": false
        });
        let spec = spec("fetch_url", include_str!("fetch_url.md"), EffectClass::ReadOnly, &schema);
        Self { spec, fetching: Arc::new(fetching), network, time: TIME }
    }
}

impl Tool for FetchUrl {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn ask_policy(&self) -> AskPolicy {
        AskPolicy::Always
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Address::parse(arguments.get("url")?.as_str()?).ok().map(|address| About::address(&address))
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        match parse_url(arguments.get("url")?.as_str()?) {
            Ok(address) => network::plainly_private(&address, &self.fetching.private).map(CertainFailure::from),
            Err(problem) => Some(CertainFailure::by_arguments(problem)),
        }
    }

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        Some(TextOrigin::Page { url: arguments.get("url")?.as_str()?.to_owned() })
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let FetchUrlArguments { url, .. } = parse_arguments(arguments.clone())?;
        let address = Address::parse(&url)?;
        let whole = address.as_str();
        let title = format!("Fetch {}", shorten(whole, 160));
        let body = if whole.chars().count() > 160 { whole.to_owned() } else { String::new() };
        Ok(Preview { title, body, rule: None })
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.time + Duration::from_secs(5))
    }

    fn run(&self, _: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let FetchUrlArguments { url, raw } = match parse_arguments(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return invalid_arguments(problem),
        };
        let address = match parse_url(&url) {
            Ok(address) => address,
            Err(problem) => return ready(Outcome::error(problem)),
        };
        let form = if raw { HtmlForm::Raw } else { HtmlForm::Readable };
        let this = self.clone();
        Box::pin(async move {
            let fetched = tokio::time::timeout(this.time, this.fetch(address, form)).await;
            let late = |_| Err(FetchFailure::Late(format!("Nothing whole came within {} s.", this.time.as_secs_f32())));
            fetched.unwrap_or_else(late).map_or_else(Outcome::from, Outcome::ok)
        })
    }
}

impl FetchUrl {
    async fn fetch(&self, mut address: Address, form: HtmlForm) -> Result<String, FetchFailure> {
        let consent = match self.check_address(&address) {
            Verdict::Allow => FetchConsent::Rule,
            Verdict::Ask | Verdict::Deny { .. } | Verdict::Invalid { .. } | Verdict::Unknown { .. } => {
                FetchConsent::Person(address.clone())
            }
        };
        for _ in 0..=REDIRECTS {
            let (head, body) = self.get(&address).await?;
            address = match (is_redirect(head.status), head.text(header::LOCATION)) {
                (true, Some(location)) => self.follow(&address, &location, &consent)?,
                (true, None) | (false, _) => {
                    return page::render_response(&address, &head, &body, form, &self.fetching.secrets);
                }
            };
        }
        Err(FetchFailure::Refused(format!(
            "The address leads from redirect to redirect, more than {REDIRECTS} of them; the last is {}.",
            shorten(address.as_str(), 500)
        )))
    }

    async fn get(&self, address: &Address) -> Result<(ResponseHead, ResponseBody), FetchFailure> {
        let stream = network::connect_host(self.network.as_ref(), address, &self.fetching.private).await?;
        if address.is_secure() {
            exchange(network::secured(stream, address).await?, address, wanted).await
        } else {
            exchange(stream, address, wanted).await
        }
    }

    /// Returns the target of a redirect, if it may be followed.
    fn follow(&self, from: &Address, location: &str, consent: &FetchConsent) -> Result<Address, FetchFailure> {
        let refused =
            |why: &str| FetchFailure::Refused(format!("{} redirects, and {why}", shorten(from.as_str(), 500)));
        if self.fetching.secrets.is_in(location.as_bytes()) {
            return Err(refused("to an address with a secret in it, which is not followed."));
        }
        let to = from.join(location).map_err(|problem| refused(&problem))?;
        let shown = shorten(to.as_str(), 500);
        if from.is_secure() && !to.is_secure() {
            return Err(refused(&format!("to an address without encryption, which is not followed: {shown}")));
        }
        let agreed = matches!(consent, FetchConsent::Person(seen) if same_host(seen, &to))
            && !self.fetching.permissions.asks_about(&self.spec, &About::address(&to));
        match self.check_address(&to) {
            Verdict::Allow => Ok(to),
            Verdict::Ask if agreed => Ok(to),
            Verdict::Deny { reason, .. } => Err(FetchFailure::Denied(format!("It redirects to {shown}. {reason}"))),
            Verdict::Ask | Verdict::Invalid { .. } | Verdict::Unknown { .. } => {
                let what = if same_host(from, &to) { "where nobody agreed to go yet" } else { "to another host" };
                Err(refused(&format!("{what}: call fetch_url with {shown} if you want what is there.")))
            }
        }
    }

    /// Checks an address against the person's rules.
    fn check_address(&self, address: &Address) -> Verdict {
        self.fetching.permissions.check(&self.spec, &About::address(address), self.ask_policy(), &[]).verdict
    }
}

/// Returns the address of a page, as the model wrote it.
fn parse_url(url: &str) -> Result<Address, String> {
    refuse_placeholder(url).and_then(|()| Address::parse(url))
}

/// Whether both have the same host, and the same port or the default ports.
fn same_host(from: &Address, to: &Address) -> bool {
    from.host() == to.host() && (from.port() == to.port() || from.url().port().is_none() && to.url().port().is_none())
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns how many bytes of the body to read.
fn wanted(head: &ResponseHead) -> usize {
    match head.status {
        status if is_redirect(status) => 0,
        status if status.is_success() && page::is_text(head) => LARGEST,
        status if status.is_success() => 0,
        _ if page::is_text(head) => LARGEST_ERROR,
        _ => 0,
    }
}
