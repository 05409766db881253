//! What a person has agreed to (X2): per file of a project, the digest of the servers it named then.
//! Another digest is another question.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass::mcp::{Reach, ServerConfig, ServerName};
use windlass::tools::{Readers, write_whole};
use windlass::vocab::Hash;

use crate::output::{harmless_line, quoted};
use crate::settings::Consent;

const FILE: &str = "consent.json";

/// What was said to a file's servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    digest: Hash,
    answer: ConsentAnswer,
}

/// What a person says to a project's servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConsentAnswer {
    /// They may start.
    Yes,
    /// They may start in the sandbox.
    InSandbox,
    /// They may not.
    No,
}

/// Everything agreed to and refused so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agreements {
    folder: PathBuf,
    said: BTreeMap<PathBuf, Said>,
}

impl Agreements {
    /// What is on record. What can't be read was not agreed to.
    pub(crate) fn read(folder: &Path) -> Self {
        let said = fs::read(folder.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self { folder: folder.to_owned(), said: said.unwrap_or_default() }
    }

    /// Whether a person agreed to exactly this.
    pub(crate) fn has(&self, consent: &Consent) -> bool {
        matches!(self.answer(consent), Some(ConsentAnswer::Yes | ConsentAnswer::InSandbox))
    }

    /// Whether a person agreed to exactly this in the sandbox alone.
    pub(crate) fn is_in_sandbox(&self, consent: &Consent) -> bool {
        self.answer(consent) == Some(ConsentAnswer::InSandbox)
    }

    /// Whether nobody was asked about exactly this.
    pub(crate) fn is_open(&self, consent: &Consent) -> bool {
        self.answer(consent).is_none()
    }

    fn answer(&self, consent: &Consent) -> Option<ConsentAnswer> {
        self.said.get(&consent.file).filter(|said| said.digest == consent.digest).map(|said| said.answer)
    }

    /// Takes down what the person says to it.
    pub(crate) fn say(&mut self, consent: &Consent, answer: ConsentAnswer) -> io::Result<()> {
        self.said.insert(consent.file.clone(), Said { digest: consent.digest, answer });
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        write_whole(&self.folder.join(FILE), &serde_json::to_vec_pretty(&self.said)?, Readers::Owner)
    }
}

/// Asks at the terminal, before anything else is shown. The end of input decides nothing.
pub(super) fn ask(
    agreements: &mut Agreements,
    consent: &Consent,
    servers: &BTreeMap<&ServerName, &ServerConfig>,
) -> io::Result<()> {
    let mut screen = io::stderr().lock();
    writeln!(screen, "{} wants to start or reach these MCP servers:", consent.file.display())?;
    for (name, config) in servers {
        for line in described(name, config) {
            writeln!(screen, "  {line}")?;
        }
    }
    loop {
        write!(
            screen,
            "Use them? [y] yes, until the file changes  [s] the same, in the sandbox: they write here only, and have no \
             network  [n] no  [l] later: "
        )?;
        screen.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return writeln!(screen);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return agreements.say(consent, ConsentAnswer::Yes),
            "s" | "sandbox" => return agreements.say(consent, ConsentAnswer::InSandbox),
            "n" | "no" => return agreements.say(consent, ConsentAnswer::No),
            "l" | "later" => return Ok(()),
            _ => {}
        }
    }
}

/// What is told where nobody can be asked.
pub(super) fn advice(consent: &Consent, servers: &BTreeMap<&ServerName, &ServerConfig>) -> String {
    let names: Vec<&str> = servers.keys().map(|name| name.as_str()).collect();
    let file = quoted(&consent.file.display().to_string());
    format!(
        "the MCP servers of {} are not used before you agree to them ({}): `windlass mcp approve`, or name the file \
         with --mcp-config {file}",
        consent.file.display(),
        names.join(", ")
    )
}

/// Everything a person should see before they agree: what is started or reached, and what goes along,
/// as it is written, so that `${VAR}` says which variable is handed over.
pub(crate) fn described(name: &ServerName, config: &ServerConfig) -> Vec<String> {
    let (reached, kind, along) = match &config.reach {
        Reach::Stdio { command, args, env, .. } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(|word| quoted(word)).collect();
            (words.join(" "), "with", env)
        }
        Reach::Http { url, headers, .. } => (url.clone(), "with the header", headers),
    };
    let along = along.iter().map(|(key, value)| format!("  {kind} {key}={}", quoted(value)));
    let lines = std::iter::once(format!("{name}: {reached}")).chain(along);
    lines.map(|line| harmless_line(&line)).collect()
}
