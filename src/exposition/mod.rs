//! The exposition: the state as Prometheus metrics.
//!
//! [`StateCollector`] is the one collector. It holds no counters of its own: each scrape builds a
//! [`page::Page`] from the [`State`](crate::state::State) and encodes it.

pub mod families;
mod from_state;
mod histogram;
pub mod page;
mod process;

use std::fmt;
use std::sync::PoisonError;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use self::families as family;
use self::page::{Block, Page, Value};
use crate::clock::SharedClock;
use crate::state::SharedState;

/// Encodes the state at the moment of a scrape.
#[derive(Debug)]
pub struct StateCollector {
    state: SharedState,
    clock: SharedClock,
    /// The only source that is encoded; `None` for everything.
    only: Option<String>,
}

impl StateCollector {
    /// A collector for this state. Gauges whose sample is too old by this clock are withdrawn.
    #[must_use]
    pub fn new(state: SharedState, clock: SharedClock) -> Self {
        Self { state, clock, only: None }
    }

    /// A collector for one source only.
    #[must_use]
    pub fn of_source(self, name: &str) -> Self {
        Self { only: Some(name.to_owned()), ..self }
    }

    /// A registry that holds this collector and nothing else.
    #[must_use]
    pub fn into_registry(self) -> Registry {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        registry
    }
}

impl Collector for StateCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // The state that a panicked sampler leaves behind still consists of counters and gauges; serving it
        // is better than serving nothing.
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut page = Page::new(&family::ALL);
        let now = self.clock.monotonic();
        if let Some(name) = &self.only {
            if let Some(source) = state.source(name) {
                from_state::add_source(&mut page, source, now, state.stale_after);
            }
        } else {
            from_state::add_state(&mut page, &state, now);
            let version = ("version", env!("CARGO_PKG_VERSION").into());
            let revision = ("revision", env!("SQLQUEUE_EXPORTER_COMMIT").into());
            page.labelled(vec![version, revision]).add(&family::BUILD_INFO, Value::Info);
            process::add_process(&mut page);
        }
        for block in page.blocks() {
            encode_block(&mut encoder, block)?;
        }
        Ok(())
    }
}

fn encode_block(encoder: &mut DescriptorEncoder<'_>, block: &Block<'_>) -> fmt::Result {
    let Block { family, series } = block;
    let mut metric =
        encoder.encode_descriptor(family.name, family.help, family.unit.as_ref(), family.kind)?;
    for (labels, value) in series {
        if let Value::Info = value {
            metric.encode_info(labels)?;
        } else {
            encode_value(&mut metric.encode_family(labels)?, family, *value)?;
        }
    }
    Ok(())
}

fn encode_value(metric: &mut MetricEncoder<'_>, family: &family::Family, value: Value<'_>) -> fmt::Result {
    match value {
        Value::Count(count) => metric.encode_counter::<NoLabelSet, u64, f64>(&count, None),
        Value::Number(number) if family.kind == MetricType::Counter => {
            metric.encode_counter::<NoLabelSet, f64, f64>(&number, None)
        }
        Value::Number(number) => metric.encode_gauge(&number),
        Value::Histogram(values) => match family.buckets {
            Some(buckets) => histogram::encode(metric, buckets, values),
            None => Err(fmt::Error),
        },
        Value::Info => Ok(()),
    }
}
