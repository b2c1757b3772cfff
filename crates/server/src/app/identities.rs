//! API keys looked up before, and when each was last used.

use std::{collections::HashMap, sync::Arc};

use engine::{
    Fault, Reason,
    access::Caller,
    seams::catalog::{Catalog, KeyState, StoredKey},
};
use jiff::Timestamp;
use parking_lot::{Mutex, RwLock};

/// Keys kept in memory at most; each is small, and a fresh start costs one look-up a key.
const MOST_KEYS: usize = 100_000;

/// Keys looked up before. What is kept is valid for one version of the catalog, and the version is asked for on every
/// request, so a revoked key fails on the next one.
#[derive(Default)]
pub struct Identities {
    known: RwLock<Known>,
    used: Mutex<HashMap<String, Timestamp>>,
}

#[derive(Default)]
struct Known {
    version: i64,
    keys: HashMap<String, Arc<Identity>>,
}

/// A stored key with its caller ready to be handed to requests.
pub(crate) struct Identity {
    /// As the catalog has it.
    pub(crate) stored: StoredKey,
    caller: Arc<Caller>,
}

impl Identity {
    /// The caller, unless the key has been revoked, has expired or belongs to a disabled account.
    pub(crate) fn usable(&self, now: Timestamp) -> Result<Arc<Caller>, Fault> {
        match self.stored.state {
            KeyState::Active => {}
            KeyState::Revoked => {
                return Err(Fault::new(
                    Reason::KeyRevoked,
                    "the key has been revoked; create a new one in the dashboard",
                ));
            }
            KeyState::UserDisabled => {
                return Err(Fault::new(
                    Reason::KeyRevoked,
                    "the account of this key is disabled; ask an operator to enable it",
                ));
            }
        }
        if self.caller.expires_at.is_some_and(|end| end <= now) {
            return Err(Fault::new(Reason::KeyExpired, "the key has expired")
                .hint("create a new one in the dashboard"));
        }
        Ok(self.caller.clone())
    }
}

impl Identities {
    /// The key with this prefix, as of now.
    pub(crate) async fn find(
        &self,
        catalog: &dyn Catalog,
        prefix: &str,
    ) -> Result<Option<Arc<Identity>>, Fault> {
        let version = catalog.access_version().await?;
        {
            let known = self.known.read();
            if let Some(identity) = known.keys.get(prefix).filter(|_| known.version == version) {
                return Ok(Some(identity.clone()));
            }
        }
        let Some(stored) = catalog.stored_key(prefix).await? else { return Ok(None) };
        let identity = Arc::new(Identity { caller: Arc::new(stored.caller.clone()), stored });
        let mut known = self.known.write();
        if known.version < version || known.keys.len() >= MOST_KEYS {
            *known = Known { version, keys: HashMap::new() };
        }
        // Read after `version` was: as new as that version or newer, so it is never wrong.
        if known.version == version {
            known.keys.insert(prefix.to_string(), identity.clone());
        }
        Ok(Some(identity))
    }

    /// Remembers that a key was used.
    pub(crate) fn note_use(&self, prefix: &str, now: Timestamp) {
        let mut used = self.used.lock();
        match used.get_mut(prefix) {
            Some(last) => *last = now,
            None => {
                used.insert(prefix.to_string(), now);
            }
        }
    }

    /// Records when keys were last used. Called every few seconds: one commit for all, not one per request.
    pub async fn write_down_uses(&self, catalog: &dyn Catalog) -> Result<(), Fault> {
        let uses: Vec<_> = std::mem::take(&mut *self.used.lock()).into_iter().collect();
        if uses.is_empty() { Ok(()) } else { catalog.touch_keys(uses).await }
    }
}
