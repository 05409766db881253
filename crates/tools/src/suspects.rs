//! Looser readings of a command line, for rules that forbid or ask.
//!
//! A suspect is a command that the line may run: a program by its bare name with its arguments. Programs that run
//! their arguments (`timeout 5 rm f`) take options with values, each in its own way, so after one of them any
//! word may be the program, and any word may be a script. The same holds after a redirection (`>x rm f`), a
//! variable (`$SUDO rm f`) and `find`'s `-exec`. An opaque line is split at every character with a special
//! meaning. All of this errs in the direction of caution, and allows nothing.

use crate::command_line::{self, ParsedLine};
use crate::command_rules;
use crate::uncertain_command::UncertainCommand;
use crate::word::Word;

/// Programs that run a program or a script given among their arguments.
const RUNNERS: &[&str] = &[
    "bash",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "dash",
    "doas",
    "env",
    "eval",
    "exec",
    "flock",
    "ionice",
    "ksh",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "runuser",
    "script",
    "setsid",
    "sh",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "trap",
    "unshare",
    "watch",
    "xargs",
    "zsh",
];

/// The options of `find` that are followed by a program.
const FIND_EXEC_OPTIONS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// How deep scripts within scripts are read.
const DEEPEST: u8 = 3;

/// From this word of a command on, suspects are cut to as many words, so that a long line is processed quickly. Rules
/// name the beginning of a command.
const MOST_WHOLE: usize = 16;

/// How many other readings of a command, without its options, are checked, and how many words of each.
const MOST_READINGS: usize = 16;
const LONGEST_READING: usize = 64;

/// How many uncertain texts are checked. A line with more of them counts as entirely uncertain.
const MOST_DOUBTS: usize = 64;

/// The commands that a line may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspects {
    pub(crate) texts: Vec<String>,
    /// Those with shell patterns, which the shell replaces by file names.
    pub(crate) uncertain: Vec<UncertainCommand>,
}

impl Suspects {
    /// Returns the commands that `line` may run.
    pub(crate) fn of(line: &str) -> Self {
        let mut found = Self::default();
        found.collect(line, DEEPEST);
        found.texts.sort_unstable();
        found.texts.dedup();
        found
    }

    fn collect(&mut self, line: &str, depth: u8) {
        let segments = match command_line::parse(line) {
            ParsedLine::Clear(commands) => {
                commands.into_iter().map(|words| Segment { words, program: ProgramWord::First }).collect()
            }
            ParsedLine::Opaque => {
                let line = line.replace(['"', '\'', '\\'], "");
                let joined = without_braces(&line);
                [split_opaque(&line), joined.as_deref().map(split_opaque).unwrap_or_default()].concat()
            }
        };
        for Segment { words, program } in &segments {
            if let Some(runner) = self.collect_programs(words, *program)
                && depth > 0
            {
                let given: Vec<&str> = words[runner + 1..].iter().map(Word::as_str).collect();
                given.iter().filter(|word| is_script(word)).for_each(|script| self.collect(script, depth - 1));
                self.collect(&given.join(" "), depth - 1);
            }
        }
    }

    /// Adds every program that may be among the words; returns the index of the first one that runs its arguments.
    fn collect_programs(&mut self, words: &[Word], mut which: ProgramWord) -> Option<usize> {
        let mut runner = None;
        for (start, word) in words.iter().enumerate() {
            let name = command_rules::program_name(word.as_str());
            let last = if start < MOST_WHOLE { words.len() } else { words.len().min(start + MOST_WHOLE) };
            self.add(word, &words[start + 1..last].iter().collect::<Vec<_>>());
            let beginning = &words[start..last.min(start + LONGEST_READING)];
            let most = if start < MOST_WHOLE { MOST_READINGS } else { MOST_READINGS / 4 };
            for reading in command_rules::readings_past_options(beginning, most) {
                self.add(word, &reading);
            }
            if RUNNERS.contains(&name.trim_start_matches('$')) {
                runner.get_or_insert(start);
                which = ProgramWord::Any;
            } else if word.as_str().starts_with('$') {
                which = ProgramWord::Any;
            }
            if which == ProgramWord::First && !command_line::is_grammar(word.as_str()) {
                let given = words[start..].iter().position(|word| FIND_EXEC_OPTIONS.contains(&word.as_str()));
                let inner = given.and_then(|at| self.collect_programs(&words[start + at + 1..], ProgramWord::Any));
                return given.zip(inner).map(|(at, inner)| start + at + 1 + inner);
            }
        }
        runner
    }

    /// Adds a program with its arguments.
    fn add(&mut self, program: &Word, words: &[&Word]) {
        let name = command_rules::program_name(program.as_str());
        let length = name.len() + words.iter().map(|word| 1 + word.as_str().len()).sum::<usize>();
        let mut text = String::with_capacity(length);
        text.push_str(name.trim_start_matches('$'));
        for word in words {
            text.push(' ');
            text.push_str(word.as_str());
        }
        self.texts.push(text);
        if self.uncertain.len() <= MOST_DOUBTS
            && let Some(uncertain_command) = UncertainCommand::of(program, name, words)
        {
            let is_last = self.uncertain.len() == MOST_DOUBTS;
            self.uncertain.push(if is_last { UncertainCommand::of_anything() } else { uncertain_command });
        }
    }
}

/// Words of which the first, or any, may be a program.
#[derive(Clone)]
struct Segment {
    words: Vec<Word>,
    program: ProgramWord,
}

/// Which of a command's words may be its program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramWord {
    First,
    Any,
}

/// Splits an opaque line, without its quotes, at every character with a special meaning.
fn split_opaque(line: &str) -> Vec<Segment> {
    let is_meaning = |c: char| ";&|\n(){}`<>".contains(c);
    let mut segments = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let start = rest.find(|c| !is_meaning(c)).unwrap_or(rest.len());
        let (before, from) = rest.split_at(start);
        let (segment, after) = from.split_at(from.find(is_meaning).unwrap_or(from.len()));
        let program = if before.contains(['<', '>']) { ProgramWord::Any } else { ProgramWord::First };
        segments.push(Segment { words: segment.split_whitespace().map(Word::uncertain).collect(), program });
        rest = after;
    }
    segments
}

/// Returns the line without braces inside words: a star replaces alternatives (`{push,pull}`, `{a..z}`), which some
/// shells expand, and `${x}` becomes the bare name. `None` if there are no such braces.
fn without_braces(line: &str) -> Option<String> {
    let mut text = String::with_capacity(line.len());
    let mut open: Vec<usize> = Vec::new();
    for c in line.chars() {
        match c {
            '{' => open.push(text.len()),
            c if c.is_whitespace() => open.clear(),
            _ => {}
        }
        let Some(start) = open.pop_if(|_| c == '}') else {
            text.push(c);
            continue;
        };
        let inner = text.split_off(start);
        match &inner[1..] {
            list if list.contains(',') || list.contains("..") => text.push('*'),
            "" => text.push('_'),
            name => text.push_str(name),
        }
    }
    (text != line).then_some(text)
}

/// Whether a shell would read more than one plain word in this.
fn is_script(word: &str) -> bool {
    word.contains(|c: char| c.is_whitespace() || ";&|(){}`<>$".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves T8
    #[test]
    fn a_forbidden_program_is_found_wherever_it_hides() {
        for line in [
            "rm -rf x",
            "/bin/rm -rf x",
            "git x; rm -rf x",
            "echo $(rm -rf x)",
            "echo \"`rm -rf x`\"",
            "sudo rm -rf x",
            "env A=1 rm -rf x",
            "A=1 rm -rf x",
            "sh -c 'rm -rf x'",
            "bash -c \"cd y && rm -rf x\"",
            "(rm -rf x)",
            "r''m -rf x",
            "r\\m -rf x > y",
            "if true; then rm -rf x; fi",
            "ls | xargs -0 rm -rf x",
            "nohup sh -c 'sudo rm -rf x' &",
            "eval rm -rf x",
            "eval \"rm -rf x\"",
            ">y rm -rf x",
            "> 'y z' rm -rf x",
            ">&2 rm -rf x",
            "<<<y rm -rf x",
            "A=1 >/dev/null rm -rf x",
            "A=1 2>&1 rm -rf x",
            "exec >y rm -rf x",
            "exec -a y rm -rf x",
            "timeout 5 rm -rf x",
            "timeout -s KILL 5 rm -rf x",
            "/usr/bin/timeout $T rm -rf x",
            "nice -n 5 rm -rf x",
            "nice -n ${N} rm -rf x",
            "env -u HOME rm -rf x",
            "env -S 'rm -rf x'",
            "sudo -u root timeout 5 rm -rf x",
            "stdbuf -o0 rm -rf x",
            "A=$B rm -rf x",
            "$SUDO rm -rf x",
            "$'rm' -rf x",
            "time -f %e rm -rf x",
            "if timeout 5 rm -rf x; then ls; fi",
            "find . -name f -exec rm -rf x {} \\;",
            "find . -name 'f' -exec rm -rf x ';'",
            "find $D -execdir rm -rf x {} +",
            "find . -ok timeout 5 rm -rf x \\;",
            "find . -exec sh -c 'rm -rf x' \\;",
            "ls | xargs -n 1 rm -rf x",
            "ls | xargs -I {} rm -rf x {}",
            "trap \"rm -rf x\" EXIT",
            "trap 'cd y; rm -rf x' EXIT; echo $y",
            "su root -c 'rm -rf x'",
            &format!("env {}rm -rf x", "-u A ".repeat(30)),
            &format!("{}rm -rf x", "A=1 ".repeat(30)),
        ] {
            let suspects = Suspects::of(line).texts;
            assert!(suspects.iter().any(|part| part.starts_with("rm -rf x")), "{line}: {suspects:?}");
        }
    }

    // proves T8
    #[test]
    fn a_word_that_is_no_program_is_not_suspected() {
        for line in [
            "git commit -m 'rm -rf x'",
            "echo timeout 5 rm",
            "find . -name rm",
            "grep rm x",
            "grep $x rm y",
            "git log > rm.txt",
        ] {
            let suspects = Suspects::of(line).texts;
            assert!(!suspects.iter().any(|part| part == "rm" || part.starts_with("rm ")), "{line}: {suspects:?}");
        }
    }

    // proves X5, T8
    #[test]
    fn a_subcommand_is_found_behind_options() {
        for line in [
            "git push",
            "git -C . push",
            "git --no-pager push",
            "git -c a=b push",
            "git -ca=b push",
            "git --git-dir=x push",
            "git --git-dir x push",
            "git --git-dir x --work-tree y -c a=b -C z push",
            "git -C 'a b' push",
            "git \"-C\" . push",
            "git -C push push",
            "/usr/bin/git -C . push",
            "sudo git -C . push",
            "env A=1 git -C . push",
            "timeout 5 git --no-pager push",
            "sh -c 'git -C . push'",
            "sh -c 'cd x; git -C . push'",
            "echo $(git -C . push)",
            "A=1 git -C . push",
            "find . -exec git -C {} push \\;",
            "xargs -n 1 git -C . push",
            "cd x && git -C . push",
            "git -C $x push",
            "git -C ${x} push > y",
            "git -C . push {a,b}",
            "git -C {} push",
        ] {
            let suspects = Suspects::of(line).texts;
            assert!(
                suspects.iter().any(|text| text == "git push" || text.starts_with("git push ")),
                "{line}: {suspects:?}"
            );
        }
        for (line, want) in [
            ("cargo +nightly publish", "cargo publish"),
            ("cargo --locked publish --dry-run", "cargo publish --dry-run"),
            ("cargo -Z x --config a=b publish", "cargo publish"),
            ("npm --prefix x publish", "npm publish"),
            ("docker --context x push y", "docker push y"),
            ("docker compose -f x down", "docker compose down"),
            ("kubectl -n x delete pod y", "kubectl delete pod y"),
            ("git push -f origin main", "git push origin main"),
            ("systemctl --user stop x", "systemctl stop x"),
        ] {
            let suspects = Suspects::of(line).texts;
            assert!(suspects.iter().any(|text| text == want), "{line}: {suspects:?}");
        }
        for line in ["git --no-pager log push", "git log -- push", "git commit -m push", "git log push"] {
            let suspects = Suspects::of(line).texts;
            let is_push = |text: &String| text == "git push" || text.starts_with("git push ");
            assert!(!suspects.iter().any(is_push), "{line}: {suspects:?}");
        }
    }

    #[test]
    fn a_long_line_is_read_in_no_time() {
        for word in [
            "env ",
            "sh ",
            "eval '",
            "$x ",
            "a=1 ",
            "find -exec ",
            ">x ",
            "sh -c 'a;b' ",
            "env *",
            "{a,b}",
            "{",
            "{{a,}",
        ] {
            let _ = Suspects::of(&word.repeat(10_000));
            let _ = Suspects::of(&format!("env {}", word.repeat(10_000)));
        }
    }
}
