//! The standard `process_*` metrics, read from `/proc`; absent where there is none.

use super::families as family;
use super::page::{Page, Value};

/// Adds their series.
pub fn add_process(page: &mut Page<'_>) {
    for (family, value) in read().into_iter().flatten() {
        page.labelled(Vec::new()).add(family, value.map(Value::Number));
    }
}

type Facts = [(&'static family::Family, Option<f64>); 6];

/// Each family with its value; `None` where there is no `/proc`.
#[cfg(target_os = "linux")]
#[allow(clippy::cast_precision_loss, reason = "gauges are floating point in Prometheus; exact below 2^53")]
fn read() -> Option<Facts> {
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
    Some([
        (&family::PROCESS_CPU, Some((stat.utime + stat.stime) as f64 / ticks)),
        (&family::PROCESS_OPEN_FDS, process.fd_count().ok().map(|count| count as f64)),
        (&family::PROCESS_MAX_FDS, max_fds),
        (&family::PROCESS_VIRTUAL_MEMORY, Some(stat.vsize as f64)),
        (&family::PROCESS_RESIDENT_MEMORY, Some(stat.rss_bytes().get() as f64)),
        (&family::PROCESS_START_TIME, Some(boot_seconds + stat.starttime as f64 / ticks)),
    ])
}

#[cfg(not(target_os = "linux"))]
fn read() -> Option<Facts> {
    None
}
