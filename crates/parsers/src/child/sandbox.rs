//! Gives up every right that reading one file does not need.
//!
//! Resource limits and `no_new_privs` always hold; Landlock and seccomp where the kernel has them.

use nix::sys::resource::{Resource, setrlimit};

use super::frames::Request;

/// Open files: the input, standard streams, scratch files and what `tesseract` and `pdftotext` load.
const OPEN_FILES: u64 = 128;

/// Limits this process and all it starts. Fails only where a limit that must hold could not be set.
pub(super) fn enter(request: &Request) -> Result<(), String> {
    close_inherited();
    let limits = &request.limits;
    let cpu_seconds = limits.total_seconds.ceil() as u64;
    for (resource, value) in [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_AS, limits.memory_bytes),
        (Resource::RLIMIT_CPU, cpu_seconds),
        (Resource::RLIMIT_FSIZE, limits.scratch_file_bytes),
        (Resource::RLIMIT_NOFILE, OPEN_FILES),
    ] {
        setrlimit(resource, value, value)
            .map_err(|error| format!("{resource:?} could not be set: {error}"))?;
    }
    #[cfg(target_os = "linux")]
    {
        nix::sys::prctl::set_no_new_privs()
            .map_err(|error| format!("privileges could not be given up: {error}"))?;
        // Older kernels lack them; the limits above hold all the same.
        let _ = landlock_rules(request);
        let _ = seccomp_filter();
    }
    Ok(())
}

/// Closes every descriptor but the standard ones. Ours are closed on exec anyway; a library's may not be.
fn close_inherited() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2)
        .collect();
    for descriptor in open {
        let _ = nix::unistd::close(descriptor);
    }
}

/// Reads its input and the system's programs, writes its scratch folder, and sees no other file; opens no connection.
#[cfg(target_os = "linux")]
fn landlock_rules(request: &Request) -> Result<(), landlock::RulesetError> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        path_beneath_rules,
    };
    let abi = ABI::V5;
    let everything = AccessFs::from_all(abi);
    let reading = AccessFs::from_read(abi);
    // Programs and their libraries, needed only where other programs may be asked.
    let system: &[&str] = if request.limits.ocr || request.limits.second_opinion {
        &[
            "/usr",
            "/lib",
            "/lib64",
            "/bin",
            "/etc",
            "/opt",
            "/proc/self",
            "/proc/cpuinfo",
            "/proc/meminfo",
            "/sys/devices/system/cpu",
        ]
    } else {
        &[]
    };
    let _status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(everything)?
        .handle_access(AccessNet::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules([&request.path], AccessFs::ReadFile))?
        .add_rules(path_beneath_rules(system, reading))?
        .add_rules(path_beneath_rules(
            ["/dev/null", "/dev/urandom", "/dev/zero"],
            AccessFs::ReadFile | AccessFs::WriteFile,
        ))?
        .add_rules(path_beneath_rules([&request.scratch], everything))?
        .restrict_self()?;
    Ok(())
}

/// Refuses connections, spying on other processes and changes to the system. What stays allowed is decided by a short
/// list of what is not: parsers and the programs they ask use too many ordinary calls to list them all.
#[cfg(target_os = "linux")]
fn seccomp_filter() -> Result<(), seccompiler::Error> {
    use std::collections::BTreeMap;

    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let refused = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept4,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
    ];
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        refused.into_iter().map(|call| (call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let Ok(architecture) = std::env::consts::ARCH.try_into() else { return Ok(()) };
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}
