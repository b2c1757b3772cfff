//! The pictures of a TIFF file, which may hold several.

/// Makes a later picture its first: the start of the file names where the first one is, each names the next.
pub(crate) fn turn_to(bytes: &mut [u8], page: u32) -> Option<()> {
    let big = bytes.first()? == &b'M';
    let short = |bytes: &[u8], at: usize| {
        let pair: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
    };
    let long = |bytes: &[u8], at: usize| {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
    };
    let mut at = long(bytes, 4)?;
    for _ in 1..page {
        let entries = short(bytes, at as usize)?;
        at = long(bytes, at as usize + 2 + 12 * usize::from(entries))?;
        // The last one names none.
        if at == 0 {
            return None;
        }
    }
    let place = if big { at.to_be_bytes() } else { at.to_le_bytes() };
    bytes.get_mut(4..8)?.copy_from_slice(&place);
    Some(())
}
