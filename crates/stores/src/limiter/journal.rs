//! The users' windows on disk: one fixed slot per user, rewritten in place on every count.
//!
//! A slot write goes to the system's cache (under a microsecond), which outlives a killed process; the disk follows
//! at the system's pace, so only a power cut can lose the last few counts.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::Read,
    os::unix::fs::FileExt,
    path::Path,
};

use engine::ids::UserId;

use super::memory::Window;
use crate::Error;

/// User (16 bytes), start of the window in milliseconds (8), hits (4), check (4).
const SLOT: usize = 32;

/// Windows by user, each with the slot that it is kept in.
pub(super) type Slotted = HashMap<UserId, (Window, u64)>;

/// The open file.
pub(super) struct Journal {
    file: File,
    free: Vec<u64>,
    next: u64,
}

impl Journal {
    /// Opens or creates the file; gives the windows it holds and the slot of each.
    pub(super) fn open(path: &Path) -> Result<(Self, Slotted), Error> {
        let failed = || Error::io(format!("opening {}", path.display()));
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed())?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed())?;
        let mut windows = HashMap::new();
        let mut free = Vec::new();
        let slots = bytes.chunks_exact(SLOT);
        let next = slots.len() as u64;
        for (slot, bytes) in slots.enumerate() {
            let slot = slot as u64;
            match decode(bytes.try_into().expect("chunks are of this size")) {
                Some((user, window)) => {
                    windows.insert(user, (window, slot));
                }
                None => free.push(slot),
            }
        }
        Ok((Journal { file, free, next }, windows))
    }

    /// A slot nobody uses.
    pub(super) fn claim(&mut self) -> u64 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Gives a slot back; its bytes are cleared.
    pub(super) fn release(&mut self, slot: u64) -> Result<(), Error> {
        self.put(slot, &[0; SLOT])?;
        self.free.push(slot);
        Ok(())
    }

    /// Writes a user's window into its slot.
    pub(super) fn write(&self, slot: u64, user: UserId, window: Window) -> Result<(), Error> {
        self.put(slot, &encode(user, window))
    }

    fn put(&self, slot: u64, bytes: &[u8; SLOT]) -> Result<(), Error> {
        self.file
            .write_all_at(bytes, slot * SLOT as u64)
            .map_err(Error::io("writing the users' request counts"))
    }
}

fn encode(user: UserId, window: Window) -> [u8; SLOT] {
    let mut bytes = [0; SLOT];
    bytes[..16].copy_from_slice(user.as_bytes());
    bytes[16..24].copy_from_slice(&window.opened_ms.to_le_bytes());
    bytes[24..28].copy_from_slice(&window.hits.to_le_bytes());
    let sum = check(&bytes[..28]);
    bytes[28..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// `None` for a free slot and for one that a power cut left half written.
fn decode(bytes: &[u8; SLOT]) -> Option<(UserId, Window)> {
    let number = |range: std::ops::Range<usize>| {
        let mut wide = [0; 8];
        wide[..range.len()].copy_from_slice(&bytes[range]);
        u64::from_le_bytes(wide)
    };
    if number(28..32) != u64::from(check(&bytes[..28])) {
        return None;
    }
    let user = UserId::from_bytes(bytes[..16].try_into().expect("16 bytes"));
    let window = Window { opened_ms: number(16..24) as i64, hits: number(24..28) as u32 };
    (window.hits > 0).then_some((user, window))
}

/// FNV-1a: tells a torn write from a whole one. Never 0 for the zeroes of a free slot.
fn check(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_slot_is_free() {
        let whole = encode(UserId::generate(), Window { opened_ms: 1_700_000_000_000, hits: 7 });
        assert!(decode(&whole).is_some());
        assert!(decode(&[0; SLOT]).is_none());
        for at in 0..SLOT {
            let mut torn = whole;
            torn[at] ^= 0x41;
            assert!(decode(&torn).is_none(), "byte {at}");
        }
    }
}
