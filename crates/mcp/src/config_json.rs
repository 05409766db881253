//! Parses the `mcpServers` object in the variants that different programs write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::config::{
    ConfigError, OAuth, ServerConfig, ServerConfinement, ServerLimits, ServerTransport, ServerUse, TokenSubject, Trust,
};
use crate::http;
use crate::name::ServerName;

/// The known keys of an entry.
pub const KEYS: &[&str] = &[
    "args",
    "auth",
    "callTimeout",
    "call_timeout",
    "command",
    "cwd",
    "disabled",
    "enabled",
    "env",
    "headers",
    "httpUrl",
    "oauth",
    "repeatable",
    "sandbox",
    "startupTimeout",
    "startup_timeout",
    "startup_timeout_ms",
    "startup_timeout_sec",
    "tags",
    "timeout",
    "tool_timeout_ms",
    "tool_timeout_sec",
    "transport",
    "trust",
    "type",
    "url",
];

/// Parses every server of an `mcpServers` object. Also accepts a file's whole content that contains `mcpServers`.
pub fn servers_from_json(servers: &Value) -> Result<BTreeMap<ServerName, ServerConfig>, ConfigError> {
    servers_within(servers, ServerLimits::default())
}

/// Parses every server, with these limits for entries that set none.
pub fn servers_within(
    servers: &Value,
    limits: ServerLimits,
) -> Result<BTreeMap<ServerName, ServerConfig>, ConfigError> {
    let servers = servers.get("mcpServers").filter(|inner| inner.is_object()).unwrap_or(servers);
    let entries = servers.as_object().ok_or(ConfigError::NoObject)?;
    entries
        .iter()
        .map(|(name, entry)| {
            let name: ServerName = name.parse()?;
            let config = server(&name, entry, limits)?;
            Ok((name, config))
        })
        .collect()
}

fn server(name: &ServerName, entry: &Value, limits: ServerLimits) -> Result<ServerConfig, ConfigError> {
    let Value::Object(members) = entry else {
        return Err(wrong(name, "its entry", "must be an object with `command` or `url`"));
    };
    let entry = ConfigObject { server: name, members, path: "" };
    let ServerLimits { startup_timeout, call_timeout } = limits;
    let mut config = ServerConfig { startup_timeout, call_timeout, ..ServerConfig::new(reach(&entry)?) };
    if let Some(timeout) = entry.milliseconds(&["startupTimeout", "startup_timeout_ms"])? {
        config.startup_timeout = timeout;
    } else if let Some(timeout) = entry.seconds(&["startup_timeout", "startup_timeout_sec"])? {
        config.startup_timeout = timeout;
    }
    if let Some(timeout) = entry.milliseconds(&["timeout", "callTimeout", "tool_timeout_ms"])? {
        config.call_timeout = timeout;
    } else if let Some(timeout) = entry.seconds(&["call_timeout", "tool_timeout_sec"])? {
        config.call_timeout = timeout;
    }
    if entry.yes("trust")? == Some(true) {
        config.trust = Trust::Trusted;
    }
    if entry.yes("disabled")? == Some(true) || entry.yes("enabled")? == Some(false) {
        config.usage = ServerUse::Disabled;
    }
    config.sandbox = match entry.string("sandbox")?.as_deref() {
        None | Some("off") => ServerConfinement::Not,
        Some("workspace") => ServerConfinement::InWorkspace,
        Some(_) => return Err(entry.wrong("sandbox", "must be `workspace` or `off`")),
    };
    config.tags = entry.strings("tags")?.into_iter().collect::<BTreeSet<_>>();
    config.repeatable = entry.strings("repeatable")?.into_iter().collect::<BTreeSet<_>>();
    config.unread =
        members.keys().filter(|key| entry.get(key).is_some() && !KEYS.contains(&key.as_str())).cloned().collect();
    Ok(config)
}

fn reach(entry: &ConfigObject<'_>) -> Result<ServerTransport, ConfigError> {
    let kind = entry.string("type")?.or(entry.string("transport")?);
    let url = match entry.string("url")? {
        Some(url) => Some(url),
        None => entry.string("httpUrl")?,
    };
    match (kind.as_deref(), url) {
        (None | Some("http" | "sse" | "streamable-http" | "streamable_http" | "streamableHttp"), Some(url)) => {
            // A variable may hold the scheme; then a wrong one shows when the server is connected.
            if !url.contains("${") && !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(entry.wrong("url", "must begin with http:// or https://"));
            }
            let oauth = match entry.members.get("oauth").or_else(|| entry.members.get("auth")) {
                Some(Value::Object(members)) => oauth(&ConfigObject { server: entry.server, members, path: "oauth." })?,
                Some(_) | None => OAuth::default(),
            };
            Ok(ServerTransport::Http { url, headers: headers(entry)?, oauth })
        }
        (Some("http" | "sse" | "streamable-http" | "streamable_http" | "streamableHttp"), None) => {
            Err(entry.wrong("url", "is missing: a server of this `type` is reached at an address"))
        }
        (None | Some("stdio"), _) => {
            let command = entry.string("command")?.filter(|command| !command.trim().is_empty());
            let command =
                command.ok_or_else(|| entry.wrong("command", "is missing: give a `command` to run, or a `url`"))?;
            Ok(ServerTransport::Stdio {
                command,
                args: entry.strings("args")?,
                env: entry.string_map("env")?,
                cwd: entry.string("cwd")?.map(PathBuf::from),
            })
        }
        (Some(other), _) => {
            Err(entry.wrong("type", &format!("can't be `{}`: use stdio or http", other.escape_debug())))
        }
    }
}

/// Checks that the headers are valid; a variable's value is checked when it is expanded.
fn headers(entry: &ConfigObject<'_>) -> Result<BTreeMap<String, String>, ConfigError> {
    let headers = entry.string_map("headers")?;
    let literal = |value: &str| if value.contains("${") { String::new() } else { value.to_owned() };
    let known = headers.iter().map(|(name, value)| (name.clone(), literal(value))).collect();
    http::headers(&known).map_err(|problem| entry.wrong("headers", &format!("can't be used: {problem}")))?;
    Ok(headers)
}

fn oauth(entry: &ConfigObject<'_>) -> Result<OAuth, ConfigError> {
    let either =
        |names: [&str; 2]| -> Result<_, ConfigError> { Ok(entry.string(names[0])?.or(entry.string(names[1])?)) };
    let port = entry.members.get("redirectPort").or_else(|| entry.members.get("callbackPort"));
    Ok(OAuth {
        client_id: either(["clientId", "client_id"])?,
        client_secret: either(["clientSecret", "client_secret"])?,
        client_metadata_url: either(["clientMetadataUrl", "client_metadata_url"])?,
        scopes: entry.strings("scopes")?,
        bearer: match entry.string("grant")?.as_deref() {
            None | Some("authorization_code") => TokenSubject::Person,
            Some("client_credentials") => TokenSubject::Program,
            Some(_) => return Err(entry.wrong("grant", "must be authorization_code or client_credentials")),
        },
        redirect_port: match port {
            None => None,
            Some(port) => match port.as_u64().and_then(|port| u16::try_from(port).ok()) {
                Some(port) => Some(port),
                None => return Err(entry.wrong("redirectPort", "must be a port number")),
            },
        },
    })
}

/// An object of the configuration, with its path for error messages.
struct ConfigObject<'a> {
    server: &'a ServerName,
    members: &'a Map<String, Value>,
    path: &'static str,
}

impl ConfigObject<'_> {
    fn wrong(&self, key: &str, problem: &str) -> ConfigError {
        wrong(self.server, &format!("{}{key}", self.path), problem)
    }

    /// Returns a member; null counts as absent.
    fn get(&self, key: &str) -> Option<&Value> {
        self.members.get(key).filter(|value| !value.is_null())
    }

    fn string(&self, key: &str) -> Result<Option<String>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) if !text.contains('\0') => Ok(Some(text.clone())),
            Some(_) => Err(self.wrong(key, "must be a text")),
        }
    }

    fn yes(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(yes)) => Ok(Some(*yes)),
            Some(_) => Err(self.wrong(key, "must be true or false")),
        }
    }

    fn strings(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| scalar(item).ok_or_else(|| self.wrong(key, "must be a list of texts")))
                .collect(),
            Some(_) => Err(self.wrong(key, "must be a list of texts")),
        }
    }

    fn string_map(&self, key: &str) -> Result<BTreeMap<String, String>, ConfigError> {
        let problem = |name: &str| self.wrong(&format!("{key}.{name}"), "must be a text");
        match self.get(key) {
            None => Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members
                .iter()
                .map(|(name, value)| match (name.contains(['=', '\0']) || name.is_empty(), scalar(value)) {
                    (false, Some(value)) => Ok((name.clone(), value)),
                    (true, _) | (false, None) => Err(problem(name)),
                })
                .collect(),
            Some(_) => Err(self.wrong(key, "must be an object of texts")),
        }
    }

    fn milliseconds(&self, keys: &[&str]) -> Result<Option<Duration>, ConfigError> {
        self.duration(keys, "must be a number of milliseconds, at least 1", 0.001)
    }

    fn seconds(&self, keys: &[&str]) -> Result<Option<Duration>, ConfigError> {
        self.duration(keys, "must be a number of seconds above 0", 1.0)
    }

    fn duration(&self, keys: &[&str], problem: &str, unit: f64) -> Result<Option<Duration>, ConfigError> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((key, self.get(key)?))) else {
            return Ok(None);
        };
        let seconds = value.as_f64().map(|number| number * unit).filter(|seconds| *seconds >= 0.001);
        let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        duration.map(Some).ok_or_else(|| self.wrong(key, problem))
    }
}

/// Accepts numbers and booleans in place of text: `"PORT": 8080`.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.contains('\0') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(yes) => Some(yes.to_string()),
        Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn wrong(server: &ServerName, key: &str, problem: &str) -> ConfigError {
    ConfigError::Key { server: server.clone(), key: key.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(entry: &Value) -> Result<ServerConfig, ConfigError> {
        Ok(servers_from_json(&json!({"s": entry}))?.into_values().next().unwrap())
    }

    // proves P1
    #[test]
    fn the_usual_object_is_read_and_strange_keys_are_left_alone() {
        let config = one(&json!({
            "command": "npx", "args": ["-y", "server", 5], "env": {"A": "b", "PORT": 80}, "cwd": "/x",
            "autoApprove": ["*"], "alwaysAllow": [], "type": "stdio", "timeout": 1500, "startupTimeout": 250,
            "trust": true, "disabled": false, "tags": ["web"], "repeatable": ["status"],
            "description": null
        }))
        .unwrap();
        assert_eq!(
            config.reach,
            ServerTransport::Stdio {
                command: "npx".into(),
                args: ["-y", "server", "5"].map(String::from).into(),
                env: [("A", "b"), ("PORT", "80")].map(|(a, b)| (a.into(), b.into())).into(),
                cwd: Some("/x".into()),
            }
        );
        assert_eq!(
            (config.call_timeout, config.startup_timeout),
            (Duration::from_millis(1500), Duration::from_millis(250))
        );
        assert_eq!((config.trust, config.usage), (Trust::Trusted, ServerUse::Enabled));
        assert!(config.tags.contains("web") && config.repeatable.contains("status"));
        assert_eq!(Vec::from_iter(&config.unread), ["alwaysAllow", "autoApprove"]);
    }

    #[test]
    fn every_key_that_is_known_is_read() {
        // Every known key is refused with a value of a wrong type, or in conflict with another key.
        for key in KEYS {
            let entries = [json!({"command": "x", (*key): [[]]}), json!({"url": "http://x", (*key): [[]]})];
            let object = json!({"url": "http://x", (*key): {"grant": "?"}});
            assert!(entries.iter().chain([&object]).any(|entry| one(entry).is_err()), "{key}");
        }
    }

    // proves P1
    #[test]
    fn a_url_makes_a_server_one_over_http_whatever_its_type_is_called() {
        for kind in [json!(null), json!("http"), json!("sse"), json!("streamable-http")] {
            let config = one(&json!({"type": kind, "url": "https://x/mcp", "headers": {"A": "${B}"}})).unwrap();
            assert!(matches!(config.reach, ServerTransport::Http { url, .. } if url == "https://x/mcp"), "{kind}");
        }
        assert_eq!(one(&json!({"url": "http://x", "disabled": true})).unwrap().usage, ServerUse::Disabled);
    }

    // proves P1
    #[test]
    fn errors_name_the_server_and_the_key() {
        for (entry, part) in [
            (json!({}), "`command` is missing"),
            (json!({"command": 5}), "`command` must be a text"),
            (json!({"command": "a", "args": "b"}), "`args` must be a list"),
            (json!({"command": "a", "env": {"B": {}}}), "`env.B` must be a text"),
            (json!({"url": "ftp://x"}), "`url` must begin with http"),
            (json!({"type": "http"}), "`url` is missing"),
            (json!({"url": "http://x", "headers": {"bad header": "1"}}), "`bad header` is no name for a header"),
            (json!({"url": "http://x", "headers": {"A": "b\nc"}}), "the value of the header `A`"),
            (json!({"type": "carrier-pigeon", "command": "a"}), "`type` can't be `carrier-pigeon`"),
            (json!({"command": "a", "timeout": 0}), "`timeout` must be a number"),
            (json!({"command": "a", "trust": "yes"}), "`trust` must be true or false"),
            (json!([]), "its entry"),
        ] {
            let said = one(&entry).unwrap_err().to_string();
            assert!(said.contains("MCP server `s`") && said.contains(part), "{entry}: {said}");
        }
        assert!(matches!(servers_from_json(&json!([])), Err(ConfigError::NoObject)));
        assert!(matches!(servers_from_json(&json!({"a b": {"command": "x"}})), Err(ConfigError::Name(_))));
        assert_eq!(servers_from_json(&json!({"mcpServers": {"s": {"command": "x"}}})).unwrap().len(), 1);
    }

    // proves P1
    #[test]
    fn variables_are_put_in_when_the_server_is_started() {
        let config = one(&json!({"command": "${BIN}/x", "args": ["${A:-b}"], "env": {"K": "${KEY}"}})).unwrap();
        let name: ServerName = "s".parse().unwrap();
        let set = |name: &str| (name != "KEY").then(|| format!("<{name}>"));
        let said = config.expanded(&name, &set).unwrap_err().to_string();
        assert!(said.contains("`s`") && said.contains("`env.K`") && said.contains("`KEY` is not set"), "{said}");
        let reach = config.expanded(&name, &|name| Some(format!("<{name}>"))).unwrap();
        assert!(
            matches!(reach, ServerTransport::Stdio { command, args, .. } if command == "<BIN>/x" && args == ["<A>"])
        );
    }

    #[test]
    fn the_digest_changes_with_the_reach_alone() {
        let (a, b) = (one(&json!({"command": "a"})).unwrap(), one(&json!({"command": "b"})).unwrap());
        let trusted = one(&json!({"command": "a", "trust": true})).unwrap();
        assert_eq!(a.digest(), trusted.digest());
        assert_ne!(a.digest(), b.digest());
    }
}
