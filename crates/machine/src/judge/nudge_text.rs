//! What the model is told when the judge sends its reply back: facts from the records, with names that exist. No text
//! is ever sent twice in a run, because each of its nudges has its own closing words.

use windlass_vocab::{ReplyFault, ToolSpec};

/// What the model is told of its calls, in the words of its dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallWording {
    none_yet: &'static str,
    all_failed: &'static str,
    no_change: &'static str,
    in_text: &'static str,
    /// The last sentence of each nudge of a run, in order.
    closings: [&'static str; 3],
}

/// For a model that writes calls.
pub(crate) const CALLS: CallWording = CallWording {
    none_yet: "No call was made yet",
    all_failed: "Every call so far failed, so nothing is done or known. Read the error and use other arguments.",
    no_change: "no call so far has changed a file",
    in_text: "The last reply had a call in its text, which does not run it.",
    closings: [
        "Make the next call now.",
        "Reply with one tool call and no other text.",
        "If it can't be done, say in one sentence why; otherwise make the call.",
    ],
};

/// For a model that writes scripts and knows of no calls.
pub(crate) const SCRIPTS: CallWording = CallWording {
    none_yet: "No script was run yet",
    all_failed: "Every script so far failed, so nothing is done or known. Read the error and write a better one.",
    no_change: "no script so far has changed a file",
    in_text: "The last reply had a script that was not written as a block, so it was not run.",
    closings: [
        "Write the script now.",
        "Reply with one block of script and no other text.",
        "If it can't be done, say in one sentence why; otherwise write the script.",
    ],
};

/// For a model that is offered no tools.
pub(crate) const ANSWERS: CallWording = CallWording {
    none_yet: "Nothing was done",
    all_failed: "Nothing that was tried worked.",
    no_change: "nothing can be changed here",
    in_text: "The last reply was a call. No tool can be called here, and all that is known is above.",
    closings: [
        "Answer in words now.",
        "Reply with a sentence that answers the request, and with no call.",
        "If you do not know the answer, say so in one sentence.",
    ],
};

/// Returns the text of the nudge number `given`, counted from 0, about these faults.
pub(crate) fn nudge_text(faults: &[ReplyFault], offer: &[ToolSpec], wording: &CallWording, given: u32) -> String {
    let facts: Vec<String> = faults.iter().take(2).map(|fault| fact(fault, offer, wording)).collect();
    let place = usize::try_from(given).unwrap_or(usize::MAX).min(wording.closings.len() - 1);
    format!("{} {}", facts.join(" "), wording.closings[place])
}

fn fact(fault: &ReplyFault, offer: &[ToolSpec], wording: &CallWording) -> String {
    match fault {
        ReplyFault::NoCall { files } if files.is_empty() => format!("{}, so nothing was changed.", wording.none_yet),
        ReplyFault::NoCall { files } => {
            let (exist, it) = if files.len() == 1 { ("exists", "it") } else { ("exist", "them") };
            let with = with_tool(offer, &format!(": read {it} with"), &["read_file"]);
            format!("{}. {} {exist} here{with}.", wording.none_yet, listed(files))
        }
        ReplyFault::NotWritten { files } => {
            let (was, it) = if files.len() == 1 { ("was", "it") } else { ("were", "them") };
            let with = with_tool(offer, &format!(": write {it} with"), &["write_file"]);
            format!("{} {was} not written yet{with}.", listed(files))
        }
        ReplyFault::NotComputed {} => {
            "No script was run yet, and a figure is not to be guessed: compute it from the files and print it."
                .to_owned()
        }
        ReplyFault::CallsFailed {} => wording.all_failed.to_owned(),
        ReplyFault::NothingChanged {} => {
            let with = with_tool(offer, "; change files with", &["edit_file", "write_file"]);
            format!("Nothing was changed yet, because {}{with}.", wording.no_change)
        }
        ReplyFault::Untouched { files } => {
            let was = if files.len() == 1 { "was" } else { "were" };
            format!("{} {was} neither read nor changed yet.", listed(files))
        }
        ReplyFault::NotChanged { files } => {
            let was = if files.len() == 1 { "was" } else { "were" };
            format!("{} {was} not changed yet.", listed(files))
        }
        ReplyFault::Repeated {} => "The last reply repeated what was done before.".to_owned(),
        ReplyFault::StepsOpen { steps } => format!("Steps of the plan are open: {}.", steps.join("; ")),
        ReplyFault::CallAsText {} => wording.in_text.to_owned(),
        ReplyFault::StepAnnounced {} => "The last reply announced a step and did not take it.".to_owned(),
        ReplyFault::HandedBack {} => {
            "The files are here and can be changed from here; the person will not do it by hand.".to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    // proves S2: a model that knows of no calls is told of scripts, and no nudge of a run is like another
    #[test]
    fn a_model_is_told_in_the_words_of_its_dialect() {
        let faults = [ReplyFault::NoCall { files: vec![] }, ReplyFault::CallsFailed {}];
        for given in 0..3 {
            let (calls, scripts) = (nudge_text(&faults, &[], &CALLS, given), nudge_text(&faults, &[], &SCRIPTS, given));
            assert!(calls.contains("No call was made yet") && !calls.contains("script"), "{calls}");
            assert!(scripts.contains("No script was run yet") && !scripts.contains("call"), "{scripts}");
            assert_ne!(scripts, nudge_text(&faults, &[], &SCRIPTS, (given + 1) % 3));
        }
    }
}
