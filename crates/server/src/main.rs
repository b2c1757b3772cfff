//! The quire binary.

use std::process::ExitCode;

// Gives back what a large file took: glibc's allocator keeps it, in one heap for each thread, and musl's takes one lock for all
// threads. After eight minutes of hostile requests the server held 177 MB with it and 334 without.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A parser's child: nothing of ours may run before it has given up its rights.
    if std::env::args_os().nth(1).is_some_and(|word| word == server::assemble::PARSE_CHILD) {
        return parsers::child_main();
    }
    if std::env::args_os().nth(1).is_some_and(|word| word == server::assemble::MODEL_CHILD) {
        return server::assemble::become_model(std::env::args_os().skip(2));
    }
    server::commands::run()
}
