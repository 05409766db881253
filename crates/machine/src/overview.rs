//! The overview of the workspace (C1): the files that a run begins with, in front of the request.
//!
//! It is recorded with the context of the run and becomes a part of the message that started it, so that what was sent
//! stays byte-stable. The request comes last: small models follow what they have read last.

use std::fmt::Write as _;

use windlass_vocab::{WorkspaceOverview, shown_path};

/// Returns a request with the overview in front of it.
pub(crate) fn before_request(overview: &WorkspaceOverview, request: &str) -> String {
    format!("{}\n\nRequest: {request}", rendered(overview))
}

fn rendered(overview: &WorkspaceOverview) -> String {
    if overview.files.is_empty() {
        return "The workspace has no files yet.".to_owned();
    }
    let mut text = "Files in the workspace:".to_owned();
    for file in &overview.files {
        let _ = write!(text, "\n{} ({} bytes)", shown_path(&file.path), file.size);
    }
    if overview.is_cut {
        text.push_str("\n(and more)");
    }
    for file in &overview.files {
        if let Some(content) = &file.text {
            let _ = write!(text, "\n\n=== {} ===\n{}", shown_path(&file.path), content.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::before_request;

    fn file(path: &str, size: u64, text: Option<&str>) -> OverviewFile {
        OverviewFile { path: path.into(), size, text: text.map(str::to_owned), origin: None }
    }

    // proves C1
    #[test]
    fn files_come_first_and_the_request_last() {
        let files = vec![file("a.txt", 6, Some("one\ntwo\n")), file("b/c.csv", 9_000, None)];
        let sent = before_request(&WorkspaceOverview { files, is_cut: true, is_for_judge: false }, "Add both.");
        assert_eq!(
            sent,
            "Files in the workspace:\na.txt (6 bytes)\nb/c.csv (9000 bytes)\n(and more)\n\n=== a.txt ===\none\ntwo\n\n\
             Request: Add both."
        );
    }

    // proves C1
    #[test]
    fn an_empty_workspace_is_named_as_such() {
        let sent = before_request(&WorkspaceOverview::default(), "Hello");
        assert_eq!(sent, "The workspace has no files yet.\n\nRequest: Hello");
    }
}
