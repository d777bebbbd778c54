//! A strict parser of both text formats: it refuses what Prometheus would refuse or silently misread.

use std::collections::{BTreeMap, BTreeSet};

/// A page that keeps every rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedPage {
    /// In the order of the page.
    pub families: Vec<ParsedFamily>,
}

/// One block: its descriptor lines and its samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedFamily {
    pub name: String,
    pub kind: String,
    pub help: String,
    pub samples: Vec<ParsedSample>,
}

/// Names and values.
type Labels = Vec<(String, String)>;

/// One line with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedSample {
    pub name: String,
    /// Unescaped, in the order of the line.
    pub labels: Labels,
    pub value: f64,
}

impl ParsedSample {
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| label == name).map(|(_, value)| value.as_str())
    }
}

impl ParsedPage {
    /// Reads a page of the Prometheus text format 0.0.4.
    #[track_caller]
    pub fn prometheus(text: &str) -> Self {
        Self::parse(text, false).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
    }

    /// Reads a page of OpenMetrics text 1.0.0.
    #[track_caller]
    pub fn openmetrics(text: &str) -> Self {
        Self::parse(text, true).unwrap_or_else(|problem| panic!("{problem}\n{text}"))
    }

    pub fn samples(&self) -> impl Iterator<Item = &ParsedSample> {
        self.families.iter().flat_map(|family| &family.samples)
    }

    /// The samples of this name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ParsedSample> {
        self.samples().filter(move |sample| sample.name == name)
    }

    fn parse(text: &str, openmetrics: bool) -> Result<Self, String> {
        let text = text.strip_suffix('\n').ok_or("the page does not end with a line end")?;
        let text = if openmetrics {
            text.strip_suffix("\n# EOF").ok_or("the page does not end with # EOF")?
        } else {
            text
        };
        let mut families: Vec<ParsedFamily> = Vec::new();
        for line in text.split('\n') {
            let wrong = |problem: String| format!("{problem}, in the line: {line}");
            if let Some(rest) = line.strip_prefix("# ") {
                descriptor(&mut families, rest, openmetrics).map_err(wrong)?;
            } else {
                let sample = sample(line).map_err(wrong)?;
                let family = families.last_mut().ok_or_else(|| wrong("a sample before any block".into()))?;
                family.admits(&sample, openmetrics).map_err(wrong)?;
                family.samples.push(sample);
            }
        }
        let page = Self { families };
        page.check()?;
        Ok(page)
    }

    /// Checks what only the page as a whole can show.
    fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let mut series = BTreeSet::new();
        for family in &self.families {
            if !names.insert(&family.name) {
                return Err(format!("{} has two blocks", family.name));
            }
            if family.help.is_empty() || family.kind.is_empty() || family.samples.is_empty() {
                return Err(format!("{} lacks its HELP, its TYPE or its samples", family.name));
            }
            for sample in &family.samples {
                let mut labels = sample.labels.clone();
                labels.sort();
                if labels.windows(2).any(|pair| pair[0].0 == pair[1].0) {
                    return Err(format!("{sample:?} has a label twice"));
                }
                if !series.insert((&sample.name, labels)) {
                    return Err(format!("{sample:?} is there twice"));
                }
            }
            if family.kind == "histogram" {
                family.check_histogram()?;
            }
        }
        Ok(())
    }
}

impl ParsedFamily {
    /// Whether a sample of this name may be in the block.
    fn admits(&self, sample: &ParsedSample, openmetrics: bool) -> Result<(), String> {
        let suffix = sample.name.strip_prefix(&self.name).ok_or("the sample belongs to another block")?;
        let fits = match (self.kind.as_str(), openmetrics) {
            ("counter", true) => suffix == "_total",
            ("counter", false) => suffix.is_empty() && self.name.ends_with("_total"),
            ("gauge", _) => suffix.is_empty() && !self.name.ends_with("_total"),
            ("info", true) => suffix == "_info" && sample.value == 1.0,
            ("histogram", _) => matches!(suffix, "_bucket" | "_sum" | "_count"),
            _ => false,
        };
        let counts = matches!(self.kind.as_str(), "counter" | "histogram");
        if !fits {
            Err(format!("a {} has no sample of this name", self.kind))
        } else if counts && (sample.value < 0.0 || sample.value.is_nan()) {
            Err("what is counted is never negative".to_owned())
        } else {
            Ok(())
        }
    }

    /// Buckets ascend, lose nothing, and end with all observations.
    fn check_histogram(&self) -> Result<(), String> {
        let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
        let mut counts = BTreeMap::new();
        for sample in &self.samples {
            let mut labels = sample.labels.clone();
            labels.retain(|(name, _)| name != "le");
            if sample.name.ends_with("_bucket") {
                let bound = sample.label("le").ok_or(format!("{sample:?} has no bound"))?;
                let bound = number(bound)?;
                buckets.entry(labels).or_default().push((bound, sample.value));
            } else if sample.name.ends_with("_count") {
                counts.insert(labels, sample.value);
            }
        }
        for (labels, buckets) in &buckets {
            let ascends = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
            let last = buckets.last().copied();
            let whole = last.zip(counts.get(labels).copied());
            if !ascends || !whole.is_some_and(|(last, count)| last == (f64::INFINITY, count)) {
                return Err(format!("the histogram {}{labels:?} is not whole: {buckets:?}", self.name));
            }
        }
        if buckets.len() == counts.len() { Ok(()) } else { Err(format!("{} lacks buckets", self.name)) }
    }
}

fn descriptor(families: &mut Vec<ParsedFamily>, line: &str, openmetrics: bool) -> Result<(), String> {
    let (what, rest) = line.split_once(' ').ok_or("a comment without a word")?;
    let (name, text) = rest.split_once(' ').ok_or("a descriptor without a text")?;
    is_metric_name(name)?;
    if what == "HELP" {
        if text.contains(['"', '\\']) {
            return Err("the encoders do not escape a HELP text, so it must not need it".to_owned());
        }
        families.push(ParsedFamily { name: name.to_owned(), help: text.to_owned(), ..Default::default() });
        return Ok(());
    }
    let family = families.last_mut().filter(|family| family.name == name);
    let family = family.ok_or("the block of another family goes on")?;
    if !family.samples.is_empty() {
        return Err("a descriptor after samples".to_owned());
    }
    match what {
        "TYPE" if family.kind.is_empty() => family.kind = text.to_owned(),
        // The name ends with its unit.
        "UNIT" if openmetrics && name.ends_with(&format!("_{text}")) => {}
        _ => return Err(format!("{what} is not expected here")),
    }
    Ok(())
}

fn sample(line: &str) -> Result<ParsedSample, String> {
    let end = line.find(['{', ' ']).ok_or("neither labels nor a value")?;
    let (name, mut rest) = line.split_at(end);
    is_metric_name(name)?;
    let mut labels = Vec::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").ok_or("a label without a value")?;
            is_label_name(label)?;
            let (value, after) = quoted(after)?;
            labels.push((label.to_owned(), value));
            rest = match after.strip_prefix(',') {
                Some(next) if !next.starts_with('}') => next,
                Some(_) => return Err("a comma that nothing follows".to_owned()),
                None if after.starts_with('}') => after,
                None => return Err("neither , nor } after a label".to_owned()),
            };
        }
        rest = &rest[1..];
    }
    let value = number(rest.strip_prefix(' ').ok_or("no space before the value")?)?;
    Ok(ParsedSample { name: name.to_owned(), labels, value })
}

/// A label value up to its closing quote, unescaped, and the rest after it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => value.push(match characters.next().map(|(_, c)| c) {
                Some('n') => '\n',
                Some(c @ ('"' | '\\')) => c,
                other => return Err(format!("an unknown escape {other:?}")),
            }),
            c => value.push(c),
        }
    }
    Err("a label value that does not end".to_owned())
}

fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        text if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            text.parse().map_err(|_| format!("{text} is not a number"))
        }
        text => Err(format!("{text} is not a number")),
    }
}

fn is_metric_name(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // Colons are for recording rules.
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(good) {
        Ok(())
    } else {
        Err(format!("{name} is no metric name"))
    }
}

fn is_label_name(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_lowercase() || c == '_';
    if !name.is_empty() && name.chars().all(good) && !name.starts_with("__") {
        Ok(())
    } else {
        Err(format!("{name} is no label name"))
    }
}

/// The parser is only worth something when it refuses.
#[test]
fn the_reader_refuses_what_prometheus_would() {
    let good = "# HELP a_total A.\n# TYPE a_total counter\na_total{b=\"c\"} 1\n";
    assert!(ParsedPage::parse(good, false).is_ok());
    for bad in [
        good.replace("a_total{", "a{"),
        good.replace(" 1\n", " -1\n"),
        good.replace(" 1\n", " 1"),
        good.replace("b=\"c\"", "b=\"c\",b=\"d\""),
        good.replace("b=\"c\"", "b=\"\\c\""),
        good.replace("\"c\"", "\"c"),
        good.replace("A.", "A \"b\"."),
        format!("{good}{good}"),
        format!("{good}a_total{{b=\"c\"}} 2\n"),
        format!("{good}# HELP d D.\n# TYPE d gauge\n"),
    ] {
        assert!(ParsedPage::parse(&bad, false).is_err(), "{bad}");
    }
    let good = "# HELP a A.\n# TYPE a counter\na_total 1\n# EOF\n";
    assert!(ParsedPage::parse(good, true).is_ok());
    for bad in [good.replace("# EOF\n", ""), good.replace("a_total", "a"), format!("{good}a_total 2\n")] {
        assert!(ParsedPage::parse(&bad, true).is_err(), "{bad}");
    }
    let histogram = "# HELP a A.\n# TYPE a histogram\na_sum 3\na_count 2\n\
                     a_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 2\n";
    assert!(ParsedPage::parse(histogram, false).is_ok());
    for bad in [histogram.replace("count 2", "count 3"), histogram.replace("+Inf", "0.5")] {
        assert!(ParsedPage::parse(&bad, false).is_err(), "{bad}");
    }
}
