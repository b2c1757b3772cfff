//! Where in a trace the work at hand belongs, so that others can be told (W3C Trace Context).

use rand::Rng;

tokio::task_local! {
    static HERE: Place;
}

/// A span of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The trace.
    pub trace: [u8; 16],
    /// The span in it.
    pub span: [u8; 8],
    /// Whether spans of the trace are kept.
    pub kept: bool,
}

impl Place {
    /// The first span of a new trace.
    pub fn new(kept: bool) -> Self {
        let mut random = rand::rng();
        Place { trace: random.random(), span: random.random(), kept }
    }

    /// Another span of the same trace.
    #[must_use]
    pub fn beside(&self) -> Self {
        Place { span: rand::rng().random(), ..*self }
    }

    /// Reads a `traceparent`. One that is not well-formed is ignored: a new trace begins.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Later versions may add parts; the first one has none.
        if version == "ff" || (version == "00" && parts.next().is_some()) {
            return None;
        }
        let [_] = unhex::<1>(version)?;
        let (trace, span, [flags]) = (unhex(trace)?, unhex(span)?, unhex(flags)?);
        (trace != [0; 16] && span != [0; 8]).then_some(Place { trace, span, kept: flags & 1 == 1 })
    }

    /// The same as text.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", hex(&self.trace), hex(&self.span), u8::from(self.kept))
    }

    /// Does some work here that waits for nothing.
    pub fn within<T>(self, work: impl FnOnce() -> T) -> T {
        HERE.sync_scope(self, work)
    }

    /// Does some work here.
    pub async fn around<F: Future>(self, work: F) -> F::Output {
        HERE.scope(self, work).await
    }
}

/// Where the work at hand belongs, if anybody wants to know.
pub fn here() -> Option<Place> {
    HERE.try_with(|place| *place).ok()
}

/// Work that belongs where it was made, whoever does it later: an answer that is sent while it is made.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let here = here();
    async move {
        match here {
            Some(place) => place.around(work).await,
            None => work.await,
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(digits) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_as_written() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let place = Place::parse(text).unwrap();
        assert!(place.kept);
        assert_eq!(place.traceparent(), text);
        assert_eq!(place.beside().trace, place.trace);
        assert_ne!(place.beside().span, place.span);
        let later = Place::parse("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-more").unwrap();
        assert!(!later.kept);
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Place::parse(wrong), None, "{wrong}");
        }
    }

    #[tokio::test]
    async fn work_knows_where_it_belongs() {
        assert_eq!(here(), None);
        let place = Place::new(true);
        assert_eq!(place.around(async { here() }).await, Some(place));
        assert_eq!(place.within(here), Some(place));
        let mut later = None;
        place.around(async { later = Some(carried(async { here() })) }).await;
        assert_eq!(later.unwrap().await, Some(place));
        assert_eq!(carried(async { here() }).await, None);
    }
}
