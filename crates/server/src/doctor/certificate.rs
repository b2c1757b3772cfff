//! How long the certificate is good for.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::{CertificateDer, pem::PemObject};

use super::{Finding, State};
use crate::{
    config::{Config, Tls},
    http::tls,
};

/// A certificate that ends within this time should be renewed.
const SOON: SignedDuration = SignedDuration::from_hours(24 * 21);

/// Looks at the certificate that the server presents.
pub(super) fn finding(data: &Path, config: &Config) -> Finding {
    let what = "certificate";
    if config.http.tls == Tls::Proxy {
        return Finding::new(what, State::Ok, "the proxy in front of quire has it");
    }
    let path = config.http.certificate.clone().unwrap_or_else(|| tls::certificate_path(data));
    if !path.exists() {
        let text = "there is none yet; the first start creates one".to_string();
        return Finding::new(what, State::Ok, text);
    }
    let end = CertificateDer::from_pem_file(&path).ok().and_then(|certificate| end_of(&certificate));
    let now = Timestamp::now();
    let (state, text) = match end {
        None => (State::Wrong, format!("{} cannot be read", path.display())),
        Some(end) if end <= now => (State::Wrong, format!("{} ended on {}", path.display(), day(end))),
        Some(end) if end.duration_since(now) < SOON => {
            (State::Warning, format!("{} ends on {}: renew it", path.display(), day(end)))
        }
        Some(end) => (State::Ok, format!("{} is good until {}", path.display(), day(end))),
    };
    Finding::new(what, state, text)
}

fn day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// The end of validity, from the certificate's DER: the second time in its `Validity`.
fn end_of(certificate: &[u8]) -> Option<Timestamp> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut rest, _) = element(certificate)?;
    // An explicit version comes first where there is one; then serial number, algorithm and issuer.
    if rest.first() == Some(&0xa0) {
        rest = element(rest)?.2;
    }
    for _ in 0..3 {
        rest = element(rest)?.2;
    }
    let (_, validity, _) = element(rest)?;
    let (tag, end, _) = element(element(validity)?.2)?;
    let text = std::str::from_utf8(end).ok()?;
    // A year of two digits is one of 1950 to 2049.
    let text = match (tag, text.get(..2)?.parse::<u32>().ok()?) {
        (0x17, 50..) => format!("19{text}"),
        (0x17, _) => format!("20{text}"),
        _ => text.to_string(),
    };
    let part = |from: usize, to: usize| text.get(from..to);
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}

/// The first element of some DER: its tag, its content, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, short], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match short {
        0..0x80 => (usize::from(short), rest),
        _ => {
            let (long, rest) =
                rest.split_at_checked(usize::from(short & 0x7f)).filter(|(long, _)| long.len() <= 4)?;
            (long.iter().fold(0, |length, &byte| (length << 8) | usize::from(byte)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn ending(year: i32) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["localhost".to_string()]).unwrap();
        params.not_after = date_time_ymd(year, 3, 4);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_end_of_a_certificate_is_read() {
        for year in [1999, 2027, 2049, 2050, 4096] {
            let end = end_of(&ending(year)).unwrap();
            assert_eq!(day(end), format!("{year}-03-04"));
        }
    }

    #[test]
    fn what_is_no_certificate_has_no_end() {
        let whole = ending(2030);
        assert_eq!(end_of(&[]), None);
        assert_eq!(end_of(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        for cut in 0..whole.len().min(200) {
            assert_eq!(end_of(&whole[..cut]), None, "cut after {cut}");
        }
    }
}
