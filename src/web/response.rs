//! Responses: content types and the headers that every body needs.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};

pub(super) const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
pub(super) const HTML: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A response with its type and length.
pub(super) fn reply(
    status: StatusCode,
    content_type: HeaderValue,
    body: impl Into<Bytes>,
) -> Response<Bytes> {
    let body = body.into();
    let length = HeaderValue::from(body.len());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response.headers_mut().insert(header::CONTENT_LENGTH, length);
    response
}

/// A text that explains a status.
pub(super) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Bytes> {
    reply(status, PLAIN, text)
}

/// A refused method, with the methods that are allowed.
pub(super) fn method_not_allowed(allowed: &'static str, text: &'static str) -> Response<Bytes> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}
