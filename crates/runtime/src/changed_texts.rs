//! How the files read that a script changed, at the end of its result: a small model does not look again, and sees its
//! mistakes only if it is shown them. Only files that a call of the model's could read without asking are shown.

use std::sync::Arc;

use windlass_machine::is_by_product;
use windlass_tools::Permissions;
use windlass_vocab::FilesChanged;

use crate::services::Services;
use crate::unasked_look::UnaskedLook;

/// The most files that are shown, and characters of all of them.
const SHOWN: usize = 3;
const CHARS: usize = 800;

/// Returns the text of the files that were made or changed, each after a line break, if they are short; what is not valid JSON though it should be
/// is said.
pub(crate) async fn changed_texts(services: &Services, permissions: &Arc<Permissions>, files: &FilesChanged) -> String {
    let Some(workspace) = services.workspace.clone() else { return String::new() };
    let changed = files.changes.iter().filter(|(path, change)| change.now.blob().is_some() && !is_by_product(path));
    let (mut told, mut left) = (String::new(), CHARS);
    for (path, _) in changed.take(SHOWN) {
        let look = UnaskedLook { workspace: Arc::clone(&workspace), permissions: Arc::clone(permissions) };
        let Some(file) = look.short_text(path.clone()).await else { continue };
        let text = services.secrets.scrub(&file.text).into_owned();
        if let Some(chars) = left.checked_sub(text.chars().count()) {
            left = chars;
            told.push_str(&format!("\n{path} reads now:\n{}", text.trim_end()));
        }
        if let Some(error) = json_error(path, &text) {
            told.push_str(&format!("\n{path} is not valid JSON: {error}."));
        }
    }
    told
}

/// Returns why a file is not valid JSON, if its name says that it is.
fn json_error(path: &str, text: &str) -> Option<serde_json::Error> {
    let (_, ending) = path.rsplit_once('.')?;
    // Some programs allow comments in theirs.
    let may_have_comments = text.contains("//") || text.contains("/*") || text.starts_with('\u{feff}');
    if !ending.eq_ignore_ascii_case("json") || may_have_comments {
        return None;
    }
    serde_json::from_str::<serde_json::Value>(text).err()
}
