//! Databases in a backup: cut into pieces that are named by their hashes, so that what did not change since the backup before is there once.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use stores::blobs::hexadecimal;

use super::copying;

/// Bytes of a piece: a change of a few pages costs a few of them, and a large database is still some thousands of files at most.
const PIECE: usize = 256 << 10;

/// Where a piece is in a backup.
pub(super) fn name_of(sha256: &str) -> String {
    format!("pieces/{}/{sha256}", &sha256[..2])
}

/// Cuts a file into pieces below `folder`; those that the backup before has intact are links to it. Gives the hashes in order, and
/// how many bytes were written. All is on disk, and was read back, when this returns.
pub(super) fn cut(file: &Path, folder: &Path, before: Option<&Path>) -> Result<(Vec<String>, u64)> {
    let unread = || format!("cannot read {}", file.display());
    let mut source = File::open(file).with_context(unread)?;
    let (mut pieces, mut written) = (Vec::new(), 0);
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        Read::by_ref(&mut source).take(PIECE as u64).read_to_end(&mut piece).with_context(unread)?;
        if piece.is_empty() {
            return Ok((pieces, written));
        }
        let sha256 = hexadecimal(&Sha256::digest(&piece));
        let name = name_of(&sha256);
        let (to, linked) = (folder.join(&name), before.map(|before| before.join(&name)));
        copying::make_folder_of(&to)?;
        let intact = |path: &Path| fs::read(path).is_ok_and(|found| found == piece);
        let is_linked = linked.is_some_and(|from| intact(&from) && fs::hard_link(from, &to).is_ok());
        // Two pieces may be equal.
        if !is_linked && !intact(&to) {
            write(&to, &piece, &sha256)?;
            written += piece.len() as u64;
        }
        pieces.push(sha256);
    }
}

fn write(to: &Path, piece: &[u8], sha256: &str) -> Result<()> {
    let unwritten = || format!("cannot write {}", to.display());
    // A link to something damaged is replaced, not written through.
    copying::remove_file(to)?;
    let mut file = File::create_new(to).with_context(unwritten)?;
    file.write_all(piece).and_then(|()| file.sync_all()).with_context(unwritten)?;
    copying::must_read_back(to, sha256)
}

/// Puts a file together where there is none; gives its size and SHA-256. It is on disk when this returns.
pub(super) fn join(pieces: &[String], folder: &Path, to: &Path) -> Result<(u64, String)> {
    copying::make_folder_of(to)?;
    let unwritten = || format!("cannot write {}", to.display());
    let mut file = File::create_new(to).with_context(unwritten)?;
    let (mut size, mut hash) = (0, Sha256::new());
    for sha256 in pieces {
        let path = folder.join(name_of(sha256));
        let piece = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        hash.update(&piece);
        size += piece.len() as u64;
        file.write_all(&piece).with_context(unwritten)?;
    }
    file.sync_all().with_context(unwritten)?;
    Ok((size, hexadecimal(&hash.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written_and_a_damaged_piece_is_not_linked() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut bytes: Vec<u8> =
            (0..3 * PIECE + 100).map(|at| (at / 1000) as u8 ^ (at >> 20) as u8).collect();
        fs::write(at("a"), &bytes).unwrap();
        let (first, written) = cut(&at("a"), &at("one"), None).unwrap();
        assert_eq!((first.len(), written), (4, bytes.len() as u64));

        bytes[PIECE + 5] ^= 1;
        fs::write(at("a"), &bytes).unwrap();
        let (second, written) = cut(&at("a"), &at("two"), Some(&at("one"))).unwrap();
        assert_eq!(written, PIECE as u64);
        assert!(first[1] != second[1] && first[0] == second[0] && first[2..] == second[2..]);
        let (size, hash) = join(&second, &at("two"), &at("b")).unwrap();
        assert_eq!((size, hash), (bytes.len() as u64, hexadecimal(&Sha256::digest(&bytes))));
        assert_eq!(fs::read(at("b")).unwrap(), bytes);

        // A new file, because those before are links to the damaged one.
        fs::write(at("two").join(name_of(&second[0])), b"damaged").unwrap();
        let (_, written) = cut(&at("a"), &at("three"), Some(&at("two"))).unwrap();
        assert_eq!(written, PIECE as u64);
        join(&second, &at("three"), &at("c")).unwrap();
        assert_eq!(fs::read(at("c")).unwrap(), bytes);
    }

    #[test]
    fn a_file_with_equal_parts_keeps_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), vec![7; 3 * PIECE]).unwrap();
        let (pieces, written) = cut(&at("a"), &at("one"), None).unwrap();
        assert_eq!((pieces.len(), written), (3, PIECE as u64));
        assert_eq!(join(&pieces, &at("one"), &at("b")).unwrap().0, 3 * PIECE as u64);
    }
}
