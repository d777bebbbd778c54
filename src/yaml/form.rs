//! Forms: mappings as written in the file, before any check.

/// Declares a mapping as written in the file: each key is an optional [`Field`].
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
    };
}
pub(crate) use form;
