//! The arguments of the commands for a session that another process has open: stop, answer, follow.

use clap::{Args, ValueEnum};
use windlass_vocab::QuestionOption;

pub(super) const STOP_EXAMPLES: &str = "\
Examples:
  windlass stop notes      stop what session `notes` is doing in another terminal, or give up its
                           unfinished run where no process works on it any more
  windlass stop            the same for this folder's last session

Messages that wait in the session are dropped, as /stop in its chat does. Where no run is open the
exit code is 2.";

pub(super) const ANSWER_EXAMPLES: &str = "\
Examples:
  windlass answer notes                  show what is asked; at a terminal, ask it here
  windlass answer notes yes
  windlass answer notes no use pnpm      the model is told why
  windlass answer notes 36 Ada           a form: a value for each field, in order
  windlass answer notes --question 4 no  one of several questions

The session is open in another terminal, or in a server. Where it waits and no process has it open,
`windlass resume` goes on with it and answers.";

pub(super) const FOLLOW_EXAMPLES: &str = "\
Examples:
  windlass follow notes                  what was said and done, then what happens; Ctrl-C ends it
  windlass follow notes --new --json     events as JSON lines, from now on
  windlass follow notes --until-end      end with the run, with its exit code

Of a session that another process has open the records are seen, not the words as they stream: a
reply comes whole, when it is finished.";

// `windlass stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    /// The session, by its key or id [default: the last one of this folder]
    #[arg(value_parser = super::name)]
    pub key: Option<String>,
}

// `windlass answer`.
#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The session, by its key or id [default: the last one of this folder]
    #[arg(value_parser = super::name)]
    pub key: Option<String>,
    /// The answer: one of those on offer, or what a form asks for
    #[arg(value_name = "ANSWER", allow_negative_numbers = true)]
    pub answer: Vec<String>,
    /// The question that is meant, by its number, where there are several
    #[arg(long, value_name = "N")]
    pub question: Option<u32>,
}

// `windlass follow`.
#[derive(Debug, Args)]
pub struct FollowArgs {
    /// The session, by its key or id [default: the last one of this folder]
    #[arg(value_parser = super::name)]
    pub key: Option<String>,
    /// Leave out what has happened so far
    #[arg(long, conflicts_with = "after")]
    pub new: bool,
    /// Begin after this record, by its number
    #[arg(long, value_name = "SEQ", value_parser = super::counts::number)]
    pub after: Option<u64>,
    /// End when no run is open any more, with the exit code of the last one
    #[arg(long)]
    pub until_end: bool,
    /// Print one event per line instead of the conversation
    #[arg(long)]
    pub json: bool,
}

/// An answer to the question that a run waits for, as `resume --answer` takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerChoice {
    /// Run the interrupted call again
    RunAgain,
    /// Take it as interrupted and tell the model so
    Interrupt,
    /// Allow it this once, or go on
    Yes,
    /// Forbid it, or stop here
    No,
}

impl From<AnswerChoice> for QuestionOption {
    fn from(choice: AnswerChoice) -> Self {
        match choice {
            AnswerChoice::RunAgain => Self::RunAgain,
            AnswerChoice::Interrupt => Self::Interrupt,
            AnswerChoice::Yes => Self::Once,
            AnswerChoice::No => Self::No,
        }
    }
}
