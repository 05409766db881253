//! Places on a machine that are the same for everybody, as data.

/// The temporary folder of all; a command has its own there.
pub(crate) const TEMP: &str = "/tmp";

/// Folders that are hidden as a whole: through the sockets in them other programs do what they are told.
pub const HIDDEN_FOLDERS: &[&str] = &["/run"];

/// What is seen of them nevertheless, where it is there: how names are looked up, and where NixOS keeps its
/// system.
pub(crate) const VISIBLE_IN_HIDDEN: &[&str] =
    &["/run/systemd/resolve", "/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

/// Where bubblewrap is looked for: never where a project could put one.
pub const BUBBLEWRAP_PATHS: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// The devices a command has.
#[cfg(all(target_os = "linux", feature = "enforce"))]
pub(crate) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// What may not be read of the system; for root, whom nothing else stops.
pub(crate) const SYSTEM_SECRETS: &[&str] =
    &["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/boot"];

/// What may not be read in a home folder: keys, tokens, passwords, what a browser knows, what was typed, and the sockets
/// of programs that run containers for whoever asks.
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

/// Where a package manager keeps what it has downloaded, in a home folder: written where the network is granted, since
/// nothing can be downloaded otherwise.
pub(crate) struct PackageCache {
    /// Where this program is installed, what is not there is made: nobody could make it inside.
    pub(crate) program: &'static str,
    pub(crate) folders: &'static [&'static str],
    pub(crate) files: &'static [&'static str],
}

/// What package managers write.
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

/// Variables that lead to programs outside which do what they are told.
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
