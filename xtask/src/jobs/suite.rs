//! The suite: all jobs of a folder of TOML files, and whether it is well-formed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use super::job::{ExpectedFile, Job, JobKind, JobSet};
use super::right::misfits;

/// One file of the suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobFile {
    job: Vec<Job>,
}

/// All jobs, by the name of their file, in the order of the files.
#[derive(Debug)]
pub(crate) struct Suite {
    groups: BTreeMap<String, Vec<Job>>,
}

impl Suite {
    /// Reads a folder. A suite that is not well-formed is refused with all that is wrong.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut groups = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let text = std::fs::read_to_string(&path).map_err(failed)?;
                let file: JobFile = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
                groups.insert(path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), file.job);
            }
        }
        let suite = Self { groups };
        let problems = suite.problems();
        if problems.is_empty() { Ok(suite) } else { Err(problems.join("\n")) }
    }

    pub(crate) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.groups.values().flatten()
    }

    /// All that is wrong with it.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut ids = BTreeSet::new();
        for job in self.jobs() {
            if !ids.insert(&job.id) {
                problems.push(format!("{}: two jobs have this id", job.id));
            }
            let own = job_problems(job).into_iter().chain(misfits(job));
            problems.extend(own.map(|problem| format!("{}: {problem}", job.id)));
        }
        for (group, jobs) in &self.groups {
            for kind in JobKind::ALL {
                let count = |set| jobs.iter().filter(|job| job.kind == kind && job.set == set).count();
                let (tune, kept) = (count(JobSet::Tune), count(JobSet::Kept));
                if tune != kept {
                    problems.push(format!("{group}: {tune} jobs ({kind}) to tune with, but {kept} set aside"));
                }
            }
        }
        problems
    }
}

/// What is wrong with a job by itself.
fn job_problems(job: &Job) -> Vec<String> {
    let mut problems = Vec::new();
    let mut is_wrong = |wrong: bool, problem: String| {
        if wrong {
            problems.push(problem);
        }
    };
    let id_is_plain = job.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    is_wrong(job.id.is_empty() || !id_is_plain, "an id has lower-case letters, digits and hyphens".into());
    is_wrong(job.request.trim().is_empty(), "nothing is asked".into());
    is_wrong(job.files.is_empty() || job.files.len() > 10, "a workspace has one to ten files".into());
    let changes = !job.expect.is_empty() || !job.gone.is_empty();
    is_wrong((job.kind == JobKind::NeedsTools) != changes, "files are to change exactly if it needs tools".into());
    is_wrong(job.kind == JobKind::Question && job.answer_has.is_empty(), "a question has an answer".into());
    is_wrong(job.answer_has.iter().any(Vec::is_empty), "an empty group is never found in an answer".into());
    for path in &job.gone {
        is_wrong(!job.files.contains_key(path), format!("{path} is to go, but is not there"));
    }
    let mut seen = BTreeSet::new();
    for path in job.changeable() {
        is_wrong(!seen.insert(path), format!("{path} is named twice"));
    }
    for path in job.files.keys().map(String::as_str).chain(job.changeable()) {
        let is_plain = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        is_wrong(!is_plain, format!("`{path}` is no plain relative path"));
    }
    for file in &job.expect {
        is_wrong(file.is.is_some() && has_parts(file), format!("{} is given in full and in parts", file.path));
        for pattern in &file.matches {
            is_wrong(Regex::new(pattern).is_err(), format!("`{pattern}` is no regular expression"));
        }
    }
    problems
}

fn has_parts(file: &ExpectedFile) -> bool {
    !file.has.is_empty() || !file.lacks.is_empty() || !file.matches.is_empty()
}

#[cfg(test)]
mod tests {
    use super::{JobFile, Suite};

    const WELL_FORMED: &str = r#"
[[job]]
id = "a"
kind = "needs-tools"
set = "tune"
request = "Delete it."
gone = ["x.txt"]
files."x.txt" = "x"
[[job]]
id = "b"
kind = "needs-tools"
set = "kept"
request = "Say y in it."
files."x.txt" = "x"
expect = [{ path = "x.txt", is = "y" }]
"#;

    fn problems(text: &str) -> Vec<String> {
        let file: JobFile = toml::from_str(text).unwrap();
        Suite { groups: [("group".to_owned(), file.job)].into() }.problems()
    }

    #[test]
    fn what_is_wrong_with_a_suite_is_told() {
        assert_eq!(problems(WELL_FORMED), Vec::<String>::new());
        for (right, wrong, problem) in [
            ("\"b\"", "\"a\"", "a: two jobs have this id"),
            ("\"b\"", "\"B\"", "B: an id has lower-case letters, digits and hyphens"),
            ("\"kept\"", "\"tune\"", "group: 2 jobs (needs tools) to tune with, but 0 set aside"),
            ("Delete it.", " ", "a: nothing is asked"),
            ("gone = [\"x.txt\"]", "gone = [\"y.txt\"]", "a: y.txt is to go, but is not there"),
            ("gone = [\"x.txt\"]", "", "a: files are to change exactly if it needs tools"),
            ("files.\"x.txt\" = \"x\"\n[[", "[[", "a: a workspace has one to ten files"),
            ("is = \"y\"", "is = \"y\", has = [\"y\"]", "b: x.txt is given in full and in parts"),
            ("is = \"y\"", "matches = [\"(\"]", "b: `(` is no regular expression"),
            ("is = \"y\"", "has = [\"y\"]", "b: its right outcome does not pass: x.txt lacks `y`"),
            ("is = \"y\"", "is = \"x \"", "b: it passes if nothing is done"),
            ("is = \"y\" }", "is = \"y\" }, { path = \"../z\" }", "b: `../z` is no plain relative path"),
            ("is = \"y\" }", "is = \"y\" }, { path = \"x.txt\" }", "b: x.txt is named twice"),
        ] {
            let found = problems(&WELL_FORMED.replace(right, wrong));
            assert!(found.contains(&problem.to_owned()), "{problem}: {found:?}");
        }
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        assert!(toml::from_str::<JobFile>(&WELL_FORMED.replace("gone", "gnoe")).is_err());
    }
}
