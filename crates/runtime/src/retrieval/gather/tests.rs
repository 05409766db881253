use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_provider::BoxFuture;

use super::gather;
use crate::retrieval::source::{ContextSource, Passage, SourceError};

/// A source that answers in one way.
enum Scripted {
    Finds(&'static [&'static str]),
    Fails,
    Panics,
    NeverAnswers,
}

impl ContextSource for Scripted {
    fn name(&self) -> &str {
        match self {
            Self::Finds(_) => "finds",
            Self::Fails => "fails",
            Self::Panics => "panics",
            Self::NeverAnswers => "never answers",
        }
    }

    fn find(&self, message: &str, most: usize) -> BoxFuture<'static, Result<Vec<Passage>, SourceError>> {
        assert_eq!((message, most), ("anchor", 6));
        match self {
            Self::Finds(texts) => {
                let texts = *texts;
                Box::pin(async move { Ok(texts.iter().map(|text| Passage::new(*text, *text, 1.0)).collect()) })
            }
            Self::Fails => Box::pin(async { Err(SourceError("no network".into())) }),
            Self::Panics => Box::pin(async { panic!("a source that panics, on purpose") }),
            Self::NeverAnswers => Box::pin(std::future::pending()),
        }
    }
}

// proves C10: a source that fails or is slow is left out; the others count
#[tokio::test]
async fn a_source_that_fails_or_is_slow_is_left_out() {
    let sources: Vec<Arc<dyn ContextSource>> = vec![
        Arc::new(Scripted::Finds(&["a1", "a2", "a3"])),
        Arc::new(Scripted::NeverAnswers),
        Arc::new(Scripted::Fails),
        Arc::new(Scripted::Panics),
        Arc::new(Scripted::Finds(&["b1"])),
        Arc::new(Scripted::Finds(&[])),
    ];
    let began = Instant::now();
    let gathered = gather(sources, "anchor".into()).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let found: Vec<&str> = gathered.passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(found, ["a1", "b1", "a2", "a3"], "the sources take turns");
    let left_out: Vec<(&str, &str)> =
        gathered.left_out.iter().map(|(source, why)| (source.as_str(), why.as_str())).collect();
    assert_eq!(
        left_out,
        [("never answers", "it took longer than 200 ms"), ("fails", "no network"), ("panics", "it failed")]
    );
}
