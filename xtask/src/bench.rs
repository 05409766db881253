//! `cargo xtask bench`: builds the measured programs with the release settings (`dist` profile), runs `windlass-bench`.

use std::path::Path;

use crate::cargo::{cargo, target_dir};
use crate::packages;

const BUILD: &[&str] =
    &["build", "--profile=dist", "--locked", "-p", "windlass-cli", "-p", "windlass-testkit", "-p", "windlass-bench"];
const RUN: &[&str] = &["run", "--profile=dist", "--locked", "--quiet", "-p", "windlass-bench", "--"];

/// The variable that holds the path of the runner for the instruction counts.
const RUNNER: &str = "GUNGRAUN_RUNNER";

/// The variable that holds the folder of the public catalogue of tools.
const CATALOGUE: &str = "WINDLASS_BFCL";

/// The variables that hold the folder of what drives a browser, and the browser's path.
const BROWSER_PACKAGES: &str = "BROWSER_PACKAGES";
const BROWSER: &str = "BROWSER";

/// Builds and measures; `words` are passed to `windlass-bench`.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    cargo(root, BUILD, &[])?;
    let run: Vec<&str> = RUN.iter().copied().chain(words.iter().map(String::as_str)).collect();
    let is_measured =
        |figure: &str| !words.iter().any(|word| word == "--only") || words.iter().any(|word| word == figure);
    let is_missing = |variable: &str| std::env::var_os(variable).is_none();
    let mut variables = Vec::new();
    if is_measured("instructions") && is_missing(RUNNER) {
        variables.push((RUNNER, runner(root)?));
    }
    if is_measured("catalogue") && is_missing(CATALOGUE) {
        variables
            .push((CATALOGUE, packages::catalogue(&target_dir(root).join("tools/catalogue"))?.display().to_string()));
    }
    if is_measured("browser") && is_missing(BROWSER_PACKAGES) {
        let folder = target_dir(root).join("tools/browser");
        variables.push((BROWSER, packages::browser(&folder)?.to_owned()));
        variables.push((BROWSER_PACKAGES, folder.display().to_string()));
    }
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    cargo(root, &run, &variables)
}

/// The runner for the instruction counts, in the version of the lock file, installed under `target` once.
fn runner(root: &Path) -> Result<String, String> {
    const NAME: &str = "gungraun-runner";
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let package = lock.split("[[package]]").find(|package| package.contains(&format!("name = \"{NAME}\"")));
    let version = package.and_then(|package| package.split("version = \"").nth(1)?.split('"').next());
    let version = version.ok_or_else(|| format!("Cargo.lock has no {NAME}"))?;
    let folder = target_dir(root).join("tools").join(format!("{NAME}-{version}"));
    let program = folder.join("bin").join(NAME);
    if !program.exists() {
        let folder = folder.display().to_string();
        cargo(root, &["install", "--locked", NAME, "--version", version, "--root", &folder], &[])?;
    }
    Ok(program.display().to_string())
}
