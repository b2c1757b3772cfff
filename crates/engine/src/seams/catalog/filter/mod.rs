//! What owners say of their files, and filters on it: `{"year": {"$gte": 2020}, "$or": [{"team": "hr"}, {"team": "legal"}]}`.

mod fields;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{BTreeMap, HashSet},
};

pub use fields::{DateField, FileFields, moment};
use serde_json::{Map, Number, Value};

use crate::Fault;

/// Filters within filters at most.
const DEEPEST: usize = 16;
/// Conditions in one filter at most.
const MOST: usize = 200;
/// Values that all conditions of a filter name together, at most: a list of files or customers, not of everything.
const MOST_VALUES: usize = 10_000;
/// Bytes of a filter at most, as JSON.
const MOST_BYTES: usize = 256 * 1024;

/// What the owner says about a file, free of form.
pub type Metadata = BTreeMap<String, Value>;

/// A condition on the metadata of a file, and on what [`FileFields`] has.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of these; an empty filter lets everything through.
    All(Vec<Filter>),
    /// At least one of these.
    Any(Vec<Filter>),
    /// Not this.
    Not(Box<Filter>),
    /// What one entry must be; dots go into objects.
    Entry(String, Test),
}

/// What an entry must be. A list passes where one of its items does; an entry that is not there passes only `$ne`, `$nin`
/// and a comparison with null.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// `$eq`
    Equal(Value),
    /// `$ne`
    Unequal(Value),
    /// `$gt`, `$gte`, `$lt`, `$lte`: among numbers, or among texts (dates as ISO 8601 has them sort as texts).
    Ordered(Bound, Value),
    /// `$in`
    OneOf(Values),
    /// `$nin`
    NoneOf(Values),
    /// `$contains`, `$starts`, `$ends`: a part of a text, whatever the case of its letters.
    Part(Part, String),
}

/// Where in a text a part must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Anywhere.
    Anywhere,
    /// At its start.
    Start,
    /// At its end.
    End,
}

impl Part {
    /// Whether `part`, in lower case, stands there in a text. Anything but a text has no parts.
    fn stands_in(self, value: &Value, part: &str) -> bool {
        let Value::String(text) = value else { return false };
        let text = text.to_lowercase();
        match self {
            Part::Anywhere => text.contains(part),
            Part::Start => text.starts_with(part),
            Part::End => text.ends_with(part),
        }
    }
}

/// A set of values, in which one is found without looking at the others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(HashSet<Value>);

impl Values {
    fn new(values: &[Value]) -> Self {
        Values(values.iter().map(|value| plain(value).into_owned()).collect())
    }

    /// Whether an entry equals one of them, as [`equals`] has it: of a list it is enough that one item does, or all of it.
    fn hold(&self, found: Option<&Value>) -> bool {
        let holds = |value: &Value| self.0.contains(plain(value).as_ref());
        match found {
            None => self.0.contains(&Value::Null),
            Some(list @ Value::Array(items)) => {
                items.iter().any(|item| !item.is_array() && holds(item)) || holds(list)
            }
            Some(value) => holds(value),
        }
    }
}

/// A value in the one form that all equal ones share: 5.0 is 5.
fn plain(value: &Value) -> Cow<'_, Value> {
    // Every whole float below this is also a whole number of 64 bits.
    const WHOLE: f64 = 9.2e18;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < WHOLE => {
                Cow::Owned(Value::Number(Number::from(float as i64)))
            }
            _ => Cow::Borrowed(value),
        },
        _ => Cow::Borrowed(value),
    }
}

/// Which side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// More.
    Above,
    /// As much or more.
    From,
    /// Less.
    Below,
    /// As much or less.
    UpTo,
}

impl Filter {
    /// Reads a filter as it comes over the wire. Faults name the place.
    pub fn parse(value: &Value) -> Result<Self, Fault> {
        if longer_than(value, MOST_BYTES) {
            return Err(wrong("filter", &format!("has more than {} KB", MOST_BYTES / 1024)));
        }
        let mut left = Left { conditions: MOST, values: MOST_VALUES };
        filter(value, "filter", DEEPEST, &mut left)
    }

    /// Whether it asks for more than metadata, so that [`FileFields::beside`] must put it there.
    pub fn asks_for_fields(&self) -> bool {
        match self {
            Filter::All(filters) | Filter::Any(filters) => filters.iter().any(Filter::asks_for_fields),
            Filter::Not(filter) => filter.asks_for_fields(),
            Filter::Entry(name, _) => name.starts_with(fields::RESERVED),
        }
    }

    /// Whether a file with this metadata passes.
    pub fn matches(&self, metadata: &Metadata) -> bool {
        match self {
            Filter::All(filters) => filters.iter().all(|filter| filter.matches(metadata)),
            Filter::Any(filters) => filters.iter().any(|filter| filter.matches(metadata)),
            Filter::Not(filter) => !filter.matches(metadata),
            Filter::Entry(name, test) => test.passes(entry(metadata, name)),
        }
    }
}

/// What a filter may still hold.
struct Left {
    conditions: usize,
    values: usize,
}

impl Left {
    fn condition(&mut self) -> Result<(), Fault> {
        let left = self.conditions.checked_sub(1);
        self.conditions = left.ok_or_else(|| wrong("filter", &format!("has more than {MOST} conditions")))?;
        Ok(())
    }

    fn values(&mut self, count: usize) -> Result<(), Fault> {
        let left = self.values.checked_sub(count);
        self.values = left.ok_or_else(|| wrong("filter", &format!("has more than {MOST_VALUES} values")))?;
        Ok(())
    }
}

/// Whether a value takes more bytes as JSON than this; does not write it out to see.
fn longer_than(value: &Value, most: usize) -> bool {
    struct Counting(usize);
    impl std::io::Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counting(most), value).is_err()
}

/// An entry by its name, or else by the path that the name's dots make.
pub fn entry<'a>(metadata: &'a Metadata, name: &str) -> Option<&'a Value> {
    if let Some(value) = metadata.get(name) {
        return Some(value);
    }
    let mut steps = name.split('.');
    let first = metadata.get(steps.next()?)?;
    steps.try_fold(first, |value, step| value.get(step))
}

impl Test {
    fn passes(&self, found: Option<&Value>) -> bool {
        match self {
            Test::Equal(wanted) => equals(found, wanted),
            Test::Unequal(unwanted) => !equals(found, unwanted),
            Test::OneOf(wanted) => wanted.hold(found),
            Test::NoneOf(unwanted) => !unwanted.hold(found),
            Test::Part(place, part) => match found {
                Some(Value::Array(items)) => items.iter().any(|item| place.stands_in(item, part)),
                Some(value) => place.stands_in(value, part),
                None => false,
            },
            Test::Ordered(bound, limit) => match found {
                Some(Value::Array(items)) => items.iter().any(|item| bound.admits(order(item, limit))),
                Some(value) => bound.admits(order(value, limit)),
                None => false,
            },
        }
    }
}

impl Bound {
    fn admits(self, order: Option<Ordering>) -> bool {
        match self {
            Bound::Above => order == Some(Ordering::Greater),
            Bound::From => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Bound::Below => order == Some(Ordering::Less),
            Bound::UpTo => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        }
    }
}

fn equals(found: Option<&Value>, wanted: &Value) -> bool {
    match found {
        None => wanted.is_null(),
        Some(Value::Array(items)) if !wanted.is_array() => items.iter().any(|item| same(item, wanted)),
        Some(value) => same(value, wanted),
    }
}

/// Numbers are the same by value: 5 is 5.0.
fn same(a: &Value, b: &Value) -> bool {
    a == b || (a.is_number() && order(a, b) == Some(Ordering::Equal))
}

/// Values of one kind in their order; of two kinds, none.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => x.as_f64()?.partial_cmp(&y.as_f64()?),
        },
        (Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        _ => None,
    }
}

fn filter(value: &Value, place: &str, deeper: usize, left: &mut Left) -> Result<Filter, Fault> {
    let Value::Object(fields) = value else {
        return Err(wrong(place, "must be an object such as {\"year\": {\"$gte\": 2020}}"));
    };
    if deeper == 0 {
        return Err(wrong(place, "is nested too deeply"));
    }
    let parts: Result<Vec<Filter>, Fault> = fields
        .iter()
        .map(|(name, value)| {
            left.condition()?;
            let place = format!("{place}.{}", name.chars().take(60).collect::<String>());
            match name.as_str() {
                "$and" => Ok(Filter::All(list(value, &place, deeper, left)?)),
                "$or" => Ok(Filter::Any(list(value, &place, deeper, left)?)),
                "$not" => Ok(Filter::Not(Box::new(filter(value, &place, deeper - 1, left)?))),
                name if name.starts_with(fields::RESERVED) => {
                    tests(name, &fields::compared(name, value, &place)?, &place, deeper, left)
                }
                name if name.starts_with('$') => Err(unknown(&place, name)),
                name => tests(name, value, &place, deeper, left),
            }
        })
        .collect();
    let mut parts = parts?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
}

fn list(value: &Value, place: &str, deeper: usize, left: &mut Left) -> Result<Vec<Filter>, Fault> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let one = |(at, item)| filter(item, &format!("{place}[{at}]"), deeper - 1, left);
            items.iter().enumerate().map(one).collect()
        }
        _ => Err(wrong(place, "must be an array of at least one filter")),
    }
}

/// What one entry must be: a value stands for `$eq`, an object holds operators.
fn tests(name: &str, value: &Value, place: &str, deeper: usize, left: &mut Left) -> Result<Filter, Fault> {
    let operators = match value {
        Value::Object(operators) if operators.keys().any(|key| key.starts_with('$')) => operators,
        value => return Ok(Filter::Entry(name.into(), Test::Equal(value.clone()))),
    };
    let mut parts = operators_of(name, operators, place, deeper, left)?;
    Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
}

fn operators_of(
    name: &str,
    operators: &Map<String, Value>,
    place: &str,
    deeper: usize,
    left: &mut Left,
) -> Result<Vec<Filter>, Fault> {
    let mut one = |(at, (operator, value)): (usize, (&String, &Value))| {
        // The first was counted with its entry.
        if at > 0 {
            left.condition()?;
        }
        let place = format!("{place}.{operator}");
        let ordered = |bound| match value {
            Value::Number(_) | Value::String(_) => Ok(Test::Ordered(bound, value.clone())),
            _ => Err(wrong(&place, "must be a number or a string")),
        };
        let text = || match value {
            Value::String(text) => Ok(text.to_lowercase()),
            _ => Err(wrong(&place, "must be a string")),
        };
        let mut values = || match value {
            Value::Array(values) => {
                left.values(values.len())?;
                Ok(Values::new(values))
            }
            _ => Err(wrong(&place, "must be an array of values")),
        };
        let test = match operator.as_str() {
            "$eq" => Test::Equal(value.clone()),
            "$ne" => Test::Unequal(value.clone()),
            "$gt" => ordered(Bound::Above)?,
            "$gte" => ordered(Bound::From)?,
            "$lt" => ordered(Bound::Below)?,
            "$lte" => ordered(Bound::UpTo)?,
            "$contains" => Test::Part(Part::Anywhere, text()?),
            "$starts" => Test::Part(Part::Start, text()?),
            "$ends" => Test::Part(Part::End, text()?),
            "$in" => Test::OneOf(values()?),
            "$nin" => Test::NoneOf(values()?),
            "$not" if deeper > 0 => {
                return Ok(Filter::Not(Box::new(tests(name, value, &place, deeper - 1, left)?)));
            }
            operator => return Err(unknown(&place, operator)),
        };
        Ok(Filter::Entry(name.into(), test))
    };
    operators.iter().enumerate().map(&mut one).collect()
}

fn wrong(place: &str, what: &str) -> Fault {
    Fault::invalid(place, format!("`{place}` {what}"))
}

fn unknown(place: &str, operator: &str) -> Fault {
    let known = "$eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains, $starts, $ends, $and, $or, $not";
    wrong(place, &format!("has the unknown operator `{operator}`; use {known}"))
}
