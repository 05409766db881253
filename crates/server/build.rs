//! Compresses the files of `web/` and lists them for `src/page.rs`, so that they become part of the binary. Its HTML names
//! them under their version, which differs as soon as any of them does.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let files = read(&Path::new("../../web").canonicalize()?)?;
    let version = version_of(&files);
    println!("cargo::rustc-env=PAGE_VERSION={version}");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut list = String::from("&[\n");
    for (number, (name, mut content)) in files.into_iter().enumerate() {
        if name.ends_with(".html") {
            content = content.replace("\"/assets/", &format!("\"/assets/{version}/"));
        }
        let packed = out.join(format!("page_file_{number}.gz"));
        pack(&packed, &content)?;
        // Writing to a string can't fail.
        let _ = writeln!(list, "    ({name:?}, include_bytes!({:?})),", packed.display().to_string());
    }
    list.push_str("]\n");
    fs::write(out.join("page_files.rs"), list)
}

/// Returns the page's files with their names, in order.
fn read(web: &Path) -> io::Result<Vec<(String, String)>> {
    // New files are noticed by their folders.
    for folder in ["css", "js"] {
        println!("cargo::rerun-if-changed={}", web.join(folder).display());
    }
    let mut paths = Vec::new();
    collect(web, &mut paths)?;
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.strip_prefix(web).unwrap_or(&path).display().to_string();
        if name.starts_with("tests") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        files.push((name, fs::read_to_string(&path)?));
    }
    Ok(files)
}

fn pack(path: &Path, content: &str) -> io::Result<()> {
    let mut gzip = GzEncoder::new(fs::File::create(path)?, Compression::best());
    gzip.write_all(content.as_bytes())?;
    gzip.finish().map(drop)
}

/// Returns a name for the files as they are.
fn version_of(files: &[(String, String)]) -> String {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
