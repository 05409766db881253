//! Measures how requests are read, on labelled ones beside the files of a workspace: `talk*.jsonl` of `fixtures/judge/` has talk
//! and general questions among requests about the files, `orders*.jsonl` unclear orders among clear ones. The `tuned` ones may be
//! looked at while rules are written; the `held-out` ones are only counted. The jobs of `fixtures/jobs/` that are there for tuning have
//! to be read rightly, all of them.

use serde_json::Value;
use windlass_vocab::{OverviewFile, WorkspaceOverview};

use super::general_question::is_general_question;
use super::request::{RequestKind, read_request};
use super::vague_order::{is_vague_order, names_nothing};

/// A request beside the files of a workspace, and whether it is of the kind that is to be found.
struct Labelled {
    request: String,
    overview: WorkspaceOverview,
    is_meant: bool,
}

/// A file of labelled requests, and how well they are read at least.
struct Bounds {
    name: &'static str,
    lines: &'static str,
    /// How many requests of the kind are found at least, and how many there are.
    found: (usize, usize),
    /// How many others are taken for one at most, and how many there are.
    wrong: (usize, usize),
}

fn overview<'a>(files: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> WorkspaceOverview {
    let file = |(path, text): (&str, Option<&str>)| OverviewFile {
        path: path.to_owned(),
        size: 10,
        text: text.map(str::to_owned),
        origin: None,
    };
    WorkspaceOverview { files: files.map(file).collect(), ..WorkspaceOverview::default() }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().expect("a text")
}

fn rows(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Returns a request whose files are an object of paths and texts; talk is labelled so.
fn with_file_map(row: &Value) -> Labelled {
    let files = row["files"].as_object().expect("files").iter();
    let overview = overview(files.map(|(path, text)| (path.as_str(), text.as_str())));
    Labelled { request: text(row, "request").to_owned(), overview, is_meant: row["label"] == "talk" }
}

fn talk(lines: &str) -> Vec<Labelled> {
    rows(lines).iter().map(with_file_map).collect()
}

/// Returns orders; files without a text are ones whose text is not known.
fn orders(lines: &str) -> Vec<Labelled> {
    let order = |row: &Value| {
        let files = row["files"].as_array().expect("files").iter();
        let overview = overview(files.map(|file| (text(file, "path"), file["text"].as_str())));
        Labelled { request: text(row, "request").to_owned(), overview, is_meant: row["unclear"] == true }
    };
    rows(lines).iter().map(order).collect()
}

fn needs_no_file(labelled: &Labelled) -> bool {
    let Labelled { request, overview, .. } = labelled;
    let reading = read_request(request, &overview.files.iter().map(|file| file.path.clone()).collect());
    is_general_question(request, overview) || reading.kind == RequestKind::Other && reading.is_talk
}

fn is_unclear(labelled: &Labelled) -> bool {
    let Labelled { request, overview, .. } = labelled;
    is_vague_order(request, overview.files.len()) || names_nothing(request, overview)
}

fn check(bounds: &Bounds, labelled: &[Labelled], is_found: fn(&Labelled) -> bool) {
    let Bounds { name, found: (least, meant_count), wrong: (most, other_count), .. } = *bounds;
    let requests = |labelled: &[&Labelled]| labelled.iter().map(|one| one.request.clone()).collect::<Vec<String>>();
    let (meant, others): (Vec<&Labelled>, Vec<_>) = labelled.iter().partition(|labelled| labelled.is_meant);
    let (found, missed): (Vec<&Labelled>, Vec<_>) = meant.iter().partition(|labelled| is_found(labelled));
    let wrong: Vec<&Labelled> = others.iter().copied().filter(|labelled| is_found(labelled)).collect();
    let (right, taken) = (found.len(), found.len() + wrong.len());
    let percent = |part: usize, whole: usize| part * 100 / whole.max(1);
    println!("{name}: recall {right} of {} ({} %),", meant.len(), percent(right, meant.len()));
    println!("  precision {right} of {taken} ({} %), wrong {} of {}", percent(right, taken), wrong.len(), others.len());
    if !name.ends_with("held-out") {
        println!("  missed: {:#?}\n  wrong: {:#?}", requests(&missed), requests(&wrong));
    }
    assert_eq!((meant.len(), others.len()), (meant_count, other_count), "{name}");
    assert!(right >= least && wrong.len() <= most, "{name}: found {right}, wrong {}", wrong.len());
}

macro_rules! bounds {
    ($name:literal, $found:expr, $wrong:expr) => {
        Bounds {
            name: $name,
            lines: include_str!(concat!("../../../../fixtures/judge/", $name, ".jsonl")),
            found: $found,
            wrong: $wrong,
        }
    };
}

// proves T2: most talk is told from requests that need the files, and hardly ever one of those is taken for it
#[test]
fn talk_and_general_questions_are_told_from_requests_about_the_files() {
    for bounds in [
        bounds!("talk", (35, 90), (1, 50)),
        bounds!("talk-tuned", (65, 121), (6, 121)),
        bounds!("talk-held-out", (60, 121), (7, 120)),
    ] {
        check(&bounds, &talk(bounds.lines), needs_no_file);
    }
}

// proves X4: most orders that are unclear are found, and next to none that is clear is questioned. Orders whose files have no
// text are judged by their words and the names alone.
#[test]
fn unclear_orders_are_told_from_clear_ones() {
    for bounds in [
        bounds!("orders", (41, 80), (0, 204)),
        bounds!("orders-tuned", (25, 90), (1, 160)),
        bounds!("orders-held-out", (32, 90), (5, 160)),
    ] {
        check(&bounds, &orders(bounds.lines), is_unclear);
    }
}

/// The files of `fixtures/jobs/`.
const JOBS: [&str; 16] = [
    include_str!("../../../../fixtures/jobs/caution.toml"),
    include_str!("../../../../fixtures/jobs/code.toml"),
    include_str!("../../../../fixtures/jobs/collecting.toml"),
    include_str!("../../../../fixtures/jobs/counting.toml"),
    include_str!("../../../../fixtures/jobs/fixing.toml"),
    include_str!("../../../../fixtures/jobs/household.toml"),
    include_str!("../../../../fixtures/jobs/moving.toml"),
    include_str!("../../../../fixtures/jobs/notes.toml"),
    include_str!("../../../../fixtures/jobs/projects.toml"),
    include_str!("../../../../fixtures/jobs/questions.toml"),
    include_str!("../../../../fixtures/jobs/refusing.toml"),
    include_str!("../../../../fixtures/jobs/settings.toml"),
    include_str!("../../../../fixtures/jobs/shop.toml"),
    include_str!("../../../../fixtures/jobs/tables.toml"),
    include_str!("../../../../fixtures/jobs/talk.toml"),
    include_str!("../../../../fixtures/jobs/writing.toml"),
];

// proves T2, X4
#[test]
fn jobs_that_are_there_for_tuning_are_read_rightly() {
    let suites = JOBS.map(|jobs| toml::from_str::<Value>(jobs).expect("jobs"));
    let jobs = suites.iter().flat_map(|suite| suite["job"].as_array().expect("jobs"));
    let tune: Vec<&Value> = jobs.filter(|job| job["set"] == "tune").collect();
    assert!(tune.len() >= 79);
    for job in tune {
        let (id, kind) = (text(job, "id"), text(job, "kind"));
        let labelled = with_file_map(job);
        assert!(kind == "talk" || !needs_no_file(&labelled), "{id}");
        assert!(kind == "refuse" || !is_unclear(&labelled), "{id}");
        println!("{kind} {id}: {}", if is_unclear(&labelled) { "unclear" } else { "clear" });
    }
}
