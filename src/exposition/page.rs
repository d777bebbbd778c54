//! The page as plain data: families with their series, built from the state.

use std::borrow::Cow;

use super::families::Family;
use crate::state::Histogram;

/// A label: name and value.
pub type Label<'a> = (&'static str, Cow<'a, str>);

/// The value of one series.
#[derive(Debug, Clone, Copy)]
pub enum Value<'a> {
    /// A counter.
    Count(u64),
    /// A gauge, or a counter of fractions.
    Number(f64),
    /// A histogram.
    Histogram(&'a Histogram),
    /// An info, which has nothing but labels.
    Info,
}

/// A family with its series.
#[derive(Debug)]
pub struct Block<'a> {
    /// Name, type and help.
    pub family: &'static Family,
    /// The series: labels in the order they are written, and the value.
    pub series: Vec<(Vec<Label<'a>>, Value<'a>)>,
}

/// All blocks of the page, one for each family of a fixed list; empty ones are not written.
#[derive(Debug)]
pub struct Page<'a> {
    blocks: Vec<Block<'a>>,
}

/// The part of a page whose series share labels.
#[derive(Debug)]
pub struct Labelled<'p, 'a> {
    page: &'p mut Page<'a>,
    labels: Vec<Label<'a>>,
}

impl<'a> Page<'a> {
    /// A page without series.
    #[must_use]
    pub fn new(families: &[&'static Family]) -> Self {
        Self { blocks: families.iter().map(|family| Block { family, series: Vec::new() }).collect() }
    }

    /// The part of the page with these labels.
    pub const fn labelled(&mut self, labels: Vec<Label<'a>>) -> Labelled<'_, 'a> {
        Labelled { page: self, labels }
    }

    /// The blocks that have series.
    pub fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        self.blocks.iter().filter(|block| !block.series.is_empty())
    }
}

impl<'a> Labelled<'_, 'a> {
    /// The part of the page with one label more.
    pub fn with(&mut self, name: &'static str, value: &'a str) -> Labelled<'_, 'a> {
        let mut labels = self.labels.clone();
        labels.push((name, value.into()));
        Labelled { page: self.page, labels }
    }

    /// Adds a series, if there is a value. A family that is not in the list of the page is left out.
    pub fn add(&mut self, family: &'static Family, value: impl Into<Option<Value<'a>>>) {
        let block = self.page.blocks.iter_mut().find(|block| std::ptr::eq(block.family, family));
        if let (Some(block), Some(value)) = (block, value.into()) {
            block.series.push((self.labels.clone(), value));
        }
    }
}
