//! Feeds arbitrary bytes to the reader of rtf files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use parsers::{Limits, parse_bytes};

fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { ocr: parsers::Ocr::Off, second_opinion: false, ..Limits::default() };
    let mut file = b"{\\rtf1 ".to_vec();
    file.extend_from_slice(bytes);
    // With the magic before it nearly every input reaches the reader; without it the fuzzer may bring its own.
    let _ = parse_bytes(file, "x.rtf", &limits, &|_, _| {});
    let _ = parse_bytes(bytes.to_vec(), "x.rtf", &limits, &|_, _| {});
});
