//! Decides which row an id is meant for.

use super::row::IdScope;
use crate::server_kind::ServerKind;

/// An id as somebody asks for it.
pub(super) struct AskedId {
    /// In lower case, without a vendor's prefix and without a variant.
    name: String,
    /// What stands after the colon in an id of OpenRouter.
    variant: Option<String>,
}

impl AskedId {
    pub(super) fn new(server: ServerKind, id: &str) -> Self {
        let name = without_vendor(id.trim()).to_ascii_lowercase();
        match name.split_once(':') {
            Some((name, variant)) if server == ServerKind::OpenRouter || server == ServerKind::HuggingFace => {
                Self { name: name.to_owned(), variant: Some(variant.to_owned()) }
            }
            Some(_) | None => Self { name, variant: None },
        }
    }

    pub(super) fn variant(&self) -> Option<&str> {
        self.variant.as_deref()
    }

    /// Whether a word of the id is this one.
    pub(super) fn has_part(&self, word: &str) -> bool {
        self.name.split(['-', ':', '.', '_']).any(|part| part == word)
    }

    /// Whether Ollama forwards the model to its own servers.
    pub(super) fn is_in_the_cloud(&self) -> bool {
        self.name.split_once(':').is_some_and(|(_, tag)| tag == "cloud" || tag.ends_with("-cloud"))
    }

    /// Whether the id is one of those a row is for; `known` is the row's id as [`comparable`] returns it.
    pub(super) fn matches(&self, known: &str, scope: IdScope) -> bool {
        // A server may list thousands of ids, each compared with every row: most are told apart without an allocation.
        if !begin_alike(self.name.as_bytes(), known.as_bytes()) {
            return false;
        }
        match scope {
            IdScope::Exact => self.name == known,
            IdScope::Snapshots => {
                let rest = hyphenated(&self.name);
                rest.strip_prefix(&hyphenated(known)).is_some_and(is_snapshot)
            }
            IdScope::Sizes => {
                let joined = version_joined(&self.name);
                let names = [Some(self.name.as_str()), joined.as_deref()];
                names.into_iter().flatten().any(|name| is_size_of(name, known))
            }
        }
    }
}

/// Returns the id of a row as ids are compared: in lower case, without a vendor's prefix. It is made once for each row.
pub(super) fn comparable(id: &str) -> String {
    without_vendor(id).to_ascii_lowercase()
}

/// Returns an id without what stands before its last slash: a vendor, or the folders of a file.
fn without_vendor(id: &str) -> &str {
    id.rsplit(['/', '\\']).next().unwrap_or(id)
}

/// Whether two ids may match by their first two characters. Signs are written in several ways, so only letters and digits
/// tell ids apart.
fn begin_alike(name: &[u8], known: &[u8]) -> bool {
    let differ = |(one, other): (&u8, &u8)| {
        one.is_ascii_alphanumeric() && other.is_ascii_alphanumeric() && !one.eq_ignore_ascii_case(other)
    };
    !name.iter().zip(known).take(2).any(differ)
}

fn hyphenated(id: &str) -> String {
    id.replace(['.', '_'], "-")
}

/// Whether the rest of an id is nothing, `-latest`, or one date or version number of at least three digits. A shorter
/// number is another model: `claude-opus-4-9` is no snapshot of `claude-opus-4`.
fn is_snapshot(rest: &str) -> bool {
    let Some(suffix) = rest.strip_prefix(['-', '@', ':']) else { return rest.is_empty() };
    if suffix == "latest" {
        return true;
    }
    let groups: Vec<&str> = suffix.split('-').collect();
    let digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    digits && matches!(lengths.as_slice(), [3 | 4 | 6 | 8] | [4, 2, 2])
}

/// Whether a name is `known`, or that with a tag or a size. Where `known` itself contains a size (`gemma3:1b`), what
/// follows is a variant of it or the rest of a file's name; others than Ollama write a hyphen before the size.
fn is_size_of(name: &str, known: &str) -> bool {
    match known.split_once(':') {
        None => name.strip_prefix(known).is_some_and(|rest| match rest.as_bytes() {
            [] | [b':', ..] => true,
            [b'-', next, ..] => next.is_ascii_digit(),
            _ => false,
        }),
        Some((family, size)) => {
            let sized = name.strip_prefix(family).and_then(|rest| rest.strip_prefix([':', '-'])?.strip_prefix(size));
            sized.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
        }
    }
}

/// Returns the name with its version joined to it, as Ollama writes it: `llama-3.1-8b` becomes `llama3.1-8b`.
fn version_joined(name: &str) -> Option<String> {
    let (word, rest) = name.split_once('-')?;
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_word && rest.starts_with(|first: char| first.is_ascii_digit())).then(|| format!("{word}{rest}"))
}
