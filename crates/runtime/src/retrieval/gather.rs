//! Asks the sources of an agent for the passages of a turn.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::source::{ContextSource, Passage};

/// How long a turn waits for a source. A person does not notice it beside the model's own time.
const SOURCE_TIME: Duration = Duration::from_millis(200);
/// How many passages a source is asked for.
const MOST: usize = 6;

/// What the sources have found for a turn.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Best first; the sources take turns.
    pub(crate) passages: Vec<Passage>,
    /// The sources that failed or were late, and why.
    pub(crate) left_out: Vec<(String, String)>,
}

/// Asks all sources at once.
pub(crate) async fn gather(sources: Vec<Arc<dyn ContextSource>>, message: String) -> Gathered {
    let mut asked = JoinSet::new();
    let mut names = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        names.push(source.name().to_owned());
        let found = source.find(&message, MOST);
        asked.spawn(async move { (place, tokio::time::timeout(SOURCE_TIME, found).await) });
    }
    let mut answers: Vec<Result<Vec<Passage>, String>> = vec![Err("it failed".to_owned()); names.len()];
    while let Some(joined) = asked.join_next().await {
        // A source that panics has no answer.
        let Ok((place, found)) = joined else { continue };
        answers[place] = match found {
            Ok(found) => found.map_err(|error| error.to_string()),
            Err(_) => Err(format!("it took longer than {} ms", SOURCE_TIME.as_millis())),
        };
    }
    let mut gathered = Gathered::default();
    let mut found = Vec::new();
    for (name, answer) in names.into_iter().zip(answers) {
        match answer {
            Ok(passages) => found.push(passages.into_iter()),
            Err(why) => gathered.left_out.push((name, why)),
        }
    }
    for _ in 0..MOST {
        gathered.passages.extend(found.iter_mut().filter_map(Iterator::next));
    }
    gathered
}

#[cfg(test)]
mod tests;
