//! Draws a page of a file as it looks: pages of PDFs as they are printed, pictures as they are.

use std::io::Cursor;

use engine::seams::parser::{Drawing, ParseFailure};
use image::{DynamicImage, ImageFormat, ImageReader, imageops::FilterType};

use crate::kind::{self, Kind};
use crate::limits::LONGEST_SIDE;
use crate::{Limits, failure, pdf, tiff};

/// Draws a page as a PNG.
pub(crate) fn draw(
    bytes: Vec<u8>,
    name: &str,
    drawing: Drawing,
    limits: &Limits,
) -> Result<Vec<u8>, ParseFailure> {
    match kind::sniff(&bytes, name)? {
        Kind::Pdf => pdf::draw(bytes, drawing),
        Kind::Image(media_type) => picture(bytes, media_type, drawing, limits),
        kind => Err(failure::unsupported(format!(
            "pages of this kind of file ({}) have no image; only pages of PDFs and images do",
            kind.media_type()
        ))),
    }
}

/// The wanted picture of a file that is one, or holds several, no wider than it is.
fn picture(
    mut bytes: Vec<u8>,
    media_type: &str,
    drawing: Drawing,
    limits: &Limits,
) -> Result<Vec<u8>, ParseFailure> {
    let damaged = || failure::damaged("the picture is damaged or of a kind that cannot be shown");
    if media_type == "image/tiff" {
        tiff::turn_to(&mut bytes, drawing.page).ok_or_else(no_such_page)?;
    } else if drawing.page != 1 {
        return Err(no_such_page());
    }
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|_| damaged())?;
    let mut most = image::Limits::default();
    // Four bytes a pixel, and as much again for what the decoder needs.
    most.max_alloc = Some(limits.image_pixels.saturating_mul(8).min(limits.memory_bytes / 2));
    reader.limits(most);
    let picture = reader.decode().map_err(|error| match error {
        image::ImageError::Limits(_) => failure::limits("the picture has too many pixels"),
        _ => damaged(),
    })?;
    let (width, height) = fitting((picture.width(), picture.height()), drawing.width);
    let picture = match (width, height) == (picture.width(), picture.height()) {
        true => picture,
        false => picture.resize_exact(width, height, FilterType::Triangle),
    };
    encoded(&picture).ok_or_else(damaged)
}

fn no_such_page() -> ParseFailure {
    failure::damaged("the picture has no such page")
}

/// The size of a picture that is made as wide as wanted, but never larger than it is.
fn fitting((width, height): (u32, u32), wanted: u32) -> (u32, u32) {
    let share = (f64::from(wanted) / f64::from(width.max(1)))
        .min(f64::from(LONGEST_SIDE) / f64::from(height.max(1)))
        .min(1.0);
    let scaled = |side: u32| ((f64::from(side) * share).round() as u32).max(1);
    (scaled(width), scaled(height))
}

fn encoded(picture: &DynamicImage) -> Option<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    // Deeper colours than a screen shows only make it larger.
    let picture = DynamicImage::ImageRgba8(picture.to_rgba8());
    picture.write_to(&mut png, ImageFormat::Png).ok()?;
    Some(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        encoded(&DynamicImage::new_rgb8(width, height)).unwrap()
    }

    fn size(png: &[u8]) -> (u32, u32) {
        let picture = image::load_from_memory_with_format(png, ImageFormat::Png).unwrap();
        (picture.width(), picture.height())
    }

    fn drawn(bytes: &[u8], page: u32, width: u32) -> Result<(u32, u32), String> {
        let drawn = draw(bytes.to_vec(), "x", Drawing { page, width }, &Limits::default());
        drawn.map(|png| size(&png)).map_err(|failure| failure.message)
    }

    #[test]
    fn pictures_become_as_wide_as_wanted_and_never_larger() {
        assert_eq!(drawn(&png(300, 150), 1, 100), Ok((100, 50)));
        assert_eq!(drawn(&png(300, 150), 1, 900), Ok((300, 150)));
        assert_eq!(drawn(&png(1, 3), 1, 16), Ok((1, 3)));
        assert!(drawn(&png(300, 150), 2, 100).unwrap_err().contains("no such page"));
    }

    #[test]
    fn each_picture_of_a_tiff_is_a_page() {
        let mut tiff = tiff_of(&[(4, 2), (6, 3)]);
        assert_eq!(drawn(&tiff, 1, 100), Ok((4, 2)));
        assert_eq!(drawn(&tiff, 2, 100), Ok((6, 3)));
        assert!(drawn(&tiff, 3, 100).is_err());
        let end = tiff.len() - 4;
        // A picture that names itself as the next one.
        tiff.copy_within(4..8, end);
        assert!(drawn(&tiff, 10_001, 100).is_ok());
    }

    /// Grey pictures of these sizes in one file, each directory after its pixels.
    fn tiff_of(sizes: &[(u32, u32)]) -> Vec<u8> {
        let mut tiff = b"II\x2a\0\0\0\0\0".to_vec();
        let mut link = 4;
        for (width, height) in sizes {
            let pixels = tiff.len() as u32;
            tiff.resize(tiff.len() + (width * height) as usize, 200);
            let start = tiff.len() as u32;
            tiff[link..link + 4].copy_from_slice(&start.to_le_bytes());
            let entries: [(u16, u32); 8] = [
                (256, *width),
                (257, *height),
                (258, 8),
                (259, 1),
                (262, 1),
                (273, pixels),
                (278, *height),
                (279, width * height),
            ];
            tiff.extend((entries.len() as u16).to_le_bytes());
            for (tag, value) in entries {
                tiff.extend(tag.to_le_bytes());
                tiff.extend(4u16.to_le_bytes());
                tiff.extend(1u32.to_le_bytes());
                tiff.extend(value.to_le_bytes());
            }
            link = tiff.len();
            tiff.extend([0; 4]);
        }
        tiff
    }

    #[test]
    fn what_is_no_picture_says_so() {
        assert!(drawn(b"plain words, nothing else", 1, 100).unwrap_err().contains("have no image"));
        assert!(drawn(b"\x89PNG\r\n\x1a\n broken", 1, 100).unwrap_err().contains("damaged"));
        assert!(drawn(b"II\x2a\0\xff\xff\xff\xff", 2, 100).is_err());
        let mut bomb = png(8, 8);
        bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(drawn(&bomb, 1, 100).is_err());
    }
}
