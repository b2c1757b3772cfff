//! The table of attacks names the tests that show each of them ended; a name that no test has fails here.

use std::collections::HashSet;
use std::path::Path;

/// Every word in the sources that could be a test's name, by language: `fn a_name(`, `def a_name(`, `test("a name"`.
fn collect(folder: &Path, words: &mut HashSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() && !["target", "node_modules", ".git", "corpus", "data"].contains(&name.as_str()) {
            collect(&path, words);
        } else if [".rs", ".py", ".mjs", ".sh"].iter().any(|end| name.ends_with(end)) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for line in text.lines().map(str::trim_start) {
                let line = line
                    .trim_start_matches("pub ")
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("async ");
                if let Some(rest) = line.strip_prefix("fn ").or_else(|| line.strip_prefix("def ")) {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                    words.insert(rest[..end].to_owned());
                }
            }
        }
    }
}

#[test]
fn every_row_of_the_table_of_attacks_names_tests_that_exist() {
    let root = crate::root();
    let text = std::fs::read_to_string(root.join("docs/security.md")).expect("the threat model");
    let mut known = HashSet::new();
    for folder in ["crates", "tests", "bench"] {
        collect(&root.join(folder), &mut known);
    }
    let table = text.split("## Attacks and the tests that show them ended").nth(1).expect("the table");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() >= 30, "only {} rows", rows.len());
    for row in rows {
        let tests = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test in: {row}");
        for name in names {
            // A script is named by its path.
            let exists = if name.contains('/') { root.join(name).exists() } else { known.contains(name) };
            assert!(exists, "there is no test `{name}`: {row}");
        }
    }
}
