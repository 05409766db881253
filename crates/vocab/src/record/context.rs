//! The context that a run sends before the conversation: the prefix, the offered tools, and how calls are written.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::overview::WorkspaceOverview;
use crate::{Dialect, ModelName, ToolSpec};

/// The prefix and the offered tools, as they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedContext {
    /// The static prefix: the system text.
    pub prefix: String,
    /// The tools offered.
    pub offer: Vec<ToolSpec>,
    /// The dialect that the prefix explains and every model of the run writes calls in; absent means the wire's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// Servers that were being connected for the first time, so that none of their tools is offered yet.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub awaited: BTreeSet<String>,
    /// The models that write calls as text, where the others use the wire's own format. Absent means that `dialect`
    /// holds for every model of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_calls: Option<TextCalls>,
    /// The same for further dialects, where the models of the run write calls in several (M2).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_text_calls: Vec<TextCalls>,
    /// How many tools the offer leaves out because others fit the request better (S4); the model can look for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How some models of a run write calls, although others write them in another way (T4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCalls {
    /// The dialect they write calls in.
    pub dialect: Dialect,
    /// The schemas of the tools and the rules for writing calls, which follow the prefix for these models.
    pub rules: String,
    /// Their names.
    pub models: BTreeSet<ModelName>,
    /// What they are sent in place of the shared prefix and the rules, where their dialect has a prefix of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

impl PinnedContext {
    /// Returns the parts about calls written as text that only some models get.
    pub fn partial_text_calls(&self) -> impl Iterator<Item = &TextCalls> {
        self.text_calls.iter().chain(&self.further_text_calls).filter(|_| self.dialect.is_none())
    }

    /// Returns the part about calls written as text, if this model gets it and others don't.
    #[must_use]
    pub fn text_calls_of(&self, model: &ModelName) -> Option<&TextCalls> {
        self.partial_text_calls().find(|text| text.models.contains(model))
    }

    /// Returns the dialect in which this model writes calls; `None` means the wire's own format.
    #[must_use]
    pub fn dialect_of(&self, model: &ModelName) -> Option<Dialect> {
        self.dialect.or_else(|| self.text_calls_of(model).map(|text| text.dialect))
    }

    /// Returns the prefix that this model is sent.
    #[must_use]
    pub fn prefix_of(&self, model: &ModelName) -> Cow<'_, str> {
        match self.text_calls_of(model) {
            Some(TextCalls { prefix: Some(own), .. }) => Cow::Borrowed(own),
            Some(text) if self.prefix.is_empty() => Cow::Borrowed(&text.rules),
            Some(text) => Cow::Owned(format!("{}\n\n{}", self.prefix, text.rules)),
            None => Cow::Borrowed(&self.prefix),
        }
    }
}

/// The context that a run sends before the conversation was fixed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPinned {
    /// The new context; absent when it is the same as in the previous run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<PinnedContext>,
    /// Servers whose tools were added to the offer of the open run with this record; once per server and run (M6).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub joined: BTreeSet<String>,
    /// What the workspace held, where the policy shows that to the model before the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overview: Option<Box<WorkspaceOverview>>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{PinnedContext, TextCalls};
    use crate::Dialect;

    // proves T4, J7: a record from before models differed says how all of them write calls
    #[test]
    fn a_dialect_without_models_is_that_of_every_model() {
        let old: PinnedContext = serde_json::from_str(r#"{"prefix":"p","offer":[],"dialect":"tool_block"}"#).unwrap();
        assert_eq!(old.text_calls, None);
        for model in ["a", "b"] {
            assert_eq!(old.dialect_of(&model.into()), Some(Dialect::ToolBlock));
            assert_eq!(old.prefix_of(&model.into()), "p");
        }
        let native: PinnedContext = serde_json::from_str(r#"{"prefix":"p","offer":[]}"#).unwrap();
        assert_eq!(native.dialect_of(&"a".into()), None);
    }

    // proves T4, M2
    #[test]
    fn only_the_models_that_are_named_write_calls_as_text() {
        let (models, rules) = (BTreeSet::from(["a".into()]), "Write [tool()].".to_owned());
        let text_calls = Some(TextCalls { dialect: Dialect::Bracket, rules, models, prefix: None });
        let own = TextCalls {
            dialect: Dialect::ToolTag,
            rules: String::new(),
            models: BTreeSet::from(["c".into()]),
            prefix: Some("short".into()),
        };
        let further_text_calls = vec![own];
        let context = PinnedContext { prefix: "p".into(), text_calls, further_text_calls, ..PinnedContext::default() };
        let stored = serde_json::to_string(&context).unwrap();
        let context: PinnedContext = serde_json::from_str(&stored).unwrap();
        for (model, dialect, prefix) in [
            ("a", Some(Dialect::Bracket), "p\n\nWrite [tool()]."),
            ("b", None, "p"),
            ("c", Some(Dialect::ToolTag), "short"),
        ] {
            let model = model.into();
            assert_eq!((context.dialect_of(&model), context.prefix_of(&model).as_ref()), (dialect, prefix));
        }
    }
}
