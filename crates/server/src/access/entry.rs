//! How a browser gets in without seeing a token: with an entry code, which counts once and for a short time.
//!
//! The protocol: the server's own user reads the entry key from the data folder (`server.json`, mode 0600) and asks for a
//! code with it ([`BrowserEntry::issue`]). The browser opens the page with the code in its address, where the command line of
//! a process may show it to others, and gets a page token for it ([`BrowserEntry::exchange`]), which becomes its cookie. A
//! code that is shown twice was seen by somebody else: the page token it was exchanged for is withdrawn then, whoever has it.
//! A terminal, whose requests nobody else sees, is given such a token at once ([`BrowserEntry::issue_token`]).
//!
//! Keys, codes and page tokens are kept as hashes and end with the process.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::watch;

use super::caller::Caller;
use super::token::{AccessToken, TokenHash, TokenHolder};

/// The most codes and page tokens that are kept; the oldest make room.
const MOST_CODES: usize = 32;
const MOST_PAGES: usize = 64;

/// What an entry code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntryPurpose {
    /// A browser opens it at once.
    Browser,
    /// A person reads it, and types or copies it.
    Person,
}

impl EntryPurpose {
    /// Returns how long a code for this counts.
    pub(crate) const fn lifetime(self) -> Duration {
        match self {
            Self::Browser => Duration::from_secs(60),
            Self::Person => Duration::from_secs(15 * 60),
        }
    }
}

/// The entry codes of a server, and the page tokens they were exchanged for.
#[derive(Debug)]
pub struct BrowserEntry {
    /// Holds the entry key; its caller is who comes in.
    key: TokenHolder,
    issued: watch::Sender<IssuedTokens>,
}

#[derive(Debug, Default)]
struct IssuedTokens {
    codes: VecDeque<IssuedCode>,
    pages: VecDeque<PageToken>,
    exchanges: u64,
}

#[derive(Debug)]
struct IssuedCode {
    code: TokenHolder,
    until: Instant,
    /// The exchange that used it.
    used: Option<u64>,
}

#[derive(Debug)]
struct PageToken {
    token: TokenHolder,
    exchange: u64,
}

impl BrowserEntry {
    /// Returns the entry for those who have this key; they are the caller.
    #[must_use]
    pub fn new(key: &AccessToken, caller: Caller) -> Self {
        Self { key: TokenHolder::new(key, caller), issued: watch::Sender::default() }
    }

    /// Makes a code. The server itself may; whoever asks from outside shows the key first ([`Self::has_key`]).
    pub fn issue(&self, purpose: EntryPurpose) -> Result<AccessToken, getrandom::Error> {
        self.issue_at(purpose, Instant::now())
    }

    fn issue_at(&self, purpose: EntryPurpose, now: Instant) -> Result<AccessToken, getrandom::Error> {
        let code = AccessToken::random()?;
        let holder = TokenHolder::new(&code, self.key.caller.clone());
        self.issued.send_modify(|issued| {
            issued.codes.retain(|code| code.until > now);
            push(
                &mut issued.codes,
                MOST_CODES,
                IssuedCode { code: holder, until: now + purpose.lifetime(), used: None },
            );
        });
        Ok(code)
    }

    /// Makes a page token without a code, for a terminal of whoever showed the key ([`Self::has_key`]).
    pub(crate) fn issue_token(&self) -> Result<AccessToken, getrandom::Error> {
        let token = AccessToken::random()?;
        let holder = TokenHolder::new(&token, self.key.caller.clone());
        self.issued.send_modify(|issued| issued.keep(holder));
        Ok(token)
    }

    /// Whether this is the entry key.
    pub(crate) fn has_key(&self, sent: &str) -> bool {
        self.key.has(&TokenHash::of(sent))
    }

    /// Returns a page token for the code, the first time it is shown and in time.
    pub(crate) fn exchange(&self, code: &str) -> Option<AccessToken> {
        self.exchange_at(code, Instant::now())
    }

    fn exchange_at(&self, code: &str, now: Instant) -> Option<AccessToken> {
        let (sent, token) = (TokenHash::of(code), AccessToken::random().ok()?);
        let holder = TokenHolder::new(&token, self.key.caller.clone());
        let mut is_new = false;
        self.issued.send_modify(|issued| is_new = issued.exchange(&sent, now, holder));
        is_new.then_some(token)
    }

    /// Returns whose page token this is.
    pub(super) fn holder_of(&self, sent: &TokenHash) -> Option<Caller> {
        self.issued.borrow().page_holder(sent).map(|holder| holder.caller.clone())
    }

    /// Waits until this page token is withdrawn. It lasts no longer than the server.
    pub(super) fn withdrawn(&self, token: TokenHash) -> impl Future<Output = ()> + Send + 'static {
        let mut issued = self.issued.subscribe();
        async move {
            // An error means that the server is gone.
            let _ = issued.wait_for(|issued| issued.page_holder(&token).is_none()).await;
        }
    }
}

impl IssuedTokens {
    /// Keeps the page token for the code, if it is shown for the first time and in time. Returns whether it was.
    fn exchange(&mut self, code: &TokenHash, now: Instant, token: TokenHolder) -> bool {
        let found = self.codes.iter_mut().find(|issued| issued.code.has(code) && issued.until > now);
        let Some(found) = found else { return false };
        if let Some(before) = found.used {
            self.pages.retain(|page| page.exchange != before);
            return false;
        }
        found.used = Some(self.exchanges + 1);
        self.keep(token);
        true
    }

    fn keep(&mut self, token: TokenHolder) {
        self.exchanges += 1;
        push(&mut self.pages, MOST_PAGES, PageToken { token, exchange: self.exchanges });
    }

    fn page_holder(&self, token: &TokenHash) -> Option<&TokenHolder> {
        self.pages.iter().rfind(|page| page.token.has(token)).map(|page| &page.token)
    }
}

fn push<T>(kept: &mut VecDeque<T>, most: usize, new: T) {
    if kept.len() >= most {
        kept.pop_front();
    }
    kept.push_back(new);
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use futures_util::FutureExt as _;

    use super::{BrowserEntry, EntryPurpose, MOST_PAGES, TokenHash};
    use crate::access::caller::{Caller, CallerRole};
    use crate::access::token::AccessToken;

    fn entry() -> (AccessToken, BrowserEntry) {
        let key = AccessToken::random().unwrap();
        let entry = BrowserEntry::new(&key, Caller { user: "ann".into(), role: CallerRole::Admin });
        (key, entry)
    }

    fn lets_in(entry: &BrowserEntry, token: &AccessToken) -> bool {
        entry.holder_of(&TokenHash::of(token.expose())).is_some_and(|caller| caller.user == "ann")
    }

    // proves W3: neither the key nor a code is a token; a code counts once and in time
    #[test]
    fn a_code_becomes_a_page_token_once_and_only_in_time() {
        let (key, entry) = entry();
        let now = Instant::now();
        for (purpose, seconds) in [(EntryPurpose::Browser, 60), (EntryPurpose::Person, 900)] {
            let code = entry.issue_at(purpose, now).unwrap();
            assert!(!lets_in(&entry, &code) && !lets_in(&entry, &key) && !entry.has_key(code.expose()));
            let page = entry.exchange_at(code.expose(), now + Duration::from_secs(seconds - 1)).expect("in time");
            assert!(lets_in(&entry, &page), "{purpose:?}");
            let late = entry.issue_at(purpose, now).unwrap();
            assert!(entry.exchange_at(late.expose(), now + Duration::from_secs(seconds)).is_none(), "{purpose:?}");
        }
        assert!(entry.has_key(key.expose()) && entry.exchange_at(key.expose(), now).is_none());
        assert!(!format!("{entry:?}").contains(key.expose()));
    }

    // proves W3: somebody who saw the code and used it first loses what they got as soon as the browser shows it too
    #[test]
    fn a_code_that_is_shown_twice_lets_nobody_in() {
        let (_, entry) = entry();
        let (seen, other) = (entry.issue(EntryPurpose::Browser).unwrap(), entry.issue(EntryPurpose::Browser).unwrap());
        let taken = entry.exchange(seen.expose()).expect("the first time");
        let kept = entry.exchange(other.expose()).expect("another code");
        let mut withdrawn = Box::pin(entry.withdrawn(TokenHash::of(taken.expose())));
        assert!((&mut withdrawn).now_or_never().is_none());
        assert!(entry.exchange(seen.expose()).is_none());
        assert!(!lets_in(&entry, &taken) && lets_in(&entry, &kept));
        assert!(withdrawn.now_or_never().is_some(), "what they follow ends, too");
        assert!(entry.withdrawn(TokenHash::of(kept.expose())).now_or_never().is_none());
    }

    // proves W3: a terminal needs no code
    #[test]
    fn a_terminals_token_lets_in_and_is_none_of_a_code() {
        let (_, entry) = entry();
        let token = entry.issue_token().unwrap();
        assert!(lets_in(&entry, &token) && entry.exchange(token.expose()).is_none() && lets_in(&entry, &token));
    }

    // proves W3: whoever asks for ever costs a bounded amount of memory
    #[test]
    fn the_oldest_page_tokens_make_room() {
        let (_, entry) = entry();
        let mut pages = Vec::new();
        for _ in 0..=MOST_PAGES {
            let code = entry.issue(EntryPurpose::Browser).unwrap();
            pages.push(entry.exchange(code.expose()).unwrap());
        }
        assert!(!lets_in(&entry, &pages[0]) && lets_in(&entry, &pages[1]) && lets_in(&entry, &pages[MOST_PAGES]));
    }
}
