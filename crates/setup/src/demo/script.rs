//! The demo model's script: a pure function of the conversation.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_vocab::{Message, OutcomeKind};

use super::words::DemoWords;

/// The message that starts the demo job.
pub const PROMPT: &str = "Rename the screenshots in this folder after what is on them.";

/// Prefix of every text of the demo model.
const LABEL: &str = "demo model, scripted: ";

/// One step of the demo model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DemoStep {
    /// Requests tool calls, with or without text before them.
    Calls { beside: String, calls: Vec<DemoCall> },
    /// Returns an empty reply, as real models sometimes do.
    Nothing,
    /// Ends the job with this text.
    Finish(String),
    /// Answers a message that does not start the job.
    Talk(String),
}

/// A tool call that the model requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DemoCall {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
}

/// A tool call together with its result.
struct FinishedCall<'a> {
    tool: &'a str,
    arguments: Value,
    outcome: OutcomeKind,
    text: &'a str,
}

/// Returns the model's next step.
pub(super) fn next_step(history: &[Message], words: &DemoWords) -> DemoStep {
    let begins = |message: &Message| matches!(message, Message::User { text, .. } if text.trim() == PROMPT);
    let Some(start) = history.iter().rposition(begins) else { return talk(words) };
    let since = &history[start + 1..];
    let is_answer = |message: &Message| matches!(message, Message::Assistant { calls, .. } if calls.is_empty());
    if since.iter().any(is_answer) {
        return talk(words);
    }
    go_on(&results(since), since.last(), words)
}

fn talk(words: &DemoWords) -> DemoStep {
    let DemoWords { connect, demo } = words;
    DemoStep::Talk(format!("{LABEL}I only know one job ({demo} shows it again) and can't answer this.\n\n{connect}"))
}

/// Text of the model when the run is stopped before the job is done.
pub(super) fn cut_short(words: &DemoWords) -> String {
    format!("{LABEL}I was stopped before the screenshots were all renamed; {} begins anew.", words.demo)
}

fn go_on(done: &[FinishedCall<'_>], last: Option<&Message>, words: &DemoWords) -> DemoStep {
    let Some(listed) = done.iter().find(|call| call.tool == "list_directory") else {
        let call = DemoCall { tool: "list_directory", arguments: json!({"path": "."}) };
        return DemoStep::Calls { beside: format!("{LABEL}first I look at what is there."), calls: vec![call] };
    };
    let shots = screenshots(listed.text);
    if shots.is_empty() {
        let none = "there are no screenshots here with their text beside them";
        return DemoStep::Finish(format!("{LABEL}{none}; {} makes a folder that has some.", words.demo));
    }
    let unread: Vec<DemoCall> = shots
        .iter()
        .map(|shot| beside(shot))
        .filter(|text| read(done, text).is_none())
        .map(|text| read_call(&text))
        .collect();
    if !unread.is_empty() {
        let beside = format!("{LABEL}{} screenshots; I read the text that lies beside each.", shots.len());
        return DemoStep::Calls { beside, calls: unread };
    }
    let names = names(&shots, done);
    let moved = |shot: &str| done.iter().find(|call| call.tool == "move_file" && call.arguments["from"] == shot);
    let is_first = shots.iter().all(|shot| moved(shot).is_none());
    // An empty reply, which the agent loop must survive: it nudges the model, and the last message is then the nudge.
    if is_first && matches!(last, Some(Message::Tool { .. })) {
        return DemoStep::Nothing;
    }
    let Some((shot, name)) = shots.iter().zip(&names).find(|(shot, _)| moved(shot).is_none()) else {
        return DemoStep::Finish(report(&shots, moved) + "\n\n" + words.connect);
    };
    let beside = if is_first { format!("{LABEL}now I know what each shows, and rename them.") } else { String::new() };
    let call = DemoCall { tool: "move_file", arguments: json!({"from": shot, "to": name}) };
    DemoStep::Calls { beside, calls: vec![call] }
}

fn read_call(path: &str) -> DemoCall {
    DemoCall { tool: "read_file", arguments: json!({ "path": path }) }
}

fn report<'a>(shots: &[String], moved: impl Fn(&str) -> Option<&'a FinishedCall<'a>>) -> String {
    let failed =
        shots.iter().filter_map(|shot| Some((shot, moved(shot)?))).filter(|(_, call)| call.outcome != OutcomeKind::Ok);
    let failed: Vec<String> = failed.map(|(shot, call)| format!("{shot}: {}", call.text)).collect();
    let done = shots.len() - failed.len();
    let mut text =
        format!("{LABEL}done. {done} of {} screenshots now have a name that says what is on them.", shots.len());
    for line in failed {
        text.push_str("\n- ");
        text.push_str(&line);
    }
    text
}

/// Returns the calls of a conversation that have a result, in order.
fn results(history: &[Message]) -> Vec<FinishedCall<'_>> {
    let mut calls = Vec::new();
    let mut done = Vec::new();
    for message in history {
        match message {
            Message::Assistant { calls: asked, .. } => calls.extend(asked),
            Message::Tool { call, outcome, text, .. } => {
                let asked = calls.iter().find(|asked| asked.call == *call);
                done.extend(asked.map(|asked| FinishedCall {
                    tool: asked.name.as_str(),
                    arguments: asked.arguments.to_value(),
                    outcome: *outcome,
                    text,
                }));
            }
            Message::User { .. } => {}
        }
    }
    done
}

/// Returns the pictures of a listing that have a text file next to them.
fn screenshots(listing: &str) -> Vec<String> {
    let files: BTreeSet<&str> = listing.lines().filter_map(|line| Some(line.rsplit_once("  ")?.0)).collect();
    let with_text = |file: &&&str| file.ends_with(".png") && files.contains(beside(file).as_str());
    files.iter().filter(with_text).map(|file| (*file).to_owned()).collect()
}

/// Returns the name of the text file that belongs to a picture.
fn beside(shot: &str) -> String {
    format!("{}.txt", shot.trim_end_matches(".png"))
}

fn read<'a>(done: &'a [FinishedCall<'a>], path: &str) -> Option<&'a FinishedCall<'a>> {
    done.iter().find(|call| call.tool == "read_file" && call.arguments["path"] == path)
}

/// Returns a unique name for each picture, made from the first line of its text file.
fn names(shots: &[String], done: &[FinishedCall<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for shot in shots {
        let line = read(done, &beside(shot)).filter(|call| call.outcome == OutcomeKind::Ok);
        let line = line.and_then(|call| call.text.lines().next()).unwrap_or_default();
        let stem = slug(line);
        let mut name = format!("{stem}.png");
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{stem}-{number}.png");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// `Boarding pass: Lisbon` → `boarding-pass-lisbon`.
fn slug(line: &str) -> String {
    const LONGEST: usize = 48;
    let mut slug = String::new();
    for word in line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + word.len() >= LONGEST {
            break;
        }
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.push_str(&word.to_lowercase());
    }
    if slug.is_empty() { "untitled".to_owned() } else { slug }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_vocab::{CallId, CallInHistory, Json, Message, OutcomeKind, Part, RunId, TurnId};

    use super::{DemoStep, DemoWords, LABEL, PROMPT, next_step, screenshots, slug};

    /// A conversation that supplies a result for every call the model requests.
    struct ScriptedTalk {
        history: Vec<Message>,
        turn: u32,
    }

    impl ScriptedTalk {
        fn begun() -> Self {
            Self { history: vec![user(PROMPT)], turn: 0 }
        }

        /// Takes one step and returns it.
        fn step(&mut self, mut result: impl FnMut(&str, &serde_json::Value) -> (OutcomeKind, String)) -> DemoStep {
            let act = next_step(&self.history, &DemoWords::SAMPLE);
            self.turn += 1;
            match &act {
                DemoStep::Calls { calls, .. } => {
                    let id = |index: usize| CallId { run: RunId(1), turn: TurnId(self.turn), index: index as u32 };
                    let asked: Vec<_> = calls.iter().enumerate().collect();
                    let calls = asked.iter().map(|(index, call)| CallInHistory {
                        call: id(*index),
                        provider_id: None,
                        name: call.tool.into(),
                        arguments: Json::from(&call.arguments),
                    });
                    self.history.push(Message::Assistant {
                        parts: Vec::new(),
                        calls: calls.collect(),
                        model: "demo".into(),
                    });
                    for (index, call) in asked {
                        let (outcome, text) = result(call.tool, &call.arguments);
                        self.history.push(Message::Tool {
                            call: id(index),
                            provider_id: None,
                            name: call.tool.into(),
                            outcome,
                            text,
                            images: Vec::new(),
                        });
                    }
                }
                DemoStep::Nothing => self.history.push(user("Your last reply was empty.")),
                DemoStep::Finish(text) | DemoStep::Talk(text) => {
                    let parts = vec![Part::Text { text: text.clone() }];
                    self.history.push(Message::Assistant { parts, calls: Vec::new(), model: "demo".into() });
                }
            }
            act
        }
    }

    fn user(text: &str) -> Message {
        Message::user(text)
    }

    fn well(tool: &str, arguments: &serde_json::Value) -> (OutcomeKind, String) {
        let text = match tool {
            "list_directory" => {
                "a/\nshot-1.png  90\nshot-1.txt  20\nshot-2.png  90\nshot-2.txt  20\nlone.png  1".into()
            }
            "read_file" => format!("Text of {}\nmore\n", arguments["path"].as_str().unwrap_or_default()),
            _ => "Moved.".into(),
        };
        (OutcomeKind::Ok, text)
    }

    #[test]
    fn the_job_is_listed_read_fallen_silent_over_renamed_and_reported() {
        let mut talk = ScriptedTalk::begun();
        let acts: Vec<DemoStep> = (0..6).map(|_| talk.step(well)).collect();
        let tools = |act: &DemoStep| match act {
            DemoStep::Calls { calls, .. } => calls.iter().map(|call| call.tool).collect::<Vec<_>>().join(" "),
            DemoStep::Nothing => "nothing".into(),
            DemoStep::Finish(text) | DemoStep::Talk(text) => text.clone(),
        };
        let tools: Vec<String> = acts.iter().map(tools).collect();
        assert_eq!(tools[..5], ["list_directory", "read_file read_file", "nothing", "move_file", "move_file"]);
        assert!(tools[5].starts_with("demo model, scripted: done. 2 of 2") && tools[5].contains("Connect a model."));
        let DemoStep::Calls { calls, .. } = &acts[4] else { panic!("{:?}", acts[4]) };
        assert_eq!(calls[0].arguments, json!({"from": "shot-2.png", "to": "text-of-shot-2-txt.png"}));
    }

    // A killed demo can resume only because replies depend on the conversation alone.
    #[test]
    fn asked_again_at_any_point_it_says_the_same() {
        let mut talk = ScriptedTalk::begun();
        for _ in 0..6 {
            assert_eq!(
                next_step(&talk.history, &DemoWords::SAMPLE),
                next_step(&talk.history.clone(), &DemoWords::SAMPLE)
            );
            let asked = next_step(&talk.history, &DemoWords::SAMPLE);
            assert_eq!(talk.step(well), asked);
        }
    }

    #[test]
    fn a_rename_that_fails_is_reported_and_not_tried_for_ever() {
        let mut talk = ScriptedTalk::begun();
        let mut last = DemoStep::Nothing;
        for _ in 0..6 {
            last = talk.step(|tool, arguments| match tool {
                "move_file" => (OutcomeKind::Denied, "Not allowed.".into()),
                _ => well(tool, arguments),
            });
        }
        let DemoStep::Finish(text) = last else { panic!("{last:?}") };
        assert!(text.contains("0 of 2") && text.contains("shot-1.png: Not allowed."), "{text}");
    }

    #[test]
    fn any_other_message_gets_one_honest_sentence_and_how_to_connect() {
        let mut talk = ScriptedTalk::begun();
        while !matches!(talk.step(well), DemoStep::Finish(_)) {}
        talk.history.push(user("And now?"));
        for history in [vec![user("hello")], talk.history] {
            let DemoStep::Talk(text) = next_step(&history, &DemoWords::SAMPLE) else { panic!("it should talk") };
            assert!(
                text.starts_with(LABEL) && text.contains("can't answer") && text.contains("Connect a model."),
                "{text}"
            );
        }
    }

    #[test]
    fn a_folder_without_screenshots_ends_the_job_at_once() {
        let mut talk = ScriptedTalk::begun();
        let empty = |_: &str, _: &serde_json::Value| (OutcomeKind::Ok, "[the directory is empty]".to_owned());
        talk.step(empty);
        assert!(matches!(talk.step(empty), DemoStep::Finish(text) if text.contains("the demo makes a folder")));
    }

    #[test]
    fn names_are_made_from_words() {
        assert_eq!(screenshots("shot-10.png  1\nshot-10.txt  1\nx.png  3"), ["shot-10.png"]);
        for (line, expected) in [("Error: disk full!", "error-disk-full"), ("  ", "untitled"), ("ÜBER 9", "über-9")] {
            assert_eq!(slug(line), expected);
        }
        assert!(slug(&"word ".repeat(100)).len() <= 48);
    }
}
