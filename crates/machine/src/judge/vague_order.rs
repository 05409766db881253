//! Orders that do not say which files they mean: "Delete what is not needed." A small model that gets one picks a file. Such an
//! order changes nothing before a person has said what is meant.

use windlass_vocab::WorkspaceOverview;

use super::general_question::shares_topic;
use super::language::plain;
use super::request::{only_alters, read_request};

/// Whether a request orders only to delete, move or alter what is there, and no word of it is about any of these files. That can be said
/// only where the text of all files is known.
pub(super) fn is_vague_order(request: &str, overview: &WorkspaceOverview) -> bool {
    let is_known = !overview.is_cut && overview.files.iter().all(|file| file.text.is_some());
    let files = overview.files.iter().map(|file| file.path.clone()).collect();
    let reading = read_request(request, &files);
    is_known
        && !overview.files.is_empty()
        && only_alters(request)
        && !reading.is_about_files
        && !shares_topic(&plain(request), overview)
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{OverviewFile, WorkspaceOverview};

    use super::is_vague_order;

    // proves X4
    #[test]
    fn an_order_is_vague_where_it_is_about_no_file() {
        let file = |path: &str, text: &str| OverviewFile {
            path: path.to_owned(),
            size: 10,
            text: Some(text.to_owned()),
            origin: None,
        };
        let files = vec![file("todo.md", "- [ ] call the plumber\n"), file("a/prices.csv", "tea,4\n")];
        let overview = WorkspaceOverview { files, ..WorkspaceOverview::default() };
        for (request, is_vague) in [
            ("Delete what is not needed.", true),
            ("Move everything to the right place.", true),
            ("Please change it back to how it was before.", true),
            ("Undo that.", true),
            ("Delete the prices.", false),
            ("Remove the plumber, please.", false),
            ("Move every file into a folder docs.", false),
            ("Delete a/prices.csv.", false),
            ("Tick off the plumber in my list.", false),
            ("Write a poem about the sea.", false),
            ("Add a licence.", false),
            ("What is the capital of Portugal?", false),
        ] {
            assert_eq!(is_vague_order(request, &overview), is_vague, "{request}");
        }
        let cut = WorkspaceOverview { is_cut: true, ..overview };
        assert!(!is_vague_order("Delete what is not needed.", &cut), "what is meant may be among the others");
    }
}
