//! Replays the fuzz targets' corpus and some thousand mutations of it, the same ones each time: a short run that takes no fuzzer.

use engine::apikey::ApiKey;
use parsers::{Limits, parse_bytes};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use server::http::routes::inputs as bodies;

#[path = "../../../../fuzz/inputs.rs"]
mod inputs;

/// Mutations of a corpus whose inputs take microseconds, and of one whose inputs are whole files.
const MANY: usize = 4_000;
const SOME: usize = 300;

/// What turns up in inputs that break things.
const TOKENS: &[&[u8]] = &[
    b"\r\n",
    b"\r\n\r\n",
    b"--XB",
    b"--XB--",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"$and",
    b"$nin",
    b"\0",
    b"\xff\xfe",
    b"%00",
    b"=",
    b";",
    b"filename*=UTF-8''",
    b"\n",
];

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = crate::root().join("fuzz/corpus").join(name);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("an input")).collect()
}

/// One change of a kind that fuzzers make.
fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut StdRng) {
    let at = random.random_range(0..=input.len());
    let end = (at + random.random_range(0..=16)).min(input.len());
    match random.random_range(0..6) {
        0 if at < input.len() => input[at] ^= 1 << random.random_range(0..8),
        1 => drop(input.drain(at..end)),
        2 => drop(input.splice(at..at, TOKENS.choose(random).expect("tokens").iter().copied())),
        3 => {
            let piece = input[at..end].repeat(random.random_range(1..40));
            drop(input.splice(at..at, piece));
        }
        4 => input.truncate(at),
        _ => {
            let other = corpus.choose(random).expect("a corpus");
            let from = random.random_range(0..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
    }
}

fn replay(name: &str, mutations: usize, take: impl Fn(&[u8])) {
    let corpus = corpus(name);
    corpus.iter().for_each(|input| take(input));
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..mutations {
        let mut input = corpus.choose(&mut random).expect("a corpus").clone();
        for _ in 0..random.random_range(1..6) {
            change(&mut input, &corpus, &mut random);
        }
        take(&input);
    }
}

#[test]
fn bodies_of_requests_do_not_panic_on_hostile_inputs() {
    replay("search_body", MANY, bodies::search_body);
    replay("chat_body", MANY, bodies::chat_body);
    replay("changes_body", MANY, bodies::changes_body);
    replay("documents_body", MANY, bodies::documents_body);
    replay("link_body", MANY, bodies::link_body);
    replay("wire_body", MANY, bodies::wire_body);
    replay("passkey", MANY, bodies::passkey);
    replay("filter", MANY, inputs::filter);
}

#[test]
fn forms_read_the_same_however_they_are_cut_and_parameters_do_not_panic() {
    replay("form", MANY, bodies::form);
    replay("parameters", MANY, bodies::parameters);
}

/// One that nobody replays would be forgotten.
#[test]
fn every_fuzz_target_has_a_corpus_that_is_replayed() {
    let replayed = std::fs::read_to_string(crate::root().join("crates/server/tests/security/replay.rs"));
    let replayed = replayed.expect("this file");
    let targets = std::fs::read_dir(crate::root().join("fuzz/fuzz_targets")).expect("targets");
    for target in targets.map(|entry| entry.expect("an entry").path()) {
        let name = target.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(!corpus(&name).is_empty(), "{name} has no corpus");
        assert!(replayed.contains(&format!("(\"{name}\", ")), "{name} is not replayed");
    }
}

#[test]
fn what_a_child_says_does_not_panic_its_parent() {
    replay("child_messages", MANY, inputs::child_messages);
}

#[test]
fn bundles_are_read_or_refused_without_a_panic() {
    replay("bundle", MANY, inputs::bundle);
}

#[test]
fn keys_in_hostile_text_are_found_or_not_without_a_panic() {
    replay("key", MANY, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        assert!(ApiKey::find(&text).is_none_or(|key| text.contains(&key.reveal())));
    });
}

#[test]
fn parsers_do_not_panic_on_the_fuzzers_corpus() {
    let limits = Limits { ocr: parsers::Ocr::Off, second_opinion: false, ..Limits::default() };
    let kinds: [(&str, &[u8], &str); 5] = [
        ("pdf", b"%PDF-1.7\n", "x.pdf"),
        ("package", b"", "x.docx"),
        ("html", b"<html>", "x.html"),
        ("rtf", b"{\\rtf1 ", "x.rtf"),
        ("email", b"From: a\nMIME-Version: 1.0\n", "x.eml"),
    ];
    for (name, magic, file) in kinds {
        replay(name, SOME, |bytes| drop(parse_bytes([magic, bytes].concat(), file, &limits, &|_, _| {})));
    }
}
