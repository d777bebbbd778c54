//! Application locks: the lock that a run holds.

use serde::Serialize;

use super::Value;
use crate::config::scope::{Scope, invisible_locks};
use crate::yaml::{Checker, Field, Located, Spanned, form};

/// An application lock (`sp_getapplock`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AppLock {
    /// The resource name.
    pub resource: String,
}

form! {
    pub struct LockForm {
        /// The resource name: the `@Resource` of `sp_getapplock`.
        resource: Field<String>,
    }
}

/// The longest name of an application lock, in characters.
const MAX_RESOURCE: usize = 255;

impl Value for AppLock {
    type Yaml = LockForm;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<LockForm>, scope: &Scope) -> Option<Self> {
        let at = yaml.location();
        if scope.reads_secondary {
            let message = invisible_locks("lock", "this one would always look free");
            checker.report(at, format!("{message}, or remove `lock`"));
        }
        let remedy = "name the lock, the @Resource of sp_getapplock";
        let resource = checker.required(yaml.value.resource, at, "resource", remedy)?;
        let at = resource.location();
        let resource = checker.text(resource)?;
        if resource.encode_utf16().count() > MAX_RESOURCE {
            let message = format!("has more than {MAX_RESOURCE} characters, the limit of sp_getapplock");
            return checker.refuse(at, message);
        }
        Some(Self { resource })
    }
}
