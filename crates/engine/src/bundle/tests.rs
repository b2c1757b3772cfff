//! Whatever is done to a bundle, it is read as it was written or refused with the place.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{document::Format, seams::index::Chunk};

fn moment(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn head() -> Head {
    Head {
        written_by: "test".into(),
        written_at: moment(2_000),
        box_id: BoxId::from_bytes([7; 16]),
        name: "Papers".into(),
        created_at: moment(1_000),
        owner: Some("ada@example.org".into()),
        model: Some("model@1".into()),
        notes: Metadata::new(),
        settings: BoxSettings { retention_days: Some(30), ..BoxSettings::default() },
    }
}

fn entry(name: &str, original: &[u8], status: FileStatus) -> FileEntry {
    let read = status == FileStatus::Ready;
    FileEntry {
        id: FileId::from_bytes([9; 16]),
        name: name.into(),
        external_id: Some(format!("crm-{name}")),
        sha256: hash(original),
        size: original.len() as u64,
        media_type: "text/plain".into(),
        status,
        error: None,
        warnings: Vec::new(),
        language: Some("en".into()),
        tags: vec!["a".into()],
        metadata: [("year".to_string(), 2026.into())].into(),
        created_at: moment(1_000),
        updated_at: moment(1_001),
        indexed_at: read.then(|| moment(1_002)),
        expires_at: None,
        title: None,
        pages: u32::from(read),
        chunks: if read { 2 } else { 0 },
    }
}

fn chunk(start: u32, end: u32, text: &str) -> IndexedChunk {
    let chunk = Chunk {
        text: text.into(),
        page: 1,
        page_end: 1,
        start,
        end,
        section: Arc::from(["Pets".to_string()]),
        lead: "".into(),
        language: None,
    };
    IndexedChunk { chunk, vector: vec![0.5, -0.25, 0.125], tokens: vec![1, 0, 3, 0, 9, 9, 9] }
}

/// A bundle of a file that was read and one that was not, and its parts.
fn bundle() -> (Vec<u8>, Vec<Part>) {
    let text = "Puppies need a walk.";
    let page = Page {
        number: 1,
        label: "1".into(),
        text: text.into(),
        format: Format::Text,
        ocr: false,
        confidence: None,
        tables: 0,
        warnings: Vec::new(),
        layout: None,
    };
    let long = vec![5; PIECE + 3];
    let mut writer = Writer::start(Vec::new(), &head()).unwrap();
    let mut parts = Vec::new();
    let first = entry("pets.txt", text.as_bytes(), FileStatus::Ready);
    writer.file(&first).unwrap();
    writer.bytes(text.as_bytes()).unwrap();
    writer.page(&page).unwrap();
    parts.extend([Part::File(Box::new(first)), Part::Bytes(text.into()), Part::Page(page)]);
    for chunk in [chunk(0, 7, "Puppies"), chunk(8, 20, "need a walk.")] {
        writer.chunk(&chunk).unwrap();
        parts.push(Part::Chunk(Box::new(chunk)));
    }
    let second = entry("scan.bin", &long, FileStatus::Queued);
    writer.file(&second).unwrap();
    writer.bytes(&long).unwrap();
    parts.extend([Part::File(Box::new(second)), Part::Bytes(long[..PIECE].into()), Part::Bytes(vec![5; 3])]);
    parts.push(Part::End);
    (writer.finish().unwrap(), parts)
}

/// The same without the long original, for tests that read it often.
fn short() -> Vec<u8> {
    let mut writer = Writer::start(Vec::new(), &head()).unwrap();
    writer.file(&entry("a.txt", b"abc", FileStatus::Queued)).unwrap();
    writer.bytes(b"abc").unwrap();
    writer.file(&entry("b.txt", b"", FileStatus::Failed)).unwrap();
    writer.finish().unwrap()
}

#[test]
fn what_was_written_is_read() {
    let (bytes, written) = bundle();
    let (read, mut reader) = Reader::open(&bytes[..]).unwrap();
    assert_eq!(read, head());
    for part in written {
        assert_eq!(reader.next_part().unwrap(), part);
    }
    assert_eq!(reader.position(), bytes.len() as u64);
    let (_, totals) = verify(&bytes[..], |_| {}).unwrap();
    let bytes = 20 + PIECE as u64 + 3;
    assert_eq!(totals, Totals { files: 2, unread: 1, bytes, pages: 1, chunks: 2 });
}

#[test]
fn every_flipped_bit_of_a_small_bundle_is_noticed() {
    let bytes = short();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            let wrong = verify(&flipped[..], |_| {}).expect_err("a flipped bit");
            assert!(wrong.at <= at as u64, "bit {bit} of byte {at}: {wrong}");
            assert!(wrong.to_string().contains(&format!("at byte {}", wrong.at)));
        }
    }
}

#[test]
fn every_cut_of_a_small_bundle_is_noticed_and_so_is_an_addition() {
    let bytes = short();
    for end in 0..bytes.len() {
        assert!(verify(&bytes[..end], |_| {}).is_err(), "cut after {end}");
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(verify(&longer[..], |_| {}).unwrap_err().what.contains("after its end"));
}

#[test]
fn a_damaged_original_is_named() {
    let (mut bytes, _) = bundle();
    let middle = bytes.len() - PIECE / 2;
    bytes[middle] ^= 1;
    let wrong = verify(&bytes[..], |_| {}).unwrap_err();
    assert_eq!(wrong.file.as_deref(), Some("scan.bin"), "{wrong}");
    assert!(wrong.at > 0 && wrong.at < middle as u64, "{wrong}");
}

/// Somebody who writes bundles can make their checksums right.
#[test]
fn a_well_summed_bundle_of_nonsense_is_refused() {
    let refused = |write: &dyn Fn(&mut Writer<Vec<u8>>)| {
        let mut writer = Writer::start(Vec::new(), &head()).unwrap();
        write(&mut writer);
        verify(&writer.finish().unwrap()[..], |_| {}).unwrap_err().what
    };
    let file = |change: &dyn Fn(&mut FileEntry)| {
        refused(&|writer| {
            let mut entry = entry("a.txt", b"abc", FileStatus::Queued);
            change(&mut entry);
            writer.file(&entry).unwrap();
            writer.bytes(b"abc").unwrap();
        })
    };
    assert!(file(&|entry| entry.name = "/".into()).contains("name"));
    assert!(file(&|entry| entry.sha256 = "../../etc/passwd".into()).contains("SHA-256"));
    assert!(file(&|entry| entry.sha256 = hash(b"abd")).contains("other bytes"));
    assert!(file(&|entry| entry.size = 2).contains("more bytes"));
    assert!(file(&|entry| entry.size = 4).contains("other bytes"));
    assert!(file(&|entry| entry.status = FileStatus::Deleting).contains("status"));
    assert!(file(&|entry| entry.pages = 1).contains("status"));
    assert!(file(&|entry| entry.media_type = "a\r\nset-cookie: b".into()).contains("media type"));
    assert!(file(&|entry| entry.external_id = Some("x".repeat(201))).contains("external id"));
    assert!(refused(&|writer| writer.bytes(b"abc").unwrap()).contains("no file"));
    let passage = |chunk: IndexedChunk| {
        refused(&|writer| {
            let (_, parts) = bundle();
            let Part::Page(page) = &parts[2] else { panic!("a page") };
            let mut entry = entry("a.txt", b"", FileStatus::Ready);
            entry.chunks = 1;
            writer.file(&entry).unwrap();
            writer.page(page).unwrap();
            writer.chunk(&chunk).unwrap();
        })
    };
    assert!(passage(chunk(0, 21, "beyond")).contains("not on the pages"));
    assert!(passage(chunk(5, 4, "backwards")).contains("not on the pages"));
    let mut elsewhere = chunk(0, 1, "x");
    elsewhere.chunk.page = 0;
    assert!(passage(elsewhere).contains("not on the pages"));
    let not_a_number = IndexedChunk { vector: vec![f32::NAN], ..chunk(0, 1, "x") };
    assert!(passage(not_a_number).contains("as usual"));
    assert!(passage(IndexedChunk { vector: Vec::new(), ..chunk(0, 1, "x") }).contains("0 numbers"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_bit_flipped_anywhere_is_refused(place in any::<prop::sample::Index>(), bit in 0..8u8) {
        let (mut bytes, _) = bundle();
        let at = place.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let wrong = verify(&bytes[..], |_| {}).unwrap_err();
        prop_assert!(wrong.at <= at as u64, "byte {at}: {wrong}");
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let read = verify(&bytes[..], |_| {});
        prop_assert!(read.is_err());
    }
}
