//! Collects the configured MCP servers (P1): `--mcp-config` files > the user's file > the project's `windlass.toml`
//! and `.mcp.json`. A name in a stronger source hides the same name in a weaker one: a project's server never
//! replaces a server of the person's own, and so never gets its rules.
//!
//! A project's server starts no program before a person has agreed to it (X2): such servers carry the path of the
//! file that names them and a digest of its entries, and consent is given to that digest.
//!
//! In `windlass.toml` the block is a table, or the JSON text copied from another program:
//!
//! ```toml
//! mcpServers = '''{ "git": { "command": "uvx", "args": ["mcp-server-git"] } }'''
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use toml::Spanned;
use windlass::door::{KEY_VARIABLE, PROVIDERS};
use windlass_mcp::{ConfigError, ServerConfig, ServerLimits, ServerName, Trust, servers_within};
use windlass_store::hash_of;
use windlass_vocab::Hash;

use super::approved_command::ApprovedCommand;
use super::error::SettingsError;
use super::file::SettingsFile;
use super::file_settings::FileMcp;
use super::notice::SettingsNotice;
use super::origin::SettingOrigin;
use super::programs::{CommandFiles, CommandFolders, command_files};
use super::sources::{ServerFile, Sources};
use crate::json_fault::json_fault;

/// A configured server and what is needed to start it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// How to connect to it.
    pub config: ServerConfig,
    /// Where it is configured.
    pub origin: SettingOrigin,
    /// The consent that is required before it starts.
    pub consent: Option<ServerConsent>,
    /// For a project's server: its approved command, compared before it starts.
    pub approved: Option<ApprovedCommand>,
}

/// What a person agrees to: the servers of a project's file as it is now, and the files of the workspace behind their
/// commands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerConsent {
    /// The file that names the servers.
    pub file: PathBuf,
    /// Digest of the servers and their files.
    pub digest: Hash,
    /// The files behind their commands.
    pub files: BTreeMap<PathBuf, Hash>,
    /// Folders behind their commands with too many files to watch.
    pub unwatched: BTreeSet<PathBuf>,
}

/// Returns the servers of all sources, and notices about those that can't be used.
pub(super) fn servers(
    sources: &Sources,
) -> Result<(BTreeMap<ServerName, ConfiguredServer>, Vec<SettingsNotice>), SettingsError> {
    let limits = limits(sources)?;
    let mut all = MergedServers { limits, ..MergedServers::default() };
    for file in &sources.named_servers {
        all.add(of_json(file, SettingOrigin::Flag("mcp_config"), limits)?);
    }
    if let Some(file) = &sources.user
        && let Some(named) = of_toml(file, limits)?
    {
        all.add(named);
    }
    if let Some(file) = &sources.project
        && let Some((value, origin)) = value_of(file)?
    {
        let named = all.sound(&value, origin, file.path());
        all.add_of_project(named, file.path(), sources);
    }
    if let Some(file) = &sources.project_servers {
        let value = file.text.as_ref().map_err(Clone::clone).and_then(|text| parse_json(text));
        let value = value.unwrap_or_else(|problem| {
            all.notices.push(left_out(&file.path, &problem));
            Value::Null
        });
        let named = all.sound(&value, SettingOrigin::ProjectServers(file.path.clone()), &file.path);
        all.add_of_project(named, &file.path, sources);
    }
    Ok((all.servers, all.notices))
}

fn folders(sources: &Sources) -> CommandFolders<'_> {
    CommandFolders { cwd: &sources.cwd, workspace: &sources.workspace }
}

/// Returns the files behind the commands of a project's servers.
pub(super) fn programs_of_project(sources: &Sources) -> CommandFiles {
    CommandFiles::all(servers_of_project(sources).iter().map(|(_, config)| command_files(config, folders(sources))))
}

/// Returns the servers that a project names, ignoring other errors in its files. Two may share a name: the person
/// sees both.
pub(super) fn servers_of_project(sources: &Sources) -> Vec<(ServerName, ServerConfig)> {
    let in_settings = sources.project.as_ref().and_then(|file| Some(value_of(file).ok()??.0));
    let beside = sources.project_servers.as_ref().and_then(|file| parse_json(file.text.as_ref().ok()?).ok());
    let mut all = MergedServers::default();
    let values = [in_settings, beside].into_iter().flatten();
    values.flat_map(|value| all.sound(&value, SettingOrigin::Default, Path::new("")).servers).collect()
}

/// Returns the time limits for servers whose entries set none: from the project's file, or else the user's.
fn limits(sources: &Sources) -> Result<ServerLimits, SettingsError> {
    let limit = |look: fn(&FileMcp) -> &Option<Spanned<f64>>, usual: Duration| {
        let files = [&sources.project, &sources.user].into_iter().flatten();
        let given = files.filter_map(|file| file.sourced(look(&file.settings.mcp))).map(|given| given.try_map(seconds));
        // Every value is checked: an error in one file is reported even if another file's value is used.
        let given = given.collect::<Result<Vec<_>, _>>()?;
        Ok(given.into_iter().next().map_or(usual, |limit| limit.value))
    };
    let usual = ServerLimits::default();
    Ok(ServerLimits {
        startup_timeout: limit(|mcp| &mcp.startup_timeout, usual.startup_timeout)?,
        call_timeout: limit(|mcp| &mcp.call_timeout, usual.call_timeout)?,
    })
}

fn seconds(seconds: f64) -> Result<Duration, &'static str> {
    let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| *limit >= Duration::from_millis(1));
    limit.ok_or("must be a number of seconds above 0")
}

/// The servers found so far; earlier sources win.
#[derive(Default)]
struct MergedServers {
    limits: ServerLimits,
    servers: BTreeMap<ServerName, ConfiguredServer>,
    notices: Vec<SettingsNotice>,
}

impl MergedServers {
    fn add(&mut self, named: ServersOfFile) {
        for (name, config) in named.servers {
            let origin = named.origin.clone();
            self.servers.entry(name).or_insert(ConfiguredServer { config, origin, consent: None, approved: None });
        }
    }

    /// Parses the entries of a project's file. A wrong entry, which anybody may have written, disables its own server
    /// with a notice but makes no command fail.
    fn sound(&mut self, value: &Value, origin: SettingOrigin, file: &Path) -> ServersOfFile {
        let (block, mut servers) = (block(value), BTreeMap::new());
        for (name, entry) in block.as_object().into_iter().flatten() {
            match servers_within(&serde_json::json!({ name.as_str(): entry }), self.limits) {
                Ok(one) => servers.extend(one),
                Err(error) => self.notices.push(left_out(file, &error)),
            }
        }
        ServersOfFile { servers, origin, digest: hash_of(block.to_string().as_bytes()) }
    }

    /// Adds a project's servers. Unless the person trusts the project, its servers count as untrusted, need consent,
    /// and are dropped if they ask for the model's API key.
    fn add_of_project(&mut self, mut named: ServersOfFile, file: &Path, sources: &Sources) {
        let (is_trusted, folders) = (sources.trusts_project(), folders(sources));
        let told = |name: &ServerName, why: &str| format!("{}: the MCP server `{name}` {why}", file.display());
        named.servers.retain(|name, config| {
            let why = if self.servers.contains_key(name) {
                "is not used: you have one of that name"
            } else if !is_trusted && takes_model_key(config) {
                "wants the key of the model and is left out: only your own settings may hand that over"
            } else {
                return true;
            };
            self.notices.push(SettingsNotice::Sentence(told(name, why)));
            false
        });
        let (programs, consent) = if is_trusted {
            (sources.programs.clone(), None)
        } else {
            named.servers.values_mut().for_each(|config| config.trust = Trust::Untrusted);
            let all = CommandFiles::all(named.servers.values().map(|config| command_files(config, folders)));
            let digest = all.digest_with(named.digest);
            let CommandFiles { files, unwatched } = all.clone();
            (all, Some(ServerConsent { file: file.to_owned(), digest, files, unwatched }))
        };
        for (name, config) in named.servers {
            let approved = Some(ApprovedCommand::new(&config, folders, &programs));
            let (origin, consent) = (named.origin.clone(), consent.clone());
            self.servers.entry(name).or_insert(ConfiguredServer { config, origin, consent, approved });
        }
    }
}

fn left_out(file: &Path, problem: &dyn std::fmt::Display) -> SettingsNotice {
    SettingsNotice::Sentence(format!("{}: {problem}; it is left out", file.display()))
}

/// Whether a server wants a key that is for models alone. A variable with other uses may be meant for the server; it is
/// asked for with the rest.
fn takes_model_key(config: &ServerConfig) -> bool {
    let written = format!("{:?}", config.reach);
    let keys = PROVIDERS.iter().filter_map(|provider| provider.key_variable).chain([KEY_VARIABLE]);
    keys.into_iter().any(|variable| written.contains(&format!("${{{variable}")))
}

/// The servers of one source.
struct ServersOfFile {
    servers: BTreeMap<ServerName, ServerConfig>,
    origin: SettingOrigin,
    digest: Hash,
}

impl ServersOfFile {
    fn new(
        object: &Value,
        origin: SettingOrigin,
        limits: ServerLimits,
        told: impl Fn(String) -> SettingsError,
    ) -> Result<Self, SettingsError> {
        let servers = servers_within(object, limits).map_err(|error| told(error.to_string()))?;
        let digest = hash_of(object.to_string().as_bytes());
        Ok(Self { servers, origin, digest })
    }
}

fn of_json(file: &ServerFile, origin: SettingOrigin, limits: ServerLimits) -> Result<ServersOfFile, SettingsError> {
    let wrong = |problem: String| SettingsError::Servers { path: file.path.clone(), problem };
    let text = file.text.as_ref().map_err(|problem| wrong(problem.clone()))?;
    let value = parse_json(text).map_err(&wrong)?;
    ServersOfFile::new(block(&value), origin, limits, wrong)
}

fn of_toml(file: &SettingsFile, limits: ServerLimits) -> Result<Option<ServersOfFile>, SettingsError> {
    let Some((value, origin)) = value_of(file)? else { return Ok(None) };
    ServersOfFile::new(block(&value), origin.clone(), limits, |problem| SettingsError::wrong(origin.clone(), problem))
        .map(Some)
}

/// Returns the servers block of a settings file, and its position.
fn value_of(file: &SettingsFile) -> Result<Option<(Value, SettingOrigin)>, SettingsError> {
    let Some(given) = &file.settings.mcp_servers else { return Ok(None) };
    let origin = file.origin(given);
    let wrong = |problem: String| SettingsError::wrong(origin.clone(), problem);
    let value = match Spanned::get_ref(given) {
        toml::Value::String(json) => parse_json(json).map_err(&wrong)?,
        table => serde_json::to_value(table).map_err(|error| wrong(error.to_string()))?,
    };
    match block(&value) {
        Value::Object(_) => Ok(Some((value, origin))),
        _ => Err(wrong(ConfigError::NoObject.to_string())),
    }
}

fn parse_json(text: &str) -> Result<Value, String> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| format!("it is no JSON: {}", json_fault(text, &error)))
}

/// Returns the object of servers, whether or not it is wrapped in its key.
fn block(value: &Value) -> &Value {
    ["mcpServers", "servers"].iter().find_map(|key| value.get(key).filter(|inner| is_block(inner))).unwrap_or(value)
}

/// Whether this is a block of servers: a single server may be called `servers`.
fn is_block(value: &Value) -> bool {
    value.as_object().is_some_and(|object| !object.contains_key("command") && !object.contains_key("url"))
}

#[cfg(test)]
mod tests {
    use super::super::sources::ServerFile;
    use super::super::tests::SettingsFixture;
    use super::*;

    const GIT: &str = r#"{"mcpServers": {"git": {"command": "git-server"}}}"#;

    fn file(path: &str, text: &str) -> ServerFile {
        ServerFile { path: path.into(), text: Ok(text.to_owned()) }
    }

    fn commands(given: &SettingsFixture) -> Vec<String> {
        let show = |(name, server): (&ServerName, &ConfiguredServer)| {
            let windlass_mcp::ServerTransport::Stdio { command, .. } = &server.config.reach else {
                panic!("a command")
            };
            let consent = if server.consent.is_some() { " if agreed" } else { "" };
            format!("{name}: {command}{consent}")
        };
        given.settings().servers.iter().map(show).collect()
    }

    // proves P1
    #[test]
    fn the_block_stands_as_a_table_or_as_it_was_copied_or_in_a_file_of_its_own() {
        for text in [
            "[mcpServers.git]\ncommand = 'git-server'",
            "[mcp_servers.git]\ncommand = 'git-server'",
            &format!("mcpServers = '''{GIT}'''"),
            r#"mcpServers = '{"git": {"command": "git-server"}}'"#,
        ] {
            assert_eq!(commands(&SettingsFixture::usable().user(text)), ["git: git-server"], "{text}");
        }
        let named = SettingsFixture::usable().named_servers(file("/x.json", GIT));
        assert_eq!(commands(&named), ["git: git-server"]);
        let bare = SettingsFixture::usable().named_servers(file("/x.json", r#"{"servers": {"command": "odd"}}"#));
        assert_eq!(commands(&bare), ["servers: odd"], "a server may be called servers");
    }

    // proves P2: both limits are settings, per entry and for all servers
    #[test]
    fn limits_of_all_servers_hold_where_an_entry_has_none_of_its_own() {
        let user = "[mcp]\nstartup_timeout = 5\ncall_timeout = 2.5\n[mcpServers.a]\ncommand = 'a'\n\
                    [mcpServers.b]\ncommand = 'b'\nstartup_timeout = 9\ntimeout = 100";
        let settings = SettingsFixture::usable().user(user).settings();
        let limits: Vec<_> =
            settings.servers.values().map(|one| (one.config.startup_timeout, one.config.call_timeout)).collect();
        let of = |start: u64, call: u64| (Duration::from_millis(start), Duration::from_millis(call));
        assert_eq!(limits, [of(5_000, 2_500), of(9_000, 100)]);
        let text = SettingsFixture::usable().user("[mcp]\ncall_timeout = 0\n[mcpServers.a]\ncommand = 'a'").error();
        assert!(text.contains("windlass.toml:2:") && text.contains("seconds above 0"), "{text}");
    }

    // proves P1, X2
    #[test]
    fn what_comes_with_a_project_waits_for_consent_and_the_stronger_place_wins() {
        let user = "[mcpServers.git]\ncommand = 'mine'\n[mcpServers.own]\ncommand = 'own'";
        let given = SettingsFixture::usable().user(user).project_servers(file("/p/.mcp.json", GIT));
        assert_eq!(commands(&given), ["git: mine", "own: own"], "a project never takes a server of the person's place");
        assert!(given.settings().notices[0].to_string().contains("you have one of that name"));
        for variable in ["OPENAI_API_KEY:-", "ANTHROPIC_API_KEY", "WINDLASS_API_KEY"] {
            let key = r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${KEY}"}}}}"#.replace("KEY", variable);
            let thief = SettingsFixture::usable().project_servers(file("/p/.mcp.json", &key));
            assert_eq!(commands(&thief), [] as [&str; 0]);
            assert!(thief.settings().notices[0].to_string().contains("wants the key of the model"));
        }
        let given = given.named_servers(file("/x.json", r#"{"mcpServers": {"git": {"command": "flag"}}}"#));
        assert_eq!(commands(&given), ["git: flag", "own: own"]);
        let project = "[mcpServers.git]\ncommand = 'theirs'";
        assert_eq!(commands(&SettingsFixture::usable().project(project)), ["git: theirs if agreed"]);
        let trusting = SettingsFixture::usable().project(project).user("trusted = ['/p']");
        assert_eq!(commands(&trusting), ["git: theirs"]);
    }

    #[test]
    fn another_content_is_another_consent() {
        let consent = |text: &str| {
            let given = SettingsFixture::usable().project_servers(file("/p/.mcp.json", text));
            given.settings().servers.into_values().next().and_then(|server| server.consent)
        };
        assert_eq!(consent(GIT), consent(&GIT.replace(' ', "")), "only what it says counts");
        assert_ne!(consent(GIT), consent(&GIT.replace("git-server", "rm")));
    }

    // proves P2: skipped with a warning
    #[test]
    fn one_bad_entry_of_a_project_costs_its_own_server_alone() {
        let text =
            r#"{"mcpServers": {"a b": {"command": "x"}, "odd": {"type": "pigeon"}, "git": {"command": "git-server"}}}"#;
        let given = SettingsFixture::usable().project_servers(file("/p/.mcp.json", text));
        assert_eq!(commands(&given), ["git: git-server if agreed"]);
        let notices = given.settings().notices;
        assert_eq!(notices.len(), 2, "{notices:?}");
        let table = "[mcpServers.odd]\ncommand = ''\n[mcpServers.git]\ncommand = 'git-server'";
        let given = SettingsFixture::usable().project(table);
        assert_eq!(commands(&given), ["git: git-server if agreed"]);
        let notices = given.settings().notices;
        assert!(
            notices.len() == 1 && notices[0].to_string().contains("MCP server `odd`: `command` is missing"),
            "{notices:?}"
        );
        let broken = SettingsFixture::usable().project_servers(file("/p/.mcp.json", "{"));
        assert!(broken.settings().notices[0].to_string().starts_with("/p/.mcp.json: it is no JSON"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let wrong = |given: SettingsFixture| given.error();
        let text = wrong(SettingsFixture::usable().named_servers(file("/x.json", "{\"mcpServers\": {,}}")));
        assert!(text.starts_with("/x.json: it is no JSON") && text.contains("line 1"), "{text}");
        let text = wrong(SettingsFixture::usable().user("\n[mcpServers.git]\nargs = ['x']"));
        assert!(text.contains("windlass.toml:2:") && text.contains("git"), "{text}");
        let text = wrong(SettingsFixture::usable().named_servers(file("/x.json", r#"{"git": {"command": ""}}"#)));
        assert_eq!(text, "/x.json: MCP server `git`: `command` is missing: give a `command` to run, or a `url`");
        let text = wrong(SettingsFixture::usable().user("mcpServers = 3"));
        assert!(text.contains("windlass.toml:1:14"), "{text}");
    }
}
