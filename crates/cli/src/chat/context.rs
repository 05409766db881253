//! What fills the model's window: the parts of the last budget in the journal.

use windlass_narrate::{grouped, harmless_line};
use windlass_runtime::InstructionFile;
use windlass_setup::context_files::ContextFiles;
use windlass_vocab::{ContextBudget, Envelope, Record};

/// Bytes for a token of prose, for what was not measured yet.
const BYTES_PER_TOKEN: u64 = 4;

/// Returns a line for each part of the last turn's budget; before the first turn, the files that will be sent.
pub(super) fn report(records: &[Envelope], files: &ContextFiles) -> String {
    last_turn(records).unwrap_or_else(|| format!("nothing was sent to a model yet\n{}", beforehand(files)))
}

/// Returns a line for each part of the last turn's budget; `None` before the first turn.
pub(crate) fn last_turn(records: &[Envelope]) -> Option<String> {
    let budget = records.iter().rev().find_map(|envelope| match &envelope.record {
        Record::TurnStarted(started) => started.budget,
        _ => None,
    });
    budget.map(|budget| lines(&budget))
}

/// Returns the instructions that go with the first message, roughly measured.
fn beforehand(files: &ContextFiles) -> String {
    let line = |file: &InstructionFile| {
        let tokens = u64::try_from(file.text.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
        format!("  {} will be sent: about {} tokens\n", harmless_line(&file.path), grouped(tokens))
    };
    files.user.iter().chain(&files.project.files).map(line).collect()
}

fn lines(budget: &ContextBudget) -> String {
    let mut rows = vec![("instructions", budget.prefix), ("tools", budget.tools), ("conversation", budget.history)];
    if budget.retrieved > 0 {
        rows.push(("passages, at most", budget.retrieved));
    }
    rows.push(("sent in all", budget.used()));
    if let (Some(window), Some(remaining)) = (budget.window, budget.remaining) {
        rows.extend([
            ("kept for the reply", budget.reserve),
            ("kept for safety", budget.safety),
            ("left", remaining),
            ("the model's window", window),
        ]);
    }
    let amount = |tokens: u64| match budget.window.filter(|window| *window > 0) {
        Some(window) => format!("{:>10}  {:>3} %", grouped(tokens), tokens.saturating_mul(100) / window),
        None => format!("{:>10}", grouped(tokens)),
    };
    let rows = rows.iter().map(|(part, tokens)| format!("  {part:<18}{}\n", amount(*tokens)));
    let mut text = "what the last turn sent, in tokens:\n".to_owned();
    text.extend(rows);
    if budget.window.is_none() {
        text.push_str("  how large the model's window is, is not known\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use windlass_runtime::InstructionFile;
    use windlass_setup::context_files::ContextFiles;
    use windlass_vocab::ContextBudget;

    use super::{lines, report};

    // proves C3, C10
    #[test]
    fn each_part_of_the_window_has_its_line() {
        let mut files = ContextFiles::default();
        assert_eq!(report(&[], &files), "nothing was sent to a model yet\n");
        files.project.files.push(InstructionFile { path: "AGENTS.md".into(), text: "Be brief. ".repeat(1_000) });
        let before = "nothing was sent to a model yet\n  AGENTS.md will be sent: about 2,500 tokens\n";
        assert_eq!(report(&[], &files), before);
        let budget = ContextBudget { prefix: 900, tools: 2_100, history: 7_000, ..ContextBudget::default() };
        assert_eq!(
            lines(&budget),
            "what the last turn sent, in tokens:\n  instructions             900\n  tools                  2,100\n  \
             conversation           7,000\n  sent in all           10,000\n  \
             how large the model's window is, is not known\n"
        );
        let (window, remaining) = (Some(20_000), Some(7_000));
        let known = lines(&ContextBudget { window, reserve: 2_500, safety: 500, remaining, ..budget });
        assert_eq!(known.lines().nth(3), Some("  conversation           7,000   35 %"));
        assert_eq!(known.lines().nth(8), Some("  the model's window    20,000  100 %"));
        assert_eq!(known.lines().count(), 9);
        let retrieves = lines(&ContextBudget { retrieved: 1_000, ..budget });
        assert_eq!(retrieves.lines().nth(4), Some("  passages, at most      1,000"));
        assert_eq!(retrieves.lines().nth(5), Some("  sent in all           11,000"));
    }
}
