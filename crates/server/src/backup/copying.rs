//! Copies a file with its hash, and reads the copy back.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use stores::blobs::{hash_of, hexadecimal};

/// Bytes copied at a time.
const PIECE: usize = 1 << 20;

/// Copies a file with its permissions to a place where there is none; gives its size and SHA-256. It is on disk, and was read
/// back, when this returns.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(u64, String)> {
    let mut source = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    make_folder_of(to)?;
    let unwritten = || format!("cannot write {}", to.display());
    let mut target = File::create_new(to).with_context(unwritten)?;
    let mut piece = vec![0; PIECE];
    let (mut size, mut hash) = (0, Sha256::new());
    loop {
        let read = source.read(&mut piece).with_context(|| format!("cannot read {}", from.display()))?;
        if read == 0 {
            break;
        }
        hash.update(&piece[..read]);
        target.write_all(&piece[..read]).with_context(unwritten)?;
        size += read as u64;
    }
    target.set_permissions(source.metadata()?.permissions()).with_context(unwritten)?;
    target.sync_all().with_context(unwritten)?;
    let hash = hexadecimal(&hash.finalize());
    must_read_back(to, &hash)?;
    Ok((size, hash))
}

/// Compares what is on the disk with the SHA-256 of what was written.
pub(super) fn must_read_back(path: &Path, sha256: &str) -> Result<()> {
    if hash_of(path).with_context(|| format!("cannot read back {}", path.display()))? != sha256 {
        bail!("{} does not read back as it was written: the disk is damaged", path.display());
    }
    Ok(())
}

/// Removes a file, where it is there.
pub(super) fn remove_file(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Makes the folder that a file is to be in.
pub(super) fn make_folder_of(path: &Path) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    Ok(stores::make_private_folder(folder)?)
}

/// Removes a folder with all in it, where it is there.
pub(super) fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
