//! Warns about a workspace that contains far more than a project: file tools can access everything in it (X5).

use std::path::Path;

use super::notice::SettingsNotice;

/// Returns the notice about a workspace that is the whole disk or the home folder.
pub(super) fn notice(workspace: &Path, home: Option<&Path>) -> Option<SettingsNotice> {
    let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
    let what = match workspace {
        root if root.parent().is_none() => "the whole file system",
        folder if Some(folder) == home.as_deref() => "your home folder",
        _ => return None,
    };
    Some(SettingsNotice::WideWorkspace { what })
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X5
    #[test]
    fn the_whole_disk_and_the_home_folder_are_told_and_nothing_else() {
        let said = |workspace: &str| notice(Path::new(workspace), Some(Path::new("/port/me")));
        assert!(said("/").is_some_and(|said| said.to_string().contains("the whole file system")));
        assert!(said("/port/me").is_some_and(|said| said.to_string().contains("your home folder")));
        for workspace in ["/port", "/port/me/project", "/port/me2", "/tmp"] {
            assert_eq!(said(workspace), None, "{workspace}");
        }
        assert!(notice(Path::new("/"), None).is_some() && notice(Path::new("/x"), None).is_none());
    }
}
