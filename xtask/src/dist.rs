//! `cargo xtask dist`: the release for download. Builds the `dist` profile, statically linked if the
//! toolchain can, refuses a binary that is too large, and packs it with its documents and a checksum.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{cargo, target_dir};

/// The largest size of a released binary, in bytes.
const LARGEST: u64 = 25_000_000;

const PAPERS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Shells and the file names of their completions.
const SHELLS: &[(&str, &str)] = &[("bash", "windlass.bash"), ("zsh", "_windlass"), ("fish", "windlass.fish")];

/// Builds, checks and packs; `--target NAME` sets another target than the default.
pub(crate) fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let host = host()?;
    let target = match words {
        [] => choose(&host),
        [flag, target] if flag == "--target" => target.clone(),
        _ => return Err(format!("it takes --target NAME, but was given `{}`", words.join(" "))),
    };
    println!("target: {target}");
    let binary = build(root, &target)?;
    let size = fs::metadata(&binary).map_err(|error| at(&binary, &error))?.len();
    println!("binary: {:.1} MB, of {:.0} allowed", size as f64 / 1e6, LARGEST as f64 / 1e6);
    if size > LARGEST {
        return Err(format!("{} has {size} bytes; {LARGEST} are allowed", binary.display()));
    }
    let name = format!("windlass-{}-{target}", version(&binary)?);
    let out = target_dir(root).join("archives");
    let folder = out.join(&name);
    fill(root, &binary, &folder)?;
    let archive = pack(&out, &name)?;
    fs::remove_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    println!("{}\n{}", archive.display(), sum(&out, &archive)?);
    Ok(())
}

/// The target of this toolchain.
fn host() -> Result<String, String> {
    let said = output("rustc", &["-vV"], None)?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not say its host".to_owned())
}

/// Chooses a static target if there is a C compiler for it (SQLite and the cryptography need one) and the
/// toolchain has the target or can install it; else the host's own.
fn choose(host: &str) -> String {
    let Some(musl) = host.ends_with("-linux-gnu").then(|| host.replace("-gnu", "-musl")) else {
        return host.to_owned();
    };
    let has_compiler = Command::new("musl-gcc").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_compiler {
        println!("not static: musl-gcc is missing (the package is called musl-tools)");
    } else if let Err(why) = output("rustup", &["target", "add", &musl], None) {
        println!("not static: the target {musl} is missing: {why}");
    } else {
        return musl;
    }
    host.to_owned()
}

/// Compiler flags that remove the source paths of the build machine from the binary.
fn rustflags(root: &Path) -> String {
    let home = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cargo = home("CARGO_HOME").or_else(|| Some(home("HOME")?.join(".cargo")));
    let remapped = [(Some(root.to_owned()), "windlass"), (cargo, "cargo")];
    let remap = |(from, to): (Option<PathBuf>, &str)| Some(format!("--remap-path-prefix={}={to}", from?.display()));
    let given = std::env::var("RUSTFLAGS").ok();
    given.into_iter().chain(remapped.into_iter().filter_map(remap)).collect::<Vec<_>>().join(" ")
}

fn build(root: &Path, target: &str) -> Result<PathBuf, String> {
    let words =
        ["build", "--profile", "dist", "--locked", "-p", "windlass-cli", "--bin", "windlass", "--target", target];
    cargo(root, &words, &[("RUSTFLAGS", &rustflags(root))])?;
    Ok(target_dir(root).join(target).join("dist").join("windlass"))
}

/// The version number in `windlass 0.1.0 (commit day)`.
fn version(binary: &Path) -> Result<String, String> {
    let said = output(binary, &["--version"], None)?;
    let number = said.split_whitespace().nth(1).map(str::to_owned);
    println!("{}", said.trim());
    number.ok_or_else(|| format!("`{}` is no version", said.trim()))
}

/// Copies the contents of the archive into `folder`.
fn fill(root: &Path, binary: &Path, folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| at(folder, &error))?;
    }
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|error| at(&completions, &error))?;
    let copy = |from: &Path, name: &str| fs::copy(from, folder.join(name)).map(drop).map_err(|error| at(from, &error));
    copy(binary, "windlass")?;
    for paper in PAPERS {
        copy(&root.join(paper), paper)?;
    }
    for (shell, name) in SHELLS {
        let script = output(binary, &["completions", shell], None)?;
        let path = completions.join(name);
        fs::write(&path, script).map_err(|error| at(&path, &error))?;
    }
    let pages = folder.join("man");
    output(binary, &["man", "--dir", &pages.to_string_lossy()], None).map(drop)
}

/// Packs reproducibly: without file owners, and with the files sorted by name.
fn pack(out: &Path, name: &str) -> Result<PathBuf, String> {
    let archive = format!("{name}.tar.gz");
    let words = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf", &archive, name];
    output("tar", &words, Some(out))?;
    Ok(out.join(archive))
}

/// Writes the checksum beside the archive, in the form `sha256sum -c` reads.
fn sum(out: &Path, archive: &Path) -> Result<String, String> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let line =
        output("sha256sum", &[&name], Some(out)).or_else(|_| output("shasum", &["-a", "256", &name], Some(out)))?;
    let path = out.join(format!("{name}.sha256"));
    fs::write(&path, &line).map_err(|error| at(&path, &error))?;
    Ok(line.trim().to_owned())
}

/// Runs a program and returns its output.
fn output(program: impl AsRef<OsStr>, words: &[&str], folder: Option<&Path>) -> Result<String, String> {
    let name = program.as_ref().to_string_lossy().into_owned();
    let mut command = Command::new(program);
    command.args(words);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let output = command.output().map_err(|error| format!("{name} can't be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
