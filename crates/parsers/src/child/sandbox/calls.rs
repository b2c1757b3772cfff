//! seccomp: the system calls that reading needs, and no others. The rest do not exist, as far as a child can tell: the C
//! library tries another way when it hears that, where it would give up on "not permitted".

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// Computing, memory, reading and writing what is open, and leaving.
const ALWAYS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// What starting `tesseract` or `pdftotext` takes beyond that, and what they do themselves.
const FOR_PROGRAMS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_openat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_fadvise64,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_close_range,
    libc::SYS_set_tid_address,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sched_setaffinity,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_times,
];

/// The older names of some of these, which one architecture has kept.
#[cfg(target_arch = "x86_64")]
const FOR_PROGRAMS_HERE: &[i64] = &[
    libc::SYS_arch_prctl,
    libc::SYS_vfork,
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
];
#[cfg(not(target_arch = "x86_64"))]
const FOR_PROGRAMS_HERE: &[i64] = &[];

/// `CLONE_NEWNS`, `CLONE_NEWCGROUP`, … `CLONE_NEWNET`: the flags that make namespaces.
const NEW_NAMESPACES: u64 = 0x7e02_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Confines all threads of this process, and whatever they start.
pub(super) fn confine(programs: bool, signals_stay_inside: bool) -> Result<(), String> {
    let rules = allowed(programs, signals_stay_inside).map_err(|error| error.to_string())?;
    let program = program(rules).map_err(|error| error.to_string())?;
    seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())
}

fn program(rules: Rules) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(libc::ENOSYS as u32);
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, refuse, SeccompAction::Allow, architecture)?.try_into()
}

fn allowed(programs: bool, signals_stay_inside: bool) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = ALWAYS.iter().map(|call| (*call, Vec::new())).collect();
    // `abort` signals its own process.
    let own = u64::from(std::process::id());
    rules.insert(libc::SYS_tgkill, vec![when(0, SeccompCmpOp::Eq, own)?]);
    if !programs {
        return Ok(rules);
    }
    rules.extend(FOR_PROGRAMS.iter().chain(FOR_PROGRAMS_HERE).map(|call| (*call, Vec::new())));
    // `clone3` hides its flags from filters; without it the C library uses `clone`.
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpOp::MaskedEq(NEW_NAMESPACES), 0)?]);
    // One's own limits, not another process's.
    rules.insert(libc::SYS_prlimit64, vec![when(0, SeccompCmpOp::Eq, 0)?]);
    // Whether an output is a terminal; nothing that types on one.
    rules.insert(libc::SYS_ioctl, vec![when(1, SeccompCmpOp::Eq, libc::TCGETS)?]);
    rules.insert(libc::SYS_prctl, vec![when(0, SeccompCmpOp::Eq, libc::PR_SET_NAME as u64)?]);
    if signals_stay_inside {
        // To end a program that takes too long. Elsewhere it runs until the parent ends the whole group.
        rules.insert(libc::SYS_kill, Vec::new());
        rules.insert(libc::SYS_tgkill, Vec::new());
    }
    Ok(rules)
}

fn when(argument: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_reach_beyond_the_file_are_not_on_the_list() {
        let never = [
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_open,
            libc::SYS_pidfd_getfd,
            libc::SYS_pidfd_send_signal,
            libc::SYS_tkill,
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_chroot,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_clone3,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_io_uring_setup,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_memfd_create,
            libc::SYS_shmget,
            libc::SYS_execveat,
            libc::SYS_setsid,
            libc::SYS_setpgid,
            libc::SYS_mkdirat,
            libc::SYS_unlinkat,
            libc::SYS_init_module,
            libc::SYS_kexec_load,
        ];
        for (programs, scoped) in [(false, false), (false, true), (true, false), (true, true)] {
            let rules = allowed(programs, scoped).expect("rules");
            assert!(never.iter().all(|call| !rules.contains_key(call)));
            assert!(program(rules).is_ok_and(|program| program.len() < 4096), "the kernel's limit");
        }
        let alone = allowed(false, true).expect("rules");
        for call in [libc::SYS_execve, libc::SYS_clone, libc::SYS_openat, libc::SYS_kill, libc::SYS_prctl] {
            assert!(!alone.contains_key(&call), "{call} without programs to ask");
        }
        assert!(!allowed(true, false).expect("rules").contains_key(&libc::SYS_kill));
    }
}
