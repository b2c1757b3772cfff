//! The CBOR that authenticators write, and nothing beyond: one spelling for every value, few entries, little depth.

/// How deep values stand in each other: an attestation object has two levels, extensions may have a few more.
const DEEPEST: usize = 4;
/// Entries of a list or a map; a key has five.
const MOST: u64 = 32;

/// A value, which borrows from the bytes that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
    Text(&'a str),
    List(Vec<Value<'a>>),
    Map(Vec<(Value<'a>, Value<'a>)>),
    Truth(bool),
    Null,
}

impl<'a> Value<'a> {
    /// What a map has under a key.
    pub(super) fn at(&self, key: &Value<'_>) -> Option<&Value<'a>> {
        let Value::Map(entries) = self else { return None };
        entries.iter().find(|(found, _)| found == key).map(|(_, value)| value)
    }
}

/// Reads one value; gives it and the bytes after it.
pub(super) fn read(bytes: &[u8]) -> Option<(Value<'_>, &[u8])> {
    value(bytes, 0)
}

fn value(bytes: &[u8], depth: usize) -> Option<(Value<'_>, &[u8])> {
    let (first, rest) = bytes.split_first().filter(|_| depth <= DEEPEST)?;
    let (number, rest) = number(first & 31, rest)?;
    match first >> 5 {
        0 => Some((Value::Integer(number.try_into().ok()?), rest)),
        1 => Some((Value::Integer(-1 - i64::try_from(number).ok()?), rest)),
        2 => take(number, rest).map(|(bytes, rest)| (Value::Bytes(bytes), rest)),
        3 => take(number, rest)
            .and_then(|(bytes, rest)| Some((Value::Text(std::str::from_utf8(bytes).ok()?), rest))),
        4 => list(number, rest, depth),
        5 => map(number, rest, depth),
        7 => simple(*first).map(|value| (value, rest)),
        _ => None,
    }
}

/// The number in a head, in as few bytes as it fits in.
fn number(head: u8, rest: &[u8]) -> Option<(u64, &[u8])> {
    let (length, least) = match head {
        0..24 => return Some((head.into(), rest)),
        24 => (1, 24),
        25 => (2, 1 << 8),
        26 => (4, 1 << 16),
        27 => (8, 1 << 32),
        _ => return None,
    };
    let (digits, rest) = rest.split_at_checked(length)?;
    let number = digits.iter().fold(0, |sum, digit| (sum << 8) | u64::from(*digit));
    (number >= least).then_some((number, rest))
}

fn take(length: u64, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(length.try_into().ok()?)
}

fn list(length: u64, mut rest: &[u8], depth: usize) -> Option<(Value<'_>, &[u8])> {
    let mut values = Vec::new();
    for _ in 0..Some(length).filter(|length| *length <= MOST)? {
        let (next, after) = value(rest, depth + 1)?;
        values.push(next);
        rest = after;
    }
    Some((Value::List(values), rest))
}

fn map(length: u64, mut rest: &[u8], depth: usize) -> Option<(Value<'_>, &[u8])> {
    let mut entries: Vec<(Value<'_>, Value<'_>)> = Vec::new();
    for _ in 0..Some(length).filter(|length| *length <= MOST)? {
        let (key, after) = value(rest, depth + 1)?;
        let (next, after) = value(after, depth + 1)?;
        let named = matches!(key, Value::Integer(_) | Value::Text(_));
        if !named || entries.iter().any(|(known, _)| *known == key) {
            return None;
        }
        entries.push((key, next));
        rest = after;
    }
    Some((Value::Map(entries), rest))
}

fn simple(first: u8) -> Option<Value<'static>> {
    match first {
        0xf4 => Some(Value::Truth(false)),
        0xf5 => Some(Value::Truth(true)),
        0xf6 => Some(Value::Null),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The one spelling of a value.
    fn write(value: &Value<'_>, into: &mut Vec<u8>) {
        let mut head = |kind: u8, number: u64| {
            let (length, mark) = match number {
                0..24 => return into.push((kind << 5) | number as u8),
                24..256 => (1, 24),
                256..65_536 => (2, 25),
                65_536..4_294_967_296 => (4, 26),
                _ => (8, 27),
            };
            into.push((kind << 5) | mark);
            into.extend_from_slice(&number.to_be_bytes()[8 - length..]);
        };
        match value {
            Value::Integer(number @ 0..) => head(0, *number as u64),
            Value::Integer(number) => head(1, (-1 - number) as u64),
            Value::Bytes(bytes) => {
                head(2, bytes.len() as u64);
                into.extend_from_slice(bytes);
            }
            Value::Text(text) => {
                head(3, text.len() as u64);
                into.extend_from_slice(text.as_bytes());
            }
            Value::List(values) => {
                head(4, values.len() as u64);
                values.iter().for_each(|value| write(value, into));
            }
            Value::Map(entries) => {
                head(5, entries.len() as u64);
                for (key, value) in entries {
                    write(key, into);
                    write(value, into);
                }
            }
            Value::Truth(truth) => into.push(0xf4 + u8::from(*truth)),
            Value::Null => into.push(0xf6),
        }
    }

    /// What starts like a value more often than chance would have it.
    fn likely() -> impl Strategy<Value = Vec<u8>> {
        let head = prop_oneof![0u8..24, 32u8..56, 64u8..88, 96u8..104, 128u8..134, 160u8..166, 0xf4u8..0xf7];
        let piece = prop_oneof![
            4 => head.prop_map(|head| vec![head]),
            1 => proptest::collection::vec(any::<u8>(), 1..12),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn whatever_is_read_has_one_spelling_and_cannot_be_cut(bytes in likely()) {
            if let Some((value, rest)) = read(&bytes) {
                let mut again = Vec::new();
                write(&value, &mut again);
                let taken = &bytes[..bytes.len() - rest.len()];
                prop_assert_eq!(&again, taken);
                for end in 0..taken.len() {
                    prop_assert!(read(&taken[..end]).is_none());
                }
            }
        }
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let bytes =
            [0xa3, 0x01, 0x20, 0x63, b'f', b'm', b't', 0x82, 0x42, 1, 2, 0xf5, 0x39, 0x01, 0x00, 0xf6, 0xff];
        let (value, rest) = read(&bytes).unwrap();
        assert_eq!(rest, [0xff]);
        assert_eq!(value.at(&Value::Integer(1)), Some(&Value::Integer(-1)));
        let list = Value::List(vec![Value::Bytes(&[1, 2]), Value::Truth(true)]);
        assert_eq!(value.at(&Value::Text("fmt")), Some(&list));
        assert_eq!(value.at(&Value::Integer(-257)), Some(&Value::Null));
        assert_eq!(value.at(&Value::Integer(2)), None);
    }

    #[test]
    fn what_authenticators_do_not_write_is_refused() {
        let cases: [(&str, &[u8]); 14] = [
            ("nothing", b""),
            ("a number that fits in less", b"\x18\x17"),
            ("a length that fits in less", b"\x59\x00\x01x"),
            ("a number beyond 63 bits", b"\x1b\x80\x00\x00\x00\x00\x00\x00\x00"),
            ("a text without end", b"\x7f\x61a\xff"),
            ("a map without end", b"\xbf\xff"),
            ("a tag", b"\xc0\x61a"),
            ("a fraction", b"\xf9\x3c\x00"),
            ("a simple value", b"\xf8\xff"),
            ("a text that is none", b"\x61\xff"),
            ("a key twice", b"\xa2\x01\x01\x01\x02"),
            ("a list as a key", b"\xa1\x80\x01"),
            ("more bytes than there are", b"\x5b\xff\xff\xff\xff\xff\xff\xff\xffx"),
            ("more entries than there are", b"\x9a\xff\xff\xff\xff"),
        ];
        for (what, bytes) in cases {
            assert_eq!(read(bytes), None, "{what}");
        }
        let deep = |depth: usize| [vec![0x81; depth], vec![0x01]].concat();
        assert!(read(&deep(DEEPEST)).is_some());
        assert!(read(&deep(DEEPEST + 1)).is_none());
        assert!(read(&vec![0x81; 200_000]).is_none());
        let long = |length: u8| [vec![0x98, length], vec![0x01; length.into()]].concat();
        assert!(read(&long(MOST as u8)).is_some());
        assert!(read(&long(MOST as u8 + 1)).is_none());
    }
}
