//! The configuration: a YAML file becomes validated, plain data.

mod duration;
mod environment;
mod error;
mod identifier;
pub mod model;
mod secret;
mod suggest;

pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use model::*;
pub use secret::Secret;
