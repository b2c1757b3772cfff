//! A byte trie over a sorted list of keys: which of them start at a place of a text, shortest first.

/// No key ends here.
const NONE: u32 = u32::MAX;

/// Nodes in order of depth, so that the children of a node lie side by side, sorted by their byte.
pub(super) struct Trie {
    /// Where each node's children begin; those of the last end at the last entry.
    children: Vec<u32>,
    /// The byte that leads to each node.
    bytes: Vec<u8>,
    /// The place in the list of the key that ends at each node.
    keys: Vec<u32>,
    /// The root's children, by their byte: every look-up begins there.
    first: [u32; 256],
}

impl Trie {
    /// From keys in ascending order, none twice; `None` where they are not, or one is empty.
    pub(super) fn new(keys: &[&[u8]]) -> Option<Self> {
        if keys.first().is_some_and(|key| key.is_empty()) || !keys.is_sorted_by(|a, b| a < b) {
            return None;
        }
        let mut trie = Trie { children: Vec::new(), bytes: vec![0], keys: Vec::new(), first: [NONE; 256] };
        // Which keys lie below each node of the current depth: from one, up to another.
        let mut level = vec![(0, keys.len())];
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for (mut from, to) in level {
                trie.children.push(trie.bytes.len() as u32);
                let ends = keys.get(from).is_some_and(|key| depth > 0 && key.len() == depth);
                trie.keys.push(if ends { from as u32 } else { NONE });
                from += usize::from(ends);
                while from < to {
                    let byte = keys[from][depth];
                    let same = keys[from..to].partition_point(|key| key[depth] == byte);
                    next.push((from, from + same));
                    trie.bytes.push(byte);
                    from += same;
                }
            }
            (level, depth) = (next, depth + 1);
        }
        trie.children.push(trie.bytes.len() as u32);
        for node in trie.children[0]..trie.children[1] {
            trie.first[usize::from(trie.bytes[node as usize])] = node;
        }
        Some(trie)
    }

    /// Calls `each` with the place in the list and the length of every key that `text` starts with, shortest first.
    #[inline]
    pub(super) fn prefixes(&self, text: &[u8], mut each: impl FnMut(usize, usize)) {
        let Some((first, rest)) = text.split_first() else { return };
        let mut node = self.first[usize::from(*first)];
        if node == NONE {
            return;
        }
        for (length, next) in (1..).zip(rest.iter().map(Some).chain([None])) {
            let key = self.keys[node as usize];
            if key != NONE {
                each(key as usize, length);
            }
            let Some(child) = next.and_then(|byte| self.child(node, *byte)) else { return };
            node = child;
        }
    }

    #[inline]
    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        /// Up to so many bytes are looked through one after the other.
        const FEW: usize = 12;
        let (from, to) = (self.children[node as usize], self.children[node as usize + 1]);
        let bytes = &self.bytes[from as usize..to as usize];
        let at = match bytes.len() <= FEW {
            true => bytes.iter().position(|other| *other == byte)?,
            false => bytes.binary_search(&byte).ok()?,
        };
        Some(from + at as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(keys: &[&str], text: &str) -> Vec<(usize, usize)> {
        let keys: Vec<&[u8]> = keys.iter().map(|key| key.as_bytes()).collect();
        let mut found = Vec::new();
        Trie::new(&keys).unwrap().prefixes(text.as_bytes(), |key, length| found.push((key, length)));
        found
    }

    #[test]
    fn prefixes_are_those_that_comparing_finds() {
        let letters: Vec<String> = ('a'..='z').map(|letter| format!("ab{letter}")).collect();
        let mut keys = vec!["a", "ab", "abcd", "b", "ä", "äö"];
        keys.extend(letters.iter().map(String::as_str));
        keys.sort_unstable();
        for text in ["", "a", "abc", "abcde", "abz", "ab", "äöü", "äx", "c", "bab"] {
            let expected: Vec<_> = keys
                .iter()
                .enumerate()
                .filter(|(_, key)| text.starts_with(**key))
                .map(|(at, key)| (at, key.len()))
                .collect();
            assert_eq!(found(&keys, text), expected, "{text}");
        }
        assert!(found(&[], "abc").is_empty());
    }

    #[test]
    fn keys_out_of_order_are_refused() {
        assert!(Trie::new(&[b"b", b"a"]).is_none());
        assert!(Trie::new(&[b"a", b"a"]).is_none());
        assert!(Trie::new(&[b"", b"a"]).is_none());
    }
}
