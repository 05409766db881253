//! A job as data: what is asked, the files it is about, and what must hold afterwards.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A request with its workspace and what is expected of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Job {
    /// Unique in the suite.
    pub(crate) id: String,
    pub(crate) kind: JobKind,
    pub(crate) set: JobSet,
    /// What the person says.
    pub(crate) request: String,
    /// The workspace: texts by path.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// What files must be afterwards. A file without conditions must only exist.
    #[serde(default)]
    pub(crate) expect: Vec<ExpectedFile>,
    /// Files that must not exist afterwards.
    #[serde(default)]
    pub(crate) gone: Vec<String>,
    /// Files that may be changed or made besides those in `expect` and `gone`.
    #[serde(default)]
    pub(crate) may_change: Vec<String>,
    /// Of each group the answer must contain one, in any case.
    #[serde(default)]
    pub(crate) answer_has: Vec<Vec<String>>,
    /// What the answer must not contain, in any case.
    #[serde(default)]
    pub(crate) answer_lacks: Vec<String>,
    /// Commands that it may need, as patterns: `python3 *`. They are allowed only if the runner is told to.
    #[serde(default)]
    pub(crate) commands: Vec<String>,
    /// An outcome that is right, to test the checks with.
    #[serde(default)]
    pub(crate) right: RightOutcome,
}

/// What a job asks of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JobKind {
    /// Files must be changed.
    NeedsTools,
    /// The files have the answer; none may change.
    Question,
    /// No tool may be called.
    Talk,
    /// It is unclear, or must not be done: nothing may change.
    Refuse,
}

/// Which half of the suite a job belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum JobSet {
    /// Looked at while prompts and rules are tuned.
    Tune,
    /// Set aside meanwhile, to measure what the tuning is worth.
    Kept,
}

/// What must hold of a file afterwards.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedFile {
    pub(crate) path: String,
    /// The whole text; white space at the ends of lines and of the file does not count.
    #[serde(default)]
    pub(crate) is: Option<String>,
    /// It contains each of these.
    #[serde(default)]
    pub(crate) has: Vec<String>,
    /// It contains none of these.
    #[serde(default)]
    pub(crate) lacks: Vec<String>,
    /// It matches each of these regular expressions.
    #[serde(default)]
    pub(crate) matches: Vec<String>,
}

/// What a job may look like when it was done right. Files that `expect` gives in full need not be repeated.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RightOutcome {
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) answer: String,
}

impl Job {
    /// The files that the request allows to be changed, made or removed.
    pub(crate) fn changeable(&self) -> impl Iterator<Item = &str> {
        let expected = self.expect.iter().map(|file| &file.path);
        expected.chain(&self.gone).chain(&self.may_change).map(String::as_str)
    }
}

impl JobKind {
    pub(crate) const ALL: [Self; 4] = [Self::NeedsTools, Self::Question, Self::Talk, Self::Refuse];

    /// Whether such a job can't be done without a look at the files.
    pub(crate) fn is_about_files(self) -> bool {
        match self {
            Self::NeedsTools | Self::Question => true,
            Self::Talk | Self::Refuse => false,
        }
    }
}

impl JobSet {
    pub(crate) const ALL: [Self; 2] = [Self::Tune, Self::Kept];
}

impl fmt::Display for JobKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NeedsTools => "needs tools",
            Self::Question => "question",
            Self::Talk => "talk",
            Self::Refuse => "refuse",
        })
    }
}

impl fmt::Display for JobSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tune => "tune",
            Self::Kept => "kept",
        })
    }
}
