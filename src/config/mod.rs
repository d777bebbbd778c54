//! The configuration: a YAML file becomes validated, plain data.

pub mod model;
mod secret;

pub use model::*;
pub use secret::Secret;
