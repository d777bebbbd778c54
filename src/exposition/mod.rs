//! The exposition: the state as Prometheus metrics.
//!
//! [`StateCollector`] is the one collector. It holds no counters of its own: each scrape builds a
//! [`page::Page`] from the [`State`](crate::state::State) and encodes it.

pub mod families;
mod from_state;
mod histogram;
mod objectives;
pub mod page;
mod process;

use std::borrow::Cow;
use std::fmt;
use std::sync::PoisonError;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, LabelSetEncoder, NoLabelSet};
use prometheus_client::encoding::{EncodeLabel, LabelEncoder, MetricEncoder};
use prometheus_client::registry::Registry;

use self::families as family;
use self::from_state::Freshness;
use self::page::{Block, Page, Value};
use crate::clock::SharedClock;
use crate::state::SharedState;

/// Encodes the state as it is at the moment of a scrape.
#[derive(Debug)]
pub struct StateCollector {
    state: SharedState,
    clock: SharedClock,
    /// The one source that is encoded, and nothing else.
    only: Option<String>,
}

impl StateCollector {
    /// A collector for this state. Gauges whose sample is too old by this clock are withdrawn.
    #[must_use]
    pub fn new(state: SharedState, clock: SharedClock) -> Self {
        Self { state, clock, only: None }
    }

    /// The part that is about one source.
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
        // A sampler that panicked while it wrote leaves a state that is still only counters and
        // gauges; serving it is better than serving nothing.
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut page = Page::new(&family::ALL);
        let freshness = Freshness { now: self.clock.monotonic(), stale_after: state.stale_after };
        if let Some(name) = &self.only {
            if let Some(source) = state.source(name) {
                from_state::add_source(&mut page, source, freshness);
            }
        } else {
            from_state::add_state(&mut page, &state, freshness);
            page.add(&family::BUILD_INFO, build(), Value::Info);
            if let Some(facts) = process::read() {
                process::add_process(&mut page, facts);
            }
        }
        for block in page.blocks() {
            encode_block(&mut encoder, block)?;
        }
        Ok(())
    }
}

/// What this program was built from.
fn build<'a>() -> Vec<page::Label<'a>> {
    vec![("version", env!("CARGO_PKG_VERSION").into()), ("revision", env!("SQLQUEUE_EXPORTER_COMMIT").into())]
}

fn encode_block(encoder: &mut DescriptorEncoder<'_>, block: &Block<'_>) -> fmt::Result {
    let Block { family, series } = block;
    let mut metric =
        encoder.encode_descriptor(family.name, family.help, family.unit.as_ref(), family.kind)?;
    for one in series {
        if let Value::Info = one.value {
            metric.encode_info(&Labels(&one.labels))?;
        } else {
            let labels = Labels(&one.labels);
            let mut labelled = metric.encode_family(&labels)?;
            encode_value(&mut labelled, family, one.value)?;
        }
    }
    Ok(())
}

fn encode_value(metric: &mut MetricEncoder<'_>, family: &family::Family, value: Value<'_>) -> fmt::Result {
    use prometheus_client::metrics::MetricType;
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

/// The labels of one series, as the encoder wants them.
struct Labels<'a>(&'a [page::Label<'a>]);

struct OneLabel<'a>(&'a (&'static str, Cow<'a, str>));

impl EncodeLabelSet for Labels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        for label in self.0 {
            OneLabel(label).encode(encoder.encode_label())?;
        }
        Ok(())
    }
}

impl EncodeLabel for OneLabel<'_> {
    fn encode(&self, encoder: LabelEncoder<'_>) -> fmt::Result {
        let (name, value) = self.0;
        (*name, value.as_ref()).encode(encoder)
    }
}
