//! The HTTP side: the metrics page, the two probes and a plain index, over HTTP/1.1.

mod bind;
mod page;

pub use bind::{BindError, bind};
pub use page::{escape_html, index_page};
