//! The secrets Windlass knows of: the key it uses, and what the environment calls a secret. They
//! are replaced wherever something is recorded, shown or sent, and taken out of the environment of
//! commands (X1).

use std::fmt;

use crate::settings::{ApiKey, Env, Sourced};

/// Shorter values would be found everywhere by chance. Keys of local servers are often a mere "x".
const SHORTEST: usize = 8;

/// How the names of variables end that hold a secret.
const ENDINGS: [&str; 10] =
    ["_KEY", "_APIKEY", "_TOKEN", "_SECRET", "_PAT", "_PASSWD", "_PASSPHRASE", "_CREDENTIALS", "PASSWORD", "MYSQL_PWD"];

/// Something that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is called; what stands in its place is made from this.
    pub name: String,
    /// What must not be seen.
    pub value: String,
}

/// Without the value.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// All secrets known, the key in use first; each value once.
#[must_use]
pub fn known(env: &Env, api_key: Option<&Sourced<ApiKey>>) -> Vec<Secret> {
    let key = api_key.map(|key| ("API_KEY", key.value.expose()));
    let variables = env.texts().filter(|(name, _)| is_secret(name));
    let mut secrets: Vec<Secret> = Vec::new();
    for (name, value) in key.into_iter().chain(variables) {
        let value = value.trim();
        if value.chars().count() >= SHORTEST && secrets.iter().all(|secret| secret.value != value) {
            secrets.push(Secret { name: name.to_owned(), value: value.to_owned() });
        }
    }
    secrets
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending) || ending.strip_prefix('_') == Some(&name))
}

#[cfg(test)]
mod tests {
    use super::known;
    use crate::settings::{Env, Flags, Sources};

    fn names(env: &[(&str, &str)]) -> Vec<String> {
        let env: Env = env.iter().copied().collect();
        known(&env, None).into_iter().map(|secret| secret.name).collect()
    }

    // proves X1: what Windlass knows to be secret is found
    #[test]
    fn variables_named_like_secrets_are_secrets() {
        let value = "abcdefgh";
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "CLIENT_SECRET",
            "PGPASSWORD",
            "DB_PASSWORD",
            "gitlab_token",
            "TOKEN",
            "PASSWORD",
            "MYSQL_PWD",
            "SIGNING_PASSPHRASE",
        ] {
            assert_eq!(names(&[(name, value)]), [name], "{name}");
        }
        for name in ["PATH", "PWD", "OLDPWD", "MONKEY", "SSH_AUTH_SOCK", "KEYBOARD", "TOKENIZERS_PARALLELISM"] {
            assert!(names(&[(name, value)]).is_empty(), "{name}");
        }
    }

    #[test]
    fn short_values_are_not_taken_and_a_value_counts_once() {
        assert!(names(&[("A_KEY", "1234567"), ("B_KEY", ""), ("C_KEY", "  x  ")]).is_empty());
        assert_eq!(names(&[("A_KEY", "12345678"), ("B_KEY", "12345678\n")]), ["A_KEY"]);
    }

    // proves X1: the key in use is known by one name wherever it came from, and is never printed
    #[test]
    fn the_key_in_use_is_the_first_secret() {
        let env: Env = [("OPENAI_API_KEY", "sk-long-enough"), ("OTHER_TOKEN", "other-long")].into_iter().collect();
        let flags = Flags { data_dir: Some("/d".into()), ..Flags::default() };
        let sources = Sources::of(flags, env, "/w");
        let settings = sources.resolve().expect("it resolves");
        let secrets = known(&sources.env, settings.api_key());
        let pairs: Vec<_> = secrets.iter().map(|secret| (secret.name.as_str(), secret.value.as_str())).collect();
        assert_eq!(pairs, [("API_KEY", "sk-long-enough"), ("OTHER_TOKEN", "other-long")]);
        assert!(!format!("{secrets:?} {settings:?} {sources:?}").contains("long"));
    }
}
