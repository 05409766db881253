//! Tokens: made here or given by the operator, kept and compared as hashes.

use std::fmt::Write as _;

use subtle::ConstantTimeEq as _;

use super::caller::Caller;

/// A secret that lets its holder in.
#[derive(Clone)]
pub struct AccessToken(String);

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

/// Why a token given by the operator can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is too short to be a secret.
    #[error("the token is shorter than 16 characters")]
    Short,
    /// It has characters that a header can't carry.
    #[error("the token has other characters than letters, digits and - . _ ~ + / =")]
    Characters,
}

impl AccessToken {
    /// Makes up a token of 256 random bits.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })))
    }

    /// Takes a token that the operator chose.
    pub fn chosen(text: &str) -> Result<Self, TokenError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        match text {
            text if !text.chars().all(fits) => Err(TokenError::Characters),
            text if text.len() < 16 => Err(TokenError::Short),
            text => Ok(Self(text.to_owned())),
        }
    }

    /// Returns the token, to be shown to its holder.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// The hash of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenHash([u8; 32]);

impl TokenHash {
    pub(super) fn of(token: &str) -> Self {
        Self(*blake3::hash(token.as_bytes()).as_bytes())
    }
}

/// Whose token it is.
#[derive(Clone, Debug)]
pub struct TokenHolder {
    hash: TokenHash,
    pub(super) caller: Caller,
}

impl TokenHolder {
    /// Returns the holder of a token.
    #[must_use]
    pub fn new(token: &AccessToken, caller: Caller) -> Self {
        Self { hash: TokenHash::of(&token.0), caller }
    }

    pub(super) fn has(&self, sent: &TokenHash) -> bool {
        self.hash.0.ct_eq(&sent.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{AccessToken, TokenError, TokenHash, TokenHolder};
    use crate::access::caller::{Caller, CallerRole};

    // proves W3
    #[test]
    fn a_token_lets_in_its_holder_only() {
        let (token, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert_eq!(token.expose().len(), 64);
        let holder = TokenHolder::new(&token, Caller { user: "ann".into(), role: CallerRole::User });
        assert!(holder.has(&TokenHash::of(token.expose())));
        for wrong in ["", "x", other.expose(), &token.expose()[1..], &format!("{} ", token.expose())] {
            assert!(!holder.has(&TokenHash::of(wrong)), "{wrong}");
        }
        assert!(!format!("{token:?} {holder:?}").contains(token.expose()));
    }

    // proves W3
    #[test]
    fn a_chosen_token_must_be_long_and_plain() {
        assert!(AccessToken::chosen("0123456789abcdef").is_ok());
        assert_eq!(AccessToken::chosen("0123456789abcde").map(drop), Err(TokenError::Short));
        for odd in ["0123456789abcdef ", "0123456789abcdef\n", "0123456789abcdef;", "0123456789abcdefé"] {
            assert_eq!(AccessToken::chosen(odd).map(drop), Err(TokenError::Characters), "{odd:?}");
        }
    }
}
