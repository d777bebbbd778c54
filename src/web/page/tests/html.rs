//! A reading of a page, as far as the tests need one: its tags, and its text.

/// A start or end tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: String,
    pub(super) is_end: bool,
    pub(super) attributes: Vec<(String, String)>,
}

impl Tag {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Without the values of its attributes.
    pub(super) fn shape(&self) -> String {
        let names: Vec<&str> = self.attributes.iter().map(|(name, _)| name.as_str()).collect();
        format!("{}{} {}", if self.is_end { "/" } else { "" }, self.name, names.join(" "))
    }
}

/// The page without its style sheet, which is no HTML.
fn unstyled(html: &str) -> String {
    let (before, rest) = html.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    format!("{before}{after}")
}

/// The style sheet.
pub(super) fn style(html: &str) -> &str {
    html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0
}

/// Every tag. Values are quoted, and in quotes a `>` ends nothing.
pub(super) fn tags(html: &str) -> Vec<Tag> {
    pieces(html).into_iter().filter_map(Result::ok).collect()
}

/// What a reader sees, white space folded.
pub(super) fn text(html: &str) -> String {
    let texts: Vec<String> = pieces(html).into_iter().filter_map(Result::err).collect();
    texts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tags and the texts between them, in order.
fn pieces(html: &str) -> Vec<Result<Tag, String>> {
    let html = unstyled(html);
    let mut rest = html.as_str();
    let mut pieces = Vec::new();
    while let Some(start) = rest.find('<') {
        pieces.push(Err(unescaped(&rest[..start])));
        let mut quoted = false;
        let length = rest[start..]
            .find(|c| {
                quoted ^= c == '"';
                c == '>' && !quoted
            })
            .unwrap_or_else(|| panic!("a tag without an end: {}", &rest[start..]));
        pieces.push(Ok(tag(&rest[start + 1..start + length])));
        rest = &rest[start + length + 1..];
    }
    pieces
}

fn tag(inside: &str) -> Tag {
    let inside = inside.trim_end_matches('/').trim();
    let (name, mut rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let mut attributes = Vec::new();
    while let Some((name, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').unwrap();
        attributes.push((name.trim().to_owned(), unescaped(value)));
        rest = after;
    }
    assert!(rest.trim().is_empty() || rest.starts_with("html"), "an attribute without quotes: {inside}");
    let is_end = name.starts_with('/');
    Tag { name: name.trim_start_matches('/').to_lowercase(), is_end, attributes }
}

fn unescaped(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

/// Fails unless every element that needs an end has it, ids are unique, and references lead somewhere.
#[track_caller]
pub(super) fn assert_well_formed(html: &str) {
    const WITHOUT_END: [&str; 5] = ["!doctype", "meta", "link", "path", "br"];
    let tags = tags(html);
    let mut open: Vec<&str> = Vec::new();
    for tag in &tags {
        if tag.is_end {
            assert_eq!(open.pop(), Some(tag.name.as_str()), "in {open:?}");
        } else if !WITHOUT_END.contains(&tag.name.as_str()) {
            open.push(&tag.name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    let mut ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
    for tag in &tags {
        for reference in tag.attribute("aria-labelledby").unwrap_or_default().split_whitespace() {
            assert!(ids.contains(&reference), "{reference} is nowhere");
        }
    }
    let number = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), number, "ids are unique");
}
