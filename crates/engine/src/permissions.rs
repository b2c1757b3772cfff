//! What an API key may be used for, apart from where: a set of four permissions.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

/// One thing that a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permission {
    /// To search boxes and to ask them questions.
    Search,
    /// To list boxes and files, to read documents and to download originals.
    Read,
    /// To add, change and delete files.
    Write,
    /// To add, change and delete boxes, members and keys.
    Manage,
}

impl Permission {
    /// All of them.
    pub const ALL: [Permission; 4] =
        [Permission::Search, Permission::Read, Permission::Write, Permission::Manage];

    /// The word on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Search => "search",
            Permission::Read => "read",
            Permission::Write => "write",
            Permission::Manage => "manage",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Permission {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Permission::ALL
            .into_iter()
            .find(|permission| permission.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a permission: use search, read, write or manage"))
    }
}

/// What a key may be used for. None includes another: a key that can only write cannot search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permissions(u8);

impl Permissions {
    /// Everything: keys from before there were permissions.
    pub const ALL: Permissions = Permissions(0b1111);
    /// What a key gets where nothing else is asked for: everything but `manage`.
    pub const USUAL: Permissions = Permissions(0b0111);
    /// All that a key may be used for which visitors of a web page can see.
    pub const SEARCH: Permissions = Permissions(0b0001);

    /// Whether this is among them.
    pub fn has(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    /// Whether all of them are among the others.
    pub fn within(self, others: Permissions) -> bool {
        self.0 & !others.0 == 0
    }

    /// Those that are among the others too; `None` where none is.
    pub fn common(self, others: Permissions) -> Option<Permissions> {
        Some(Permissions(self.0 & others.0)).filter(|common| common.0 != 0)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |&permission| self.has(permission))
    }

    /// These; none at all is a fault, since nothing could be done with such a key.
    pub fn of(permissions: impl IntoIterator<Item = Permission>) -> Result<Permissions, String> {
        let bits = permissions.into_iter().fold(0, |bits, permission| bits | permission.bit());
        if bits == 0 {
            return Err("a key needs at least one permission: search, read, write or manage".into());
        }
        Ok(Permissions(bits))
    }
}

/// As the store and the command line write them: `search,read`.
impl fmt::Display for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.iter().map(Permission::as_str).collect();
        f.write_str(&words.join(","))
    }
}

impl FromStr for Permissions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        Permissions::of(words.map(str::parse).collect::<Result<Vec<Permission>, _>>()?)
    }
}

impl Serialize for Permissions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Permission::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_as_written() {
        for text in ["search", "search,read", "write,manage", "search,read,write,manage"] {
            assert_eq!(text.parse::<Permissions>().unwrap().to_string(), text);
        }
        assert_eq!(" read , search ".parse::<Permissions>().unwrap().to_string(), "search,read");
        assert_eq!(Permissions::ALL.to_string(), "search,read,write,manage");
        assert_eq!(Permissions::USUAL.to_string(), "search,read,write");
        assert_eq!(Permissions::SEARCH.to_string(), "search");
        assert_eq!(
            serde_json::to_value(Permissions::USUAL).unwrap().to_string(),
            r#"["search","read","write"]"#
        );
    }

    #[test]
    fn unknown_ones_and_none_at_all_are_refused() {
        for wrong in ["", ",", "all", "Search", "search;read", "search,delete"] {
            assert!(wrong.parse::<Permissions>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn none_includes_another() {
        let write: Permissions = "write".parse().unwrap();
        assert!(
            write.has(Permission::Write) && !write.has(Permission::Read) && !write.has(Permission::Search)
        );
        assert!(write.within(Permissions::USUAL) && !Permissions::ALL.within(Permissions::USUAL));
        assert_eq!("manage".parse::<Permissions>().unwrap().common(Permissions::USUAL), None);
    }
}
