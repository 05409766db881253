//! Table of frequently used programs: which of them can be allowed with any arguments, and
//! which arguments make them do something else. A program that is not listed is allowed line by line.
//!
//! A subcommand is one word or several (`pr view`; other words may be between the first and the next). Of the options,
//! `letters` are the short ones, which may be joined (`-uo FILE`); of the others those with two dashes may be
//! abbreviated, those with one must match whole, and `=` is an assignment (`SHELL=./x`).

/// A program and what its arguments mean.
#[derive(Debug)]
pub(crate) struct KnownProgram {
    pub(crate) names: &'static [&'static str],
    pub(crate) form: ProgramForm,
    /// Options that a rule need not contain literally. It must contain all other options before a subcommand.
    pub(crate) harmless: &'static [&'static str],
    /// Options that make it run other programs, write to a given path or work in another folder, each for one
    /// subcommand or, if that is empty, for any.
    pub(crate) options: &'static [RiskyOptions],
}

/// The meaning of the first argument.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProgramForm {
    /// An ordinary argument; the program may be allowed with any.
    Arguments,
    /// An ordinary argument; the program is allowed line by line.
    Script,
    /// A subcommand.
    Subcommand {
        /// Subcommands that may be allowed with any arguments.
        allowed: &'static [&'static str],
        /// Subcommands that run their arguments, or change what others do: a rule must contain them literally.
        running: &'static [&'static str],
    },
}

#[derive(Debug)]
pub(crate) struct RiskyOptions {
    pub(crate) of: &'static str,
    pub(crate) letters: &'static str,
    pub(crate) words: &'static [&'static str],
}

/// Returns the entry for the program of that name, given without its folder.
pub(crate) fn find(name: &str) -> Option<&'static KnownProgram> {
    PROGRAMS.iter().find(|program| program.names.contains(&name))
}

const fn any(letters: &'static str, words: &'static [&'static str]) -> RiskyOptions {
    RiskyOptions { of: "", letters, words }
}

const fn of(subcommand: &'static str, letters: &'static str, words: &'static [&'static str]) -> RiskyOptions {
    RiskyOptions { of: subcommand, letters, words }
}

#[rustfmt::skip]
const PROGRAMS: &[KnownProgram] = &[
    KnownProgram {
        names: &[
            "basename", "cat", "cmp", "comm", "cut", "df", "diff", "dirname", "du", "echo", "egrep", "false", "fgrep",
            "grep", "head", "id", "jq", "ls", "md5sum", "nl", "pwd", "readlink", "realpath", "seq", "sha1sum",
            "sha256sum", "sleep", "stat", "tac", "tail", "tr", "true", "uname", "wc", "which", "whoami",
        ],
        form: ProgramForm::Arguments,
        harmless: &[],
        options: &[],
    },
    KnownProgram { names: &["date"], form: ProgramForm::Arguments, harmless: &[], options: &[any("s", &["--set"])] },
    KnownProgram { names: &["file"], form: ProgramForm::Arguments, harmless: &[], options: &[any("C", &["--compile"])] },
    KnownProgram { names: &["tree"], form: ProgramForm::Arguments, harmless: &[], options: &[any("oR", &["--output"])] },
    KnownProgram {
        names: &["sort"],
        form: ProgramForm::Arguments,
        harmless: &[],
        options: &[any("oT", &["--output", "--compress-program", "--temporary-directory"])],
    },
    KnownProgram {
        names: &["rg"],
        form: ProgramForm::Arguments,
        harmless: &[],
        options: &[any("z", &["--pre", "--hostname-bin", "--search-zip"])],
    },
    KnownProgram {
        names: &["fd", "fdfind"],
        form: ProgramForm::Arguments,
        harmless: &[],
        options: &[any("xX", &["--exec", "--exec-batch"])],
    },
    KnownProgram {
        names: &["find"],
        form: ProgramForm::Script,
        harmless: &[],
        options: &[any(
            "",
            &["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"],
        )],
    },
    KnownProgram {
        names: &["tar", "bsdtar"],
        form: ProgramForm::Script,
        harmless: &[],
        options: &[any(
            "ICFPT",
            &[
                "--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--rmt-command",
                "--info-script", "--new-volume-script", "--directory", "--absolute-names", "--files-from",
            ],
        )],
    },
    KnownProgram {
        names: &["make", "gmake"],
        form: ProgramForm::Script,
        harmless: &[],
        options: &[any("fCIE", &["--file", "--makefile", "--directory", "--eval", "--include-dir", "="])],
    },
    GIT,
    CARGO,
    KnownProgram {
        names: &["rustup"],
        form: ProgramForm::Subcommand {
            allowed: &["show", "toolchain list", "target list", "component list"],
            running: &["run", "toolchain link", "set", "override"],
        },
        harmless: &["-q", "--quiet", "-v", "--verbose"],
        options: &[],
    },
    KnownProgram {
        names: &["go"],
        form: ProgramForm::Subcommand {
            allowed: &["build", "doc", "list", "test", "version", "vet"],
            running: &["env", "generate", "tool"],
        },
        harmless: &[],
        options: &[any(
            "",
            &[
                "-C", "-o", "-exec", "-toolexec", "-vettool", "-overlay", "-modfile", "-compiler", "-ldflags",
                "-gcflags", "-asmflags", "-gccgoflags", "-pkgdir",
            ],
        )],
    },
    KnownProgram {
        names: &["npm", "pnpm", "yarn"],
        form: ProgramForm::Subcommand {
            allowed: &["ls", "list", "outdated", "why"],
            running: &[
                "x", "exec", "dlx", "explore", "edit", "config", "c", "set", "init", "create", "env", "node", "plugin",
            ],
        },
        harmless: &["-s", "--silent"],
        options: &[any(
            "Cg",
            &[
                "--prefix", "--dir", "--cwd", "--script-shell", "--shell", "--userconfig", "--globalconfig",
                "--node-options", "--git", "--registry", "--global", "--location", "--use-yarnrc", "--config",
            ],
        )],
    },
    KnownProgram {
        names: &["pip", "pip3"],
        form: ProgramForm::Subcommand { allowed: &["check", "freeze", "list", "show"], running: &["config"] },
        harmless: &["-q", "--quiet", "-v", "--verbose"],
        options: &[any("", &["--python", "--log", "--cache-dir", "--index-url", "--extra-index-url", "--target", "--root"])],
    },
    KnownProgram {
        names: &["gh"],
        form: ProgramForm::Subcommand {
            allowed: &[
                "issue list", "issue view", "pr checks", "pr diff", "pr list", "pr status", "pr view", "run list",
                "run view", "repo view", "release list", "release view",
            ],
            running: &["alias", "config", "extension", "codespace"],
        },
        harmless: &[],
        options: &[any("w", &["--web", "--hostname"])],
    },
    KnownProgram {
        names: &["kubectl", "helm"],
        form: ProgramForm::Subcommand { allowed: &["api-resources", "version"], running: &["config", "plugin"] },
        harmless: &[],
        options: &[any("s", &["--kubeconfig", "--server", "--context", "--cluster", "--user", "--as", "--token"])],
    },
    KnownProgram {
        names: &["systemctl"],
        form: ProgramForm::Subcommand {
            allowed: &["cat", "is-active", "is-enabled", "is-failed", "list-timers", "list-units", "show", "status"],
            running: &["edit", "link", "set-environment", "import-environment"],
        },
        harmless: &["--user", "--no-pager"],
        options: &[any("HM", &["--host", "--machine", "--root", "--image"])],
    },
    KnownProgram {
        names: &["apt", "apt-cache", "apt-get"],
        form: ProgramForm::Subcommand { allowed: &["list", "policy", "search", "show"], running: &["edit-sources"] },
        harmless: &["-q"],
        options: &[any("oc", &["--option", "--config-file"])],
    },
];

#[rustfmt::skip]
const GIT: KnownProgram = KnownProgram {
    names: &["git"],
    form: ProgramForm::Subcommand {
        allowed: &[
            "add", "blame", "cat-file", "commit", "describe", "diff", "diff-tree", "for-each-ref", "grep", "log",
            "ls-files", "ls-tree", "merge-base", "name-rev", "rev-list", "rev-parse", "shortlog", "show", "show-ref",
            "status",
        ],
        running: &[
            "bisect run", "config", "credential", "daemon", "difftool", "filter-branch", "for-each-repo", "hook",
            "instaweb", "mergetool", "remote-ext", "remote-fd", "send-email", "shell", "submodule foreach",
            "web--browse",
        ],
    },
    harmless: &["-P", "--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"],
    options: &[
        any(
            "",
            &["--output", "--output-directory", "--ext-diff", "--exec", "--upload-pack", "--receive-pack"],
        ),
        of("archive", "o", &[]),
        of("clone", "cu", &["--config", "--template", "--separate-git-dir"]),
        of("format-patch", "o", &[]),
        of("grep", "O", &["--open-files-in-pager"]),
        of("init", "", &["--template", "--separate-git-dir"]),
        of("merge", "s", &["--strategy"]),
        of("pull", "s", &["--strategy"]),
        of("rebase", "xs", &["--strategy"]),
    ],
};

#[rustfmt::skip]
const CARGO: KnownProgram = KnownProgram {
    names: &["cargo"],
    form: ProgramForm::Subcommand {
        allowed: &["bench", "build", "check", "clippy", "doc", "fmt", "metadata", "test", "tree"],
        running: &[],
    },
    harmless: &["-q", "--quiet", "-v", "-vv", "--verbose", "--locked", "--offline", "--frozen", "--target"],
    options: &[
        any("CZ", &["--config", "--manifest-path", "--target-dir", "--artifact-dir", "--out-dir", "--lockfile-path"]),
        of("clippy", "o", &["--emit", "--codegen", "--sysroot"]),
    ],
};
