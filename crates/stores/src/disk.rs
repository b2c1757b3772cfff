//! Keeps some of the disk free, so that files that come in do not stop what the server writes for everybody.

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;

use crate::Error;

/// How much of a disk is kept free.
#[derive(Debug, Clone)]
pub(crate) struct Reserve {
    folder: PathBuf,
    /// Bytes.
    least_free: u64,
}

impl Reserve {
    /// Leaves `least_free` bytes of the disk that a folder is on; 0 looks at nothing.
    pub(crate) fn new(folder: &Path, least_free: u64) -> Self {
        Reserve { folder: folder.to_path_buf(), least_free }
    }

    /// Refuses more where less than the reserve is free. A disk that does not say how full it is counts as empty.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.least_free == 0 {
            return Ok(());
        }
        match statvfs(&self.folder) {
            Ok(disk) if disk.blocks_available() * disk.fragment_size() >= self.least_free => Ok(()),
            Ok(_) => Err(Error::DiskFull),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::{Fault, Reason};

    use super::*;
    use crate::blobs::Blobs;

    #[test]
    fn an_upload_is_refused_before_it_takes_the_last_of_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let mut incoming = blobs.clone().leaving(1).receive().unwrap();
        incoming.write(&[1; 100]).unwrap();
        let full = blobs.leaving(u64::MAX);
        let Err(refused) = full.receive() else { panic!("no disk has as much free") };
        let fault = Fault::from(refused);
        assert_eq!((fault.reason, fault.reason.status()), (Reason::Overloaded, 503));
        assert!(fault.cause.contains("disk") && fault.retry_after.is_some(), "{fault}");
        assert!(!full.has_room());
        assert!(Reserve::new(Path::new("/nowhere"), 5).check().is_ok());
    }
}
