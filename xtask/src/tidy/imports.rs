//! The modules that a source file declares, and the paths that it names.

use super::tokens::tokens;

/// A path within a crate, from the crate root.
pub(super) type ModulePath = Vec<String>;

/// A path that a file names, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The inline modules around the path; usually none.
    pub(super) within: Vec<String>,
    /// The path, e.g. `["super", "error", "Error"]`.
    pub(super) path: Vec<String>,
    /// The name under which a `use` imports it; `None` for a path in the code.
    pub(super) known_as: Option<String>,
}

/// The modules that a file declares, and the paths that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Imports {
    /// The declared modules that have their own files.
    pub(super) declared: Vec<String>,
    /// The named paths.
    pub(super) named: Vec<Named>,
}

/// Reads a file. Code for tests only is skipped.
pub(super) fn imports(source: &str) -> Imports {
    let tokens = tokens(source);
    let mut imports = Imports::default();
    let mut within: Vec<(String, usize)> = Vec::new();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(token) = tokens.get(at) {
        let stands_in = || within.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match (*token, tokens.get(at + 1), tokens.get(at + 2)) {
            ("mod", Some(name), Some(&";")) => imports.declared.push((*name).to_owned()),
            ("mod", Some(name), Some(&"{")) => within.push(((*name).to_owned(), depth)),
            ("use", Some(next), _) if is_word(next) || matches!(*next, "{" | "::") => {
                let end = tokens[at..].iter().position(|token| *token == ";").map_or(tokens.len(), |end| at + end);
                leaves(&tokens[at + 1..end], &[], &stands_in(), &mut imports.named);
                at = end;
            }
            ("{", ..) => depth += 1,
            ("}", ..) => {
                depth = depth.saturating_sub(1);
                within.pop_if(|(_, opened)| *opened == depth);
            }
            (word, Some(&"::"), Some(next))
                if is_word(word) && is_word(next) && (at == 0 || tokens[at - 1] != "::") =>
            {
                let path = written(&tokens[at..]);
                at += 2 * path.len() - 2;
                imports.named.push(Named { within: stands_in(), path, known_as: None });
            }
            _ => {}
        }
        at += 1;
    }
    imports
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The path at the start of the tokens: identifiers with `::` between them.
fn written(tokens: &[&str]) -> Vec<String> {
    let mut path = vec![tokens[0].to_owned()];
    for pair in tokens[1..].chunks_exact(2) {
        match pair {
            ["::", word] if is_word(word) => path.push((*word).to_owned()),
            _ => break,
        }
    }
    path
}

/// Adds the paths of a `use` tree: `a::{b, c::{self, d as e}}`.
fn leaves(tree: &[&str], prefix: &[String], within: &[String], found: &mut Vec<Named>) {
    let (mut path, mut alias) = (prefix.to_vec(), None);
    let mut at = 0;
    while let Some(token) = tree.get(at) {
        match *token {
            "{" => {
                let inner = tree.get(at + 1..tree.len() - 1).unwrap_or_default();
                branches(inner).into_iter().for_each(|branch| leaves(branch, &path, within, found));
                return;
            }
            "as" => {
                alias = tree.get(at + 1).map(|name| (*name).to_owned());
                break;
            }
            "self" if !path.is_empty() => {}
            "::" => {}
            word => path.push(word.to_owned()),
        }
        at += 1;
    }
    let known_as = alias.or_else(|| path.last().cloned());
    found.push(Named { within: within.to_vec(), path, known_as });
}

/// Splits at the commas that are not inside nested braces.
fn branches<'t, 's>(tree: &'t [&'s str]) -> Vec<&'t [&'s str]> {
    let (mut depth, mut begin, mut branches) = (0_usize, 0, Vec::new());
    for (at, token) in tree.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                branches.push(&tree[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    branches.push(&tree[begin..]);
    branches.retain(|branch| !branch.is_empty());
    branches
}

#[cfg(test)]
mod tests {
    use super::imports;

    fn named(source: &str) -> Vec<String> {
        imports(source).named.iter().map(|named| named.path.join("::")).collect()
    }

    #[test]
    fn every_way_to_name_a_path_is_seen() {
        for (source, expected) in [
            ("use crate::a::B;", &["crate::a::B"][..]),
            (
                "pub(crate) use self::a::{self, b::{C, D as E}, f};",
                &["self::a", "self::a::b::C", "self::a::b::D", "self::a::f"],
            ),
            ("fn f(x: super::T) -> a::b::C<crate::D> { e() }", &["super::T", "a::b::C", "crate::D"]),
            ("use super::*;", &["super::*"]),
            ("impl<T> A<T> for B {}", &[]),
            ("#[cfg(test)]\nmod tests { use crate::a::B; }", &[]),
            ("x.y::<T>(); Self::z();", &["Self::z"]),
        ] {
            assert_eq!(named(source), expected, "{source}");
        }
    }

    #[test]
    fn a_use_says_under_which_name_a_path_is_known() {
        let known = |source| imports(source).named[0].known_as.clone();
        assert_eq!(known("use a::B as C;").as_deref(), Some("C"));
        assert_eq!(known("use a::b::{self};").as_deref(), Some("b"));
        assert_eq!(known("let x = a::B;"), None);
    }

    #[test]
    fn modules_are_declared_and_some_stand_within_the_file() {
        let read =
            imports("mod a;\npub(crate) mod b;\nmod c { use super::d::E; }\nuse f::G;\n#[cfg(test)]\nmod tests;");
        assert_eq!(read.declared, ["a", "b"]);
        let within: Vec<_> = read.named.iter().map(|named| (named.within.join("::"), named.path.join("::"))).collect();
        assert_eq!(within, [("c".to_owned(), "super::d::E".to_owned()), (String::new(), "f::G".to_owned())]);
    }
}
