//! How rules apply to a simple command, by the known properties of its program ([`crate::programs`]): how much of
//! it an allow rule must contain literally, and which rule is offered for similar commands.

use crate::programs::{self, KnownProgram, ProgramForm, RiskyOptions};
use crate::text_pattern::escape;
use crate::word::{Word, command_text};

/// The folders of system programs. A program of the same name elsewhere may be anything.
const SYSTEM_FOLDERS: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];

/// Returns how many words of the command an allow rule must contain literally: those up to the last one that makes the
/// program do something else, such as `-c alias.x=!rm` of git.
pub(crate) fn literal_words(words: &[Word]) -> usize {
    let Some((program, arguments)) = words.split_first() else { return 0 };
    let Some(known) = programs::find(program_name(program.as_str())) else { return 0 };
    let mut count = 0;
    let subcommands = match known.form {
        ProgramForm::Subcommand { running, .. } => {
            let places = subcommand_places(words, Some(known));
            let last = places.last().copied().unwrap_or(words.len());
            let before = (1..last).filter(|at| is_option(&words[*at]) && !is_harmless(&words[*at], known)).max();
            let uncertain = places.iter().copied().filter(|at| words[*at].is_pattern()).max();
            let named = places
                .iter()
                .filter_map(|at| running.iter().filter_map(|one| subcommand_end(words, *at, one)).max())
                .max();
            count = [before, uncertain, named].into_iter().flatten().max().map_or(0, |at| at + 1);
            places
        }
        ProgramForm::Arguments | ProgramForm::Script if known.options.is_empty() => return 0,
        ProgramForm::Arguments | ProgramForm::Script => Vec::new(),
    };
    let names: Vec<&str> = subcommands.iter().map(|at| words[*at].as_str()).collect();
    let options = || known.options.iter().filter(|options| options.of.is_empty() || names.contains(&options.of));
    let is_meant = |word: &Word| options().any(|options| options.mean(word.as_str())) && !is_harmless(word, known);
    let may_be_option = |word: &Word| options().next().is_some() && begins_uncertain(word);
    let last = arguments.iter().rposition(|word| is_meant(word) || may_be_option(word));
    count.max(last.map_or(0, |at| at + 2))
}

/// Returns the pattern that allows this command and similar ones; `None` if only the exact line can be allowed.
pub(crate) fn general_pattern(words: &[Word]) -> Option<String> {
    let program = words.first()?.as_str();
    let in_system = |(folder, _): (&str, &str)| SYSTEM_FOLDERS.contains(&folder);
    if !program.rsplit_once('/').is_none_or(in_system) || literal_words(words) > 0 || words.iter().any(Word::is_pattern)
    {
        return None;
    }
    let known = programs::find(program_name(program))?;
    let kept = match known.form {
        ProgramForm::Arguments => 1,
        ProgramForm::Script => return None,
        ProgramForm::Subcommand { allowed, .. } => {
            let at = *subcommand_places(words, Some(known)).first()?;
            let follows =
                |one: &&&str| one.split(' ').eq(words[at..].iter().map(Word::as_str).take(one.split(' ').count()));
            at + allowed.iter().find(follows)?.split(' ').count()
        }
    };
    Some(format!("{} *", escape(&command_text(&words[..kept]))))
}

/// Returns the readings of this command without the options before its subcommand and before the subcommand's
/// arguments: `git push` for `git -C . push`. Each is the words after the program.
pub(crate) fn readings_past_options<'w>(words: &'w [Word], most: usize) -> Vec<Vec<&'w Word>> {
    let mut found: Vec<Vec<&'w Word>> = Vec::new();
    if words.first().is_none_or(is_option) {
        return found;
    }
    let known = words.first().and_then(|program| programs::find(program_name(program.as_str())));
    for at in subcommand_places(words, known) {
        if at > 1 {
            found.push(words[at..].iter().collect());
        }
        let further = subcommand_places(&words[at..], None).into_iter().filter(|next| *next > 1);
        found.extend(further.map(|next| words[at..=at].iter().chain(&words[at + next..]).collect()));
        if found.len() >= most {
            break;
        }
    }
    found.truncate(most);
    found
}

/// Returns a program's name without its folder.
pub(crate) fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns where the subcommand may be: at the first word that is no option, or later if that may be an option's value.
fn subcommand_places(words: &[Word], known: Option<&KnownProgram>) -> Vec<usize> {
    const FARTHEST: usize = 32;
    let mut places = Vec::new();
    let mut may_be_value = false;
    for (at, word) in words.iter().enumerate().skip(1).take(FARTHEST) {
        if is_option(word) {
            let alone = word.as_str().contains(['=', '+']) || known.is_some_and(|known| is_harmless(word, known));
            may_be_value = !alone;
            continue;
        }
        places.push(at);
        if !may_be_value {
            break;
        }
        may_be_value = false;
    }
    places
}

/// Whether a word is an option: `-C`, `--no-pager`, or `+nightly` of cargo.
fn is_option(word: &Word) -> bool {
    word.as_str().len() > 1 && word.as_str().starts_with(['-', '+'])
}

fn is_harmless(word: &Word, program: &KnownProgram) -> bool {
    let name = word.as_str().split('=').next().unwrap_or_default();
    name == "--version" || program.harmless.contains(&name)
}

/// Whether the shell may expand the word to file names that look like options.
fn begins_uncertain(word: &Word) -> bool {
    word.patterns().first().is_some_and(|first| *first == 0 || word.as_str().starts_with('-'))
}

/// Returns the index of a subcommand's last word, if the subcommand starts at `at`.
fn subcommand_end(words: &[Word], at: usize, subcommand: &str) -> Option<usize> {
    let mut rest = subcommand.split(' ');
    if rest.next() != Some(words[at].as_str()) {
        return None;
    }
    rest.try_fold(at, |last, part| Some(last + 1 + words[last + 1..].iter().position(|word| word.as_str() == part)?))
}

impl RiskyOptions {
    /// Whether this argument is one of the risky options.
    fn mean(&self, argument: &str) -> bool {
        let whole = argument.split('=').next().unwrap_or_default();
        let letters = argument.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|given| given.contains(|c| self.letters.contains(c)))
            || self.words.iter().any(|word| match word.strip_prefix("--") {
                Some(_) => whole.len() > 2 && whole.starts_with("--") && word.starts_with(whole),
                None if *word == "=" => !argument.starts_with('-') && argument.contains('='),
                None => whole.starts_with('-') && whole.trim_start_matches('-') == word.trim_start_matches('-'),
            })
    }
}

#[cfg(test)]
mod tests;
