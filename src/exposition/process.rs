//! The standard `process_*` metrics, read from `/proc`; absent where there is none.

use super::families as family;
use super::page::{Page, Value};

/// What `/proc` says of this process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessFacts {
    cpu_seconds: f64,
    open_fds: Option<f64>,
    max_fds: Option<f64>,
    virtual_memory_bytes: f64,
    resident_memory_bytes: f64,
    start_time_seconds: f64,
}

/// Reads them; `None` where there is no `/proc`.
#[cfg(target_os = "linux")]
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "gauges are floating point in Prometheus; exact below 2^53")]
pub fn read() -> Option<ProcessFacts> {
    use procfs::process::{LimitValue, Process};
    use procfs::{CurrentSI as _, WithCurrentSystemInfo as _};

    let process = Process::myself().ok()?;
    let stat = process.stat().ok()?;
    let ticks = procfs::ticks_per_second() as f64;
    let boot_seconds = procfs::KernelStats::current().ok()?.btime as f64;
    let max_fds = process.limits().ok().and_then(|limits| match limits.max_open_files.soft_limit {
        LimitValue::Value(value) => Some(value as f64),
        LimitValue::Unlimited => None,
    });
    Some(ProcessFacts {
        cpu_seconds: (stat.utime + stat.stime) as f64 / ticks,
        open_fds: process.fd_count().ok().map(|count| count as f64),
        max_fds,
        virtual_memory_bytes: stat.vsize as f64,
        resident_memory_bytes: stat.rss_bytes().get() as f64,
        start_time_seconds: boot_seconds + stat.starttime as f64 / ticks,
    })
}

/// Reads them; `None` where there is no `/proc`.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn read() -> Option<ProcessFacts> {
    None
}

/// Adds their series.
pub fn add_process(page: &mut Page<'_>, facts: ProcessFacts) {
    let values = [
        (&family::PROCESS_CPU, Some(facts.cpu_seconds)),
        (&family::PROCESS_OPEN_FDS, facts.open_fds),
        (&family::PROCESS_MAX_FDS, facts.max_fds),
        (&family::PROCESS_VIRTUAL_MEMORY, Some(facts.virtual_memory_bytes)),
        (&family::PROCESS_RESIDENT_MEMORY, Some(facts.resident_memory_bytes)),
        (&family::PROCESS_START_TIME, Some(facts.start_time_seconds)),
    ];
    for (family, value) in values {
        if let Some(value) = value {
            page.add(family, Vec::new(), Value::Number(value));
        }
    }
}
