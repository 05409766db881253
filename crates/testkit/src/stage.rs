//! Plays a script: finds the step that a conversation has reached, and the fault that applies to it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::fault::{FaultKind, ScriptedFault};
use crate::position::{ReplyCount, ScriptPosition};
use crate::script::{AfterSteps, CountFrom, Scene, SceneCondition, Script, ScriptStep};

/// A script being played. Its only state is how often faults occurred.
#[derive(Debug)]
pub(crate) struct ScriptPlayer {
    pub(crate) script: Script,
    struck: Mutex<HashMap<ScriptPlace, u32>>,
}

/// A position in the script for one prompt, so that conversations with different prompts count faults separately.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ScriptPlace {
    scene: usize,
    number: usize,
    prompt: String,
}

/// The reply to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cue<'a> {
    /// The scene, from 0.
    pub(crate) scene: usize,
    /// The number of the reply in its scene, from 0.
    pub(crate) number: usize,
    /// The step with its content.
    pub(crate) step: &'a ScriptStep,
    /// The fault that applies this time.
    pub(crate) fault: Option<&'a FaultKind>,
}

impl ScriptPlayer {
    pub(crate) fn new(script: Script) -> Self {
        Self { script, struck: Mutex::default() }
    }

    /// The reply for a conversation at `position`, or why the script has none.
    pub(crate) fn cue(&self, position: &ScriptPosition) -> Result<Cue<'_>, String> {
        let (scene, rules) = self
            .script
            .scenes
            .iter()
            .enumerate()
            .find(|(_, scene)| scene.when.fits(position))
            .ok_or_else(|| format!("the script has no scene for user message {}", position.users))?;
        let replies = match rules.counting {
            CountFrom::SinceUser => &position.since_user,
            CountFrom::Whole => &position.whole,
        };
        let cue = self.numbered(scene, next_number(scene, replies))?;
        let line = ScriptPlace { scene, number: cue.number, prompt: position.last_user.clone() };
        Ok(Cue { fault: self.strike(line, &cue.step.faults), ..cue })
    }

    /// The `number`-th reply of a scene, without its faults.
    pub(crate) fn numbered(&self, scene: usize, number: usize) -> Result<Cue<'_>, String> {
        let step = self.script.scenes.get(scene).and_then(|scene| scene.step(number));
        let step = step.ok_or_else(|| format!("scene {scene} of the script has no step {number}"))?;
        Ok(Cue { scene, number, step, fault: None })
    }

    /// The fault that applies to this request for `line`, counting the request.
    fn strike<'a>(&self, line: ScriptPlace, faults: &'a [ScriptedFault]) -> Option<&'a FaultKind> {
        if faults.is_empty() {
            return None;
        }
        let mut struck = self.struck.lock().unwrap_or_else(PoisonError::into_inner);
        let before = struck.entry(line).or_default();
        let mut left = *before;
        for fault in faults {
            if left < fault.times {
                *before += 1;
                return Some(&fault.kind);
            }
            left -= fault.times;
        }
        None
    }
}

impl SceneCondition {
    fn fits(&self, position: &ScriptPosition) -> bool {
        self.user_contains.as_ref().is_none_or(|words| position.last_user.contains(words))
            && self.user_number.is_none_or(|number| number == position.users)
            && self.tools.is_none_or(|tools| tools == position.tools)
    }
}

impl Scene {
    fn step(&self, number: usize) -> Option<&ScriptStep> {
        match self.then {
            AfterSteps::Refuse => self.steps.get(number),
            AfterSteps::RepeatLast => self.steps.get(number).or_else(|| self.steps.last()),
            AfterSteps::Cycle => self.steps.get(number.checked_rem(self.steps.len())?),
        }
    }
}

/// The generated id of a call without one: it encodes the position in the script.
pub(crate) fn call_id(scene: usize, number: usize, index: usize) -> String {
    format!("call_{scene}_{number}_{index}")
}

/// The number of the next reply: the one after the last call that has an id of this scene, else
/// the number of replies so far.
fn next_number(scene: usize, replies: &ReplyCount) -> usize {
    let last = replies.last_call.as_deref().and_then(|id| {
        let (of_scene, rest) = id.strip_prefix("call_")?.split_once('_')?;
        let (number, _) = rest.split_once('_')?;
        (of_scene.parse() == Ok(scene)).then(|| number.parse::<usize>().ok())?
    });
    last.map_or(replies.count, |number| number + 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ScriptPlayer, call_id};
    use crate::fault::FaultKind;
    use crate::position::{ReplyCount, ScriptPosition};
    use crate::script::{AfterSteps, Scene, Script, ScriptStep, ToolCalling};

    fn position(users: usize, last_user: &str, count: usize) -> ScriptPosition {
        let replies = ReplyCount { count, last_call: None };
        ScriptPosition {
            users,
            last_user: last_user.to_owned(),
            since_user: replies.clone(),
            whole: replies,
            tools: ToolCalling::Offered,
        }
    }

    fn messages(stage: &ScriptPlayer, position: &ScriptPosition) -> String {
        stage.cue(position).map_or_else(|none| none, |cue| cue.step.text.clone())
    }

    #[test]
    fn the_same_conversation_gets_the_same_reply_however_often_it_asks() {
        let stage = ScriptPlayer::new(Script::of([ScriptStep::say("one"), ScriptStep::say("two")]));
        for _ in 0..3 {
            assert_eq!(messages(&stage, &position(1, "go", 1)), "two");
            assert_eq!(messages(&stage, &position(1, "go", 0)), "one");
        }
        assert_eq!(messages(&stage, &position(1, "go", 2)), "scene 0 of the script has no step 2");
    }

    #[test]
    fn scenes_are_chosen_by_what_the_user_said_and_by_what_is_offered() {
        let stage = ScriptPlayer::new(
            Script::default()
                .scene(Scene::without_tools([ScriptStep::say("summary")]))
                .scene(Scene::when("tea", [ScriptStep::say("tea")]))
                .scene(Scene::user(2, [ScriptStep::say("second")])),
        );
        assert_eq!(messages(&stage, &position(1, "make tea", 0)), "tea");
        assert_eq!(messages(&stage, &position(2, "go on", 0)), "second");
        assert_eq!(messages(&stage, &position(1, "coffee", 0)), "the script has no scene for user message 1");
        let withheld = ScriptPosition { tools: ToolCalling::Withheld, ..position(1, "make tea", 7) };
        assert_eq!(messages(&stage, &withheld), "summary");
    }

    #[test]
    fn a_scene_can_go_round_or_stay_on_its_last_step() {
        let steps = || [ScriptStep::say("a"), ScriptStep::say("b")];
        let round = ScriptPlayer::new(Script::default().scene(Scene::when("", steps()).then(AfterSteps::Cycle)));
        let stay = ScriptPlayer::new(Script::default().scene(Scene::when("", steps()).then(AfterSteps::RepeatLast)));
        assert_eq!(messages(&round, &position(1, "", 4)), "a");
        assert_eq!(messages(&stay, &position(1, "", 4)), "b");
    }

    #[test]
    fn an_empty_scene_that_goes_round_has_no_step() {
        let stage = ScriptPlayer::new(Script::default().scene(Scene::default().then(AfterSteps::Cycle)));
        assert!(stage.cue(&position(1, "", 0)).is_err());
    }

    #[test]
    fn the_id_of_the_last_call_tells_the_step_when_older_turns_are_gone() {
        let stage = ScriptPlayer::new(Script::of((0..9).map(|n| ScriptStep::call(&format!("t{n}"), json!({})))));
        let mut pruned = position(1, "go", 1);
        pruned.whole.last_call = Some(call_id(0, 4, 0));
        assert_eq!(stage.cue(&pruned).unwrap().number, 5);
        pruned.whole.last_call = Some(call_id(3, 4, 0));
        assert_eq!(stage.cue(&pruned).unwrap().number, 1);
    }

    #[test]
    fn faults_strike_in_order_and_apart_for_each_prompt() {
        let step = ScriptStep::say("x").fault(FaultKind::Html.times(2)).fault(FaultKind::Refuse);
        let stage = ScriptPlayer::new(Script::of([step]));
        let fault = |prompt: &str| stage.cue(&position(1, prompt, 0)).unwrap().fault.cloned();
        let (html, refuse) = (Some(FaultKind::Html), Some(FaultKind::Refuse));
        assert_eq!([fault("a"), fault("a"), fault("a"), fault("a")], [html.clone(), html.clone(), refuse, None]);
        assert_eq!(fault("b"), html);
    }
}
