//! The JSON schema of the YAML types, for the schema and the key tables that tests keep current.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Spanned;
use super::types::{Entries, List, NoMapping, ScalarOr, Setting};

macro_rules! inline_schema {
    ([$($param:ident),*] $type:ty, $generator:ident => $schema:expr) => {
        impl<$($param: JsonSchema),*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

inline_schema!([T] Setting<Spanned<T>>, generator => generator.subschema_for::<T>());
inline_schema!([T] List<T>, generator => json_schema!({
    "type": "array",
    "items": generator.subschema_for::<T>(),
}));
inline_schema!([K, V] Entries<K, V>, generator => json_schema!({
    "type": "object",
    "additionalProperties": generator.subschema_for::<V>(),
}));
inline_schema!([T] ScalarOr<T>, generator => json_schema!({
    "anyOf": [{ "type": ["string", "number", "boolean"] }, generator.subschema_for::<T>()],
}));
inline_schema!([] NoMapping, _generator => json_schema!(false));
