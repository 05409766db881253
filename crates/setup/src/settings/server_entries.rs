//! Adds MCP servers to a settings file and removes them.

use std::path::Path;

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value as Toml};
use windlass_mcp::ServerName;

use super::file::SettingsScope;
use super::file_edit::{SettingsWriteError, below, rewrite};

/// Whether an entry of that name existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerAddition {
    /// No entry existed.
    New,
    /// An entry existed and was replaced.
    Replaced,
}

/// Whether an entry was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerRemoval {
    /// It was removed.
    Yes,
    /// There was none.
    NotThere,
}

/// Both accepted spellings.
const KEYS: [&str; 2] = ["mcpServers", "mcp_servers"];

/// Writes a server into the file; an existing one of that name is replaced only if `allowed`.
pub fn add_server(
    path: &Path,
    scope: SettingsScope,
    name: &ServerName,
    entry: &Value,
    allowed: ServerAddition,
) -> Result<ServerAddition, SettingsWriteError> {
    let mut added = ServerAddition::New;
    rewrite(path, scope, |document| {
        if let Some(old) = table(document, path)?.get(name.as_str()) {
            if allowed == ServerAddition::New {
                return Err(SettingsWriteError::KnownServer { path: path.to_owned(), name: name.clone() });
            }
            added = ServerAddition::Replaced;
            if let Some(old) = old.as_table().filter(|old| !old.is_dotted()) {
                // The new entry keeps the position of the old one, and the comments above it.
                let mut new = entry_table(entry);
                *new.decor_mut() = old.decor().clone();
                new.set_position(old.position());
                table(document, path)?.insert(name.as_str(), Item::Table(new));
                return Ok(());
            }
        }
        let new = below(document, entry_table(entry));
        table(document, path)?.insert(name.as_str(), Item::Table(new));
        Ok(())
    })?;
    Ok(added)
}

/// Removes a server from the file.
pub fn remove_server(
    path: &Path,
    scope: SettingsScope,
    name: &ServerName,
) -> Result<ServerRemoval, SettingsWriteError> {
    let mut removed = ServerRemoval::NotThere;
    rewrite(path, scope, |document| {
        for key in KEYS {
            let servers = document.get_mut(key).and_then(Item::as_table_like_mut);
            if servers.is_some_and(|servers| servers.remove(name.as_str()).is_some()) {
                removed = ServerRemoval::Yes;
            }
        }
        Ok(())
    })?;
    Ok(removed)
}

/// Returns the table of servers, creating it if there is none.
fn table<'a>(document: &'a mut DocumentMut, path: &Path) -> Result<&'a mut Table, SettingsWriteError> {
    let key = KEYS.into_iter().find(|key| document.contains_key(key)).unwrap_or(KEYS[0]);
    let fresh = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let servers = document.entry(key).or_insert_with(fresh).as_table_mut();
    servers.ok_or_else(|| {
        let problem =
            format!("{}: `{key}` is no table of its own; a server can only be written into it by hand", path.display());
        SettingsWriteError::Damaged(problem)
    })
}

/// Converts an entry to a table; its members are inline values, one per line.
fn entry_table(entry: &Value) -> Table {
    let members = entry.as_object().into_iter().flatten();
    members.filter_map(|(key, value)| Some((key.as_str(), Item::Value(inline(value)?)))).collect()
}

fn inline(value: &Value) -> Option<Toml> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(yes) => (*yes).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => Toml::Array(items.iter().filter_map(inline).collect()),
        Value::Object(members) => {
            let pairs = members.iter().filter_map(|(key, value)| Some((key.as_str(), inline(value)?)));
            Toml::InlineTable(pairs.collect::<InlineTable>())
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    // proves P1: the rest of the person's file is kept
    #[test]
    fn a_server_is_added_replaced_and_removed_and_the_rest_stays() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("windlass.toml");
        let before = "# mine\nmodel = 'x' # this one\n";
        fs::write(&path, before).expect("written");
        let name: ServerName = "git".parse().expect("a name");
        let entry = json!({"command": "uvx", "args": ["mcp-server-git"], "env": {"T": "${T}"}});
        let add = |allowed| add_server(&path, SettingsScope::User, &name, &entry, allowed);
        assert_eq!(add(ServerAddition::New).expect("added"), ServerAddition::New);
        let text = fs::read_to_string(&path).expect("read");
        assert!(text.starts_with(before), "{text}");
        let table: toml::Table = text.parse().expect("sound");
        assert_eq!(serde_json::to_value(&table["mcpServers"]["git"]).expect("JSON"), entry, "{text}");
        assert!(matches!(add(ServerAddition::New), Err(SettingsWriteError::KnownServer { .. })));
        assert_eq!(add(ServerAddition::Replaced).expect("replaced"), ServerAddition::Replaced);
        let remove = || remove_server(&path, SettingsScope::User, &name).expect("sound");
        assert_eq!(remove(), ServerRemoval::Yes);
        assert_eq!(remove(), ServerRemoval::NotThere);
        assert_eq!(fs::read_to_string(&path).expect("read").trim(), before.trim());
    }

    // proves P1: comments stay where they are
    #[test]
    fn a_new_server_goes_below_every_comment_and_another_in_its_place_keeps_them() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("windlass.toml");
        let name: ServerName = "git".parse().expect("a name");
        let add = |command: &str, allowed| {
            add_server(&path, SettingsScope::User, &name, &json!({"command": command}), allowed).expect("added");
            fs::read_to_string(&path).expect("read")
        };
        for before in [
            "# nothing yet\n",
            "model = 'x'\n# [mcpServers.git]\n# command = 'y'\n",
            "[mcpServers.a] # one\ncommand = 'a'\n\n[policy]\n# the end\n",
            "# which\n[mcpServers]\n# none\n",
        ] {
            fs::write(&path, before).expect("written");
            let after = add("new", ServerAddition::New);
            assert_eq!(after, format!("{before}\n[mcpServers.git]\ncommand = \"new\"\n"), "{before}");
            let commented =
                format!("# above\n{after}# below\n").replace("\n[mcpServers.git]", "\n# git\n[mcpServers.git]");
            fs::write(&path, &commented).expect("written");
            assert_eq!(add("other", ServerAddition::Replaced), commented.replace("\"new\"", "\"other\""), "{before}");
        }
    }

    #[test]
    fn a_block_that_was_pasted_as_text_is_not_touched() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("windlass.toml");
        let text = "mcpServers = '{\"a\": {\"command\": \"b\"}}'\n";
        fs::write(&path, text).expect("written");
        let name: ServerName = "git".parse().expect("a name");
        let added = add_server(&path, SettingsScope::User, &name, &json!({"command": "c"}), ServerAddition::New);
        assert!(added.expect_err("refused").to_string().contains("by hand"));
        assert_eq!(fs::read_to_string(&path).expect("read"), text);
    }
}
