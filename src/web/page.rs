//! The plain index page: self-contained HTML, nothing fetched from anywhere.

use std::borrow::Cow;

/// Follows the reader's light or dark setting; the only styling there is.
const STYLE: &str = ":root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1 small{font-size:1rem;font-weight:normal;opacity:.7}\
table{border-collapse:collapse}\
th,td{text-align:left;padding:.25rem 1rem .25rem 0;border-bottom:1px solid #8884}\
li{margin:.25rem 0}\
code,pre{font-family:ui-monospace,monospace}";

/// A whole HTML page: a heading, a list of links `(href, text, description)` and `extra_html`.
///
/// Everything is escaped except `extra_html`, which is put in as it is: escape what goes into
/// it with [`escape_html`]. Scripts and external resources in it are blocked by the
/// `Content-Security-Policy` the page is served with.
#[must_use]
pub fn index_page(title: &str, version: &str, links: &[(&str, &str, &str)], extra_html: &str) -> String {
    let title = escape_html(title);
    let version = escape_html(version);
    let items: String = links
        .iter()
        .map(|(href, text, description)| {
            let (href, text) = (escape_html(href), escape_html(text));
            let description = escape_html(description);
            format!("<li><a href=\"{href}\">{text}</a>: {description}</li>\n")
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{title} <small>{version}</small></h1>\n<ul>\n{items}</ul>\n{extra_html}\n</body>\n</html>\n"
    )
}

/// Makes text safe inside an HTML element and inside a quoted attribute.
#[must_use]
pub fn escape_html(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_extra_html_is_not() {
        let page = index_page(
            "a<b",
            "1.0 & \"2\"",
            &[("/m?a=1&b='", "<Metrics>", "for \"Prometheus\"")],
            "<p>as it is</p>",
        );
        assert!(page.contains("<title>a&lt;b</title>"), "{page}");
        assert!(page.contains("<small>1.0 &amp; &quot;2&quot;</small>"), "{page}");
        assert!(
            page.contains(
                "<li><a href=\"/m?a=1&amp;b=&#39;\">&lt;Metrics&gt;</a>: for &quot;Prometheus&quot;</li>"
            ),
            "{page}"
        );
        assert!(page.contains("<p>as it is</p>"), "{page}");
    }

    #[test]
    fn nothing_is_fetched_from_elsewhere() {
        let page = index_page("title", "0", &[], "");
        for token in ["http:", "https:", "src=", "@import", "url(", "<script"] {
            assert!(!page.contains(token), "{token} in {page}");
        }
    }
}
