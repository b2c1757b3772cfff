//! Other programs that parsers ask: where they lie, and what they say within bounds.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Where a program lies on the search path.
pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// What a program made of `input` if it ended well within `time`; afterwards it is killed. Everything goes through pipes:
/// where a parser is confined it has no file to write to.
pub(crate) fn bounded_output(
    mut command: Command,
    input: &[u8],
    time: Duration,
    bytes: u64,
) -> std::io::Result<Option<Vec<u8>>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return Ok(None) };
    let input = input.to_vec();
    // A program that does not want all of it says so with its exit code.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.take(bytes).read_to_end(&mut output);
        read.ok().map(|_| output)
    });
    let end = Instant::now() + time;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                // Where it cannot be killed it is left behind, with the threads that talk to it, until all of us end.
                if child.kill().is_ok() {
                    let _ = child.wait();
                }
                return Ok(None);
            }
        }
    };
    let _ = writer.join();
    let output = reader.join().ok().flatten();
    Ok(output.filter(|_| status.success()))
}
