//! Resolves the name of a model to its server's address, its id there and the key.
//!
//! A key is sent only where its owner meant it to go: `OPENAI_API_KEY` to OpenAI or to the address that the environment
//! gives for it, never to an address in the code.

use std::net::{Ipv4Addr, Ipv6Addr};

use windlass_provider::Secret;

use crate::build_error::BuildError;
use crate::environment::Environment;

const OPENAI: &str = "https://api.openai.com/v1";
const OLLAMA_PORT: u16 = 11434;
/// The model id sent to a server that serves one model and ignores the id.
const ANY: &str = "default";

/// A model on a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServedModel {
    pub(crate) base_url: String,
    pub(crate) id: String,
    pub(crate) key: Option<Secret>,
}

/// The program's own settings for its model.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestedModel {
    pub(crate) name: Option<String>,
    pub(crate) base_url: Option<String>,
    pub(crate) key: Option<Secret>,
}

/// Resolves the requested model.
pub(crate) fn served(request: RequestedModel, environment: &Environment) -> Result<ServedModel, BuildError> {
    let RequestedModel { name, base_url, key } = request;
    let name = name.or_else(|| environment.model.clone()).ok_or(BuildError::NoModel)?;
    let own_key = environment.api_key.as_deref();
    let general_key = own_key.or(environment.openai_key.as_deref());
    let served = |base_url: String, id: &str, from_environment: Option<&str>| ServedModel {
        base_url,
        id: id.to_owned(),
        key: key.clone().or_else(|| from_environment.map(Secret::new)),
    };
    // With an explicit address the name is the server's own id, whatever it looks like: don't parse it.
    if let Some(base_url) = base_url {
        return Ok(served(base_url, &name, own_key));
    }
    if name.starts_with("http://") || name.starts_with("https://") {
        let (address, id) = name.split_once('#').unwrap_or((&name, ANY));
        return Ok(served(address.to_owned(), id, own_key));
    }
    if let Some(id) = name.strip_prefix("openai:") {
        let address = environment.openai_url.clone().unwrap_or_else(|| OPENAI.to_owned());
        return Ok(served(address, id, general_key));
    }
    if let Some(id) = name.strip_prefix("ollama:") {
        return Ok(served(ollama_address(environment)?, id, None));
    }
    let address = environment.base_url.clone().or_else(|| environment.openai_url.clone());
    match address {
        Some(address) => Ok(served(address, &name, general_key)),
        // If there is a key for OpenAI, a running Ollama is no sign that its model is meant.
        None if environment.openai_key.is_none() && environment.ollama_host.is_some() => {
            Ok(served(ollama_address(environment)?, &name, None))
        }
        None if general_key.is_some() => Ok(served(OPENAI.to_owned(), &name, general_key)),
        None => Err(BuildError::NoBaseUrl),
    }
}

fn ollama_address(environment: &Environment) -> Result<String, BuildError> {
    let Some(host) = &environment.ollama_host else { return Ok(format!("http://127.0.0.1:{OLLAMA_PORT}/v1")) };
    address_of_host(host).ok_or_else(|| BuildError::Variable {
        name: "OLLAMA_HOST",
        problem: "this is not a host; write it like 127.0.0.1:11434".to_owned(),
    })
}

/// Returns the address for `host`, `host:port`, `:port` or a URL. A listening address (0.0.0.0) becomes the local one.
fn address_of_host(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://").map_or((None, text), |(scheme, rest)| (Some(scheme), rest));
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let (host, port) = host_and_port(authority)?;
    let host = match host {
        "" | "0.0.0.0" => Ipv4Addr::LOCALHOST.to_string(),
        "::" => format!("[{}]", Ipv6Addr::LOCALHOST),
        host if host.contains(':') => format!("[{host}]"),
        host => host.to_owned(),
    };
    let port = match (port, scheme) {
        (Some(port), _) => format!(":{port}"),
        (None, None) => format!(":{OLLAMA_PORT}"),
        (None, Some(_)) => String::new(),
    };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    Some(format!("{}://{host}{port}{path}/v1", scheme.unwrap_or("http")))
}

fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    if authority.parse::<Ipv6Addr>().is_ok() {
        return Some((authority, None));
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
    };
    let fits = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
    let port = port.map(str::parse::<u16>).transpose().ok()?;
    fits.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use windlass_provider::Secret;

    use super::{RequestedModel, address_of_host, served};
    use crate::environment::Environment;

    fn named(name: &str) -> RequestedModel {
        RequestedModel { name: Some(name.to_owned()), ..RequestedModel::default() }
    }

    /// Returns the address, the id and the key of the resolved model.
    fn resolved(request: RequestedModel, environment: &Environment) -> (String, String, Option<String>) {
        let model = served(request, environment).unwrap();
        (model.base_url, model.id, model.key.map(|key| key.expose().to_owned()))
    }

    fn keys() -> Environment {
        Environment { openai_key: Some("of-openai".into()), ..Environment::default() }
    }

    #[test]
    fn a_name_says_the_server_and_the_id() {
        for (name, address, id) in [
            ("ollama:qwen3:8b", "http://127.0.0.1:11434/v1", "qwen3:8b"),
            ("openai:gpt-x", "https://api.openai.com/v1", "gpt-x"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1", "default"),
            ("https://llm.example/v1#big", "https://llm.example/v1", "big"),
        ] {
            let model = resolved(named(name), &Environment::default());
            assert_eq!(model, (address.to_owned(), id.to_owned(), None), "{name}");
        }
        let request = RequestedModel { base_url: Some("http://h/v1".into()), ..named("openai:x") };
        assert_eq!(resolved(request, &keys()).1, "openai:x", "the id as that server knows it");
    }

    // proves X1
    #[test]
    fn the_key_for_openai_goes_to_openai_and_where_the_environment_says() {
        let key = |name: &str, environment: &Environment| resolved(named(name), environment).2;
        for name in ["openai:gpt-x", "gpt-x"] {
            assert_eq!(key(name, &keys()).as_deref(), Some("of-openai"), "{name}");
        }
        for name in ["ollama:qwen3", "http://llm.example/v1", "https://llm.example/v1#x"] {
            assert_eq!(key(name, &keys()), None, "{name}");
        }
        let proxy = Environment { openai_url: Some("https://proxy/v1".into()), ..keys() };
        let all = |name: &str| resolved(named(name), &proxy);
        for name in ["gpt-x", "openai:gpt-x"] {
            assert_eq!(all(name), ("https://proxy/v1".into(), "gpt-x".into(), Some("of-openai".into())));
        }
        let given = RequestedModel { key: Some(Secret::new("given")), ..named("openai:gpt-x") };
        assert_eq!(resolved(given, &keys()).2.as_deref(), Some("given"));
    }

    #[test]
    fn a_bare_id_is_of_the_server_the_environment_names() {
        let ollama = Environment { ollama_host: Some("0.0.0.0".into()), ..Environment::default() };
        assert_eq!(resolved(named("qwen3"), &ollama).0, "http://127.0.0.1:11434/v1");
        let both = Environment { ollama_host: ollama.ollama_host, ..keys() };
        assert_eq!(resolved(named("gpt-x"), &both).0, "https://api.openai.com/v1");
        let ours = Environment { base_url: Some("http://ours/v1".into()), ..both };
        assert_eq!(resolved(named("m"), &ours).0, "http://ours/v1");
        assert!(served(named("m"), &Environment::default()).is_err());
        assert!(served(RequestedModel::default(), &keys()).is_err());
    }

    #[test]
    fn every_way_to_write_a_host_is_understood() {
        for (text, address) in [
            ("127.0.0.1", Some("http://127.0.0.1:11434/v1")),
            ("box:80", Some("http://box:80/v1")),
            (":1234", Some("http://127.0.0.1:1234/v1")),
            ("::1", Some("http://[::1]:11434/v1")),
            ("[::]:99", Some("http://[::1]:99/v1")),
            ("http://0.0.0.0:11434/", Some("http://127.0.0.1:11434/v1")),
            ("https://box/ollama", Some("https://box/ollama/v1")),
            ("a b", None),
            ("box:port", None),
            ("http://user@box", None),
        ] {
            assert_eq!(address_of_host(text).as_deref(), address, "{text}");
        }
    }
}
