//! Log lines on standard error, as text or JSON. Nothing logs document text, queries or keys.

use std::io::IsTerminal;

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{Log, LogFormat};

/// Starts logging for the life of the process.
pub fn start(log: &Log) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&log.level)
        .map_err(|error| anyhow::anyhow!("log.level: `{}` is no level or filter: {error}", log.level))?;
    let lines =
        fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    match log.format {
        LogFormat::Text => lines.with_target(false).init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
