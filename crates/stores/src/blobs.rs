//! Originals, named by the SHA-256 of their bytes: the same bytes are kept once, whoever sent them.
//!
//! A file comes in through a staging folder, because its name is known only when its last byte was hashed; a finished
//! one is moved into place. Reading goes through `object_store`, which speaks to more than the local disk.

use std::{
    fs,
    io::{self, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use engine::Fault;
use futures::{StreamExt, stream::BoxStream};
use object_store::{GetOptions, ObjectStore, local::LocalFileSystem};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::{Error, make_private_folder};

/// Ends the name of an original that is being removed.
const REMOVED: &str = ".removed";

/// The originals of all boxes.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    root: PathBuf,
    staging: PathBuf,
}

/// A file that is coming in: bytes are hashed as they are written.
pub struct Incoming {
    file: NamedTempFile,
    hash: Sha256,
    size: u64,
}

/// A file that has come in whole, on disk but not yet in its place; gone when dropped.
pub struct Staged {
    file: NamedTempFile,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// How many bytes it has.
    pub size: u64,
}

/// What a check of all originals found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// Originals whose bytes are what their name says.
    pub sound: u64,
    /// Originals whose bytes are not.
    pub damaged: Vec<String>,
}

impl Blobs {
    /// The originals under a folder, which is made where there is none.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let (root, staging) = (folder.join("originals"), folder.join("staging"));
        make_private_folder(&root)?;
        make_private_folder(&staging)?;
        let store = LocalFileSystem::new_with_prefix(&root).map_err(|error| Error::Blob(Box::new(error)))?;
        Ok(Blobs { store: Arc::new(store), root, staging })
    }

    /// Tidies up after a crash, before anything comes in: half-written uploads go, and an original that was being
    /// removed goes back where it is still wanted.
    pub async fn recover<F>(&self, wanted: impl Fn(String) -> F) -> Result<(), Fault>
    where
        F: Future<Output = Result<bool, Fault>>,
    {
        for path in entries(&self.staging)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match name.strip_suffix(REMOVED) {
                Some(sha256) if wanted(sha256.to_string()).await? => fs::rename(&path, self.path(sha256)),
                _ => fs::remove_file(&path),
            }
            .map_err(Error::io(format!("tidying up {}", path.display())))?;
        }
        Ok(())
    }

    /// Opens a place for a file to come in.
    pub fn receive(&self) -> Result<Incoming, Error> {
        let file =
            NamedTempFile::new_in(&self.staging).map_err(Error::io("opening a file to receive an upload"))?;
        Ok(Incoming { file, hash: Sha256::new(), size: 0 })
    }

    /// Moves a staged file into its place and waits for the disk; the same bytes already there stay as they are.
    pub fn keep(&self, staged: Staged) -> Result<(), Error> {
        let path = self.path(&staged.sha256);
        let folder = path.parent().expect("it has a folder").to_path_buf();
        make_private_folder(&folder)?;
        let kept = staged.file.persist(&path).map_err(|error| error.error);
        kept.and_then(|_| fs::File::open(&folder)?.sync_all()).map_err(Error::io("keeping an original"))
    }

    /// Whether the original is there.
    pub fn has(&self, sha256: &str) -> bool {
        self.path(sha256).exists()
    }

    /// Where the original lies on this machine, for a parser to read.
    pub fn path(&self, sha256: &str) -> PathBuf {
        self.root.join(name(sha256))
    }

    /// Some bytes of an original, as a stream.
    pub async fn read(
        &self,
        sha256: &str,
        range: Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes, object_store::Error>>, Fault> {
        let location = object_store::path::Path::from(name(sha256));
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        let found = self.store.get_opts(&location, options).await;
        Ok(found.map_err(|error| Error::Blob(Box::new(error)))?.into_stream().boxed())
    }

    /// Removes an original that nobody wants any more, and says whether it was there.
    ///
    /// Somebody may upload the same bytes at this moment, from another process even. So the original is first moved
    /// aside, then `wanted` asked once more, and if it is wanted after all it goes back.
    pub async fn remove_unless<F>(&self, sha256: &str, wanted: impl Fn() -> F) -> Result<bool, Fault>
    where
        F: Future<Output = Result<bool, Fault>>,
    {
        let path = self.path(sha256);
        if wanted().await? {
            return Ok(false);
        }
        let aside = self.staging.join(format!("{sha256}{REMOVED}"));
        match fs::rename(&path, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io("removing an original")(error).into()),
        }
        if wanted().await.unwrap_or(true) {
            fs::rename(&aside, &path).map_err(Error::io("putting an original back"))?;
            return Ok(false);
        }
        fs::remove_file(&aside).map_err(Error::io("removing an original"))?;
        Ok(true)
    }

    /// Hashes every original anew and tells which are damaged; `seen` is told of each.
    pub fn scrub(&self, mut seen: impl FnMut(u64)) -> Result<Scrubbed, Error> {
        let mut scrubbed = Scrubbed::default();
        for folder in entries(&self.root)? {
            for path in entries(&folder)? {
                let named = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                match hash_of(&path) {
                    Ok(hash) if hash == named => scrubbed.sound += 1,
                    _ => scrubbed.damaged.push(named),
                }
                seen(scrubbed.sound + scrubbed.damaged.len() as u64);
            }
        }
        Ok(scrubbed)
    }
}

impl Incoming {
    /// Takes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io("writing an upload"))
    }

    /// Bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// That was all: waits for the disk.
    pub fn finish(self) -> Result<Staged, Error> {
        self.file.as_file().sync_all().map_err(Error::io("writing an upload"))?;
        Ok(Staged { file: self.file, sha256: hexadecimal(&self.hash.finalize()), size: self.size })
    }
}

/// Two letters of folder keep folders small.
fn name(sha256: &str) -> String {
    format!("{}/{sha256}", &sha256[..2])
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let listed = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    listed.map_err(Error::io(format!("reading {}", folder.display())))
}

/// SHA-256 of a file, in hexadecimal.
pub fn hash_of(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut fs::File::open(path)?, &mut HashWriter(&mut hash))?;
    Ok(hexadecimal(&hash.finalize()))
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use futures::TryStreamExt;

    use super::*;

    fn staged(blobs: &Blobs, bytes: &[u8]) -> Staged {
        let mut incoming = blobs.receive().unwrap();
        bytes.chunks(3).for_each(|part| incoming.write(part).unwrap());
        incoming.finish().unwrap()
    }

    async fn read(blobs: &Blobs, sha256: &str, range: Range<u64>) -> Vec<u8> {
        let stream = blobs.read(sha256, range).await.unwrap();
        let parts: Vec<Bytes> = stream.try_collect().await.unwrap();
        parts.concat()
    }

    #[tokio::test]
    async fn what_comes_in_can_be_read_whole_and_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let file = staged(&blobs, b"hello, world");
        let sha256 = file.sha256.clone();
        assert_eq!(sha256, "09ca7e4eaa6e8ae9c7d261167129184883644d07dfba7cbfbc4c8a2e08360d5b");
        blobs.keep(file).unwrap();
        blobs.keep(staged(&blobs, b"hello, world")).unwrap();
        assert_eq!(read(&blobs, &sha256, 0..12).await, b"hello, world");
        assert_eq!(read(&blobs, &sha256, 7..12).await, b"world");
        assert_eq!(blobs.scrub(|_| {}).unwrap().sound, 1);
    }

    #[tokio::test]
    async fn an_original_goes_only_when_nobody_wants_it() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let file = staged(&blobs, b"x");
        let sha256 = file.sha256.clone();
        blobs.keep(file).unwrap();
        assert!(!blobs.remove_unless(&sha256, async || Ok(true)).await.unwrap());
        // Wanted again between the two questions.
        let asked = std::cell::Cell::new(0);
        let late = || {
            asked.set(asked.get() + 1);
            let second = asked.get() == 2;
            async move { Ok(second) }
        };
        assert!(!blobs.remove_unless(&sha256, late).await.unwrap());
        assert!(blobs.has(&sha256));
        assert!(blobs.remove_unless(&sha256, async || Ok(false)).await.unwrap());
        assert!(!blobs.has(&sha256));
        assert!(!blobs.remove_unless(&sha256, async || Ok(false)).await.unwrap());
    }

    #[tokio::test]
    async fn a_crash_while_removing_loses_nothing_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let mut kept = Vec::new();
        for bytes in [b"wanted", b"unwant"] {
            let file = staged(&blobs, bytes);
            kept.push(file.sha256.clone());
            blobs.keep(file).unwrap();
            let sha256 = kept.last().unwrap();
            fs::rename(blobs.path(sha256), blobs.staging.join(format!("{sha256}{REMOVED}"))).unwrap();
        }
        fs::write(blobs.staging.join("half-written"), b"x").unwrap();
        let wanted = kept[0].clone();
        blobs.recover(|sha256| std::future::ready(Ok(sha256 == wanted))).await.unwrap();
        assert!(blobs.has(&kept[0]) && !blobs.has(&kept[1]));
        assert_eq!(entries(&blobs.staging).unwrap().len(), 0);
    }

    #[test]
    fn a_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let file = staged(&blobs, b"precious");
        let sha256 = file.sha256.clone();
        blobs.keep(file).unwrap();
        fs::write(blobs.path(&sha256), b"preciouS").unwrap();
        assert_eq!(blobs.scrub(|_| {}).unwrap(), Scrubbed { sound: 0, damaged: vec![sha256] });
    }

    #[test]
    fn an_upload_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        drop(staged(&blobs, b"never kept"));
        let mut half = blobs.receive().unwrap();
        half.write(b"half").unwrap();
        drop(half);
        assert_eq!(entries(&blobs.staging).unwrap().len(), 0);
    }
}
