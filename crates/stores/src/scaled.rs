//! Where tests find the servers of a scaled installation, if they were started.

/// Whether this run tests what runs past one machine: contract suites then open their stores on servers.
pub(crate) fn wanted() -> bool {
    std::env::var("QUIRE_TEST_STORES").is_ok_and(|stores| stores == "scaled")
}

/// The address of a server; a test that needs one says that it was skipped where there is none.
pub(crate) fn server(variable: &str) -> Option<String> {
    let address = std::env::var(variable).ok();
    if address.is_none() {
        eprintln!("skipped: {variable} is not set; tests/servers/servers.py starts what it names");
    }
    address
}

/// A database schema of the test's own.
pub(crate) fn schema() -> Option<String> {
    Some(format!("{}?schema=test_{:016x}", server("QUIRE_TEST_POSTGRES")?, rand::random::<u64>()))
}
