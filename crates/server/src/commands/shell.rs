//! `quire completions`, `quire man` and `quire openapi`: what quire says about itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use engine::Fault;

use super::{local, output};
use crate::http::routes;

#[derive(Args)]
pub(super) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

#[derive(Args)]
pub(super) struct Man {
    /// Folder to write one page per command into
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(super) fn complete(completions: Completions, command: &mut clap::Command) -> Result<(), Fault> {
    clap_complete::generate(completions.shell, command, "quire", &mut std::io::stdout());
    Ok(())
}

pub(super) fn manual(man: Man, command: clap::Command) -> Result<(), Fault> {
    let written = match man.to {
        Some(folder) => {
            std::fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(command, folder))
        }
        None => clap_mangen::Man::new(command).render(&mut std::io::stdout()),
    };
    written.map_err(|error| local(error.into()))
}

pub(super) fn openapi() -> Result<(), Fault> {
    let document = routes::description().to_pretty_json().map_err(|error| local(error.into()))?;
    output::say(&document);
    Ok(())
}
