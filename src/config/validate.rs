//! Checks of the web configuration.

mod web;

pub(super) use self::web::web;
