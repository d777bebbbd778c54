//! A clock for the demo's database that goes with the paused clock of the runtime: an hour of the demo
//! passes in as long as its statements take.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::Value;
use tokio::time::Instant;

use crate::clock::{Clock, SharedClock};

/// 2026-11-30T12:00:00Z.
const START_MS: i64 = 1_796_040_000_000;

/// The runtime's clock as that of a wall.
#[derive(Debug)]
pub(in crate::demo) struct RuntimeClock(Instant);

impl RuntimeClock {
    pub(in crate::demo) fn shared() -> SharedClock {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for RuntimeClock {
    fn unix_ms(&self) -> i64 {
        START_MS + i64::try_from(self.monotonic().as_millis()).unwrap()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Makes `'now'` mean this clock's time, in the two functions that the demo's statements give it to.
/// The statements stay what they are.
pub(in crate::demo) fn override_now(connection: &Connection, clock: &SharedClock) -> rusqlite::Result<()> {
    // What the functions mean otherwise is known to another connection.
    let plain = Arc::new(Mutex::new(Connection::open_in_memory()?));
    for (name, arguments, call) in [
        ("strftime", 2, "SELECT strftime(?1, ?2)"),
        ("strftime", 3, "SELECT strftime(?1, ?2, ?3)"),
        ("julianday", 1, "SELECT julianday(?1)"),
    ] {
        let (plain, clock) = (Arc::clone(&plain), Arc::clone(clock));
        connection.create_scalar_function(name, arguments, FunctionFlags::SQLITE_UTF8, move |context| {
            let arguments = arguments_of(context, clock.unix_ms())?;
            let plain = plain.lock().unwrap();
            plain
                .prepare_cached(call)?
                .query_one(rusqlite::params_from_iter(arguments), |row| row.get::<_, Value>(0))
        })?;
    }
    Ok(())
}

fn arguments_of(context: &Context<'_>, now_ms: i64) -> rusqlite::Result<Vec<Value>> {
    (0..context.len())
        .map(|index| match context.get(index)? {
            #[allow(clippy::cast_precision_loss, reason = "exact for every time of a test")]
            Value::Text(text) if text == "now" => {
                // As a day number: the only form that each of the functions takes with its milliseconds.
                Ok(Value::Real(now_ms as f64 / 86_400_000.0 + 2_440_587.5))
            }
            value => Ok(value),
        })
        .collect()
}
