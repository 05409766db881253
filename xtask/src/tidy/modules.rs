//! The modules of a crate, and which of its files depend on which others.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Imports, ModulePath, Named, imports};
use crate::tree::Tree;

/// How many re-exports of a name are followed at most.
const PASSED_ON: usize = 16;

/// The files of a crate, by module path.
pub(super) struct Modules {
    files: BTreeMap<ModulePath, (String, Imports)>,
}

impl Modules {
    /// The crate in this folder, from its `lib.rs` or else `main.rs`; empty if it has neither.
    pub(super) fn of(tree: &Tree, folder: &str) -> Self {
        let mut modules = Self { files: BTreeMap::new() };
        let roots = ["lib.rs", "main.rs"].map(|name| format!("{folder}/src/{name}"));
        if let Some(root) = roots.into_iter().find(|root| tree.text(root).is_some()) {
            modules.add(tree, Vec::new(), root);
        }
        modules
    }

    fn add(&mut self, tree: &Tree, module: ModulePath, file: String) {
        let read = imports(tree.text(&file).unwrap_or_default());
        let stem = file.strip_suffix(".rs").unwrap_or(&file);
        // `lib.rs`, `main.rs` and `mod.rs` have their submodules beside them, other files in a folder of their name.
        let beside = ["/lib", "/main", "/mod"].iter().find_map(|root| stem.strip_suffix(root));
        let folder = beside.unwrap_or(stem).to_owned();
        for name in &read.declared {
            let candidates = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
            if let Some(file) = candidates.into_iter().find(|file| tree.text(file).is_some()) {
                self.add(tree, [module.as_slice(), std::slice::from_ref(name)].concat(), file);
            }
        }
        self.files.insert(module, (file, read));
    }

    /// For each file, the files of the crate whose items it names. An item that a module only re-exports
    /// (`pub use`) belongs to the file that defines it.
    pub(super) fn needs(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let files = self.files.iter().map(|(module, (file, read))| {
            let named = read.named.iter().filter_map(|named| self.defined_in(&self.absolute(module, named)?));
            (file.as_str(), named.filter(|other| other != file).collect())
        });
        files.collect()
    }

    /// The path from the crate root; `None` for a path of another crate.
    fn absolute(&self, module: &[String], named: &Named) -> Option<ModulePath> {
        let mut here = [module, &named.within].concat();
        let mut path = named.path.as_slice();
        match path.first()?.as_str() {
            "crate" => here.clear(),
            "self" | "super" => {}
            child => {
                let is_child = self.files.contains_key(&[here.as_slice(), &[child.to_owned()]].concat());
                return is_child.then(|| [here.as_slice(), path].concat());
            }
        }
        while let Some((first, rest)) = path.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => drop(here.pop()),
                _ => break,
            }
            path = rest;
        }
        Some([here.as_slice(), path].concat())
    }

    /// The file that defines the item at this path; `None` if it comes from another crate.
    fn defined_in(&self, path: &[String]) -> Option<&str> {
        let mut path = path.to_vec();
        for _ in 0..PASSED_ON {
            let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
            let (file, read) = self.files.get(&path[..length])?;
            let Some((name, rest)) = path[length..].split_first() else { return Some(file) };
            let uses = read.named.iter().filter(|named| named.within.is_empty());
            let Some(passed_on) = uses.into_iter().find(|named| named.known_as.as_ref() == Some(name)) else {
                return Some(file);
            };
            let next = [self.absolute(&path[..length], passed_on)?.as_slice(), rest].concat();
            if next == path {
                return Some(file);
            }
            path = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Modules;

    /// The dependencies as `file -> file`, without the folder.
    fn needs<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        let files: Vec<(String, &str)> = files.iter().map(|(name, text)| (format!("c/src/{name}"), *text)).collect();
        let tree = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let modules = Modules::of(&tree, "c");
        let short = |file: &str| file.trim_start_matches("c/src/").to_owned();
        let pairs = modules.needs().into_iter().flat_map(|(file, needed)| {
            needed.into_iter().map(|other| format!("{} -> {}", short(file), short(other))).collect::<Vec<_>>()
        });
        pairs.collect()
    }

    #[test]
    fn a_declaration_alone_is_no_need() {
        assert_eq!(needs([("lib.rs", "mod a;\nmod b;"), ("a.rs", ""), ("b/mod.rs", "")]), Vec::<String>::new());
    }

    #[test]
    fn a_path_leads_to_the_deepest_file() {
        let files = [
            ("lib.rs", "mod a;\nfn f() { a::g() }"),
            ("a.rs", "mod b;\nuse self::b::T;"),
            ("a/b.rs", "pub struct T(crate::a::U, std::io::Error);"),
        ];
        assert_eq!(needs(files), ["a.rs -> a/b.rs", "a/b.rs -> a.rs", "lib.rs -> a.rs"]);
    }

    #[test]
    fn a_name_that_is_passed_on_is_of_the_file_that_defines_it() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use self::a::A;\npub use other::O;"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "use crate::{A, O};"),
        ];
        assert_eq!(needs(files), ["b.rs -> a.rs", "lib.rs -> a.rs"]);
    }

    #[test]
    fn within_a_module_of_the_file_the_file_itself_is_above() {
        let files =
            [("lib.rs", "mod a;\nmod b;"), ("a.rs", "mod c { use super::T; use super::super::b::U; }"), ("b.rs", "")];
        assert_eq!(needs(files), ["a.rs -> b.rs"]);
    }
}
