//! The secrets Windlass knows: the key it uses, and variables whose names mark them as secrets. Their values are
//! replaced wherever something is recorded, displayed or sent, and removed from the environment of commands (X1). A
//! value of fewer than eight characters is not replaced, nor is an ordinary word or path; a variable with such a
//! value and a secret's name is still withheld from commands.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;

use windlass_mcp::{ServerConfig, ServerTransport};
use windlass_tools::{SHORTEST_SECRET, Secrets, is_ordinary, is_secret_name, looks_like_key, passwords_in};

use crate::settings::{CommandEnv, Env, Settings};

/// A secret with its name.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// The secret's name; the placeholder is made from it.
    pub name: String,
    /// The value that must not be displayed or recorded.
    pub value: String,
}

/// Leaves the value out.
impl fmt::Debug for KnownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// Returns a scrubber that replaces these secrets.
pub fn scrubber(known: &[KnownSecret]) -> Secrets {
    Secrets::new(known.iter().map(|secret| (secret.name.as_str(), secret.value.as_str())))
}

/// Returns all known secrets, the key in use first; each value once.
#[must_use]
pub fn known_secrets(env: &Env, settings: Option<&Settings>) -> Vec<KnownSecret> {
    let mut secrets = SecretCollector::default();
    for key in settings.into_iter().flat_map(Settings::api_keys) {
        secrets.add("API_KEY", key.value.expose());
    }
    let hidden = |name: &str| settings.is_some_and(|settings| settings.command_env.hide.contains(name));
    for (name, value) in env.texts() {
        if (hidden(name) || is_secret_name(name)) && !is_ordinary(value) {
            secrets.add(name, value);
        }
        secrets.add_passwords(name, value);
    }
    for (server, entry) in settings.into_iter().flat_map(|settings| &settings.servers) {
        secrets.add_entry(&server.to_string(), &entry.config);
    }
    secrets.0
}

/// Whether a name contains one of these secrets or looks like a key.
#[must_use]
pub fn is_secret(known: &[KnownSecret], name: &str) -> bool {
    looks_like_key(name) || known.iter().any(|secret| name.contains(&secret.value))
}

/// Returns the names of the variables that are set and that commands don't get.
pub fn hidden_variables(env: &Env, settings: &Settings) -> BTreeSet<String> {
    let variables = || env.texts().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let secret = scrubber(&known_secrets(env, Some(settings))).scrubbed_names(variables());
    let CommandEnv { hide, keep } = &settings.command_env;
    let hidden = |name: &str| hide.contains(name) || (secret.contains(OsStr::new(name)) && !keep.contains(name));
    env.texts().map(|(name, _)| name).filter(|name| hidden(name)).map(str::to_owned).collect()
}

#[derive(Default)]
struct SecretCollector(Vec<KnownSecret>);

impl SecretCollector {
    fn add(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if value.chars().count() >= SHORTEST_SECRET && self.0.iter().all(|secret| secret.value != value) {
            self.0.push(KnownSecret { name: name.to_owned(), value: value.to_owned() });
        }
    }

    /// Adds the passwords in URLs, and the URLs that contain them.
    fn add_passwords(&mut self, name: &str, text: &str) {
        passwords_in(text).iter().for_each(|found| self.add(name, found));
    }

    /// Adds the literal values of a server's configuration, not references to variables.
    fn add_entry(&mut self, server: &str, config: &ServerConfig) {
        let (pairs, texts) = match &config.reach {
            ServerTransport::Stdio { args, env, .. } => (env, args.iter().map(String::as_str).collect::<Vec<_>>()),
            ServerTransport::Http { url, headers, oauth } => {
                if let Some(secret) = oauth.client_secret.as_deref().filter(|secret| !secret.contains("${")) {
                    self.add("CLIENT_SECRET", secret);
                }
                (headers, vec![url.as_str()])
            }
        };
        for (name, value) in pairs.iter().filter(|(_, value)| !value.contains("${")) {
            let value = bare(value);
            if is_secret_name(name) && !is_ordinary(value) {
                self.add(name, value);
            }
            self.add_passwords(name, value);
        }
        texts.into_iter().for_each(|text| self.add_passwords(server, text));
    }
}

/// Returns the secret in `Bearer SECRET`.
fn bare(value: &str) -> &str {
    let scheme = |word: &str| ["bearer", "basic", "token"].contains(&word.to_ascii_lowercase().as_str());
    value.split_once(' ').filter(|(word, _)| scheme(word)).map_or(value, |(_, secret)| secret)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass::door::PROVIDERS;

    use super::known_secrets;
    use crate::settings::{Env, Flags, SettingsFile, SettingsScope, Sources};

    fn names(env: &[(&str, &str)]) -> Vec<String> {
        let env: Env = env.iter().copied().collect();
        known_secrets(&env, None).into_iter().map(|secret| secret.name).collect()
    }

    // proves X1: the secrets of the environment are found
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

    // proves X1: commands get the key of no provider
    #[test]
    fn the_variables_of_all_providers_are_secrets() {
        let variables = PROVIDERS.iter().flat_map(|provider| provider.key_variables());
        for variable in variables {
            assert_eq!(names(&[(variable, "k3y-of-somebody")]), [variable]);
        }
    }

    // proves X1: a key written literally into a server's entry is a secret
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
        let user = SettingsFile::parse(Path::new("/u"), SettingsScope::User, text).expect("sound");
        let flags = Flags { data_dir: Some("/d".into()), ..Flags::default() };
        let mut sources = Sources::of(flags, [("OPENAI_API_KEY", "sk-long-enough")].into_iter().collect(), "/w");
        sources.user = Some(user);
        let secrets = known_secrets(&Env::default(), Some(&sources.resolve().expect("it resolves")));
        let values: Vec<&str> = secrets.iter().map(|secret| secret.value.as_str()).collect();
        assert_eq!(values, ["sk-long-enough", "written-down", "also-written"]);
    }

    #[test]
    fn short_values_are_not_taken_and_a_value_counts_once() {
        assert!(names(&[("A_KEY", "1234567"), ("B_KEY", ""), ("C_KEY", "  x  ")]).is_empty());
        assert_eq!(names(&[("A_KEY", "12345678"), ("B_KEY", "12345678\n")]), ["A_KEY"]);
    }

    // proves X1: the key in use has one name wherever it came from, and is never printed
    #[test]
    fn the_key_in_use_is_the_first_secret() {
        let env: Env = [("OPENAI_API_KEY", "sk-long-enough"), ("OTHER_TOKEN", "other-long")].into_iter().collect();
        let flags = Flags { data_dir: Some("/d".into()), ..Flags::default() };
        let sources = Sources::of(flags, env, "/w");
        let settings = sources.resolve().expect("it resolves");
        let secrets = known_secrets(&sources.env, Some(&settings));
        let pairs: Vec<_> = secrets.iter().map(|secret| (secret.name.as_str(), secret.value.as_str())).collect();
        assert_eq!(pairs, [("API_KEY", "sk-long-enough"), ("OTHER_TOKEN", "other-long")]);
        assert!(!format!("{secrets:?} {settings:?} {sources:?}").contains("long"));
    }
}
