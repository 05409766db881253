//! Opens an address in the person's browser: with `$BROWSER`, or with the system's own command. No shell reads the address.
//!
//! Over ssh, or without a display, no browser can be opened where the person sits; then the address is for them to open.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use windlass_setup::settings::Env;

/// How long a program that opens a browser may take to fail; one that still runs then is taken to be the browser.
const FAILS_WITHIN: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(20);

/// How the person gets to see an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrowserChoice {
    /// By the first of these programs that works.
    Programs(Vec<BrowserProgram>),
    /// By a browser of another machine, from which they came by ssh to this host.
    Remote { host: String },
    /// By no program that we know of.
    None,
}

/// The system's own command for opening an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnProgram {
    /// It needs a display.
    XdgOpen,
    /// The one of macOS.
    Open,
}

const OWN_PROGRAM: OwnProgram = if cfg!(target_os = "macos") { OwnProgram::Open } else { OwnProgram::XdgOpen };

/// A program that opens an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowserProgram {
    program: String,
    /// `%s` stands for the address; without it, the address comes last.
    arguments: Vec<String>,
}

impl BrowserChoice {
    /// Chooses by the environment.
    pub(crate) fn of(env: &Env) -> Self {
        Self::on(OWN_PROGRAM, |name| {
            env.raw(name).map(|value| value.to_string_lossy().into_owned()).filter(|value| !value.is_empty())
        })
    }

    fn on(own: OwnProgram, variable: impl Fn(&str) -> Option<String>) -> Self {
        if let Some(named) = variable("BROWSER") {
            let programs: Vec<BrowserProgram> = named.split(':').filter_map(BrowserProgram::read).collect();
            if !programs.is_empty() {
                return Self::Programs(programs);
            }
        }
        if let Some(connection) = variable("SSH_CONNECTION") {
            // Address and port of the client, then those of the server.
            let host = connection.split_whitespace().nth(2).unwrap_or("HOST").to_owned();
            return Self::Remote { host };
        }
        let has_display = || variable("DISPLAY").or_else(|| variable("WAYLAND_DISPLAY")).is_some();
        let program = match own {
            OwnProgram::Open => "open",
            OwnProgram::XdgOpen if has_display() => "xdg-open",
            OwnProgram::XdgOpen => return Self::None,
        };
        Self::Programs(vec![BrowserProgram { program: program.to_owned(), arguments: Vec::new() }])
    }
}

impl BrowserProgram {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some(Self { program: words.next()?, arguments: words.collect() })
    }

    fn command(&self, address: &str) -> Command {
        let mut arguments: Vec<String> = self.arguments.iter().map(|word| word.replace("%s", address)).collect();
        if arguments == self.arguments {
            arguments.push(address.to_owned());
        }
        let mut command = Command::new(&self.program);
        // A group of its own: Ctrl-C at our terminal is not for the browser.
        command.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Opens the address; the error says why each program failed.
pub(crate) fn open(programs: &[BrowserProgram], address: &str) -> Result<(), String> {
    let mut failed = Vec::new();
    for program in programs {
        match program.command(address).spawn().and_then(settled) {
            Ok(()) => return Ok(()),
            Err(error) => failed.push(format!("{}: {error}", program.program)),
        }
    }
    Err(failed.join("; "))
}

/// Waits until the program has done its work or has run for a while.
fn settled(mut child: Child) -> io::Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < FAILS_WITHIN {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(io::Error::other(status.to_string())),
            None => thread::sleep(POLL),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{BrowserChoice, BrowserProgram, OwnProgram, open};

    fn chosen(variables: &[(&str, &str)]) -> BrowserChoice {
        BrowserChoice::on(OwnProgram::XdgOpen, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn programs(lines: &[&str]) -> BrowserChoice {
        BrowserChoice::Programs(lines.iter().filter_map(|line| BrowserProgram::read(line)).collect())
    }

    // proves W3
    #[test]
    fn the_browser_is_the_persons_own_and_on_the_machine_where_they_sit() {
        let ssh = ("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.7 22");
        assert_eq!(chosen(&[("DISPLAY", ":0")]), programs(&["xdg-open"]));
        assert_eq!(chosen(&[("WAYLAND_DISPLAY", "wayland-0")]), programs(&["xdg-open"]));
        assert_eq!(chosen(&[("DISPLAY", ":0"), ("BROWSER", "w3m -v %s:firefox")]), programs(&["w3m -v %s", "firefox"]));
        assert_eq!(chosen(&[("DISPLAY", ":10"), ssh]), BrowserChoice::Remote { host: "192.0.2.7".into() });
        assert_eq!(chosen(&[("BROWSER", "helper"), ssh]), programs(&["helper"]));
        assert_eq!(chosen(&[]), BrowserChoice::None);
        assert_eq!(BrowserChoice::on(OwnProgram::Open, |_| None), programs(&["open"]));
    }

    // proves W3: the address is one argument, whatever is in it, and no shell reads it
    #[test]
    fn the_address_is_one_argument() {
        let shown = |line: &str| {
            let command = BrowserProgram::read(line).unwrap().command("http://h/?code=1&x=$(y)#/s/1");
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(shown("w3m"), ["http://h/?code=1&x=$(y)#/s/1"]);
        assert_eq!(shown("w3m --to=%s -v"), ["--to=http://h/?code=1&x=$(y)#/s/1", "-v"]);
    }

    #[test]
    fn the_next_program_is_tried_and_the_errors_are_told() {
        let list = |lines: &[&str]| lines.iter().filter_map(|line| BrowserProgram::read(line)).collect::<Vec<_>>();
        assert_eq!(open(&list(&["no-such-browser", "false", "true"]), "http://h/"), Ok(()));
        let failed = open(&list(&["no-such-browser", "false"]), "http://h/").unwrap_err();
        assert!(failed.contains("no-such-browser: ") && failed.contains("; false: "), "{failed}");
    }
}
