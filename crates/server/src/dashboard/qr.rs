//! Texts as squares that a camera reads.

use std::fmt::Write;

use qrcodegen::{QrCode, QrCodeEcc};

/// The margin that cameras need, in modules.
const MARGIN: i32 = 4;

/// A text as a drawing: how wide it is with its margin, and the path of what is dark.
pub(super) struct Drawn {
    pub(super) side: i32,
    pub(super) path: String,
}

/// Draws a text, if it is not too long.
pub(super) fn drawn(text: &str) -> Option<Drawn> {
    let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
    let mut path = String::new();
    for y in 0..code.size() {
        for x in (0..code.size()).filter(|&x| code.get_module(x, y)) {
            // Writing into a text cannot fail.
            let _ = write!(path, "M{} {}h1v1h-1z", x + MARGIN, y + MARGIN);
        }
    }
    Some(Drawn { side: code.size() + 2 * MARGIN, path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_becomes_a_square_with_a_margin() {
        let drawn = drawn(
            "otpauth://totp/quire:ada%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=quire",
        )
        .unwrap();
        // Sizes are 21 modules and four more for each version.
        assert_eq!((drawn.side - 2 * MARGIN - 21) % 4, 0);
        let corner = format!("M{MARGIN} {MARGIN}h1v1h-1z");
        assert!(drawn.path.starts_with(&corner), "the finder in the corner is dark");
    }

    #[test]
    fn what_does_not_fit_is_not_drawn() {
        assert!(drawn(&"x".repeat(5_000)).is_none());
    }
}
