//! The configuration: a YAML file becomes validated, plain data.

pub mod model;
mod secret;
mod target;

pub use model::*;
pub use secret::Secret;
pub use target::TargetConfig;
