//! Looser readings of a command line, for rules that forbid or ask.
//!
//! A suspect is what the line may run: a program by its bare name with its words. Programs that run
//! what they are given (`timeout 5 rm f`) take options with values, each in its own way, so behind one
//! of them any word may be the program, and any word may be a script. So it is behind a redirection
//! (`>x rm f`), a variable (`$SUDO rm f`) and `find`'s `-exec`. A line that is opaque is cut wherever a
//! character has a meaning. All of this errs in the direction of caution, and allows nothing.

use crate::command_line::{self, Reading};

/// Programs that run a program or a script that is among their words.
pub(crate) const RUNNERS: &[&str] = &[
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

/// The options behind which `find` is given a program.
const EXEC: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];

/// Scripts within scripts that are looked into.
const DEEPEST: u8 = 3;

/// From this word of a command on only as many words of a suspect are kept, so that a long line is read in no
/// time. What a rule says of a program stands at its beginning.
const MOST_WHOLE: usize = 16;

/// What `line` may run.
pub(crate) fn suspects(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(line, DEEPEST, &mut found);
    found
}

/// Words of which the first, or any, may be a program.
struct Segment {
    words: Vec<String>,
    program: Program,
}

/// Which of a command's words may be its program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    First,
    Any,
}

fn collect(line: &str, depth: u8, found: &mut Vec<String>) {
    let segments = match command_line::read(line) {
        Reading::Clear(commands) => {
            commands.into_iter().map(|words| Segment { words, program: Program::First }).collect()
        }
        Reading::Opaque => cut(line),
    };
    for Segment { words, program } in &segments {
        if let Some(runner) = collect_programs(words, *program, found)
            && depth > 0
        {
            let given = &words[runner + 1..];
            given.iter().filter(|word| is_script(word)).for_each(|script| collect(script, depth - 1, found));
            collect(&given.join(" "), depth - 1, found);
        }
    }
}

/// Takes an opaque line apart wherever a character has a meaning, without its quotes.
fn cut(line: &str) -> Vec<Segment> {
    let is_meaning = |c: char| ";&|\n(){}`<>".contains(c);
    let line = line.replace(['"', '\'', '\\'], "");
    let mut segments = Vec::new();
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let start = rest.find(|c| !is_meaning(c)).unwrap_or(rest.len());
        let (before, from) = rest.split_at(start);
        let (segment, after) = from.split_at(from.find(is_meaning).unwrap_or(from.len()));
        let program = if before.contains(['<', '>']) { Program::Any } else { Program::First };
        segments.push(Segment { words: segment.split_whitespace().map(str::to_owned).collect(), program });
        rest = after;
    }
    segments
}

/// Adds every program that may be among the words; answers where the first is that runs what it is given.
fn collect_programs(words: &[String], mut which: Program, found: &mut Vec<String>) -> Option<usize> {
    let mut runner = None;
    for (start, word) in words.iter().enumerate() {
        let name = word.rsplit('/').next().unwrap_or(word).trim_start_matches('$');
        let last = if start < MOST_WHOLE { words.len() } else { words.len().min(start + MOST_WHOLE) };
        let suspect = std::iter::once(name).chain(words[start + 1..last].iter().map(String::as_str));
        found.push(suspect.collect::<Vec<_>>().join(" "));
        if RUNNERS.contains(&name) {
            runner.get_or_insert(start);
            which = Program::Any;
        } else if word.starts_with('$') {
            which = Program::Any;
        }
        if which == Program::First && !command_line::is_grammar(word) {
            let given = words[start..].iter().position(|word| EXEC.contains(&word.as_str()));
            let inner = given.and_then(|at| collect_programs(&words[start + at + 1..], Program::Any, found));
            return given.zip(inner).map(|(at, inner)| start + at + 1 + inner);
        }
    }
    runner
}

/// Whether a word is more than a word where a shell reads it.
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
            let suspects = suspects(line);
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
            let suspects = suspects(line);
            assert!(!suspects.iter().any(|part| part == "rm" || part.starts_with("rm ")), "{line}: {suspects:?}");
        }
    }

    #[test]
    fn a_long_line_is_read_in_no_time() {
        for word in ["env ", "sh ", "eval '", "$x ", "a=1 ", "find -exec ", ">x ", "sh -c 'a;b' "] {
            let _ = suspects(&word.repeat(10_000));
        }
    }
}
