//! Which environment variables contain secrets: by the words in their names, and by passwords in addresses
//! among their values.
//!
//! A name is split into words, so that `API_KEY`, `apiKey` and `APIKEY` contain a secret and `KEYBOARD`,
//! `AUTHOR` and `MONKEY` don't. A variable is no secret if its last word names another kind of value
//! (`SSH_AUTH_SOCK`, `TOKEN_FILE`).

use std::collections::BTreeSet;

/// Words that name a secret, alone or at the end of a longer word (`DBPASS`).
const SECRET_ENDINGS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS"];

/// Words that name a secret only as a whole word.
const SECRET_WORDS: &[&str] = &[
    "AUTH",
    "AUTHORIZATION",
    "CREDENTIAL",
    "CREDS",
    "DSN",
    "KEYS",
    "OAUTH",
    "PASSCODE",
    "PASSWORDS",
    "SECRETS",
    "TOKENS",
];

/// Words with a secret ending that mean something else.
const HARMLESS_WORDS: &[&str] = &[
    "ASKPASS",
    "BYPASS",
    "COMPASS",
    "DONKEY",
    "HOCKEY",
    "HOTKEY",
    "JOCKEY",
    "MONKEY",
    "OVERPASS",
    "SURPASS",
    "TRESPASS",
    "TURKEY",
    "UNDERPASS",
    "WHISKEY",
];

/// Last words that name another kind of value, which only describes a secret.
const DESCRIBING_WORDS: &[&str] = &[
    "ALG",
    "ALGORITHM",
    "AUDIENCE",
    "CMD",
    "COMMAND",
    "COUNT",
    "DIR",
    "DISABLED",
    "DOMAIN",
    "ENABLED",
    "ENDPOINT",
    "EXPIRES",
    "EXPIRY",
    "FILE",
    "FOLDER",
    "FORMAT",
    "HOST",
    "ISSUER",
    "LAYOUT",
    "LENGTH",
    "LIMIT",
    "METHOD",
    "MODE",
    "NAME",
    "PATH",
    "PORT",
    "PROGRAM",
    "PROMPT",
    "PROVIDER",
    "REALM",
    "REGION",
    "REQUIRED",
    "SERVER",
    "SIZE",
    "SOCK",
    "SOCKET",
    "TIMEOUT",
    "TTL",
    "TYPE",
    "URI",
    "URL",
    "USER",
    "USERNAME",
    "VERSION",
];

/// Whether a variable of this name contains a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let Some((last, before)) = words.split_last() else { return false };
    if DESCRIBING_WORDS.contains(&last.as_str()) {
        return false;
    }
    // `PWD` alone is a folder; `PAT` before the last word can mean anything.
    (last == "PWD" && !before.is_empty()) || (last == "PAT" && !before.is_empty()) || words.iter().any(|w| is_secret(w))
}

fn is_secret(word: &str) -> bool {
    SECRET_WORDS.contains(&word)
        || (SECRET_ENDINGS.iter().any(|end| word.ends_with(end)) && !HARMLESS_WORDS.contains(&word))
}

/// Splits a name into words in upper case, without trailing numbers.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let begins = before.is_ascii_lowercase() && c.is_ascii_uppercase();
        if !c.is_ascii_alphanumeric() || begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_uppercase());
        }
        before = c;
    }
    let bare = |word: String| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
    words.into_iter().map(bare).filter(|word| !word.is_empty()).collect()
}

/// Values that occur in ordinary text, in lower case: never treated as secrets.
const COMMON_VALUES: &[&str] = &[
    "anonymous",
    "changeme",
    "disabled",
    "keychain",
    "keyring",
    "kerberos",
    "localhost",
    "optional",
    "password",
    "postgres",
    "required",
    "undefined",
    "username",
];

/// First components of absolute paths.
const PATH_ROOTS: &[&str] = &[
    "Users", "bin", "dev", "etc", "home", "lib", "mnt", "nix", "opt", "private", "proc", "root", "run", "snap", "srv",
    "tmp", "usr", "var",
];

/// Whether a value is an ordinary word or path: replacing it everywhere would garble text.
#[must_use]
pub fn is_ordinary(value: &str) -> bool {
    let value = value.trim();
    let root = value.strip_prefix('/').and_then(|rest| rest.split('/').next());
    let is_path = root.is_some_and(|root| PATH_ROOTS.contains(&root) || value == "/") || value.starts_with("~/");
    is_path && !value.contains(char::is_whitespace) || COMMON_VALUES.contains(&value.to_ascii_lowercase().as_str())
}

/// Returns the parts to hide of addresses with a password in a text: the whole address, the user name with the
/// password, and the password unless it is an ordinary word.
#[must_use]
pub fn passwords_in(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("://") {
        let scheme = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)).len();
        let rest = &text[at + 3..];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c)).unwrap_or(rest.len());
        let authority = rest[..end].split(['/', '?', '#']).next().unwrap_or_default();
        let Some((person, _)) = authority.rsplit_once('@') else { continue };
        let (user, password) = person.split_once(':').unwrap_or(("", person));
        let is_token = !person.contains(':') && password.len() < SHORTEST_TOKEN;
        if password.is_empty() || is_token || password.starts_with("${") {
            continue;
        }
        found.insert(text[scheme..at + 3 + end].to_owned());
        found.insert(format!("{person}@"));
        if password != user && !is_ordinary(password) {
            found.insert(password.to_owned());
            found.extend(decoded(password).filter(|decoded| decoded != password));
        }
    }
    found
}

/// A name before `@` without a password counts as a token if it has at least this length.
const SHORTEST_TOKEN: usize = 16;

/// Returns `a%40b` as `a@b`.
fn decoded(text: &str) -> Option<String> {
    Some(percent_encoding::percent_decode_str(text).decode_utf8().ok()?.into_owned())
}

/// Prefixes of the keys of well-known services.
const KEY_PREFIXES: &[&str] = &[
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "gsk_",
    "pypi-",
    "npm_",
];

/// Whether a text that should be a name looks like a key: a person who pastes one in the wrong place is warned before
/// it is stored. Only for names; ordinary text is never checked by this.
#[must_use]
pub fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    let is_key = |prefix: &&str| text.strip_prefix(*prefix).is_some_and(|rest| rest.len() >= 16);
    KEY_PREFIXES.iter().any(is_key)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
        && text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X1: secrets are recognized by the words of the name
    #[test]
    fn a_name_is_judged_by_its_words() {
        for name in [
            "OPENAI_API_KEY",
            "APIKEY",
            "apiKey",
            "DBPASS",
            "DB_PASS",
            "PGPASSWORD",
            "MYSQL_PWD",
            "GITHUB_PAT",
            "TOKEN",
            "GH_TOKEN2",
            "AUTH",
            "HTTP_BASIC_AUTH",
            "npm_config__authToken",
            "AWS_ACCESS_KEY_ID",
            "KEY_OF_X",
            "SENTRY_DSN",
            "AZURE_CREDENTIALS",
            "GOOGLE_CREDENTIAL_JSON",
            "CLIENT_SECRET",
            "SECRET_KEY_BASE",
            "SIGNING_PASSPHRASE",
            "Authorization",
            "X-Api-Key",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "KEYBOARD",
            "KEYBOARD_LAYOUT",
            "PASSENGER",
            "AUTHOR",
            "GIT_AUTHOR_NAME",
            "MONKEY",
            "COMPASS",
            "TOKENIZERS_PARALLELISM",
            "SSH_AUTH_SOCK",
            "GIT_ASKPASS",
            "SSH_ASKPASS",
            "XAUTHORITY",
            "TOKEN_FILE",
            "PASSWORD_STORE_DIR",
            "AUTH_METHOD",
            "GNOME_KEYRING_CONTROL",
            "PGPASSFILE",
            "",
            "_",
            "PAT",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    // proves X1: secrets are recognized by content
    #[test]
    fn passwords_in_addresses_are_found_and_the_address_with_them() {
        let all = |text: &str| passwords_in(text).into_iter().collect::<Vec<_>>();
        assert_eq!(
            all("postgres://app:s3cr%40t-pw@db:5432/x?y=1"),
            ["app:s3cr%40t-pw@", "postgres://app:s3cr%40t-pw@db:5432/x?y=1", "s3cr%40t-pw", "s3cr@t-pw"]
        );
        assert_eq!(all("a=redis://:hunter22@h b"), [":hunter22@", "hunter22", "redis://:hunter22@h"]);
        let dev = "postgres://postgres:postgres@localhost/db";
        assert_eq!(all(dev), [dev, "postgres:postgres@"], "an ordinary word alone is none");
        let token = "https://ghp_0123456789abcdef@github.com/a.git";
        assert_eq!(all(token), ["ghp_0123456789abcdef", "ghp_0123456789abcdef@", token]);
        for text in ["https://github.com/a:b@c", "git@github.com:a/b", "ssh://git@host/x", "x://u:${PW}@h", "://", "a"]
        {
            assert_eq!(all(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn words_and_paths_of_ordinary_text_are_no_secrets() {
        for value in ["/home/me/.netrc", "/tmp/agent.1", "~/x", "Password", "required"] {
            assert!(is_ordinary(value), "{value}");
        }
        for value in ["/9j4AAQSkZJRg", "correct horse", "sk-123456789", "/tmp/a b"] {
            assert!(!is_ordinary(value), "{value}");
        }
    }

    #[test]
    fn what_looks_like_a_key_is_no_name() {
        for text in ["sk-proj-0123456789abcdef", "ghp_0123456789abcdefABCD", "AKIA0123456789ABCDEF"] {
            assert!(looks_like_key(text), "{text}");
        }
        for text in ["sk-1", "gpt-5", "skills", "claude-sonnet-4-5-20250929", "sk-learn models of the year 2024"] {
            assert!(!looks_like_key(text), "{text}");
        }
    }
}
