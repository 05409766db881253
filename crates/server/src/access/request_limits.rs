//! How many requests come from a user, and from an address without a token or with a wrong one.
//!
//! Wrong tokens are guesses. An address that has sent too many gets no answer about further tokens for a while, right or
//! wrong, or guessing would go on at full speed; a token that was right from this address before stays so, or one
//! stranger behind a proxy would lock out everybody else.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::token::TokenHash;
use crate::error::{ApiError, ErrorKind};
use crate::limits::{ServiceLimits, WRONG_TOKENS};

/// How many users, addresses and tokens are remembered before those that no longer matter are forgotten.
const REMEMBERED: usize = 10_000;

/// The limits of requests, and what has come so far.
#[derive(Debug)]
pub(crate) struct RequestLimits {
    users: DefaultKeyedRateLimiter<String>,
    strangers: DefaultKeyedRateLimiter<IpAddr>,
    wrong_tokens: DefaultKeyedRateLimiter<IpAddr>,
    /// Until when no further token of an address is looked at.
    shut_out: Mutex<HashMap<IpAddr, Instant>>,
    proven: Mutex<HashSet<(IpAddr, TokenHash)>>,
}

impl RequestLimits {
    pub(crate) fn new(limits: &ServiceLimits) -> Self {
        Self {
            users: RateLimiter::keyed(Quota::per_minute(limits.user_requests)),
            strangers: RateLimiter::keyed(Quota::per_minute(limits.stranger_requests)),
            wrong_tokens: RateLimiter::keyed(Quota::per_minute(WRONG_TOKENS)),
            shut_out: Mutex::default(),
            proven: Mutex::default(),
        }
    }

    /// Counts a request of a user.
    pub(crate) fn count_user(&self, user: &str) -> Result<(), ApiError> {
        counted(&self.users, &user.to_owned()).map_err(|wait| too_many("you have sent too many requests", wait))
    }

    /// Counts a request without a token.
    pub(crate) fn count_stranger(&self, address: IpAddr) -> Result<(), ApiError> {
        counted(&self.strangers, &network(address))
            .map_err(|wait| too_many("too many requests without a token have come from your address", wait))
    }

    /// Refuses to look at a token while its address has sent too many wrong ones.
    pub(crate) fn may_try(&self, address: IpAddr, token: &TokenHash) -> Result<(), ApiError> {
        let address = network(address);
        let until = locked(&self.shut_out).get(&address).copied();
        let wait = until.and_then(|until| until.checked_duration_since(Instant::now()));
        match wait {
            Some(wait) if !locked(&self.proven).contains(&(address, *token)) => Err(shut_out(wait)),
            Some(_) | None => Ok(()),
        }
    }

    /// Notes that a token was right.
    pub(crate) fn was_right(&self, address: IpAddr, token: TokenHash) {
        let mut proven = locked(&self.proven);
        if proven.len() >= REMEMBERED {
            proven.clear();
        }
        proven.insert((network(address), token));
    }

    /// Counts a wrong token.
    pub(crate) fn was_wrong(&self, address: IpAddr) -> Result<(), ApiError> {
        let address = network(address);
        let Err(wait) = counted(&self.wrong_tokens, &address) else { return Ok(()) };
        let now = Instant::now();
        let mut kept_out = locked(&self.shut_out);
        if kept_out.len() >= REMEMBERED {
            kept_out.retain(|_, until| *until > now);
        }
        kept_out.insert(address, now + wait);
        Err(shut_out(wait))
    }
}

/// Counts one; if that is too many, returns how long to wait.
fn counted<K: Clone + Eq + std::hash::Hash>(limiter: &DefaultKeyedRateLimiter<K>, key: &K) -> Result<(), Duration> {
    if limiter.len() >= REMEMBERED {
        limiter.retain_recent();
    }
    limiter.check_key(key).map_err(|refused| refused.wait_time_from(limiter.clock().now()))
}

fn too_many(message: &str, wait: Duration) -> ApiError {
    let error = ApiError::new(ErrorKind::Limited, message).hint("wait for as long as Retry-After says, and send fewer");
    ApiError { retry_after: Some(wait.as_secs() + 1), ..error }
}

fn shut_out(wait: Duration) -> ApiError {
    too_many("too many wrong tokens have come from your address", wait)
}

/// Returns what counts as one address: whoever has an IPv6 address usually has all of its network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::{RequestLimits, network};
    use crate::access::token::TokenHash;
    use crate::limits::{ServiceLimits, WRONG_TOKENS};

    fn limits(requests: u32) -> RequestLimits {
        let requests = NonZeroU32::new(requests).unwrap();
        let limits = ServiceLimits { user_requests: requests, stranger_requests: requests, ..ServiceLimits::default() };
        RequestLimits::new(&limits)
    }

    // proves W3: whoever sends too much is told how long to wait, and nobody else is
    #[test]
    fn a_user_and_an_address_have_their_own_limits() {
        let limits = limits(3);
        for _ in 0..3 {
            limits.count_user("ann").unwrap();
            limits.count_stranger("192.0.2.1".parse().unwrap()).unwrap();
        }
        for refused in [limits.count_user("ann"), limits.count_stranger("192.0.2.1".parse().unwrap())] {
            assert!((1..=21).contains(&refused.unwrap_err().retry_after.unwrap()));
        }
        limits.count_user("bob").unwrap();
        limits.count_stranger("192.0.2.2".parse().unwrap()).unwrap();
    }

    // proves W3: guessing stops at a few tokens a minute, even when the next guess is right; who was in stays in
    #[test]
    fn too_many_wrong_tokens_shut_an_address_out_but_not_who_is_in() {
        let limits = limits(1_000);
        let (address, other) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        let (known, fresh) = (TokenHash::of("known"), TokenHash::of("fresh"));
        limits.was_right(address, known);
        for _ in 0..WRONG_TOKENS.get() {
            limits.may_try(address, &fresh).unwrap();
            limits.was_wrong(address).unwrap();
        }
        limits.was_wrong(address).unwrap_err();
        assert!(limits.may_try(address, &fresh).unwrap_err().retry_after.is_some());
        limits.may_try(address, &known).unwrap();
        limits.may_try(other, &fresh).unwrap();
        limits.was_wrong(other).unwrap();
    }

    // proves W3
    #[test]
    fn an_ipv6_network_is_one_address() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
