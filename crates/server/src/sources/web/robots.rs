//! `robots.txt`, as RFC 9309 has it: what a site asks programs to leave alone.

use std::time::Duration;

/// What is read of a file, and how many rules: what is beyond is ignored.
const MOST_BYTES: usize = 500 * 1024;
const MOST_RULES: usize = 1_000;
/// The longest pause that a site can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// What we are called there.
const NAME: &str = "quire";

/// The rules of a site for us.
#[derive(Debug, Default)]
pub(super) struct Robots {
    rules: Vec<(bool, String)>,
    pub(super) pause: Option<Duration>,
}

impl Robots {
    /// Reads a file: the groups that name us, or else those for everybody.
    pub(super) fn parse(text: &str) -> Self {
        let mut end = text.len().min(MOST_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut ours, mut anybodys) = (None::<Robots>, Robots::default());
        // Whom the current group is for, and whether its list of names has ended.
        let (mut for_us, mut for_anybody, mut in_rules) = (false, false, false);
        for line in text[..end].lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((field, value)) = line.split_once(':') else { continue };
            let (field, value) = (field.trim().to_ascii_lowercase(), value.trim());
            match field.as_str() {
                "user-agent" => {
                    if std::mem::take(&mut in_rules) {
                        (for_us, for_anybody) = (false, false);
                    }
                    for_us |= value.eq_ignore_ascii_case(NAME);
                    for_anybody |= value == "*";
                    if for_us {
                        ours.get_or_insert_default();
                    }
                }
                "allow" | "disallow" | "crawl-delay" => {
                    in_rules = true;
                    if let Some(ours) = ours.as_mut().filter(|_| for_us) {
                        ours.add(&field, value);
                    }
                    if for_anybody {
                        anybodys.add(&field, value);
                    }
                }
                _ => {}
            }
        }
        ours.unwrap_or(anybodys)
    }

    fn add(&mut self, field: &str, value: &str) {
        if field == "crawl-delay" {
            let seconds = value.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0);
            let pause =
                seconds.map(|seconds| Duration::from_secs_f64(seconds.min(LONGEST_PAUSE.as_secs_f64())));
            self.pause = pause.or(self.pause);
        } else if !value.is_empty() && self.rules.len() < MOST_RULES {
            self.rules.push((field == "allow", value.to_string()));
        }
    }

    /// Whether a path with its query may be read: the longest rule that matches decides, of two equal ones the kinder.
    pub(super) fn allow(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|(_, pattern)| matches(pattern, path));
        matching
            .max_by_key(|(allowed, pattern)| (pattern.len(), *allowed))
            .is_none_or(|(allowed, _)| *allowed)
    }
}

/// Whether a path begins with a pattern, in which `*` is anything and `$` at its end the end. Each part is looked for once from where the
/// one before ended, so no pattern takes long.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_end) = pattern.strip_suffix('$').map_or((pattern, false), |rest| (rest, true));
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let last = if to_end { parts.pop() } else { None };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    match (to_end, last) {
        (false, _) => true,
        (true, None) => rest.is_empty(),
        (true, Some(last)) => rest.ends_with(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_us_come_before_rules_for_everybody() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Quire # us\nDisallow: /private\n\
                    Crawl-delay: 2\nSitemap: https://example.org/map.xml";
        let robots = Robots::parse(text);
        assert!(robots.allow("/") && robots.allow("/public") && !robots.allow("/private/x"));
        assert_eq!(robots.pause, Some(Duration::from_secs(2)));
        assert!(!Robots::parse("User-agent: *\nDisallow: /").allow("/x"));
        assert!(Robots::parse("User-agent: *\nDisallow:").allow("/x"));
        assert!(Robots::parse("User-agent: googlebot\nDisallow: /").allow("/x"));
        assert!(Robots::parse("<html>not found</html>").allow("/x"));
    }

    #[test]
    fn the_longest_rule_decides_and_stars_stand_for_anything() {
        let text = "user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /*.pdf$\ndisallow: /q*x=1\nallow: /z\ndisallow: /z";
        let robots = Robots::parse(text);
        for (path, allowed) in [
            ("/a", false),
            ("/ab", false),
            ("/a/b/c", true),
            ("/x.pdf", false),
            ("/x.pdf?y", true),
            ("/q?a=2&x=1", false),
            ("/q?a=2", true),
            ("/z", true),
            ("/", true),
        ] {
            assert_eq!(robots.allow(path), allowed, "{path}");
        }
    }

    #[test]
    fn hostile_rules_are_read_in_little_time() {
        let text = format!("user-agent: *\ndisallow: /{}\ncrawl-delay: 1e300\n", "*a".repeat(100_000));
        let robots = Robots::parse(&text);
        assert!(robots.allow(&format!("/{}", "b".repeat(2_000))));
        assert_eq!(robots.pause, Some(LONGEST_PAUSE));
        assert_eq!(Robots::parse("user-agent: *\ncrawl-delay: -1").pause, None);
    }
}
