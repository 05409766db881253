//! Files that hold keys and passwords by their names. No passage of them is sent with a turn that nobody named them in; the
//! tools read them as before, where the rules allow it.

/// Whole names of such files.
const NAMES: [&str; 12] = [
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.yml",
];

/// What names of such files begin with.
const BEGINNINGS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// What names of such files end with.
const ENDINGS: [&str; 8] = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"];

/// Endings of files that show what such a file looks like.
const EXAMPLES: [&str; 4] = [".example", ".sample", ".template", ".dist"];

/// Whether the file at this path holds keys or passwords, by its name.
pub(crate) fn is_key_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_example = EXAMPLES.iter().any(|ending| name.ends_with(ending));
    let is_env = name == ".env" || name.starts_with(".env.") || name.ends_with(".env");
    !is_example
        && (is_env
            || NAMES.contains(&name.as_str())
            || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || ENDINGS.iter().any(|ending| name.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::is_key_file;

    // proves X1, C10
    #[test]
    fn files_of_keys_and_passwords_are_known_by_their_names() {
        for path in
            [".env", "app/.env.production", "prod.env", "deploy/Server.PEM", "id_rsa", "k/id_ed25519.pub", "a.key"]
        {
            assert!(is_key_file(path), "{path}");
        }
        for path in [".env.example", "src/env.rs", "environment.md", "keys.rs", "credentials.md", "monkey"] {
            assert!(!is_key_file(path), "{path}");
        }
    }
}
