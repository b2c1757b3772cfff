//! Places that are taken by name and given back when dropped: connections of a network, streams of a key.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use engine::ids::UserId;
use parking_lot::Mutex;

/// How many places each name has taken. Only names with a place are kept.
pub struct Places<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Default for Places<K> {
    fn default() -> Self {
        Places(Arc::default())
    }
}

impl<K: Clone + Eq + Hash> Places<K> {
    /// A place, unless this name has `most` already.
    pub fn take(&self, name: &K, most: usize) -> Option<Place<K>> {
        let mut places = self.0.lock();
        let taken = places.get(name).copied().unwrap_or(0);
        if taken >= most {
            return None;
        }
        places.insert(name.clone(), taken + 1);
        Some(Place { places: self.0.clone(), name: name.clone() })
    }
}

/// Long answers in progress, by key and by user.
#[derive(Default)]
pub struct Streams {
    /// By the prefix of the key.
    pub keys: Places<String>,
    /// By user.
    pub users: Places<UserId>,
}

/// A place; dropped, it is free again.
pub struct Place<K: Eq + Hash> {
    places: Arc<Mutex<HashMap<K, usize>>>,
    name: K,
}

impl<K: Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let mut places = self.places.lock();
        if let Some(taken) = places.get_mut(&self.name) {
            *taken -= 1;
            if *taken == 0 {
                places.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_holder_is_gone_and_no_name_stays() {
        let places = Places::default();
        let held: Vec<_> = (0..3).map(|_| places.take(&"a", 3).unwrap()).collect();
        assert!(places.take(&"a", 3).is_none());
        assert!(places.take(&"b", 3).is_some(), "others are not affected");
        drop(held);
        assert!(places.take(&"a", 1).is_some());
        assert!(places.0.lock().is_empty());
    }
}
