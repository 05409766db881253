//! The texts of a plan (S3): what the planner, each step's child session and the writer of the answer are told, and what is
//! said of steps that are not done.

use windlass_vocab::{AttachedText, PlanItem, PlanStatus, TextOrigin, shown_path};

use crate::notes::{cut_text, one_line};
use crate::plan::ListedFiles;
use crate::state::State;
use crate::step::{PlanProgress, StepReport};

/// The most bytes of the request that a planner, a step and the writer of the answer are shown.
const REQUEST: usize = 4_000;
/// The most characters of the request in one line, for a step.
const REQUEST_LINE: usize = 1_000;
/// The most files of the workspace that a planner is shown.
const SHOWN_FILES: usize = 100;
/// The most bytes of each earlier result that a step is shown, and of all of them.
const EARLIER: usize = 300;
const ALL_EARLIER: usize = 2_000;
/// The most bytes of each result that the writer of the answer is shown, and of all of them.
const RESULT: usize = 1_000;
const ALL_RESULTS: usize = 8_000;
/// The most bytes of the last answer that a planner is shown.
const LAST_ANSWER: usize = 1_000;

/// Returns the message that asks a planner for a plan, in a workspace with these files.
#[must_use]
pub fn plan_request(state: &State, files: &ListedFiles) -> String {
    let before = state.control.last.as_ref().map_or("", |(_, ended)| ended.answer.trim());
    let before = match before {
        "" => String::new(),
        answer => format!("<answer_before>\n{}\n</answer_before>\n\n", cut_text(answer, LAST_ANSWER)),
    };
    let (listing, request) = (listing(files), cut_text(request(state).trim(), REQUEST));
    format!("{before}<files>\n{listing}\n</files>\n\n<request>\n{request}\n</request>\n\n{PLAN_RULES}")
}

fn listing(files: &ListedFiles) -> String {
    let shown = files.names.iter().take(SHOWN_FILES).map(|name| shown_path(name).into_owned());
    let has_more = files.has_more || files.names.len() > SHOWN_FILES;
    let lines: Vec<String> = shown.chain(has_more.then(|| "(more files are not shown)".to_owned())).collect();
    if lines.is_empty() { "(empty)".to_owned() } else { lines.join("\n") }
}

const PLAN_RULES: &str = "Write the plan for this request: 2 to 8 steps, each on a line of its own, in order. Each step is \
     done by somebody who sees only the request, that step and the results of the steps before, so name files, words and \
     numbers exactly. Do not do the work, and do not explain. Where the same is to be done to several files, write one \
     line for all of them, with their names or a pattern:\n\
     FOR EACH FILE first.ext, second.ext: what to do with it\n\
     If the request is a question or needs one step only, write the single word NONE.";

/// Returns the words of the person that the run is about.
fn request(state: &State) -> &str {
    state.control.run.as_ref().map_or("", |run| run.evidence.request.text.as_str())
}

/// The message with which the child session of a step is started. Its text is made of the person's words and the step's;
/// what other runs and files say is attached, so that it does not count as what the person asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepMessage {
    /// What is to be done.
    pub text: String,
    /// The file it is about, whose text may be attached, too.
    pub file: Option<String>,
    /// What earlier steps brought, and an earlier try of this one.
    pub attached: Vec<AttachedText>,
}

/// Returns the message with which a child session is started for this step.
#[must_use]
pub fn step_message(state: &State, step: u32) -> StepMessage {
    let plan = &state.control.plan;
    let place = usize::try_from(step).unwrap_or(usize::MAX);
    let Some(item) = plan.items.get(place) else { return StepMessage::default() };
    let (request, count) = (one_line(request(state), REQUEST_LINE), plan.items.len());
    let mut sections = vec![format!(
        "Do one step of a larger job. Do this step only, then say briefly what you did and what you found.\n\n\
         The job: {request}\n\nThis step ({} of {count}): {}",
        place + 1,
        item.step
    )];
    if let Some(file) = &item.file {
        sections.push(format!("The file of this step: {file}"));
    }
    let mut attached = Vec::new();
    let done: Vec<&StepReport> =
        plan.reports.iter().filter(|report| report.step != place && report.is_done()).collect();
    if !done.is_empty() {
        let lines: Vec<String> = done.iter().map(|report| result(plan, report, EARLIER)).collect();
        attached.push(attachment("results of the steps before", newest(&lines, ALL_EARLIER), &done));
    }
    if let Some(tried) = plan.reports.iter().rev().find(|report| report.step == place) {
        sections.push("This step was tried before and not finished. Check what is there first.".to_owned());
        attached.push(attachment("report of the earlier try", result(plan, tried, RESULT), &[tried]));
    }
    StepMessage { text: sections.join("\n\n"), file: item.file.clone(), attached }
}

/// Returns a text made of these reports, as an attachment. Where one of them is about text that nobody has checked, this
/// text is, too (X4).
fn attachment(name: &str, text: String, reports: &[&StepReport]) -> AttachedText {
    let origin: Option<&TextOrigin> = reports.iter().find_map(|report| report.origins.first());
    AttachedText { origin: origin.cloned(), ..AttachedText::plain(name, text) }
}

/// Returns the message that asks for the answer, with what the steps brought.
#[must_use]
pub fn synthesis_request(state: &State) -> String {
    let plan = &state.control.plan;
    let request = cut_text(request(state).trim(), REQUEST);
    let results = all_results(plan);
    format!(
        "<request>\n{request}\n</request>\n\n<results>\n{results}\n</results>\n\n\
         Write the answer to the request from these results alone. Say what was done and what was found; add up or \
         compare where the request asks for it. Where a step was not done, say so. Claim nothing that the results do not \
         say."
    )
}

fn all_results(plan: &PlanProgress) -> String {
    let places = 0..plan.items.len();
    let lines: Vec<String> = places.map(|place| step_result(plan, place, RESULT)).collect();
    let all = lines.join("\n");
    if all.len() <= ALL_RESULTS {
        return all;
    }
    // Every step is named, each with an equal share.
    let share = ALL_RESULTS / lines.len().max(1);
    (0..plan.items.len()).map(|place| cut_text(&step_result(plan, place, share), share)).collect::<Vec<_>>().join("\n")
}

/// Returns what is known of a step.
fn step_result(plan: &PlanProgress, place: usize, most: usize) -> String {
    let last = plan.reports.iter().rev().find(|report| report.step == place);
    last.map_or_else(|| format!("{}: not done", title(plan, place)), |report| result(plan, report, most))
}

fn result(plan: &PlanProgress, report: &StepReport, most: usize) -> String {
    let state = if report.is_done() { "done" } else { "not done" };
    let mut line = format!("{}: {state}. {}", title(plan, report.step), one_line(&report.answer, most));
    if !report.changed.is_empty() {
        line += &format!(" [changed: {}]", cut_text(&report.changed.join(", "), most));
    }
    line
}

fn title(plan: &PlanProgress, place: usize) -> String {
    let number = place + 1;
    match plan.items.get(place) {
        Some(PlanItem { step, file: Some(file), .. }) => format!("{number}. {file}: {}", one_line(step, EARLIER)),
        Some(PlanItem { step, file: None, .. }) => format!("{number}. {}", one_line(step, EARLIER)),
        None => format!("{number}."),
    }
}

/// Returns the newest of these lines that fit.
fn newest(lines: &[String], most: usize) -> String {
    let mut room = most;
    let fits = |line: &&String| {
        room = room.saturating_sub(line.len() + 1);
        room > 0
    };
    let mut kept: Vec<&str> = lines.iter().rev().take_while(fits).map(String::as_str).collect();
    kept.reverse();
    kept.join("\n")
}

/// Returns what the model is told when it goes on without the plan.
pub(crate) fn left(plan: &PlanProgress) -> String {
    let steps = all_results(plan);
    format!(
        "The job was begun by a plan that can't be carried on. This is where it stands:\n{steps}\n\
         What is done stays done: do not repeat it. Go on with the rest of the job by yourself, and say at the end what \
         is not done."
    )
}

/// Returns what is said of the steps that are not done; `None` where all are.
pub(crate) fn not_done(plan: &PlanProgress) -> Option<String> {
    let places = plan.items.iter().enumerate().filter(|(_, item)| item.status != PlanStatus::Done);
    let lines: Vec<String> = places.map(|(place, _)| format!("- {}", step_result(plan, place, EARLIER))).collect();
    (!lines.is_empty()).then(|| format!("Not done:\n{}", lines.join("\n")))
}

/// Returns the answer where no model wrote one.
pub(crate) fn results_alone(plan: &PlanProgress) -> String {
    format!("The steps were carried out, but no model wrote the answer. They reported:\n{}", all_results(plan))
}
