//! Orders that are unclear beside the files of the workspace, whose texts are all known: none of their words is there, what
//! they choose by is not, or the thing that they name is there more than once.

use windlass_vocab::{OverviewFile, WorkspaceOverview};

use super::language::{PhraseList, has_phrase, is_one_of, plain};
use super::named_files::has_word_of_path;
use super::topic::{has_word, shares_topic, topic_words};
use super::unsaid::{OrderWord, clauses, joined, says_how, says_result, words};
use super::vague_order::{LONGEST, altering_verb, is_exact};

/// The fewest letters of a word that stands for one of several files.
const SHORTEST: usize = 4;

/// The most letters that the plural of a word has more.
const PLURAL: usize = 2;

/// Whether a request orders a change of what is there that these files leave unclear. Nothing is said where a text is not known,
/// or where files may be ignored.
pub(super) fn is_unclear_beside(request: &str, overview: &WorkspaceOverview) -> bool {
    if !overview.has_every_text() || overview.files.len() < 2 || request.len() > LONGEST {
        return false;
    }
    let text = plain(request);
    let words = words(&text);
    let chooses_or_fits = |verb| {
        chooses_by_unknown(&words, verb, overview)
            || deletes_by_judgement(&words, verb, overview)
            || fits_several(&words, overview)
    };
    !is_exact(request)
        && !request.contains([':', '@', '#'])
        && (names_nothing(&text, &words, overview) || altering_verb(&words).is_some_and(chooses_or_fits))
}

/// Whether a request orders a change by words that are not in these files, and that do not say how any text is changed ("remove
/// the comments") or that all files are meant.
fn names_nothing(text: &str, words: &[OrderWord<'_>], overview: &WorkspaceOverview) -> bool {
    first_verb_changes(text)
        && !means_kind(words)
        && !altering_verb(words).is_some_and(|verb| says_result(words, verb))
        && !has_phrase(text, |language| &language.text_words)
        && !has_phrase(text, |language| &language.all_words)
        && !has_phrase(text, |language| &language.everywhere_words)
        && !overview.files.iter().any(|file| has_word_of_path(text, &file.path))
        && !shares_topic(&without_orders(text), overview)
}

/// Whether an order is about all of a kind, which the files may be without saying so: "move the chapters". What is to be repaired
/// is not said so.
fn means_kind(words: &[OrderWord<'_>]) -> bool {
    let repairs = |verb: &OrderWord<'_>| verb.is(|language| &language.elsewhere_verbs) || verb.text == "correct";
    let is_repair = altering_verb(words).and_then(|verb| words.get(verb)).is_some_and(repairs);
    let thing = words.iter().rev().find(|word| word.says);
    !is_repair && thing.is_some_and(|thing| thing.text.ends_with('s') && !thing.text.ends_with("ss"))
}

/// Whether an order says which are meant by words that no file has: "the games we never play", "those who aren't coming".
fn chooses_by_unknown(words: &[OrderWord<'_>], verb: usize, overview: &WorkspaceOverview) -> bool {
    let is_unknown = |clause: &[OrderWord<'_>]| {
        let mut said = clause.iter().filter(|word| word.says).peekable();
        let text = joined(clause.iter());
        said.peek().is_some()
            && !said.any(|word| is_in_files(word, overview))
            && !overview.files.iter().any(|file| has_word_of_path(&text, &file.path))
    };
    !says_how(words) && clauses(words, verb).any(is_unknown)
}

/// Whether an order is to delete some of what it names, by a judgement that no file has: "the old invoices".
fn deletes_by_judgement(words: &[OrderWord<'_>], verb: usize, overview: &WorkspaceOverview) -> bool {
    let deletes = words.get(verb).is_some_and(|verb| verb.is(|language| &language.delete_verbs));
    let mut judged = words.iter().zip(words.iter().skip(1)).filter(|(word, noun)| word.judges() && noun.says);
    deletes && !says_how(words) && judged.any(|(word, _)| !is_in_files(word, overview))
}

fn is_in_files(word: &OrderWord<'_>, overview: &WorkspaceOverview) -> bool {
    overview.files.iter().flat_map(texts_of).any(|text| has_word(&text, word.text))
}

fn texts_of(file: &OverviewFile) -> impl Iterator<Item = String> {
    [Some(&file.path), file.text.as_ref()].into_iter().flatten().map(|text| plain(text))
}

/// Whether an order is about "the report" where there are several, and no other word of it is in only one of them.
fn fits_several(words: &[OrderWord<'_>], overview: &WorkspaceOverview) -> bool {
    words.iter().enumerate().skip(1).any(|(place, noun)| {
        let is_article = words.get(place - 1).is_some_and(|word| word.is(|language| &language.determiners));
        let before_name = |word: &OrderWord<'_>| word.is(|language| &language.file_nouns);
        let next = words.get(place + 1).filter(|_| !noun.ends);
        let next = next
            .and_then(|next| if before_name(next) { words.get(place + 2).filter(|_| !next.ends) } else { Some(next) });
        let is_whole = next.is_none_or(|next| next.is(|language| &language.behind_nouns));
        let others = words.iter().filter(|word| word.says && word.text != noun.text);
        is_article && is_whole && noun.says && is_several(noun.text, others, overview)
    })
}

/// Whether several files, or what several lines of one are about, are called so, and none of these words tells which is meant.
fn is_several<'w, 'a: 'w>(
    noun: &str,
    others: impl Iterator<Item = &'w OrderWord<'a>>,
    overview: &WorkspaceOverview,
) -> bool {
    let mut called: Vec<&OverviewFile> = Vec::new();
    let mut is_collection = false;
    for file in &overview.files {
        let path = plain(&file.path);
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if stem == noun {
            return false;
        }
        let is_part = |part: &str| part == noun;
        let split = |text: &str| text.split(|letter: char| !letter.is_alphanumeric()).any(is_part);
        let lists = is_plural(stem, noun) && file.text.as_ref().is_some_and(|text| text.lines().count() > 1);
        is_collection |= lists;
        if lists || split(stem) || folders.split('/').any(|folder| is_plural(folder, noun)) {
            called.push(file);
        }
    }
    let mut others = others.filter(|other| !is_plural(other.text, noun) && !is_plural(noun, other.text));
    let tells = |word: &OrderWord<'_>| {
        let has = |file: &&&OverviewFile| texts_of(file).any(|text| has_word(&text, word.text));
        let having = called.iter().filter(has).count();
        having > 0 && (having < called.len() || called.len() == 1)
    };
    noun.chars().count() >= SHORTEST && (called.len() > 1 || is_collection) && !others.any(tells)
}

/// Whether a word is the plural of another, as far as their letters tell.
fn is_plural(word: &str, one: &str) -> bool {
    word.strip_prefix(one).is_some_and(|ending| (1..=PLURAL).contains(&ending.chars().count()))
        || one.strip_suffix('y').is_some_and(|stem| word.strip_prefix(stem) == Some("ies"))
}

/// Whether the first verb of a request asks for a change of what is there, and means nothing else: "set up", "make" and "get"
/// may ask for something new.
fn first_verb_changes(text: &str) -> bool {
    let words = || text.split(|letter: char| !letter.is_alphanumeric());
    let is_verb = |word: &&str| {
        let is_known = |list: PhraseList| is_one_of(word, list);
        is_known(|language| &language.change_verbs)
            || is_known(|language| &language.altering_verbs)
            || is_known(|language| &language.make_verbs)
    };
    let changes = |word: &str| {
        is_one_of(word, |language| &language.change_verbs)
            && !is_one_of(word, |language| &language.adding_verbs)
            && !is_one_of(word, |language| &language.ambiguous_verbs)
    };
    words().find(is_verb).is_some_and(changes)
}

/// Returns a request without the words for what is to be done, which a text may have by chance.
fn without_orders(text: &str) -> String {
    let lists: [PhraseList; 6] = [
        |language| &language.change_verbs,
        |language| &language.altering_verbs,
        |language| &language.adding_verbs,
        |language| &language.make_verbs,
        |language| &language.lead_ins,
        |language| &language.file_nouns,
    ];
    let is_order = |word: &&str| lists.iter().any(|list| is_one_of(word, *list));
    topic_words(text).filter(|word| !is_order(word)).collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::is_unclear_beside;

    fn overview(files: &[(&str, &str)]) -> WorkspaceOverview {
        let file = |(path, text): &(&str, &str)| OverviewFile {
            path: (*path).to_owned(),
            size: 10,
            text: Some((*text).to_owned()),
            origin: None,
        };
        WorkspaceOverview { files: files.iter().map(file).collect(), ..WorkspaceOverview::default() }
    }

    // proves X4
    #[test]
    fn an_order_names_nothing_where_no_file_has_its_words() {
        let files = [("tides.txt", "high water at noon\n"), ("boats/list.csv", "name,berth\nAnna,4\n")];
        for (request, names) in [
            ("Please fix the figures.", true),
            ("Remove what my uncle wrote.", true),
            ("Correct the spelling mistakes.", false),
            ("Make a folder called reports.", false),
            ("Set up a virtual environment.", false),
            ("Merge all files into one.", false),
            ("Delete the folder boats.", false),
            ("Update the list.", false),
            ("Delete the markdown files.", false),
            ("Fix the tide.", false),
            ("Remove Anna.", false),
            ("Move the boats.", false),
            ("Remove the empty lines.", false),
            ("Set the fee to 5.", false),
            ("Fix the figures: round them.", false),
            ("Which figures are wrong?", false),
            ("Add a licence.", false),
        ] {
            assert_eq!(is_unclear_beside(request, &overview(&files)), names, "{request}");
        }
        assert!(!is_unclear_beside("Fix the figures.", &overview(&files[..1])), "there is only one file");
        let mut unread = overview(&files);
        unread.files[0].text = None;
        assert!(!is_unclear_beside("Fix the figures.", &unread), "a text is not known");
    }

    // proves X4
    #[test]
    fn an_order_is_unclear_where_the_files_leave_open_which_are_meant() {
        let reports = [("report-north.txt", "Sales: 40\n"), ("report-south.txt", "Sales: 55\n")];
        let games = ("games.txt", "Chess, 2 players\nGo, 2 players\n");
        let files = [reports[0], reports[1], games];
        for (request, is_unclear) in [
            ("Delete the report.", true),
            ("Delete the reports.", false),
            ("Delete the report about the north.", false),
            ("Delete the report with 55 sales.", false),
            ("Take the game off the list.", true),
            ("Take the game of Chess off the list.", false),
            ("Remove those who never won.", true),
            ("Remove the games that need two players.", false),
            ("Delete the old report.", true),
            ("Delete the chapters.", false),
            ("Delete the chapter.", true),
        ] {
            assert_eq!(is_unclear_beside(request, &overview(&files)), is_unclear, "{request}");
        }
    }
}
