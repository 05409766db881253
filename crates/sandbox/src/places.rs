//! Well-known paths of a machine.

/// The shared temporary folder; a command sees its own one there.
pub(crate) const TEMP: &str = "/tmp";

/// Folders that are hidden as a whole: a command could control other programs through the sockets in them.
pub const HIDDEN_FOLDERS: &[&str] = &["/run"];

/// Paths in them that stay visible, if they exist: name resolution, and the system of NixOS.
pub(crate) const VISIBLE_IN_HIDDEN: &[&str] =
    &["/run/systemd/resolve", "/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/// The paths of bubblewrap: never one that a project could write.
pub const BUBBLEWRAP_PATHS: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The devices of a command.
#[cfg(all(target_os = "linux", feature = "enforce"))]
pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// System files that may not be read; needed for root, whom file permissions don't stop.
pub(crate) const SYSTEM_SECRETS: &[&str] =
    &["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/boot"];

/// Paths in a home folder that may not be read: keys, tokens, passwords, browser data, shell histories, and the sockets
/// of container daemons, which run anything for any client.
pub(crate) const HOME_SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/pass",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".1password",
    ".vault-token",
    ".aws",
    ".azure",
    ".boto",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/flyctl",
    ".fly",
    ".config/rclone",
    ".kube",
    ".docker/config.json",
    ".docker/desktop",
    ".docker/run",
    ".docker/sandboxes",
    ".colima",
    ".lima",
    ".rd",
    ".orbstack",
    ".local/share/containers/podman",
    ".config/containers/auth.json",
    ".oci",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".pulumi",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".git-credentials",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/huggingface",
    ".cache/huggingface/token",
    ".huggingface/token",
    ".config/openai",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".mongorc.js",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".mozilla",
    ".thunderbird",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".local/share/fish/fish_history",
    ".sh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    ".Xauthority",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Cookies",
];

/// The download cache of a package manager in a home folder: writable only where the network is granted, since nothing
/// can be downloaded otherwise.
pub(crate) struct PackageCache {
    /// If this program is installed, missing paths are created beforehand: nobody could create them inside the sandbox.
    pub(crate) program: &'static str,
    pub(crate) folders: &'static [&'static str],
    pub(crate) files: &'static [&'static str],
}

/// The paths that package managers write.
pub(crate) const PACKAGE_CACHES: &[PackageCache] = &[
    cache("sh", &[".cache"]),
    PackageCache {
        program: "cargo",
        folders: &[".cargo/registry", ".cargo/git"],
        files: &[".cargo/.package-cache", ".cargo/.package-cache-mutate", ".cargo/.global-cache"],
    },
    cache("npm", &[".npm"]),
    cache("pnpm", &[".local/share/pnpm/store"]),
    cache("yarn", &[".yarn"]),
    cache("bun", &[".bun/install/cache"]),
    cache("go", &["go/pkg"]),
    cache("mvn", &[".m2/repository"]),
    cache("gradle", &[".gradle/caches", ".gradle/daemon"]),
    cache("sbt", &[".ivy2"]),
    cache("dotnet", &[".nuget/packages"]),
    cache("dart", &[".pub-cache"]),
    cache("gem", &[".gem"]),
    cache("bundle", &[".bundle/cache"]),
    cache("composer", &[".composer/cache"]),
    cache("sandbox-exec", &["Library/Caches"]),
];

const fn cache(program: &'static str, folders: &'static [&'static str]) -> PackageCache {
    PackageCache { program, folders, files: &[] }
}

/// Variables that lead to programs outside the sandbox which a command could control.
pub const ESCAPE_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DOCKER_HOST",
    "CONTAINER_HOST",
    "TMUX",
    "XDG_RUNTIME_DIR",
    "NOTIFY_SOCKET",
    "VSCODE_IPC_HOOK_CLI",
];
