//! The files that a scan left out, and why.

use std::collections::BTreeMap;

use windlass_vocab::{Coverage, shown_path};

/// The files left out, as a sentence of bounded length.
#[derive(Clone, Debug, Default)]
pub(super) struct OmittedFiles {
    kinds: BTreeMap<&'static str, (usize, Vec<String>)>,
}

impl OmittedFiles {
    /// The number of examples named for each reason.
    const NAMED: usize = 5;

    pub(super) fn add(&mut self, why: &'static str, path: &str) {
        let (count, examples) = self.kinds.entry(why).or_default();
        *count += 1;
        if examples.len() < Self::NAMED {
            examples.push(shown_path(path).into_owned());
        }
    }

    pub(super) fn coverage(&self) -> Coverage {
        self.sentence().map_or(Coverage::Full, |left_out| Coverage::Partial { left_out })
    }

    /// Returns the sentence, or `None` if nothing was left out.
    pub(super) fn sentence(&self) -> Option<String> {
        let told = self.kinds.iter().map(|(why, (count, examples))| {
            let more =
                if *count > examples.len() { format!(" and {} more", count - examples.len()) } else { String::new() };
            format!("{why}: {}{more}", examples.join(", "))
        });
        (!self.kinds.is_empty()).then(|| told.collect::<Vec<_>>().join("; "))
    }
}
