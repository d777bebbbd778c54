//! The page as plain data: families with their series, built from the state.

use std::borrow::Cow;

use super::families::Family;
use crate::state::Histogram;

/// A label: name and value.
pub type Label<'a> = (&'static str, Cow<'a, str>);

/// The value of one series.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// Of a counter.
    Count(u64),
    /// Of a gauge or of a counter of fractions.
    Number(f64),
    /// Of a histogram.
    Histogram(&'a Histogram),
    /// Of an info: its labels say it all.
    Info,
}

/// One series of a family.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    /// Its labels, in the order they are written.
    pub labels: Vec<Label<'a>>,
    /// Its value.
    pub value: Value<'a>,
}

/// A family with its series.
#[derive(Debug)]
pub struct Block<'a> {
    /// Name, type and help.
    pub family: &'static Family,
    /// The series.
    pub series: Vec<Series<'a>>,
}

/// All blocks of the page, one for each family of a fixed list; empty ones are not written.
#[derive(Debug)]
pub struct Page<'a> {
    blocks: Vec<Block<'a>>,
}

impl<'a> Page<'a> {
    /// A page without series.
    #[must_use]
    pub fn new(families: &[&'static Family]) -> Self {
        Self { blocks: families.iter().map(|family| Block { family, series: Vec::new() }).collect() }
    }

    /// Adds a series. A family that is not in the list of the page is left out.
    pub fn add(&mut self, family: &'static Family, labels: Vec<Label<'a>>, value: Value<'a>) {
        if let Some(block) = self.blocks.iter_mut().find(|block| std::ptr::eq(block.family, family)) {
            block.series.push(Series { labels, value });
        }
    }

    /// The blocks that have series.
    pub fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.blocks.iter().filter(|block| !block.series.is_empty())
    }
}
