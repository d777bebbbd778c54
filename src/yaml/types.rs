//! YAML types: values that know their location, and distinctions that serde's own types lose.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location as Position, Spanned};

/// A key that may be absent, or be given as `null`, or have a value.
///
/// Absent and `null` differ where there is a preset: an absent key takes the preset's value, and
/// `null` removes it.
#[derive(Debug, Default)]
pub(crate) enum Setting<T> {
    /// The key is not in the file.
    #[default]
    Absent,
    /// The key is there, without a value.
    Null,
    /// The key has a value.
    Set(T),
}

/// A setting that knows the location of its value.
pub(crate) type Field<T> = Setting<Spanned<T>>;

impl<T> Setting<T> {
    /// The value, if there is one.
    pub(crate) fn given(self) -> Option<T> {
        match self {
            Self::Set(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }
}

/// The location of a value. Behind an alias there are two: the alias, which an error shows, and the
/// anchored value, which keeps the values behind one alias apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    referenced: Position,
    defined: Position,
}

impl Location {
    /// Line and column, from 1.
    pub(crate) fn line_and_column(self) -> (u64, u64) {
        (self.referenced.line().max(1), self.referenced.column().max(1))
    }

    /// Whether this is the position that an error of the deserializer names.
    pub(crate) fn is_at(self, at: Position) -> bool {
        (self.referenced.line(), self.referenced.column()) == (at.line(), at.column())
    }

    /// A value at this location.
    pub(crate) fn with<T>(self, value: T) -> Spanned<T> {
        Spanned::new(value, self.referenced, self.defined)
    }
}

/// Values that know their location.
pub(crate) trait Located {
    /// The location of this value.
    fn location(&self) -> Location;
}

impl<T> Located for Spanned<T> {
    fn location(&self) -> Location {
        Location { referenced: self.referenced, defined: self.defined }
    }
}

impl<T> Field<T> {
    /// The value without its location, or the default.
    pub(crate) fn value_or_default(self) -> T
    where
        T: Default,
    {
        self.value().unwrap_or_default()
    }

    /// The value without its location, if there is one.
    pub(crate) fn value(self) -> Option<T> {
        self.given().map(|given| given.value)
    }

    /// The location of its value, if it has one.
    pub(crate) fn location(&self) -> Option<Location> {
        match self {
            Self::Set(value) => Some(value.location()),
            Self::Absent | Self::Null => None,
        }
    }

    /// This setting, or the preset's where this one is absent. A value of the preset gets the location
    /// `at`, where the file names the preset, because the preset's own lines mean nothing to the reader
    /// of an error.
    pub(crate) fn or_preset(self, preset: Self, at: Location) -> Self {
        match (self, preset) {
            (Self::Absent, Self::Set(value)) => Self::Set(at.with(value.value)),
            (own, _) => own,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Set))
    }
}

/// A value with a short and a long form: a scalar, or a mapping.
///
/// What fits neither is kept by name instead of being refused here, because an error from inside a visitor
/// would be reported at the location of the enclosing mapping.
#[derive(Debug)]
pub(crate) enum ScalarOr<T, L = IgnoredAny> {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Decimal(f64),
    /// `true` or `false`.
    Bool(bool),
    /// The long form.
    Mapping(T),
    /// A list, which only [`KeyPaths`](super::key_paths::KeyPaths) reads.
    List(L),
    /// Something else: what it is.
    Other(&'static str),
}

/// A scalar that a column is compared with.
pub(crate) type Constant = ScalarOr<NoMapping>;

/// The long form of a scalar that has none: a mapping is recognized, to be refused.
#[derive(Debug)]
pub(crate) struct NoMapping;

impl<'de> Deserialize<'de> for NoMapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// A list whose items know their location.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct List<T>(pub(crate) Vec<Spanned<T>>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> List<T> {
    /// Whether a list is absent or has no items.
    pub(crate) fn is_empty(field: &Field<Self>) -> bool {
        !matches!(field, Setting::Set(list) if !list.value.0.is_empty())
    }
}

impl<T, L> ScalarOr<T, L> {
    /// What the value is, for an error.
    pub(crate) fn found(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a number",
            Self::Decimal(_) => "a decimal number",
            Self::Bool(_) => "true or false",
            Self::Mapping(_) => "a mapping",
            Self::List(_) => "a list",
            Self::Other(what) => what,
        }
    }
}

impl<'de, T: Deserialize<'de>, L: Deserialize<'de>> Deserialize<'de> for ScalarOr<T, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarOrVisitor(PhantomData))
    }
}

struct ScalarOrVisitor<T, L>(PhantomData<(T, L)>);

impl<'de, T: Deserialize<'de>, L: Deserialize<'de>> Visitor<'de> for ScalarOrVisitor<T, L> {
    type Value = ScalarOr<T, L>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(ScalarOr::Text(value.to_owned()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(ScalarOr::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(ScalarOr::Integer(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(ScalarOr::Integer(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Self::Value, E> {
        Ok(ScalarOr::Integer(value))
    }

    fn visit_u128<E: Error>(self, _: u128) -> Result<Self::Value, E> {
        Ok(ScalarOr::Other("a number that is too large"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(ScalarOr::Decimal(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ScalarOr::Other("nothing"))
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(ScalarOr::Other("nothing"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        L::deserialize(SeqAccessDeserializer::new(items)).map(ScalarOr::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(ScalarOr::Mapping)
    }
}

/// The entries of a mapping whose keys are the user's own, in the order of the file.
#[derive(Debug)]
pub(crate) struct Entries<K, V>(pub(crate) Vec<(Spanned<K>, Spanned<V>)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<K, V> {
    type Value = Entries<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            all.push(entry);
        }
        Ok(Entries(all))
    }
}
