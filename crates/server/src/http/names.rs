//! Names of fields and parameters: which a type knows, and what is said of others.

use serde::{
    Deserializer,
    de::{DeserializeOwned, Visitor},
};

use crate::config::nearest;

/// Unknown fields that are warned of: each takes a search for the nearest name, and a body has room for 100,000.
pub(super) const MOST_WARNINGS: usize = 20;

/// The warning for a field or parameter that nobody knows, with the known name it resembles.
pub(super) fn unknown(what: &str, name: &str, known: &'static [&'static str]) -> String {
    let name: String = name.chars().take(100).collect();
    let meant = nearest(&name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    format!("unknown {what} `{name}` was ignored{}", meant.unwrap_or_default())
}

/// The field names that a type reads, told by its own `Deserialize`.
pub(super) fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Always an error: the probe answers nothing, it only listens to what is asked for.
    let _ = T::deserialize(Probe(&mut names));
    names
}

struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
