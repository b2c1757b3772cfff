//! The web sites whose pages may use a key, as origins: scheme, host and port.

use std::{fmt, net::Ipv6Addr, str::FromStr};

use serde::{Serialize, Serializer};

/// Origins that a key may name.
pub const MOST_ORIGINS: usize = 10;

/// An origin as browsers write it in the header `Origin`: `https://www.example.org`, in small letters and without the usual
/// port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebOrigin(String);

impl WebOrigin {
    /// The origin.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for WebOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        normal(text).map(WebOrigin).ok_or_else(|| {
            format!("`{text}` is not an origin such as https://www.example.org: scheme, host and port only")
        })
    }
}

fn normal(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let (scheme, place) = text.split_once("://")?;
    let usual = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let place = place.strip_suffix('/').unwrap_or(place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(number(port)?)),
        _ => (place, None),
    };
    let host = match host.strip_prefix('[') {
        Some(rest) => format!("[{}]", rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?),
        None => name(host)?.to_string(),
    };
    Some(match port.filter(|&port| port != usual) {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    })
}

fn number(port: &str) -> Option<u16> {
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    port.parse().ok().filter(|&port| digits && port > 0)
}

/// Browsers write other letters than these as `xn--…`.
fn name(host: &str) -> Option<&str> {
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    (host.len() <= 253 && host.split('.').all(label)).then_some(host)
}

/// The origins that a key names; one that names none is for programs, and may come from anywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(Vec<WebOrigin>);

impl Origins {
    /// These, each once.
    pub fn of(origins: impl IntoIterator<Item = WebOrigin>) -> Result<Origins, String> {
        let mut origins: Vec<_> = origins.into_iter().collect();
        origins.sort_unstable();
        origins.dedup();
        if origins.len() > MOST_ORIGINS {
            return Err(format!("a key can name at most {MOST_ORIGINS} origins, not {}", origins.len()));
        }
        Ok(Origins(origins))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this is one of them, letter by letter.
    pub fn names(&self, origin: &str) -> bool {
        self.0.iter().any(|known| known.0 == origin)
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(WebOrigin::as_str)
    }
}

/// As the store and the audit log write them: separated by spaces.
impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().collect::<Vec<_>>().join(" "))
    }
}

impl FromStr for Origins {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Origins::of(text.split_whitespace().map(str::parse).collect::<Result<Vec<_>, _>>()?)
    }
}

impl Serialize for Origins {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        for (text, written) in [
            ("https://www.example.org", "https://www.example.org"),
            (" HTTPS://WWW.Example.org:443/ ", "https://www.example.org"),
            ("http://localhost:80", "http://localhost"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("https://example.org:80", "https://example.org:80"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
            ("http://[0:0::1]:8080", "http://[::1]:8080"),
            ("https://[::1]", "https://[::1]"),
        ] {
            assert_eq!(text.parse::<WebOrigin>().unwrap().as_str(), written, "{text}");
        }
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for wrong in [
            "",
            "*",
            "null",
            "example.org",
            "https://",
            "https:///",
            "https://*.example.org",
            "https://example.org/docs",
            "https://example.org?x",
            "https://example.org#x",
            "https://example.org//",
            "https://user@example.org",
            "https://example..org",
            "https://example.org:",
            "https://example.org:0",
            "https://example.org:+1",
            "https://example.org:65536",
            "https://a b.example",
            "https://bücher.example",
            "https://[::1",
            "https://::1",
            "ftp://example.org",
            "file:///",
            "https://example.org https://example.net",
        ] {
            assert!(wrong.parse::<WebOrigin>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_names_a_few_each_once_and_letter_by_letter() {
        let origins: Origins = "https://b.example https://a.example HTTPS://B.example:443".parse().unwrap();
        assert_eq!(origins.to_string(), "https://a.example https://b.example");
        assert_eq!(origins.to_string().parse::<Origins>().unwrap(), origins);
        assert!(origins.names("https://a.example"));
        for other in
            ["http://a.example", "https://a.example:8443", "https://a.example.evil.example", "null", ""]
        {
            assert!(!origins.names(other), "{other}");
        }
        assert!("".parse::<Origins>().unwrap().is_empty());
        let many: Vec<String> = (0..=MOST_ORIGINS).map(|n| format!("https://{n}.example")).collect();
        assert!(many.join(" ").parse::<Origins>().is_err());
        assert!(many[1..].join(" ").parse::<Origins>().is_ok());
    }
}
