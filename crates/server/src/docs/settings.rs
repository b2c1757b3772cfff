//! The settings reference, made from `defaults.toml`: each setting with its default, its environment variable and its comment.

use std::fmt::Write;

use crate::config::DEFAULTS;

/// Settings that one comment explains.
#[derive(Default)]
struct Entry {
    /// Each with its default.
    keys: Vec<(String, String)>,
    comment: String,
}

/// A section of the file.
#[derive(Default)]
struct Section {
    name: String,
    /// The text before the section.
    introduction: String,
    entries: Vec<Entry>,
}

/// The page.
pub(super) fn markdown() -> String {
    let mut page = String::from(
        "# Settings\n\nEvery setting, with its default. Put the ones you change into a file and name it with `--config FILE`, \
         or set them in the environment. The environment overrides the file. A misspelled setting is an error that suggests \
         the right name.\n\nIn a file, a setting stands in its section; in the environment its name is `QUIRE`, the section \
         and the key, joined by two underscores. These are the same:\n\n```toml\n[limits]\nkey_requests = 500\n```\n\n\
         ```sh\nexport QUIRE__LIMITS__KEY_REQUESTS=500\n```\n\nLists are written `a,b,c` in the environment.\n",
    );
    for section in sections(DEFAULTS) {
        let _ = write!(page, "\n## {}\n", section.name);
        if !section.introduction.is_empty() {
            let _ = write!(page, "\n{}\n", section.introduction);
        }
        for entry in &section.entries {
            write_entry(&mut page, &section.name, entry);
        }
    }
    page
}

fn write_entry(page: &mut String, section: &str, entry: &Entry) {
    let names: Vec<String> = entry.keys.iter().map(|(key, _)| format!("`{section}.{key}`")).collect();
    let _ = write!(page, "\n### {}\n\n{}\n\n", names.join(", "), entry.comment);
    page.push_str("| setting | default | environment |\n|---|---|---|\n");
    for (key, default) in &entry.keys {
        let environment = format!("QUIRE__{section}__{key}").to_uppercase();
        let _ = writeln!(page, "| `{key}` | `{default}` | `{environment}` |");
    }
}

/// Reads the file line by line: the comment above a setting also explains the settings right below it.
fn sections(file: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut comment, mut introduction) = (Vec::new(), String::new());
    let mut lines = file.lines();
    while let Some(line) = lines.next() {
        let line = line.trim();
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if line.is_empty() {
            introduction = comment.join(" ");
            comment.clear();
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            // What opens the file is said on top of the page already.
            let introduction =
                if sections.is_empty() { String::new() } else { std::mem::take(&mut introduction) };
            sections.push(Section { name: name.into(), introduction, entries: Vec::new() });
        } else if let (Some((key, value)), Some(section)) = (line.split_once('='), sections.last_mut()) {
            let mut value = value.trim().to_string();
            while value.starts_with('[') && !value.ends_with(']') {
                value += lines.next().map_or("]", str::trim);
            }
            if !comment.is_empty() || section.entries.is_empty() {
                section.entries.push(Entry { comment: comment.join(" "), ..Entry::default() });
                comment.clear();
            }
            section.entries.last_mut().expect("just added").keys.push((key.trim().into(), value));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_there_with_its_default_and_its_environment_variable() {
        let page = markdown();
        let file: toml::Table = DEFAULTS.parse().unwrap();
        let mut settings = 0;
        for (section, keys) in &file {
            for key in keys.as_table().unwrap().keys() {
                let environment = format!("`QUIRE__{section}__{key}`").to_uppercase();
                assert!(page.contains(&format!("`{section}.{key}`")), "{section}.{key}");
                assert_eq!(page.matches(&environment).count(), 1, "{environment}");
                settings += 1;
            }
        }
        assert!(settings > 40, "{settings}");
        assert!(page.contains("| `listen` | `\"127.0.0.1:8443\"` | `QUIRE__HTTP__LISTEN` |"), "{page}");
    }

    #[test]
    fn every_setting_is_explained() {
        for section in sections(DEFAULTS) {
            for entry in section.entries {
                assert!(!entry.comment.is_empty(), "{} {:?} has no comment", section.name, entry.keys);
            }
        }
    }

    #[test]
    fn a_list_over_several_lines_is_one_default() {
        let read = sections("[a]\n# Names.\nlist = [\n  \"one\",\n  \"two\",\n]\nnext = 1\n");
        assert_eq!(read[0].entries[0].keys[0].1, "[\"one\",\"two\",]");
        assert_eq!(read[0].entries[0].keys[1], ("next".into(), "1".into()));
    }
}
