//! Cookies: reading ours, and setting them so that only this host gets them back.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

/// Bytes of a cookie: browsers keep no longer ones.
const LONGEST_COOKIE: usize = 4000;

/// The value of a cookie, where it looks like one of ours.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(found, _)| *found == name)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!value.is_empty() && value.len() <= LONGEST_COOKIE && value.bytes().all(plain))
        .then(|| value.to_string())
}

/// Out of scripts' reach, HTTPS only, and not sent along by other sites' forms.
pub(super) fn put_cookie(headers: &mut HeaderMap, name: &str, value: &str, life: Option<Duration>) {
    let age = life.map(|life| format!("; Max-Age={}", life.as_secs())).unwrap_or_default();
    let text = format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax{age}");
    headers.append(header::SET_COOKIE, HeaderValue::try_from(text).expect("plain letters"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_among_others_and_odd_ones_are_none() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static("a=1; __Host-quire=x-Y_9; b=2"));
        assert_eq!(cookie(&headers, "__Host-quire").as_deref(), Some("x-Y_9"));
        assert_eq!(cookie(&headers, "c"), None);
        headers.insert(header::COOKIE, HeaderValue::from_static("__Host-quire=\"x y\""));
        assert_eq!(cookie(&headers, "__Host-quire"), None);
    }
}
