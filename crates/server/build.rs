//! Compresses the files of `web/` and lists them for `src/page.rs`, so that they become part of the binary.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    let web = Path::new("../../web").canonicalize()?;
    let mut files = Vec::new();
    collect(&web, &mut files)?;
    files.sort();
    // New files are noticed by their folders.
    for folder in ["css", "js"] {
        println!("cargo::rerun-if-changed={}", web.join(folder).display());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut list = String::from("&[\n");
    for (number, path) in files.into_iter().enumerate() {
        let name = path.strip_prefix(&web).unwrap_or(&path).display().to_string();
        if name.starts_with("tests") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let packed = out.join(format!("page_file_{number}.gz"));
        let mut gzip = GzEncoder::new(fs::File::create(&packed)?, Compression::best());
        gzip.write_all(&fs::read(&path)?)?;
        gzip.finish()?;
        // Writing to a string can't fail.
        let _ = writeln!(list, "    ({name:?}, include_bytes!({:?})),", packed.display().to_string());
    }
    list.push_str("]\n");
    fs::write(out.join("page_files.rs"), list)
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
