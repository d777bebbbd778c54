//! Forms: mappings as they are written, before anything is checked.

use super::types::Location;

/// A mapping as it is written. [`form!`] implements it.
pub(crate) trait Form {
    /// This mapping, completed key by key by a preset that the file names at `at`.
    fn or_preset(self, preset: Self, at: Location) -> Self;
}

/// Declares a mapping as it is written: each key a [`Field`], all of them optional.
macro_rules! form {
    (
        $(#[$meta:meta])*
        pub struct $Form:ident $(<$T:ident>)? {
            $($(#[$key_meta:meta])* $key:ident: $type:ty,)*
        }
    ) => {
        #[derive(Debug, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(default, deny_unknown_fields)]
        $(#[$meta])*
        pub(crate) struct $Form $(<$T>)? {
            $($(#[$key_meta])* pub(crate) $key: $type,)*
        }

        // Not derived, since a type parameter need not have a default.
        impl $(<$T>)? Default for $Form $(<$T>)? {
            fn default() -> Self {
                Self { $($key: $crate::yaml::Setting::Absent,)* }
            }
        }

        impl $(<$T>)? $crate::yaml::Form for $Form $(<$T>)? {
            fn or_preset(self, preset: Self, at: $crate::yaml::Location) -> Self {
                Self { $($key: self.$key.or_preset(preset.$key, at),)* }
            }
        }
    };
}
pub(crate) use form;
