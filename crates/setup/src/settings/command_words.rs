//! Finds the words of a server's command that may name a file of the project (X2). The rules can be followed by hand:
//!
//! - the program, where it is a path, and every argument;
//! - every word within one, because an argument may itself be a command line: `sh -c 'cd tools && ./run.sh'`,
//!   `--script=run.sh`, `server.py:app`;
//! - likewise for variables that say where programs are loaded from (`PYTHONPATH`, `NODE_OPTIONS`);
//! - the file that tells a program such as npm, make or uv what to run.

/// Separators of words within an argument.
const BETWEEN: &[char] =
    &[' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>', '{', '}', '"', '\'', '`', '$', '=', ',', ':'];

/// Variables that tell a program what else to run.
const LOADED_FROM: &[&str] = &[
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
];

/// Programs that run what a file in their working folder says, and those files.
const ORDERED_BY: &[(&[&str], &[&str])] = &[
    (&["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"], &["package.json", ".npmrc", ".yarnrc.yml", "bunfig.toml"]),
    (&["make", "gmake"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task"], &["Taskfile.yml", "Taskfile.yaml"]),
    (&["uv", "uvx", "poetry", "pdm", "hatch", "pipenv", "rye"], &["pyproject.toml", "uv.toml", "Pipfile", "setup.py"]),
    (&["cargo"], &["Cargo.toml", "build.rs", "src"]),
    (&["go"], &["go.mod", "main.go"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["bundle", "rake"], &["Gemfile", "Rakefile"]),
    (&["docker", "docker-compose", "podman"], &["compose.yaml", "compose.yml", "docker-compose.yml", "Dockerfile"]),
];

/// A program with its arguments and variables.
#[derive(Clone, Copy)]
pub(super) struct CommandLine<'c> {
    pub(super) program: &'c str,
    pub(super) arguments: &'c [String],
    pub(super) variables: &'c std::collections::BTreeMap<String, String>,
}

impl CommandLine<'_> {
    /// Returns every word of the command that may name a file.
    pub(super) fn words(self) -> Vec<String> {
        // A bare program name is searched on PATH.
        let program = Some(self.program).filter(|program| program.contains(['/', ' ']));
        let loaded = self.variables.iter().filter(|(name, _)| LOADED_FROM.contains(&name.as_str()));
        let arguments = self.arguments.iter().map(String::as_str);
        program
            .into_iter()
            .chain(arguments)
            .chain(loaded.map(|(_, value)| value.as_str()))
            .flat_map(words_within)
            .collect()
    }

    /// Returns the files that tell the command's programs what to run.
    pub(super) fn orders(self) -> Vec<&'static str> {
        let arguments = self.arguments.iter().flat_map(|argument| words_within(argument));
        let words: Vec<String> = std::iter::once(self.program.to_owned()).chain(arguments).collect();
        let is_called = |program: &&str| words.iter().any(|word| word.rsplit('/').next() == Some(*program));
        let called = ORDERED_BY.iter().filter(|(programs, _)| programs.iter().any(is_called));
        called.flat_map(|(_, files)| files.iter().copied()).collect()
    }
}

/// Returns a text and the words in it, in case it is a command line. Targets of redirections (`2> log`) are skipped.
pub(super) fn words_within(text: &str) -> Vec<String> {
    let mut written = text.split('>');
    let first = written.next().unwrap_or_default();
    let behind = written.map(|rest| {
        let target = rest.trim_start();
        &target[target.find([' ', '\t', '\n', ';', '&', '|']).unwrap_or(target.len())..]
    });
    let pieces = std::iter::once(first).chain(behind).flat_map(|part| part.split(BETWEEN)).flat_map(|piece| {
        // `-mmodule` is `-m module`; the text after a variable is a path in the folder the variable names.
        let joined = piece.strip_prefix("-m");
        let behind = piece.strip_prefix('/').filter(|_| text.contains('$'));
        [Some(piece), joined, behind].into_iter().flatten()
    });
    let mut words: Vec<String> = std::iter::once(text).chain(pieces).map(str::to_owned).collect();
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the parts of a dotted Python module name.
pub(super) fn module_parts(word: &str) -> Option<Vec<&str>> {
    let is_name = |part: &&str| {
        let mut characters = part.chars();
        characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && characters.all(|c| c.is_alphanumeric() || c == '_')
    };
    let parts: Vec<&str> = word.split('.').collect();
    parts.iter().all(is_name).then_some(parts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    // proves X2
    #[test]
    fn a_line_within_an_argument_is_taken_apart() {
        for (text, expected) in [
            ("server.py", &["server.py"][..]),
            ("--script=a/b.py", &["--script=a/b.py", "--script", "a/b.py"]),
            ("cd x&&./run.sh;y", &["cd", "x", "./run.sh", "y"]),
            ("app.main:server", &["app.main", "server"]),
            ("-mapp", &["-mapp", "app"]),
            ("${PWD}/tools/run.sh", &["/tools/run.sh", "tools/run.sh"]),
        ] {
            let words = words_within(text);
            for word in expected {
                assert!(words.iter().any(|known| known == word), "{word} of {text}: {words:?}");
            }
        }
        assert_eq!(words_within(""), [""; 0]);
        let logging = words_within("./run.sh 2> out.log >>more.log; ./next.sh");
        assert!(["./run.sh", "./next.sh"].iter().all(|word| logging.iter().any(|known| known == word)), "{logging:?}");
        assert!(!logging.iter().any(|word| word == "out.log" || word == "more.log"), "{logging:?}");
    }

    // proves X2
    #[test]
    fn programs_that_take_orders_from_a_file_are_known_wherever_they_stand() {
        let none = BTreeMap::new();
        let orders = |program: &str, arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
            CommandLine { program, arguments: &arguments, variables: &none }.orders()
        };
        assert!(orders("npm", &["run", "x"]).contains(&"package.json"));
        assert!(orders("/usr/bin/env", &["make", "-s"]).contains(&"Makefile"));
        assert!(orders("sh", &["-c", "exec uv run x"]).contains(&"pyproject.toml"));
        assert_eq!(orders("python3", &["remake.py"]), [""; 0]);
    }
}
