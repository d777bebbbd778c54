//! A YAML document that keeps the order of its keys.

use serde::ser::{Serialize, Serializer};

/// A value. One that is absent takes its key with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    Absent,
    Text(String),
    Number(u64),
    Decimal(f64),
    Flag(bool),
    List(Vec<Yaml>),
    Mapping(Mapping),
}

/// Keys and values, in the order they are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Mapping(Vec<(String, Yaml)>);

impl Yaml {
    /// A list; an empty one is absent.
    pub(super) fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        let items: Vec<Self> = items.into_iter().map(Into::into).collect();
        if items.is_empty() { Self::Absent } else { Self::List(items) }
    }
}

impl Mapping {
    /// With one more key.
    pub(super) fn with(mut self, key: impl Into<String>, value: impl Into<Yaml>) -> Self {
        match value.into() {
            Yaml::Absent => {}
            value => self.0.push((key.into(), value)),
        }
        self
    }

    /// With the keys of another one.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Yaml {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Yaml {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Yaml {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Yaml {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Yaml {
    fn from(number: usize) -> Self {
        Self::Number(u64::try_from(number).unwrap_or(u64::MAX))
    }
}

impl From<f64> for Yaml {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

impl From<bool> for Yaml {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<Mapping> for Yaml {
    fn from(mapping: Mapping) -> Self {
        Self::Mapping(mapping)
    }
}

impl<T: Into<Yaml>> From<Option<T>> for Yaml {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl Serialize for Yaml {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_none(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Decimal(number) => serializer.serialize_f64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::List(items) => serializer.collect_seq(items),
            Self::Mapping(mapping) => mapping.serialize(serializer),
        }
    }
}

impl Serialize for Mapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
