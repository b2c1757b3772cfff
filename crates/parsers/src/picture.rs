//! Pictures: their words are recognised, or the page says why not.

use std::sync::atomic::Ordering;

use crate::{Job, Parsed, ocr, pdf};

/// Reads a picture.
pub(crate) fn parse(bytes: &[u8], job: &Job<'_>) -> Parsed {
    let too_large = dimensions(bytes).is_some_and(|(width, height)| width * height > job.limits.image_pixels);
    // Told before, because it takes a while.
    job.recognised.fetch_add(1, Ordering::Relaxed);
    (job.progress)(0, None);
    let result = if too_large {
        Err(ocr::Unread::Failed("the picture has too many pixels".into()))
    } else {
        ocr::read(bytes, job.limits)
    };
    let pages = match result {
        Ok(read) => {
            let read = read.into_iter().take(job.limits.ocr_pages as usize);
            let pages: Vec<_> = read.map(pdf::recognised_page).collect();
            job.recognised.fetch_add(
                u32::try_from(pages.len()).unwrap_or(u32::MAX).saturating_sub(1),
                Ordering::Relaxed,
            );
            pages
        }
        Err(why) => vec![ocr::unread_page(&why)],
    };
    Parsed { title: None, pages, warnings: Vec::new() }
}

/// The width and height a picture states, where its header is simple to read.
fn dimensions(bytes: &[u8]) -> Option<(u64, u64)> {
    let big = |at: usize, length: usize| {
        bytes.get(at..at + length).map(|part| part.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let little = |at: usize, length: usize| {
        bytes
            .get(at..at + length)
            .map(|part| part.iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some((big(16, 4)?, big(20, 4)?)),
        [b'G', b'I', b'F', ..] => Some((little(6, 2)?, little(8, 2)?)),
        [b'B', b'M', ..] => Some((little(18, 4)?, little(22, 4)? & 0x7fff_ffff)),
        [0xff, 0xd8, ..] => {
            let mut at = 2;
            loop {
                let marker = big(at, 2)?;
                let length = usize::try_from(big(at + 2, 2)?).ok()?;
                // Start-of-frame markers carry the size; C4, C8 and CC are tables that share their range.
                if (0xffc0..=0xffcf).contains(&marker) && ![0xffc4, 0xffc8, 0xffcc].contains(&marker) {
                    return Some((big(at + 7, 2)?, big(at + 5, 2)?));
                }
                if marker < 0xff00 || length < 2 {
                    return None;
                }
                at += 2 + length;
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_headers() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 1, 0, 0, 0, 0, 2]);
        assert_eq!(dimensions(&png), Some((256, 2)));
        let jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8, 0, 16, 0, 32, 3];
        assert_eq!(dimensions(&jpeg), Some((32, 16)));
        assert_eq!(dimensions(&jpeg[..9]), None);
    }
}
