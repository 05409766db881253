//! What the model is told when the judge sends its reply back: facts from the records, with names that exist. No text
//! is ever sent twice in a run, because each of its nudges has its own closing words.

use windlass_vocab::{ReplyFault, ToolSpec};

/// The last sentence of each nudge of a run, in order.
const CLOSINGS: [&str; 3] = [
    "Make the next call now.",
    "Reply with one tool call and no other text.",
    "If it can't be done, say in one sentence why; otherwise make the call.",
];

/// Returns the text of the nudge number `given`, counted from 0, about these faults.
pub(crate) fn nudge_text(faults: &[ReplyFault], offer: &[ToolSpec], given: u32) -> String {
    let facts: Vec<String> = faults.iter().take(2).map(|fault| fact(fault, offer)).collect();
    let place = usize::try_from(given).unwrap_or(usize::MAX).min(CLOSINGS.len() - 1);
    format!("{} {}", facts.join(" "), CLOSINGS[place])
}

fn fact(fault: &ReplyFault, offer: &[ToolSpec]) -> String {
    match fault {
        ReplyFault::NoCall { files } if files.is_empty() => "No call was made yet, so nothing was changed.".to_owned(),
        ReplyFault::NoCall { files } => {
            let (exist, it) = if files.len() == 1 { ("exists", "it") } else { ("exist", "them") };
            let with = with_tool(offer, &format!(": read {it} with"), &["read_file"]);
            format!("No call was made yet. {} {exist} here{with}.", listed(files))
        }
        ReplyFault::NotWritten { files } => {
            let (was, it) = if files.len() == 1 { ("was", "it") } else { ("were", "them") };
            let with = with_tool(offer, &format!(": write {it} with"), &["write_file"]);
            format!("{} {was} not written yet{with}.", listed(files))
        }
        ReplyFault::CallsFailed {} => {
            "Every call so far failed, so nothing is done or known. Read the error and use other arguments.".to_owned()
        }
        ReplyFault::NothingChanged {} => {
            let with = with_tool(offer, "; change files with", &["edit_file", "write_file"]);
            format!("Nothing was changed yet, because the calls so far only read{with}.")
        }
        ReplyFault::Untouched { files } => {
            let was = if files.len() == 1 { "was" } else { "were" };
            format!("{} {was} neither read nor changed yet.", listed(files))
        }
        ReplyFault::StepsOpen { steps } => format!("Steps of the plan are open: {}.", steps.join("; ")),
        ReplyFault::CallAsText {} => "The last reply had a call in its text, which does not run it.".to_owned(),
        ReplyFault::StepAnnounced {} => "The last reply announced a step and did not take it.".to_owned(),
        ReplyFault::HandedBack {} => {
            "The files are here and the tools reach them; the person will not do it by hand.".to_owned()
        }
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some(_) | None => quoted.join(""),
    }
}

/// Returns the name of the first of these built-in tools that is offered, as the model knows it, with words before it.
fn with_tool(offer: &[ToolSpec], before: &str, tools: &[&str]) -> String {
    let offered =
        tools.iter().find_map(|tool| offer.iter().find(|spec| spec.name.is_local() && spec.name.bare() == *tool));
    offered.map(|spec| format!("{before} {}", spec.wire_name)).unwrap_or_default()
}
