//! What the demo model says of its door.

/// Texts of the demo model that name what a person can do at this door.
#[derive(Clone, Copy, Debug)]
pub struct DemoWords {
    /// How to connect a real model, as a paragraph.
    pub connect: &'static str,
    /// How to see the demo, as a noun phrase: it "shows the job again", "makes a folder".
    pub demo: &'static str,
}

#[cfg(test)]
impl DemoWords {
    pub(super) const SAMPLE: Self = Self { connect: "Connect a model.", demo: "the demo" };
}
