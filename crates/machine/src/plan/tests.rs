use proptest::prelude::*;

use super::{FILES, ListedFiles, PlannedStep, STEPS, plan_steps};

fn files() -> ListedFiles {
    let names = ["a.txt", "b.txt", "c d.txt", "notes/x.md", "notes/deep/y.md", "src/main.rs"];
    ListedFiles { names: names.map(str::to_owned).to_vec(), has_more: false }
}

fn shown(steps: &[PlannedStep]) -> Vec<String> {
    let line = |step: &PlannedStep| match &step.file {
        Some(file) => format!("{file} <- {}", step.step),
        None => step.step.clone(),
    };
    steps.iter().map(line).collect()
}

fn check(reply: &str, steps: &[&str]) {
    assert_eq!(shown(&plan_steps(reply, &files())), steps, "{reply}");
}

// proves S3
#[test]
fn steps_are_read_whatever_stands_around_them() {
    let two = ["Read the list.", "Write the sum."];
    for reply in [
        "Read the list.\nWrite the sum.",
        "1. Read the list.\n2. Write the sum.",
        "Here is the plan:\n\n1) Read the list.\n\n2) Write the sum.\n\nThis will do the job.",
        "- Read the list.\n- Write the sum.",
        "* **Read the list.**\n* **Write the sum.**",
        "**Step 1:** Read the list.\n**Step 2:** Write the sum.",
        "# Plan\n```\n1. Read the list.\n2. Write the sum.\n```",
        "- [ ] Read the list.\n- [ ] Write the sum.",
        "[\"Read the list.\", \"Write the sum.\"]",
        "```json\n{\"steps\": [{\"step\": \"Read the list.\"}, {\"step\": \"Write the\\n sum.\"}]}\n```",
        "Plan:\nRead the list.\nWrite the sum.",
    ] {
        check(reply, &two);
    }
    check("1. Read:\n   - a.txt\n   - b.txt\n2. Write the sum.", &["Read:; a.txt; b.txt", "Write the sum."]);
}

// proves S3
#[test]
fn a_line_for_each_file_becomes_a_step_for_each_of_them() {
    let both = ["a.txt <- change x to y", "b.txt <- change x to y"];
    for reply in [
        "FOR EACH FILE a.txt, b.txt: change x to y",
        "1. For each file a.txt, b.txt: change x to y",
        "For each of the files `a.txt` and `b.txt`: change x to y",
        "for every file in ./a.txt, ./b.txt: change x to y",
        "For each file a.txt and b.txt, change x to y",
        "FOR EACH FILE a.txt, b.txt, a.txt: change x to y",
        "FOR EACH FILE ?.txt: change x to y",
    ] {
        check(reply, &both);
    }
    check("FOR EACH FILE *.txt: read it", &["a.txt <- read it", "b.txt <- read it", "c d.txt <- read it"]);
    check("FOR EACH FILE a.txt, c d.txt: read it", &["a.txt <- read it", "c d.txt <- read it"]);
    check("FOR EACH FILE **/*.md: read it", &["notes/x.md <- read it", "notes/deep/y.md <- read it"]);
    check("FOR EACH FILE notes/*: read it", &["notes/x.md <- read it"]);
    check("FOR EACH FILE notes/: read it", &["notes/x.md <- read it"]);
    check("FOR EACH FILE x.md, new.txt: write it", &["notes/x.md <- write it", "new.txt <- write it"]);
    check(
        "1. Read a.txt\n2. FOR EACH FILE a.txt, b.txt: add it\n3. Tell.",
        &["Read a.txt", "a.txt <- add it", "b.txt <- add it", "Tell."],
    );
    // Neither names any file: they are ordinary steps.
    check("For each person in the list: greet", &["For each person in the list: greet"]);
    check("FOR EACH FILE *.exe: run it", &["FOR EACH FILE *.exe: run it"]);
}

// proves S3
#[test]
fn a_reply_without_steps_is_no_plan() {
    for reply in ["", "NONE", "None.", " \n\n", "```\n```", "[]", "- none", "Plan:"] {
        check(reply, &[]);
    }
}

// proves S3
#[test]
fn a_plan_that_is_too_long_loses_nothing() {
    let reply: Vec<String> = (1..=12).map(|number| format!("{number}. Step {number}.")).collect();
    let steps = plan_steps(&reply.join("\n"), &ListedFiles::default());
    assert_eq!(steps.len(), STEPS);
    assert_eq!(steps[7].step, "Step 8.; then: Step 9.; then: Step 10.; then: Step 11.; then: Step 12.");
    let many: Vec<String> = (0..=FILES).map(|number| format!("{number}.txt")).collect();
    let line = "FOR EACH FILE *.txt: read it";
    let mut many = ListedFiles { names: many, has_more: false };
    assert_eq!(shown(&plan_steps(line, &many)), [line]);
    many.names.pop();
    assert_eq!(plan_steps(line, &many).len(), FILES);
}

// proves S3
#[test]
fn where_not_all_files_are_known_a_pattern_stays_one_step() {
    let some = ListedFiles { has_more: true, ..files() };
    for line in ["FOR EACH FILE *.txt: read it", "FOR EACH FILE notes/: read it", "FOR EACH FILE .txt: read it"] {
        assert_eq!(shown(&plan_steps(line, &some)), [line]);
    }
    assert_eq!(
        shown(&plan_steps("FOR EACH FILE a.txt, x.md: read it", &some)),
        ["a.txt <- read it", "notes/x.md <- read it"]
    );
}

proptest! {
    // proves S3
    #[test]
    fn no_reply_makes_more_steps_than_allowed(
        reply in "([0-9]{0,2}[.)\\-*]? ?(for each file )?([a-z*?/. ,:`]{0,30})\n){0,20}",
    ) {
        let steps = plan_steps(&reply, &files());
        let of_files = steps.iter().filter(|step| step.file.is_some()).count();
        prop_assert!(of_files <= FILES && steps.len() - of_files <= STEPS);
        prop_assert!(steps.iter().all(|step| !step.step.is_empty() && !step.step.contains('\n')));
    }
}
