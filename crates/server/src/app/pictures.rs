//! Pictures of pages: few are drawn at a time, waiting accounts take turns, and the latest are kept.

use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use engine::{
    Fault, Reason,
    ids::{FileId, UserId},
    turnstile::{Room, Turnstile},
};
use parking_lot::Mutex;

/// Bytes of pictures that are kept: some hundred pages.
const MOST_KEPT: usize = 64 << 20;
/// Pictures of one account that may wait to be drawn: more than a screen shows.
const WAITING_OF_ONE: usize = 200;
/// How long one waits at most. A page takes about a tenth of a second.
const WAIT: Duration = Duration::from_secs(20);

/// Which picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Which {
    /// The file.
    pub file: FileId,
    /// Its content.
    pub sha256: String,
    /// The page, from 1.
    pub page: u32,
    /// How wide, in pixels.
    pub width: u32,
}

/// Where pictures wait to be drawn, and those that were.
pub struct Pictures {
    turnstile: Turnstile,
    kept: Mutex<Kept>,
}

impl Default for Pictures {
    fn default() -> Self {
        // Drawing takes a core. Half of them are left to searches, however many pages are asked for.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let of_all = (cores / 2).max(1);
        let room = Room { of_all, of_one: of_all, waiting_of_one: WAITING_OF_ONE };
        Pictures { turnstile: Turnstile::new(room, WAIT), kept: Mutex::default() }
    }
}

impl Pictures {
    /// The picture, drawn for this account unless it was drawn before.
    pub async fn get(
        &self,
        which: Which,
        account: UserId,
        draw: impl Future<Output = Result<Bytes, Fault>>,
    ) -> Result<Bytes, Fault> {
        if let Some(picture) = self.kept.lock().find(&which) {
            return Ok(picture);
        }
        let _pass = self.turnstile.enter(account).await.map_err(in_other_words)?;
        // Somebody else may have asked for the same meanwhile.
        if let Some(picture) = self.kept.lock().find(&which) {
            return Ok(picture);
        }
        let picture = draw.await?;
        self.kept.lock().keep(which, picture.clone());
        Ok(picture)
    }
}

/// The turnstile speaks of searches.
fn in_other_words(fault: Fault) -> Fault {
    let cause = match fault.reason {
        Reason::OverloadedKey => {
            "this account has too many page images waiting to be drawn; try again shortly"
        }
        _ => "the server is drawing too many page images; try again shortly",
    };
    Fault::new(fault.reason, cause).retry_after(Duration::from_secs(1))
}

#[derive(Default)]
struct Kept {
    pictures: HashMap<Which, (Bytes, u64)>,
    bytes: usize,
    /// Counts uses, so that the picture that was not used for the longest time can be told.
    uses: u64,
}

impl Kept {
    fn find(&mut self, which: &Which) -> Option<Bytes> {
        self.uses += 1;
        let (picture, used) = self.pictures.get_mut(which)?;
        *used = self.uses;
        Some(picture.clone())
    }

    fn keep(&mut self, which: Which, picture: Bytes) {
        if picture.len() > MOST_KEPT / 4 {
            return;
        }
        self.uses += 1;
        self.bytes += picture.len();
        if let Some((before, _)) = self.pictures.insert(which, (picture, self.uses)) {
            self.bytes -= before.len();
        }
        while self.bytes > MOST_KEPT {
            let oldest =
                self.pictures.iter().min_by_key(|(_, (_, used))| *used).map(|(which, _)| which.clone());
            let Some((gone, _)) = oldest.and_then(|which| self.pictures.remove(&which)) else { break };
            self.bytes -= gone.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn which(page: u32) -> Which {
        Which { file: FileId::from_bytes([7; 16]), sha256: String::new(), page, width: 100 }
    }

    #[test]
    fn the_latest_are_kept_within_their_bound() {
        let mut kept = Kept::default();
        let picture = Bytes::from(vec![0; MOST_KEPT / 4]);
        for page in 1..=4 {
            kept.keep(which(page), picture.clone());
        }
        assert!(kept.find(&which(1)).is_some());
        kept.keep(which(5), picture.clone());
        assert!(kept.find(&which(2)).is_none(), "the one that was not used for the longest time");
        assert!(kept.find(&which(1)).is_some() && kept.find(&which(5)).is_some());
        kept.keep(which(5), Bytes::from_static(b"smaller"));
        assert_eq!(kept.bytes, 3 * (MOST_KEPT / 4) + 7);
        kept.keep(which(9), Bytes::from(vec![0; MOST_KEPT]));
        assert!(kept.find(&which(9)).is_none() && kept.find(&which(1)).is_some());
    }

    #[tokio::test]
    async fn a_picture_is_drawn_once() {
        let pictures = Pictures::default();
        let account = UserId::generate();
        let draw = async |bytes: &'static [u8]| Ok(Bytes::from_static(bytes));
        assert_eq!(pictures.get(which(1), account, draw(b"first")).await.unwrap(), "first");
        assert_eq!(pictures.get(which(1), account, draw(b"second")).await.unwrap(), "first");
        assert_eq!(pictures.get(which(2), account, draw(b"second")).await.unwrap(), "second");
        let failed = async { Err(Fault::internal("no")) };
        assert!(pictures.get(which(3), account, failed).await.is_err());
        assert_eq!(pictures.get(which(3), account, draw(b"third")).await.unwrap(), "third");
    }
}
