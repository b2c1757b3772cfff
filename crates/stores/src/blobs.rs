//! Originals, named by the SHA-256 of their bytes: the same bytes are kept once, whoever sent them.
//!
//! A file comes in through a staging folder, because its name is known only when its last byte was hashed; a finished
//! one is moved into place on the same disk, or sent to a bucket. Reading goes through `object_store` in both cases.

use std::{
    fs,
    io::{self, Write},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use engine::Fault;
use futures::{StreamExt, stream::BoxStream};
use object_store::{
    ClientOptions, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig, WriteMultipart,
    aws::AmazonS3Builder, local::LocalFileSystem, prefix::PrefixStore,
};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Error, disk::Reserve, make_private_folder};

/// Ends the name of an original that is being removed.
const REMOVED: &str = ".removed";

/// Bytes of one part of an upload to a bucket: few requests for usual files, little memory for large ones.
const PART: usize = 8 << 20;
/// How long one request to a bucket may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// How often a request to a bucket that failed is sent again, and for how long: a passing failure is hidden, a lasting one is
/// told while whoever uploads still waits.
const RETRIES: (usize, Duration) = (4, Duration::from_secs(10));

/// The originals of all boxes.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    /// Where they lie on this machine; `None` where they are in a bucket.
    root: Option<PathBuf>,
    staging: PathBuf,
    reserve: Reserve,
}

/// An original on this machine, for as long as this is held.
pub struct Local {
    path: PathBuf,
    _copy: Option<NamedTempFile>,
}

impl Local {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that is coming in: bytes are hashed as they are written.
pub struct Incoming {
    file: NamedTempFile,
    hash: Sha256,
    size: u64,
    reserve: Reserve,
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

impl Staged {
    /// Where it lies, for as long as this is held.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Blobs {
    /// The originals under a folder, which is created where there is none.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let (root, staging) = (folder.join("originals"), folder.join("staging"));
        make_private_folder(&root)?;
        make_private_folder(&staging)?;
        let store = LocalFileSystem::new_with_prefix(&root).map_err(|error| Error::Blob(Box::new(error)))?;
        let reserve = Reserve::new(&staging, 0);
        Ok(Blobs { store: Arc::new(store), root: Some(root), staging, reserve })
    }

    /// The originals in a bucket, `s3://bucket/prefix`; what comes in and what is parsed lies under `scratch` meanwhile.
    ///
    /// Parameters: `endpoint` of a server that is not Amazon's (`http://` is allowed), `region`, `access_key` and
    /// `secret_key`; what is not given comes from the environment (`AWS_…`) or the machine's role.
    pub fn connect(url: &str, scratch: &Path) -> Result<Self, Error> {
        let wrong = || Error::Address("the address of originals looks like s3://bucket/prefix".into());
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let place = place.strip_prefix("s3://").ok_or_else(wrong)?;
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        if bucket.is_empty() {
            return Err(wrong());
        }
        // The client of the bucket asks the process for its cryptography; where that was chosen already, it stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = ClientOptions::new().with_timeout(REQUEST_TIMEOUT);
        let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
        let mut plain = false;
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            builder = match parameter.split_once('=').ok_or_else(wrong)? {
                ("endpoint", endpoint) => {
                    plain = endpoint.starts_with("http://");
                    builder.with_endpoint(endpoint)
                }
                ("region", region) => builder.with_region(region),
                ("access_key", key) => builder.with_access_key_id(key),
                ("secret_key", key) => builder.with_secret_access_key(key),
                (other, _) => return Err(Error::Address(format!("originals have no parameter `{other}`"))),
            };
        }
        let retry =
            RetryConfig { max_retries: RETRIES.0, retry_timeout: RETRIES.1, ..RetryConfig::default() };
        let built = builder.with_client_options(options.with_allow_http(plain)).with_retry(retry).build();
        let bucket = built.map_err(|error| Error::Blob(Box::new(error)))?;
        let store: Arc<dyn ObjectStore> = match prefix.trim_matches('/') {
            "" => Arc::new(bucket),
            prefix => Arc::new(PrefixStore::new(bucket, prefix)),
        };
        let staging = scratch.join("staging");
        make_private_folder(&staging)?;
        let reserve = Reserve::new(&staging, 0);
        Ok(Blobs { store, root: None, staging, reserve })
    }

    /// The same, which accepts nothing while less than this many bytes are free on this machine's disk.
    pub fn leaving(self, least_free: u64) -> Self {
        let reserve = Reserve::new(&self.staging, least_free);
        Blobs { reserve, ..self }
    }

    /// Whether there is room on the disk for more.
    pub fn has_room(&self) -> bool {
        self.reserve.check().is_ok()
    }

    /// Tidies up after a crash, before anything comes in: half-written uploads go, and an original that was being
    /// removed goes back where it is still wanted.
    pub async fn recover<F>(&self, wanted: impl Fn(String) -> F) -> Result<(), Fault>
    where
        F: Future<Output = Result<bool, Fault>>,
    {
        for path in entries(&self.staging)? {
            let entry = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match entry.strip_suffix(REMOVED) {
                Some(sha256) if wanted(sha256.to_string()).await? => match &self.root {
                    Some(root) => fs::rename(&path, root.join(name(sha256))),
                    None => fs::remove_file(&path),
                },
                _ => fs::remove_file(&path),
            }
            .map_err(Error::io(format!("tidying up {}", path.display())))?;
        }
        Ok(())
    }

    /// What lies where files come in: all of it was left behind where nobody else uses these originals.
    pub fn staged(&self) -> Result<Vec<PathBuf>, Error> {
        entries(&self.staging)
    }

    /// Puts a copy of an original in its place, whatever is there; refused where the copy is not what the name says.
    pub async fn put_back(&self, sha256: &str, copy: &Path) -> Result<(), Error> {
        let staged = self.receive_file(copy)?;
        match staged.sha256 == sha256 {
            true => self.keep(staged).await,
            false => Err(Error::Corrupt(format!("{} is not the original {sha256}", copy.display()))),
        }
    }

    /// Opens a place for a file to come in.
    pub fn receive(&self) -> Result<Incoming, Error> {
        self.reserve.check()?;
        let file =
            NamedTempFile::new_in(&self.staging).map_err(Error::io("opening a file to receive an upload"))?;
        Ok(Incoming { file, hash: Sha256::new(), size: 0, reserve: self.reserve.clone() })
    }

    /// Takes a file of this machine in.
    pub fn receive_file(&self, path: &Path) -> Result<Staged, Error> {
        let mut incoming = self.receive()?;
        let mut file = fs::File::open(path).map_err(Error::io(format!("opening {}", path.display())))?;
        let mut part = vec![0; 1 << 20];
        loop {
            match io::Read::read(&mut file, &mut part).map_err(Error::io("reading a file"))? {
                0 => return incoming.finish(),
                read => incoming.write(&part[..read])?,
            }
        }
    }

    /// Puts a staged file into its place and waits until it is safe; the same bytes already there stay as they are.
    pub async fn keep(&self, staged: Staged) -> Result<(), Error> {
        let Some(root) = &self.root else { return self.send(staged).await };
        let path = root.join(name(&staged.sha256));
        let kept = tokio::task::spawn_blocking(move || {
            let folder = path.parent().expect("it has a folder").to_path_buf();
            make_private_folder(&folder)?;
            let kept = staged.file.persist(&path).map_err(|error| error.error);
            kept.and_then(|_| fs::File::open(&folder)?.sync_all()).map_err(Error::io("keeping an original"))
        });
        kept.await.map_err(|_| Error::Closed)?
    }

    /// Sends a staged file to the bucket, part by part.
    async fn send(&self, staged: Staged) -> Result<(), Error> {
        // Also where the bucket has it already: an upload that is faster then would tell that somebody has these bytes.
        let location = location(&staged.sha256);
        let mut file =
            tokio::fs::File::from_std(staged.file.reopen().map_err(Error::io("reading an upload"))?);
        if staged.size <= PART as u64 {
            let mut bytes = Vec::with_capacity(staged.size as usize);
            file.read_to_end(&mut bytes).await.map_err(Error::io("reading an upload"))?;
            self.store.put(&location, bytes.into()).await?;
            return Ok(());
        }
        let mut parts = WriteMultipart::new_with_chunk_size(self.store.put_multipart(&location).await?, PART);
        loop {
            let mut part = BytesMut::with_capacity(PART);
            while part.len() < PART
                && file.read_buf(&mut part).await.map_err(Error::io("reading an upload"))? > 0
            {}
            if part.is_empty() {
                break;
            }
            // Two parts at once fill the wire; more only fill memory.
            parts.wait_for_capacity(2).await?;
            parts.put(part.freeze());
        }
        parts.finish().await?;
        Ok(())
    }

    /// Whether the original is there.
    pub async fn has(&self, sha256: &str) -> Result<bool, Error> {
        match self.store.head(&location(sha256)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The original on this machine, for a parser to read: where it lies, or a copy of it.
    pub async fn local(&self, sha256: &str) -> Result<Local, Error> {
        if let Some(root) = &self.root {
            return Ok(Local { path: root.join(name(sha256)), _copy: None });
        }
        let copy = NamedTempFile::new_in(&self.staging).map_err(Error::io("copying an original"))?;
        let mut file = tokio::fs::File::from_std(copy.reopen().map_err(Error::io("copying an original"))?);
        let mut hash = Sha256::new();
        let mut bytes = self.store.get(&location(sha256)).await?.into_stream();
        while let Some(part) = bytes.next().await {
            let part = part?;
            hash.update(&part);
            file.write_all(&part).await.map_err(Error::io("copying an original"))?;
        }
        file.flush().await.map_err(Error::io("copying an original"))?;
        if hexadecimal(&hash.finalize()) != sha256 {
            return Err(Error::Corrupt(format!("the original {sha256} has other bytes")));
        }
        Ok(Local { path: copy.path().to_path_buf(), _copy: Some(copy) })
    }

    /// Some bytes of an original, as a stream.
    pub async fn read(
        &self,
        sha256: &str,
        range: Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes, object_store::Error>>, Fault> {
        let options = GetOptions { range: Some(range.into()), ..GetOptions::default() };
        let found = self.store.get_opts(&location(sha256), options).await;
        Ok(found.map_err(Error::from)?.into_stream().boxed())
    }

    /// Removes an original that nobody wants any more, and says whether it was there.
    ///
    /// Somebody may upload the same bytes at this moment, from another process even. So on disk the original is first
    /// moved aside, then `wanted` asked once more, and if it is wanted after all it goes back. A bucket cannot do that:
    /// there, whoever calls this holds a claim on the original.
    ///
    /// The same work is done for an original that others still want: whoever deletes a file must not learn from the
    /// time it takes whether others have the same bytes.
    pub async fn remove_unless<F>(&self, sha256: &str, wanted: impl Fn() -> F) -> Result<bool, Fault>
    where
        F: Future<Output = Result<bool, Fault>>,
    {
        let kept = wanted().await?;
        let Some(root) = &self.root else {
            let there = self.has(sha256).await?;
            let gone = if kept { location(&format!("{sha256}{REMOVED}")) } else { location(sha256) };
            match self.store.delete(&gone).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => return Ok(there && !kept),
                Err(error) => return Err(Error::from(error).into()),
            }
        };
        let path = root.join(name(sha256));
        let aside = self.staging.join(format!("{sha256}{REMOVED}"));
        if kept {
            let second = self.staging.join(format!("{sha256}.kept"));
            let _ = fs::hard_link(&path, &second);
            let _ = wanted().await;
            let _ = fs::remove_file(&second);
            return Ok(false);
        }
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

    /// The names of all originals; files with other names are not ours.
    pub async fn names(&self) -> Result<Vec<String>, Error> {
        let mut listed = self.store.list(None);
        let mut names = Vec::new();
        while let Some(found) = listed.next().await {
            let named = found?.location.filename().map(str::to_string);
            names
                .extend(named.filter(|name| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())));
        }
        Ok(names)
    }

    /// Hashes every original again and tells which are damaged.
    pub async fn scrub(&self) -> Result<Scrubbed, Error> {
        let mut scrubbed = Scrubbed::default();
        let mut listed = self.store.list(None);
        while let Some(found) = listed.next().await {
            let location = found?.location;
            let named = location.filename().unwrap_or_default().to_string();
            let mut hash = Sha256::new();
            let mut bytes = self.store.get(&location).await?.into_stream();
            while let Some(part) = bytes.next().await {
                hash.update(&part?);
            }
            match hexadecimal(&hash.finalize()) == named {
                true => scrubbed.sound += 1,
                false => scrubbed.damaged.push(named),
            }
        }
        Ok(scrubbed)
    }
}

impl Incoming {
    /// Takes the next bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let parts = self.size / PART as u64;
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        if self.size / PART as u64 > parts {
            self.reserve.check()?;
        }
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

fn location(sha256: &str) -> object_store::path::Path {
    object_store::path::Path::from(name(sha256))
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
    use crate::scaled;

    /// The originals under test: on disk, or in a part of a bucket of the test's own.
    fn blobs(folder: &tempfile::TempDir) -> Blobs {
        if !scaled::wanted() {
            return Blobs::open(folder.path()).unwrap();
        }
        let url = scaled::server("QUIRE_TEST_S3").expect("a server");
        let url = url.replacen("/?", &format!("/test-{:016x}?", rand::random::<u64>()), 1);
        Blobs::connect(&url, folder.path()).unwrap()
    }

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
        let blobs = blobs(&folder);
        let file = staged(&blobs, b"hello, world");
        let sha256 = file.sha256.clone();
        assert_eq!(sha256, "09ca7e4eaa6e8ae9c7d261167129184883644d07dfba7cbfbc4c8a2e08360d5b");
        blobs.keep(file).await.unwrap();
        blobs.keep(staged(&blobs, b"hello, world")).await.unwrap();
        assert_eq!(read(&blobs, &sha256, 0..12).await, b"hello, world");
        assert_eq!(read(&blobs, &sha256, 7..12).await, b"world");
        assert_eq!(fs::read(blobs.local(&sha256).await.unwrap().path()).unwrap(), b"hello, world");
        assert_eq!(blobs.scrub().await.unwrap().sound, 1);
    }

    #[tokio::test]
    async fn an_original_goes_only_when_nobody_wants_it() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = blobs(&folder);
        let file = staged(&blobs, b"x");
        let sha256 = file.sha256.clone();
        blobs.keep(file).await.unwrap();
        assert!(!blobs.remove_unless(&sha256, async || Ok(true)).await.unwrap());
        if blobs.root.is_some() {
            // Wanted again between the two questions.
            let asked = std::cell::Cell::new(0);
            let late = || {
                asked.set(asked.get() + 1);
                let second = asked.get() == 2;
                async move { Ok(second) }
            };
            assert!(!blobs.remove_unless(&sha256, late).await.unwrap());
        }
        assert!(blobs.has(&sha256).await.unwrap());
        assert!(blobs.remove_unless(&sha256, async || Ok(false)).await.unwrap());
        assert!(!blobs.has(&sha256).await.unwrap());
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
            blobs.keep(file).await.unwrap();
            let sha256 = kept.last().unwrap();
            let path = blobs.local(sha256).await.unwrap().path().to_path_buf();
            fs::rename(path, blobs.staging.join(format!("{sha256}{REMOVED}"))).unwrap();
        }
        fs::write(blobs.staging.join("half-written"), b"x").unwrap();
        let wanted = kept[0].clone();
        blobs.recover(|sha256| std::future::ready(Ok(sha256 == wanted))).await.unwrap();
        assert!(blobs.has(&kept[0]).await.unwrap() && !blobs.has(&kept[1]).await.unwrap());
        assert_eq!(entries(&blobs.staging).unwrap().len(), 0);
    }

    #[tokio::test]
    async fn a_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let file = staged(&blobs, b"precious");
        let sha256 = file.sha256.clone();
        blobs.keep(file).await.unwrap();
        fs::write(blobs.local(&sha256).await.unwrap().path(), b"preciouS").unwrap();
        assert_eq!(blobs.scrub().await.unwrap(), Scrubbed { sound: 0, damaged: vec![sha256] });
    }

    /// Larger than one part, and not a whole number of them.
    #[tokio::test]
    async fn a_large_original_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = blobs(&folder);
        let bytes: Vec<u8> = (0..2 * PART + 12_345).map(|at| (at % 251) as u8).collect();
        let mut incoming = blobs.receive().unwrap();
        incoming.write(&bytes).unwrap();
        let file = incoming.finish().unwrap();
        let sha256 = file.sha256.clone();
        blobs.keep(file).await.unwrap();
        assert_eq!(hash_of(blobs.local(&sha256).await.unwrap().path()).unwrap(), sha256);
        let at = PART as u64 - 5..PART as u64 + 5;
        assert_eq!(read(&blobs, &sha256, at.clone()).await, &bytes[at.start as usize..at.end as usize]);
        assert_eq!(entries(&blobs.staging).unwrap().len(), 0);
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
