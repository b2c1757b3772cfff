//! Pages of one web site: those that a site map lists, or those that links lead to. Asks one page at a time, with pauses, and leaves alone
//! what `robots.txt` and the pages ask to be left alone.

mod links;
mod robots;

use std::{
    collections::{HashSet, VecDeque},
    time::Duration,
};

use async_trait::async_trait;
use engine::{Fault, Reason};
use links::{Map, of_map, of_page};
use percent_encoding::percent_decode_str;
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use robots::Robots;
use serde::{Deserialize, Serialize};

use super::{
    Reader,
    sink::{Arrived, MOST_BYTES, Sink},
};
use crate::outside::Outside;

/// How long one page may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a page whose links are followed, of a site map and of `robots.txt`.
const MOST_MARKUP: u64 = 10 << 20;
/// Site maps that one names.
const MOST_MAPS: usize = 50;
/// Characters of an address.
const LONGEST_URL: usize = 2_000;
/// Bytes of addresses that are remembered: a site can name any number.
const REMEMBERED: usize = 16 << 20;

/// Which pages.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebSettings {
    /// The first page, or a site map.
    pub url: String,
    /// Whether that is a site map.
    pub sitemap: bool,
    /// The most pages.
    pub max_pages: u32,
    /// How many links away from the first page.
    pub max_depth: u32,
}

/// A web site.
pub(super) struct Site {
    outside: Outside,
    settings: WebSettings,
    pause: Duration,
}

impl Site {
    pub(super) fn new(outside: Outside, settings: WebSettings, pause: Duration) -> Self {
        Site { outside, settings, pause }
    }
}

/// A page to be read.
struct Page {
    url: Url,
    /// Links away from the first page; `None` where a site map lists it, so that its links do not matter.
    depth: Option<u32>,
}

#[async_trait]
impl Reader for Site {
    async fn read(&self, sink: &mut Sink<'_>) -> Result<(), Fault> {
        let start = self.outside.parse(&self.settings.url)?;
        let robots = self.robots(&start).await?;
        let pause = self.pause.max(robots.pause.unwrap_or_default());
        let mut pages: VecDeque<Page> = match self.settings.sitemap {
            true => {
                let listed = self.listed(&start).await?.into_iter();
                listed.map(|url| Page { url, depth: None }).collect()
            }
            false => VecDeque::from([Page { url: without_fragment(start.clone()), depth: Some(0) }]),
        };
        if !self.settings.sitemap && !robots.allow(&path(&start)) {
            return Err(refused("robots.txt of the site does not allow this page"));
        }
        let most = self.settings.max_pages as usize;
        let mut met: HashSet<String> = pages.iter().map(|page| page.url.to_string()).collect();
        let mut remembered: usize = met.iter().map(String::len).sum();
        let mut read = 0;
        while let Some(page) = pages.pop_front() {
            if !robots.allow(&path(&page.url)) {
                continue;
            }
            if read == most {
                break;
            }
            if read > 0 {
                tokio::time::sleep(pause).await;
            }
            read += 1;
            for url in self.visit(&page, &robots, sink).await? {
                let room = remembered < REMEMBERED;
                if room && same_site(&url, &start) && met.insert(url.to_string()) {
                    remembered += url.as_str().len();
                    pages.push_back(Page { url, depth: page.depth.map(|depth| depth + 1) });
                }
            }
        }
        Ok(())
    }
}

impl Site {
    /// What the site asks programs to leave alone. A site that has no such file asks nothing; one that cannot say is left alone.
    async fn robots(&self, start: &Url) -> Result<Robots, Fault> {
        let url = start.join("/robots.txt").map_err(Fault::internal)?;
        let (_, response) = self.get(url, HeaderMap::new()).await?;
        match response.status() {
            status if status.is_success() => {
                let bytes = self.body(response, MOST_MARKUP).await?;
                Ok(Robots::parse(&String::from_utf8_lossy(&bytes)))
            }
            status if status.is_client_error() => Ok(Robots::default()),
            status => {
                Err(refused(format!("robots.txt of the site answered with the status {}", status.as_u16())))
            }
        }
    }

    /// The pages of this site that a site map lists.
    async fn listed(&self, map: &Url) -> Result<Vec<Url>, Fault> {
        let most = self.settings.max_pages as usize;
        let pages = match self.map(map.clone(), most.max(MOST_MAPS)).await? {
            Map::Pages(pages) => pages,
            Map::Maps(maps) => {
                let mut pages = Vec::new();
                let maps = maps.iter().filter_map(|text| map.join(text).ok());
                for url in maps.filter(|url| same_site(url, map)).take(MOST_MAPS) {
                    if pages.len() >= most {
                        break;
                    }
                    tokio::time::sleep(self.pause).await;
                    if let Map::Pages(more) = self.map(url, most - pages.len()).await? {
                        pages.extend(more);
                    }
                }
                pages
            }
        };
        let urls = pages.iter().filter_map(|text| map.join(text).ok()).map(without_fragment);
        Ok(urls.filter(|url| same_site(url, map)).take(most).collect())
    }

    async fn map(&self, url: Url, most: usize) -> Result<Map, Fault> {
        let (_, response) = self.get(url, HeaderMap::new()).await?;
        if !response.status().is_success() {
            let status = response.status().as_u16();
            return Err(refused(format!("the site map answered with the status {status}")));
        }
        let bytes = self.body(response, MOST_MARKUP).await?;
        Ok(of_map(&String::from_utf8_lossy(&bytes), most))
    }

    /// Reads a page and says where it leads. What goes wrong with one page is noted, except with the first.
    async fn visit(&self, page: &Page, robots: &Robots, sink: &mut Sink<'_>) -> Result<Vec<Url>, Fault> {
        let first = page.depth == Some(0);
        match self.fetch(page, robots, sink).await {
            Ok(leads_to) => Ok(leads_to),
            Err(fault) if first => Err(fault),
            Err(fault) if fault.reason == Reason::Unprocessable => {
                sink.failed(page.url.as_str(), fault.cause)?;
                Ok(Vec::new())
            }
            Err(fault) => Err(fault),
        }
    }

    async fn fetch(&self, page: &Page, robots: &Robots, sink: &mut Sink<'_>) -> Result<Vec<Url>, Fault> {
        let name = page.url.to_string();
        // The links of a page can only be followed if it is sent.
        let follows = page.depth.is_some_and(|depth| depth < self.settings.max_depth);
        let known = sink.version_of(&name).filter(|_| !follows);
        let (url, response) = self.get(page.url.clone(), unless(known)).await?;
        match response.status() {
            StatusCode::NOT_MODIFIED => {
                sink.same(&name)?;
                return Ok(Vec::new());
            }
            // What is gone is not there: it is deleted like everything else that is not found again.
            StatusCode::NOT_FOUND | StatusCode::GONE if page.depth != Some(0) => return Ok(Vec::new()),
            status if !status.is_success() => {
                return Err(refused(format!("the page answered with the status {}", status.as_u16())));
            }
            _ => {}
        }
        // A page that lies elsewhere, or twice on the same site, is not of this place.
        if !same_site(&url, &page.url) || !robots.allow(&path(&url)) {
            return Ok(Vec::new());
        }
        let version = version(response.headers());
        let media_type = media_type(&response);
        let is_page = matches!(media_type.as_str(), "text/html" | "application/xhtml+xml");
        let bytes = self.body(response, if is_page { MOST_MARKUP } else { MOST_BYTES }).await?;
        let links = match is_page {
            true => of_page(&String::from_utf8_lossy(&bytes)),
            false => links::Links::default(),
        };
        if !links.noindex {
            let file_name = file_name(&url, is_page);
            sink.put(Arrived { name, file_name, media_type, version, bytes }).await?;
        }
        if !follows {
            return Ok(Vec::new());
        }
        let base = links.base.as_deref().and_then(|base| url.join(base).ok()).unwrap_or(url);
        let urls = links.to.iter().filter(|to| to.len() <= LONGEST_URL).filter_map(|to| base.join(to).ok());
        Ok(urls.map(without_fragment).filter(|url| url.as_str().len() <= LONGEST_URL).collect())
    }

    async fn get(&self, url: Url, headers: HeaderMap) -> Result<(Url, Response), Fault> {
        let got = tokio::time::timeout(PATIENCE, self.outside.get_with(url, &headers)).await;
        got.map_err(|_| refused("the address took too long to answer; try again later"))?
    }

    async fn body(&self, mut response: Response, most: u64) -> Result<Vec<u8>, Fault> {
        let read = async {
            let mut bytes = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(|error| self.outside.failed(&error))? {
                if (bytes.len() + piece.len()) as u64 > most {
                    return Err(refused(format!("it is larger than {} MB", most >> 20)));
                }
                bytes.extend_from_slice(&piece);
            }
            Ok(bytes)
        };
        tokio::time::timeout(PATIENCE, read).await.map_err(|_| refused("it took too long to be sent"))?
    }
}

fn refused(cause: impl Into<String>) -> Fault {
    Fault::new(Reason::Unprocessable, cause)
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

fn same_site(a: &Url, b: &Url) -> bool {
    a.origin() == b.origin() && matches!(a.scheme(), "http" | "https")
}

/// What rules of `robots.txt` are about.
fn path(url: &Url) -> String {
    url.query().map_or_else(|| url.path().to_string(), |query| format!("{}?{query}", url.path()))
}

/// What tells that a page changed.
fn version(headers: &HeaderMap) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(ETAG), text(LAST_MODIFIED)) {
        (Some(tag), _) => format!("tag {tag}"),
        (None, Some(date)) => format!("date {date}"),
        (None, None) => String::new(),
    }
}

/// Asks for a page unless it is the one that is known.
fn unless(version: Option<&str>) -> HeaderMap {
    let known = version.and_then(|version| version.split_once(' '));
    let header = known.and_then(|(kind, value)| {
        let name = if kind == "tag" { IF_NONE_MATCH } else { IF_MODIFIED_SINCE };
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    header.into_iter().collect()
}

fn media_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let value = value.and_then(|value| value.split(';').next()).map(|value| value.trim().to_lowercase());
    let value = value.filter(|value| !value.is_empty() && value.len() <= 100);
    value.unwrap_or_else(|| "application/octet-stream".into())
}

/// The last part of the path that says anything; a page ends in `.html`.
fn file_name(url: &Url, is_page: bool) -> String {
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
    let last = percent_decode_str(last.unwrap_or("index")).decode_utf8_lossy().into_owned();
    let last: String = last.chars().filter(|letter| *letter != '/').take(200).collect();
    let lower = last.to_lowercase();
    let named = [".html", ".htm", ".xhtml"].iter().any(|ending| lower.ends_with(ending));
    if is_page && !named { format!("{last}.html") } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_after_their_address() {
        for (url, name) in [
            ("https://example.org/", "index.html"),
            ("https://example.org/guide/intro/", "intro.html"),
            ("https://example.org/a%20b.HTML?x", "a b.HTML"),
        ] {
            assert_eq!(file_name(&url.parse().unwrap(), true), name, "{url}");
        }
        assert_eq!(file_name(&"https://example.org/a.pdf".parse().unwrap(), false), "a.pdf");
    }

    #[test]
    fn what_is_known_is_asked_for_conditionally() {
        assert_eq!(unless(Some("tag \"x\"")).get(IF_NONE_MATCH).unwrap(), "\"x\"");
        assert!(unless(Some("date Tue, 17 Nov 2026 10:00:00 GMT")).contains_key(IF_MODIFIED_SINCE));
        assert!(unless(None).is_empty() && unless(Some("nonsense")).is_empty());
    }
}
