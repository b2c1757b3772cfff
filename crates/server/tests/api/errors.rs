//! `docs/errors.md` has a row for every reason, as the API sends it.

use engine::Reason;

#[test]
fn every_reason_has_its_row_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");
    let table = std::fs::read_to_string(path).unwrap();
    for reason in Reason::ALL {
        let (code, status, kind) = (reason.code().as_str(), reason.status(), reason.kind());
        let row = format!("| {code} | {status} | {kind} | {} | {} | ", reason.as_str(), reason.summary());
        assert!(table.contains(&row), "docs/errors.md has no row `{row}…`");
    }
}
