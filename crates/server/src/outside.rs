//! Reaches addresses that users name, if they are public: every name is resolved here, every address it resolves to and every
//! redirect is checked before anything is connected to, and only what was checked is connected to.

use std::{
    error::Error,
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use engine::{Fault, Reason};
use reqwest::{
    Client, Response, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header, redirect,
};

/// Redirects that are followed at most.
const MOST_REDIRECTS: usize = 5;
/// Establishing a connection takes longer only where nobody answers.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for addresses that users name.
#[derive(Clone)]
pub(crate) struct Outside {
    http: Client,
    /// Which addresses may be reached.
    allowed: fn(IpAddr) -> bool,
    /// The setting that allows it.
    setting: &'static str,
}

/// An address that must not be reached.
#[derive(Debug)]
struct NotPublic;

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the address is not public")
    }
}

impl Error for NotPublic {}

/// Resolves names to addresses that may be reached; a name of which one address may not be is refused.
struct Guarded {
    allowed: fn(IpAddr) -> bool,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.allowed;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if !found.iter().all(|address| allowed(address.ip())) {
                return Err(NotPublic.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

impl Outside {
    /// A client that reaches private networks only where `private` says so, which `setting` decides.
    pub(crate) fn new(private: bool, setting: &'static str) -> Result<Self, Fault> {
        Self::reaching(if private { |_| true } else { is_public }, setting)
    }

    fn reaching(allowed: fn(IpAddr) -> bool, setting: &'static str) -> Result<Self, Fault> {
        // Whoever came first has chosen the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .dns_resolver(Arc::new(Guarded { allowed }))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT)
            .user_agent(concat!("quire/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(Fault::internal)?;
        Ok(Outside { http, allowed, setting })
    }

    /// An address as a user writes it, if it can be reached at all. Its name is resolved when it is.
    pub(crate) fn parse(&self, text: &str) -> Result<Url, Fault> {
        let wrong = |cause: &str| Fault::invalid("url", format!("`url` {cause}"));
        let url = Url::parse(text.trim())
            .map_err(|_| wrong("must be an address such as https://example.org/a.pdf"))?;
        if text.len() > 2_000 {
            return Err(wrong("must have at most 2,000 characters"));
        }
        self.check(&url)?;
        Ok(url)
    }

    /// What can be said of an address before its name is resolved. A name that is an address is never resolved.
    fn check(&self, url: &Url) -> Result<(), Fault> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Fault::invalid("url", "`url` must begin with https:// or http://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Fault::invalid("url", "`url` must not contain a user name or a password"));
        }
        let host = url.host_str().unwrap_or_default();
        let literal: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        if literal.is_some_and(|address| !(self.allowed)(address)) {
            return Err(self.not_public());
        }
        Ok(())
    }

    /// Gets what is at an address, over up to [`MOST_REDIRECTS`] redirects, each of which is checked like the first.
    pub(crate) async fn get(&self, url: Url) -> Result<(Url, Response), Fault> {
        self.get_with(url, &header::HeaderMap::new()).await
    }

    /// The same with headers of the caller's own, which every redirect gets too: nothing secret.
    pub(crate) async fn get_with(
        &self,
        url: Url,
        headers: &header::HeaderMap,
    ) -> Result<(Url, Response), Fault> {
        let mut url = url;
        for _ in 0..=MOST_REDIRECTS {
            self.check(&url)?;
            let sent = self.http.get(url.clone()).headers(headers.clone()).send().await;
            let response = sent.map_err(|error| self.failed(&error))?;
            // "Not modified" is of the same family and leads nowhere.
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
                return Ok((url, response));
            }
            let to = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let to = to.and_then(|to| url.join(to).ok());
            url = to.ok_or_else(|| refused("the address redirects, but does not say where to"))?;
        }
        Err(refused(format!("the address redirects more than {MOST_REDIRECTS} times; check it")))
    }

    /// The addresses of a name, for a program that connects by itself: all of them may be reached.
    pub(crate) async fn resolve(&self, url: &Url) -> Result<Vec<IpAddr>, Fault> {
        self.check(url)?;
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let found = tokio::net::lookup_host((host, 0)).await;
        let found: Vec<IpAddr> = found
            .map_err(|_| refused("the address cannot be reached; check it"))?
            .map(|address| address.ip())
            .collect();
        match found.iter().all(|address| (self.allowed)(*address)) && !found.is_empty() {
            true => Ok(found),
            false => Err(self.not_public()),
        }
    }

    /// The client itself, for a library that makes its own requests. It resolves names as this does and follows no redirects; an
    /// address in place of a name must have been checked by [`parse`](Self::parse).
    pub(crate) fn client(&self) -> Client {
        self.http.clone()
    }

    /// Sends something to an address; a redirect is not followed.
    pub(crate) async fn post(
        &self,
        url: Url,
        headers: header::HeaderMap,
        body: String,
    ) -> Result<Response, Fault> {
        self.check(&url)?;
        let sent = self.http.post(url).headers(headers).body(body).send().await;
        sent.map_err(|error| self.failed(&error))
    }

    /// Why an address could not be reached: what may be said of it, the rest is for the log.
    pub(crate) fn failed(&self, error: &reqwest::Error) -> Fault {
        let mut causes = std::iter::successors(Some(error as &dyn Error), |error| (*error).source());
        if causes.any(|cause| cause.is::<NotPublic>()) {
            return self.not_public();
        }
        let cause = if error.is_timeout() {
            "the address took too long to answer; try again later"
        } else {
            "the address cannot be reached; check it"
        };
        let mut fault = refused(cause);
        fault.source = Some(error.to_string().into());
        fault
    }

    fn not_public(&self) -> Fault {
        let cause = format!(
            "the address is in a private or reserved network, which this server does not contact; the operator can allow it with {}",
            self.setting
        );
        Fault::invalid("url", cause)
    }
}

fn refused(cause: impl Into<String>) -> Fault {
    Fault::new(Reason::Unprocessable, cause).param("url")
}

/// Whether an address belongs to a host anywhere on the internet: none of this machine, of a private network, of a cloud's own
/// services, or of those that are set aside.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

/// What carries an IPv4 address inside leads there.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let inside = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // Mapped and translated (NAT64).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => inside(high, low),
        // 6to4.
        [0x2002, high, low, ..] => inside(high, low),
        // Teredo, benchmarks, ORCHID and what else is set aside; documentation.
        [0x2001, second, ..] if second < 0x200 => false,
        [0x2001, 0xdb8, ..] | [0x3fff, ..] => false,
        // Everything that is given out to hosts begins with these three bits.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for address in [
            "8.8.8.8",
            "1.1.1.1",
            "100.63.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "2a00::1",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.19.255.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "2001::1",
            "2001:db8::1",
            "3fff::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    fn outside(private: bool) -> Outside {
        let _ = rustls::crypto::ring::default_provider().install_default();
        Outside::new(private, "fetch.private_addresses").unwrap()
    }

    #[test]
    fn an_address_in_disguise_is_recognised() {
        let outside = outside(false);
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://0/",
            "http://１２７.0.0.1/",
        ] {
            let fault = outside.parse(url).unwrap_err();
            assert!(fault.cause.contains("fetch.private_addresses"), "{url}: {fault}");
        }
        for url in [
            "ftp://example.org/a",
            "file:///etc/passwd",
            "gopher://x",
            "https://me:secret@example.org/",
            "x",
            "",
        ] {
            assert_eq!(outside.parse(url).unwrap_err().reason, Reason::InvalidParameter, "{url}");
        }
        assert!(outside.parse("https://example.org/a?b=c").is_ok());
        assert!(self::outside(true).parse("http://127.0.0.1:1/").is_ok());
    }

    /// `localhost` is in every hosts file, so this asks no name server.
    #[tokio::test]
    async fn a_name_is_judged_by_what_it_resolves_to() {
        let outside = outside(false);
        let url = outside.parse("http://localhost:1/").unwrap();
        let fault = outside.get(url).await.unwrap_err();
        assert!(fault.cause.contains("fetch.private_addresses"), "{fault}");
    }

    /// Answers every request with this, and counts them.
    async fn server(answer: String) -> (SocketAddr, Arc<std::sync::atomic::AtomicUsize>) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) =
            (listener.local_addr().unwrap(), Arc::new(std::sync::atomic::AtomicUsize::new(0)));
        let counted = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        (address, asked)
    }

    #[tokio::test]
    async fn every_redirect_is_checked_like_the_first_address() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let only_one = |address: IpAddr| address == IpAddr::from([127, 0, 0, 1]);
        let outside = Outside::reaching(only_one, "fetch.private_addresses").unwrap();
        let redirect = |to: &str| {
            format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        };
        let (inner, reached) =
            server("HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret".into()).await;
        for to in [
            format!("http://127.0.0.2:{}/", inner.port()),
            "http://[::1]/".into(),
            "file:///etc/passwd".into(),
        ] {
            let (outer, _) = server(redirect(&to)).await;
            let fault = outside.get(outside.parse(&format!("http://{outer}/")).unwrap()).await.unwrap_err();
            assert_eq!(fault.reason, Reason::InvalidParameter, "{to}: {fault}");
        }
        assert_eq!(reached.load(std::sync::atomic::Ordering::Relaxed), 0, "what is inside was reached");
        let (outer, _) = server(redirect(&format!("http://{inner}/"))).await;
        let (url, response) = outside.get(outside.parse(&format!("http://{outer}/")).unwrap()).await.unwrap();
        assert_eq!((url.port(), response.text().await.unwrap().as_str()), (Some(inner.port()), "secret"));
        let (looping, asked) = server(redirect("/again")).await;
        let fault = outside.get(outside.parse(&format!("http://{looping}/")).unwrap()).await.unwrap_err();
        assert!(fault.cause.contains("more than 5 times"), "{fault}");
        assert_eq!(asked.load(std::sync::atomic::Ordering::Relaxed), 1 + MOST_REDIRECTS);
    }
}
