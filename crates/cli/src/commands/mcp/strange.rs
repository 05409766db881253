//! Finds oddities of a server's entry that are no errors: unknown keys, and timeouts too short to be meant. Entries are
//! copied from other programs with their keys, so only the commands that inspect the servers report them.

use std::time::Duration;

use windlass_mcp::{KEYS, ServerConfig, ServerName};
use windlass_setup::settings::{ConfiguredServer, near};

use crate::output::setting_words::place_text;
use crate::output::{harmless_line, short_line};
use crate::streams;

/// A timeout below this is surely a mistake: no server answers so quickly.
const HARDLY_MEANT: Duration = Duration::from_millis(50);
/// Characters of a key in the message.
const KEY: usize = 40;

/// Reports the oddities on standard error.
pub(super) fn report(name: &ServerName, server: &ConfiguredServer) {
    let place = harmless_line(&place_text(&server.origin));
    for what in oddities(&server.config) {
        streams::print_notice(&format!("windlass: {place}: MCP server `{name}`: {what}"));
    }
}

fn oddities(config: &ServerConfig) -> Vec<String> {
    let unread = |key: &String| {
        let hint = near(key, KEYS).map(|key| format!("; did you mean `{key}`?")).unwrap_or_default();
        format!("`{}` means nothing here{hint}", short_line(key, KEY))
    };
    let short = |what: &str, time: Duration| {
        let ms = time.as_secs_f64() * 1000.0;
        (time < HARDLY_MEANT)
            .then(|| format!("{what} {ms} ms; `timeout` is in milliseconds, `call_timeout` in seconds"))
    };
    let times = [short("a call may take", config.call_timeout), short("it may take to start", config.startup_timeout)];
    config.unread.iter().map(unread).chain(times.into_iter().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use windlass_mcp::servers_from_json;

    use super::oddities;

    fn oddities_of(entry: &Value) -> Vec<String> {
        let servers = servers_from_json(&json!({"s": entry})).expect("sound");
        servers.values().flat_map(oddities).collect()
    }

    // proves P1: a person who inspects the servers learns which keys are ignored
    #[test]
    fn keys_that_mean_nothing_and_times_that_are_hardly_meant_are_told() {
        for (entry, said) in [
            (json!({"command": "x", "agrs": []}), "`agrs` means nothing here; did you mean `args`?"),
            (json!({"command": "x", "autoApprove": []}), "`autoApprove` means nothing here"),
            (json!({"command": "x", "timeout": 2}), "a call may take 2 ms; `timeout` is in milliseconds"),
            (json!({"command": "x", "startupTimeout": 3}), "it may take to start 3 ms; "),
        ] {
            let told = oddities_of(&entry);
            assert!(told.len() == 1 && told[0].starts_with(said), "{entry}: {told:?}");
        }
        assert_eq!(oddities_of(&json!({"command": "x", "timeout": 2000, "call_timeout": 2, "note": null})), [""; 0]);
    }
}
