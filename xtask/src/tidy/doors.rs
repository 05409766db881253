//! Only doors give advice: the libraries return kinds and data, and the command line names the flag, variable, file or
//! command that helps. Another door needs other words, and a model can act on none of them.

use super::problem::{Problem, numbered};
use super::texts::texts;
use crate::tree::Tree;

/// The crates that must not name anything of a door.
const LIBRARIES: &[&str] = &[
    "crates/vocab/src/",
    "crates/machine/src/",
    "crates/tls/src/",
    "crates/provider/src/",
    "crates/sandbox/src/",
    "crates/tools/src/",
    "crates/mcp/src/",
    "crates/store/src/",
    "crates/runtime/src/",
    "crates/windlass/src/",
    "crates/narrate/src/",
    "crates/setup/src/",
];

/// The crates that read settings: there a text that is nothing but the name of a variable or a file is data, not advice.
const READERS: &[&str] = &["crates/setup/src/"];

/// Texts that name the command line, its settings or its variables. Flags are detected by their form.
const WORDS: &[&str] = &["`windlass ", "WINDLASS_", "OPENAI_", "windlass.toml", ".mcp.json"];

/// An exception for one file.
struct Allowed {
    file: &'static str,
    /// The start of the word.
    word: &'static str,
    /// Why the word is not advice.
    because: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed { file: "crates/tools/src/programs.rs", word: "--", because: "options of other programs" },
    Allowed { file: "crates/tools/src/command_rules.rs", word: "--version", because: "an option of any program" },
    Allowed { file: "crates/sandbox/src/bubblewrap.rs", word: "--", because: "options of bubblewrap" },
    Allowed {
        file: "crates/tools/src/builtin/run_command.rs",
        word: "WINDLASS_EFFECT_ID",
        because: "commands read this variable",
    },
    Allowed {
        file: "crates/tools/src/guard/first_process.rs",
        word: "WINDLASS_IN_SANDBOX",
        because: "two processes of ours tell each other",
    },
    Allowed {
        file: "crates/windlass/src/environment.rs",
        word: "WINDLASS_DATA_DIR",
        because: "`Agent::from_env` reads it",
    },
    Allowed {
        file: "crates/windlass/src/model_providers.rs",
        word: "WINDLASS_",
        because: "the table of variables that name a model",
    },
    Allowed {
        file: "crates/windlass/src/model_providers.rs",
        word: "OPENAI_",
        because: "the table of variables that name a model",
    },
    Allowed {
        file: "crates/windlass/src/provider_table.rs",
        word: "OPENAI_",
        because: "the table of providers and their variables",
    },
    Allowed {
        file: "crates/windlass/src/build_error.rs",
        word: "WINDLASS_MODEL",
        because: "`Agent::from_env` reads it, and found none",
    },
];

pub(super) fn problems(tree: &Tree) -> Vec<Problem> {
    problems_with(tree, ALLOWED)
}

fn problems_with(tree: &Tree, allowed: &[Allowed]) -> Vec<Problem> {
    let mut used = vec![false; allowed.len()];
    let mut problems = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| is_library(path)) {
        for (line, word) in door_words_of(path, text) {
            match allowed.iter().position(|allowed| allowed.file == path && word.starts_with(allowed.word)) {
                Some(at) => used[at] = true,
                None => {
                    let what =
                        format!("`{word}` is a word of the command line: give a kind, and word it in crates/cli");
                    problems.push(Problem::at(path, line, what));
                }
            }
        }
    }
    let unused = allowed.iter().zip(used).filter(|(_, used)| !used);
    problems.extend(unused.map(|(Allowed { file, word, because }, _)| {
        Problem::in_file(file, format!("`{word}` is allowed here ({because}) and does not occur: take it off the list"))
    }));
    problems
}

fn is_library(path: &str) -> bool {
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    LIBRARIES.iter().any(|folder| path.starts_with(folder)) && !is_test
}

/// The words of a door in a file's texts: the string literals of a source, or all of a tool's description.
fn door_words_of<'t>(path: &str, text: &'t str) -> Vec<(usize, &'t str)> {
    let texts = match path.rsplit_once('.') {
        Some((_, "rs")) => texts(text),
        Some((_, "md")) => numbered(text).collect(),
        Some(_) | None => Vec::new(),
    };
    let reads = READERS.iter().any(|folder| path.starts_with(folder));
    let is_advice = |text: &str| !(reads && is_name(text));
    let texts = texts.into_iter().filter(|(_, text)| is_advice(text));
    texts.flat_map(|(line, text)| door_words(text).into_iter().map(move |word| (line, word))).collect()
}

/// Whether a text is the name of one variable or file and nothing else.
fn is_name(text: &str) -> bool {
    let text = text.trim_matches('"');
    matches!(door_words(text).as_slice(), [word] if *word == text && !word.starts_with("--"))
}

fn door_words(text: &str) -> Vec<&str> {
    let words = WORDS.iter().flat_map(|word| text.match_indices(word).map(|(at, _)| at));
    let flags = text.match_indices("--").map(|(at, _)| at).filter(|at| is_flag(text, *at));
    let mut places: Vec<usize> = words.chain(flags).collect();
    places.sort_unstable();
    places.into_iter().map(|at| word_at(text, at)).collect()
}

/// Whether a flag such as `--allow` is at this position; `web--browse` and ` -- ` are not flags.
fn is_flag(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + 2..].chars().next();
    before.is_none_or(|c| !c.is_alphanumeric() && c != '-') && after.is_some_and(|c| c.is_ascii_lowercase())
}

/// The word at this position; for a command, its first two words.
fn word_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let is_end = |c: char| !c.is_alphanumeric() && !"-_.".contains(c);
    let begin = if rest.starts_with('`') { "`windlass ".len() } else { 1 };
    let end = rest.get(begin..).and_then(|more| more.find(is_end)).map_or(rest.len(), |length| begin + length);
    rest[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::{Allowed, problems_with};
    use crate::tree::Tree;

    fn found(path: &str, text: &str, allowed: &[Allowed]) -> Vec<String> {
        problems_with(&Tree::from([(path, text)]), allowed).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_word_of_the_command_line_in_a_library_is_found() {
        for (text, word) in [
            ("let x = \"give --allow 'a'\";", "--allow"),
            ("#[error(\"run `windlass mcp login {0}`\")]", "`windlass mcp"),
            ("f(r#\"set WINDLASS_MODEL\"#)", "WINDLASS_MODEL"),
            ("\"Set OPENAI_API_KEY.\"", "OPENAI_API_KEY"),
            ("\"write it in windlass.toml\"", "windlass.toml"),
            ("\"beside \\\n  .mcp.json\"", ".mcp.json"),
        ] {
            let line = format!(
                "crates/tools/src/x.rs:2: `{word}` is a word of the command line: give a kind, and word it in \
                                crates/cli"
            );
            assert_eq!(found("crates/tools/src/x.rs", &format!("\n{text}"), &[]), [line], "{text}");
            assert_eq!(found("crates/cli/src/x.rs", text, &[]), Vec::<String>::new(), "{text}");
        }
        assert_eq!(
            found("crates/tools/src/builtin/x.md", "Say --allow.", &[]).len(),
            1,
            "what a model is told of a tool"
        );
    }

    #[test]
    fn comments_tests_names_and_other_programs_are_free() {
        for text in [
            "// --allow",
            "/// `windlass doctor`",
            "\"web--browse\"",
            "\"a -- b\"",
            "\"windlass::init\"",
            "let x = 1;\n#[cfg(test)]\nmod tests { \"--allow\" }",
        ] {
            assert_eq!(found("crates/tools/src/x.rs", text, &[]), Vec::<String>::new(), "{text}");
        }
        assert_eq!(found("crates/tools/src/x/tests.rs", "\"--allow\"", &[]), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_reads_settings_may_hold_their_names_and_gives_no_advice() {
        for text in ["\"WINDLASS_MODE\"", "[\".mcp.json\", \"windlass.toml\"]"] {
            assert_eq!(found("crates/setup/src/x.rs", text, &[]), Vec::<String>::new(), "{text}");
            assert_ne!(found("crates/tools/src/x.rs", text, &[]), Vec::<String>::new(), "{text}");
        }
        for text in ["\"--mode\"", "\"set WINDLASS_MODE\"", "\"in windlass.toml\"", "\"`windlass trust`\""] {
            for folder in ["setup", "narrate"] {
                assert_eq!(found(&format!("crates/{folder}/src/x.rs"), text, &[]).len(), 1, "{text}");
            }
        }
    }

    #[test]
    fn what_is_allowed_is_allowed_there_alone_and_only_as_long_as_it_occurs() {
        let allowed = [Allowed { file: "crates/tools/src/x.rs", word: "--set", because: "an option of date" }];
        assert_eq!(found("crates/tools/src/x.rs", "\"--set\"", &allowed), Vec::<String>::new());
        assert_eq!(found("crates/tools/src/x.rs", "\"--set --allow\"", &allowed).len(), 1);
        assert_eq!(found("crates/tools/src/y.rs", "\"--set\"", &allowed).len(), 2, "there, and not here");
    }
}
