//! The secrets Windlass knows of: the key it uses, and what the environment calls a secret. They
//! are replaced wherever something is recorded, shown or sent, and taken out of the environment of
//! commands (X1).

use std::collections::BTreeMap;
use std::fmt;

use windlass::mcp::{Reach, ServerConfig};
use windlass::tools::Secrets;

use crate::settings::{Env, Settings};

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

/// What replaces them.
pub(crate) fn scrubber(known: &[Secret]) -> Secrets {
    Secrets::new(known.iter().map(|secret| (secret.name.as_str(), secret.value.as_str())))
}

/// All secrets known, the key in use first; each value once.
#[must_use]
pub fn known(env: &Env, settings: Option<&Settings>) -> Vec<Secret> {
    let key = settings.and_then(Settings::api_key).map(|key| ("API_KEY", key.value.expose()));
    let variables = env.texts().filter(|(name, _)| is_secret(name));
    let servers = settings.into_iter().flat_map(|settings| settings.servers.values());
    let of_servers = servers.flat_map(|server| written_down(&server.config));
    let mut secrets: Vec<Secret> = Vec::new();
    for (name, value) in key.into_iter().chain(variables).chain(of_servers) {
        let value = value.trim();
        if value.chars().count() >= SHORTEST && secrets.iter().all(|secret| secret.value != value) {
            secrets.push(Secret { name: name.to_owned(), value: value.to_owned() });
        }
    }
    secrets
}

/// What stands in a server's configuration as it is, not as the name of a variable.
fn written_down(config: &ServerConfig) -> Vec<(&str, &str)> {
    let found: Vec<(&str, &str)> = match &config.reach {
        Reach::Stdio { env, .. } => pairs(env).filter(|(name, _)| is_secret(name)).collect(),
        Reach::Http { headers, oauth, .. } => {
            let secret = oauth.client_secret.iter().map(|secret| ("CLIENT_SECRET", secret.as_str()));
            let named = |name: &str| is_secret(name) || name.eq_ignore_ascii_case("authorization");
            pairs(headers).filter(|(name, _)| named(name)).chain(secret).collect()
        }
    };
    found.into_iter().filter(|(_, value)| !value.contains("${")).collect()
}

fn pairs(pairs: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    pairs.iter().map(|(name, value)| (name.as_str(), bare(value)))
}

/// The secret in `Bearer SECRET`.
fn bare(value: &str) -> &str {
    let scheme = |word: &str| ["bearer", "basic", "token"].contains(&word.to_ascii_lowercase().as_str());
    value.split_once(' ').filter(|(word, _)| scheme(word)).map_or(value, |(_, secret)| secret)
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase().replace('-', "_");
    ENDINGS.iter().any(|ending| name.ends_with(ending) || ending.strip_prefix('_') == Some(&name))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::known;
    use crate::settings::{Env, Flags, SettingsFile, Sources, Whose};

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

    // proves X1: a key that was written into a server's entry
    #[test]
    fn what_stands_in_a_servers_entry_is_secret_and_names_of_variables_are_not() {
        let text = r#"
            [mcpServers.a]
            command = "a"
            env = { HUB_TOKEN = "written-down", OTHER = "harmless-value", B_KEY = "${B_KEY}" }
            [mcpServers.b]
            url = "http://127.0.0.1:1/"
            headers = { Authorization = "Bearer also-written", X-Trace = "harmless-value" }
        "#;
        let user = SettingsFile::parse(Path::new("/u"), Whose::User, text).expect("sound");
        let flags = Flags { data_dir: Some("/d".into()), ..Flags::default() };
        let mut sources = Sources::of(flags, [("OPENAI_API_KEY", "sk-long-enough")].into_iter().collect(), "/w");
        sources.user = Some(user);
        let secrets = known(&Env::default(), Some(&sources.resolve().expect("it resolves")));
        let values: Vec<&str> = secrets.iter().map(|secret| secret.value.as_str()).collect();
        assert_eq!(values, ["sk-long-enough", "written-down", "also-written"]);
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
        let secrets = known(&sources.env, Some(&settings));
        let pairs: Vec<_> = secrets.iter().map(|secret| (secret.name.as_str(), secret.value.as_str())).collect();
        assert_eq!(pairs, [("API_KEY", "sk-long-enough"), ("OTHER_TOKEN", "other-long")]);
        assert!(!format!("{secrets:?} {settings:?} {sources:?}").contains("long"));
    }
}
