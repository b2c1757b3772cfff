//! What the machine gives the server: room on its disk, a disk that is encrypted, files that others cannot read, a clock that is
//! right.

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use engine::{access::Operating, seams::catalog::Catalog};
use jiff::{SignedDuration, Timestamp};
use nix::sys::{
    stat::{major, minor},
    statvfs::statvfs,
};

use super::{Finding, Look, State};
use crate::{config::Config, http::tls};

/// Of a disk, what should be free: below it there is still time to act.
const FREE_SHARE: f64 = 0.1;
/// How far clocks may be apart before limits, links and sign-ins notice.
const APART: SignedDuration = SignedDuration::from_secs(60);

/// Whether the data folder can be written, and how much room it has.
pub(super) fn disk(data: &Path, config: &Config) -> Finding {
    let what = "disk";
    if let Err(error) = tempfile::NamedTempFile::new_in(data) {
        let text = format!("{} cannot be written: {error}", data.display());
        return Finding::new(what, State::Wrong, text);
    }
    let Ok(disk) = statvfs(data) else {
        return Finding::new(what, State::Warning, "the free space of the disk is not known");
    };
    let (free, all) = (disk.blocks_available() * disk.fragment_size(), disk.blocks() * disk.fragment_size());
    let reserve = config.load.free_disk_mb.saturating_mul(1 << 20);
    let left = format!("{} of {} free", gigabytes(free), gigabytes(all));
    if free < reserve {
        let text = format!("{left}: no file is accepted below {} (load.free_disk_mb)", gigabytes(reserve));
        return Finding::new(what, State::Wrong, text);
    }
    let state = if (free as f64) < all as f64 * FREE_SHARE { State::Warning } else { State::Ok };
    Finding::new(what, state, left)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// Whether the disk under the data folder is encrypted, as far as the system tells.
pub(super) fn encryption(data: &Path) -> Finding {
    let what = "encryption";
    let (state, text) = match is_encrypted(data, Path::new("/sys/dev/block")) {
        Some(true) => (State::Ok, "the data folder is on an encrypted disk".to_string()),
        Some(false) => (
            State::Warning,
            "the data folder is not on an encrypted disk; whoever has the disk can read it".into(),
        ),
        None => (State::Warning, "it is not known whether the disk of the data folder is encrypted".into()),
    };
    Finding::new(what, state, text)
}

/// Looks at the device that the folder is on and at those below it; `None` where the folder is on no device of this system.
fn is_encrypted(data: &Path, devices: &Path) -> Option<bool> {
    let device = fs::metadata(data).ok()?.dev();
    let folder = devices.join(format!("{}:{}", major(device), minor(device)));
    folder.exists().then(|| has_encryption(&folder, 8))
}

/// `dm-crypt` says in its name what it is; a volume of several devices is encrypted if all of them are.
fn has_encryption(device: &Path, depth: usize) -> bool {
    let name = fs::read_to_string(device.join("dm/uuid")).unwrap_or_default();
    if name.starts_with("CRYPT-") {
        return true;
    }
    let below: Vec<PathBuf> = fs::read_dir(device.join("slaves"))
        .map(|listed| listed.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    depth > 0 && !below.is_empty() && below.iter().all(|device| has_encryption(device, depth - 1))
}

/// Whether other accounts of the machine can read what is secret: anything in the folder, or the key of the certificate.
pub(super) fn permissions(look: &Look<'_>) -> Finding {
    let what = "permissions";
    let (mut open, mut done) = (Vec::new(), Vec::new());
    // A group may share a folder, as volumes of Kubernetes do; a key has one reader.
    for (path, allowed) in [(look.data.to_path_buf(), 0o770), (tls::key_path(look.data), 0o600)] {
        let Ok(mode) = fs::metadata(&path).map(|found| found.permissions().mode() & 0o777) else { continue };
        if mode & !allowed == 0 {
            continue;
        }
        let closed = fs::Permissions::from_mode(mode & allowed);
        match look.repair.then(|| fs::set_permissions(&path, closed)) {
            Some(Ok(())) => done.push(format!("closed {} to others", path.display())),
            Some(Err(error)) => open.push(format!("{} ({error})", path.display())),
            None => open.push(format!("{} (mode {mode:o})", path.display())),
        }
    }
    let (state, text) = match open.is_empty() {
        true => (State::Ok, "other accounts of this machine can read nothing of it".to_string()),
        false => (
            State::Warning,
            format!("others can read {}; `quire doctor --repair` or `chmod` closes it", open.join(" and ")),
        ),
    };
    Finding { done, ..Finding::new(what, state, text) }
}

/// Whether the clock agrees with the database's, and with what was written before.
pub(super) async fn clock(catalog: &dyn Catalog) -> Finding {
    let what = "clock";
    let here = Timestamp::now();
    let apart = match catalog.clock().await {
        Ok(theirs) => theirs.duration_since(here),
        Err(fault) => return Finding::new(what, State::Wrong, fault.cause),
    };
    if apart.abs() > APART {
        let text = format!("the database's clock is {} seconds away from this machine's", apart.as_secs());
        return Finding::new(what, State::Wrong, text);
    }
    let last = catalog.audit_of_all(&Operating::for_operator(), None, 1).await;
    let last = last.ok().and_then(|page| page.entries.first().map(|entry| entry.at));
    match last.filter(|last| last.duration_since(here) > APART) {
        Some(last) => Finding::new(
            what,
            State::Wrong,
            format!("it is {here}, but something was recorded at {last}: the clock was set back"),
        ),
        None => Finding::new(what, State::Ok, format!("{here}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of the system, with what is below it.
    fn device(root: &Path, name: &str, uuid: Option<&str>, below: &[&Path]) -> PathBuf {
        let folder = root.join(name);
        fs::create_dir_all(folder.join("slaves")).unwrap();
        if let Some(uuid) = uuid {
            fs::create_dir_all(folder.join("dm")).unwrap();
            fs::write(folder.join("dm/uuid"), uuid).unwrap();
        }
        for (number, other) in below.iter().enumerate() {
            std::os::unix::fs::symlink(other, folder.join(format!("slaves/{number}"))).unwrap();
        }
        folder
    }

    #[test]
    fn an_encrypted_disk_is_found_below_volumes() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let plain = device(root, "sda", None, &[]);
        let crypt = device(root, "dm-0", Some("CRYPT-LUKS2-0123\n"), &[&plain]);
        let volume = device(root, "dm-1", Some("LVM-abc"), &[&crypt]);
        let half = device(root, "dm-2", Some("LVM-def"), &[&crypt, &plain]);
        assert!(has_encryption(&crypt, 8) && has_encryption(&volume, 8));
        assert!(!has_encryption(&plain, 8), "nothing says so");
        assert!(!has_encryption(&half, 8), "a part of it is plain");
        assert_eq!(is_encrypted(root, Path::new("/nowhere")), None);
    }

    #[test]
    fn a_full_and_a_read_only_disk_are_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::defaults();
        config.load.free_disk_mb = u64::MAX;
        let full = disk(folder.path(), &config);
        assert!(full.state == State::Wrong && full.text.contains("free"), "{}", full.text);
        let unwritable = disk(Path::new("/proc"), &config);
        assert!(unwritable.state == State::Wrong && unwritable.text.contains("cannot be written"));
    }
}
