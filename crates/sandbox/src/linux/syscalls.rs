//! The system calls that a command may not make: those that attack the kernel or bypass the other layers, and that no
//! build, test or script needs.
//!
//! There are two filters. One checks only the number of a call. It is written by hand, because the kernel evaluates a
//! filter for every number when it is loaded, and this one is a tenth as long as a generated one. The other checks
//! arguments.

use std::collections::BTreeMap;
use std::io;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::{Confinement, Isolation, Network};

/// Refused whatever their arguments.
const REFUSED: &[c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_open_by_handle_at,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// Answered with ENOSYS, as if this kernel did not have them, so that callers use the older call, whose arguments can
/// be checked.
const UNKNOWN: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2];

/// On x86-64 most calls have a second number above this, for the x32 ABI, which is not in use.
const SHORT_POINTERS: u32 = 0x4000_0000;

/// Restricts this thread and its children.
pub(crate) fn restrict(confinement: &Confinement) -> io::Result<()> {
    seccompiler::apply_filter(&by_number()).map_err(io::Error::other)?;
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let action = SeccompAction::Errno(errno(libc::EPERM));
    let filter = SeccompFilter::new(by_arguments(confinement)?, SeccompAction::Allow, action, arch);
    let program: BpfProgram = filter.and_then(BpfProgram::try_from).map_err(io::Error::other)?;
    seccompiler::apply_filter(&program).map_err(io::Error::other)
}

fn errno(number: i32) -> u32 {
    number.unsigned_abs()
}

/// Returns the filter that checks numbers. (The other one kills programs of another architecture.)
fn by_number() -> BpfProgram {
    let instruction = |code: u32, jt: usize, k: u32| sock_filter {
        code: u16::try_from(code).unwrap_or_default(),
        jt: u8::try_from(jt).unwrap_or_default(),
        jf: 0,
        k,
    };
    let (load, equal, above) =
        (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, libc::BPF_JMP | libc::BPF_JEQ, libc::BPF_JMP | libc::BPF_JGE);
    let answer = |value: u32| instruction(libc::BPF_RET, 0, value);
    // Each jump leads to one of the last two instructions.
    let count = UNKNOWN.len() + REFUSED.len() + 1;
    let to_refused = |at: usize| count - at;
    let to_unknown = |at: usize| count - at + 1;
    let mut program = vec![instruction(load, 0, 0), instruction(above, to_unknown(0), SHORT_POINTERS)];
    for (at, call) in (1..).zip(UNKNOWN.iter().chain(REFUSED)) {
        let jump = if at <= UNKNOWN.len() { to_unknown(at) } else { to_refused(at) };
        program.push(instruction(equal, jump, u32::try_from(*call).unwrap_or(u32::MAX)));
    }
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(answer(libc::SECCOMP_RET_ERRNO | errno(libc::EPERM)));
    program.push(answer(libc::SECCOMP_RET_ERRNO | errno(libc::ENOSYS)));
    program
}

/// Returns the rules that check arguments.
fn by_arguments(confinement: &Confinement) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut refuse = |call: c_long, conditions: &[(u8, SeccompCmpOp, u64)]| -> io::Result<()> {
        rules.entry(call).or_default().push(rule(conditions)?);
        Ok(())
    };
    // Without a user namespace a command can't create any other namespace.
    let user = u64::from(libc::CLONE_NEWUSER.cast_unsigned());
    refuse(libc::SYS_clone, &[(0, SeccompCmpOp::MaskedEq(user), user)])?;
    // Injecting input into a terminal.
    for request in [libc::TIOCSTI, libc::TIOCLINUX] {
        refuse(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request & 0xffff_ffff)])?;
    }
    let set_user = u64::from(libc::S_ISUID);
    for (call, mode) in MODES {
        refuse(*call, &[(*mode, SeccompCmpOp::MaskedEq(set_user), set_user)])?;
    }
    let create = u64::from(libc::O_CREAT.cast_unsigned());
    for (call, flags) in OPENS {
        let creates = (*flags, SeccompCmpOp::MaskedEq(create), create);
        refuse(*call, &[creates, (flags + 1, SeccompCmpOp::MaskedEq(set_user), set_user)])?;
    }
    let allowed: &[i32] = match (&confinement.isolation, confinement.network) {
        (Isolation::Landlock, Network::Off) => &[libc::AF_UNIX, libc::AF_NETLINK],
        (Isolation::Namespaces | Isolation::Bubblewrap(_) | Isolation::Seatbelt, _)
        | (Isolation::Landlock, Network::On) => &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
    };
    let others: Vec<_> =
        allowed.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))).collect();
    refuse(libc::SYS_socket, &others)?;
    Ok(rules)
}

/// The calls that set a file's mode, with the index of the mode argument.
#[cfg(target_arch = "x86_64")]
const MODES: &[(c_long, u8)] = &[
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_creat, 1),
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
#[cfg(not(target_arch = "x86_64"))]
const MODES: &[(c_long, u8)] =
    &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (libc::SYS_fchmodat2, 2), (libc::SYS_mknodat, 2)];

/// The calls that may create a file with a mode, with the index of the flags argument; the mode is the next one.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(c_long, u8)] = &[(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(c_long, u8)] = &[(libc::SYS_openat, 2)];

fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> io::Result<SeccompRule> {
    let condition = |(index, operator, value): &(u8, SeccompCmpOp, u64)| {
        SeccompCondition::new(*index, SeccompCmpArgLen::Dword, operator.clone(), *value)
    };
    let conditions: Result<Vec<_>, _> = conditions.iter().map(condition).collect();
    conditions.and_then(SeccompRule::new).map_err(io::Error::other)
}
