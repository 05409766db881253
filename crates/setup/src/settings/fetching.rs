//! Hosts of this machine and of private networks that `fetch_url` may fetch from (T10).

use windlass_tools::HostPattern;

use super::error::SettingsError;
use super::origin::{SettingOrigin, Sourced};
use super::sources::Sources;

/// Combines the hosts of flags and files.
pub(super) fn private(sources: &Sources) -> Result<Vec<Sourced<HostPattern>>, SettingsError> {
    let Sources { flags, project, user, .. } = sources;
    let given = flags.fetch_private.iter().map(|host| Sourced::new(host.clone(), SettingOrigin::Flag("fetch_private")));
    let files = [project, user].into_iter().flatten();
    let written = files.flat_map(|file| {
        let hosts = file.settings.tools.fetch_private.iter();
        hosts.map(|host| Sourced::new(host.get_ref().clone(), file.origin(host)))
    });
    given.chain(written).map(|host| host.try_map(|text| text.parse::<HostPattern>())).collect()
}
