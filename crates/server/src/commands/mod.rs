//! The command line: one file per noun. Operator commands work on the store, whether or not a server runs on it.

mod answerer;
mod ask;
mod backup;
mod boxes;
mod bundle;
mod client;
mod doctor;
mod eval;
mod files;
mod key;
mod migrate;
mod models;
mod output;
mod place;
mod plan;
mod quickstart;
mod reindex;
mod sample;
mod search;
mod serve;
mod shell;
mod sync;
mod user;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, Parser, Subcommand, error::ErrorKind};
use engine::{Fault, Reason};

/// Search your documents, read them page by page and ask them questions, over HTTPS.
///
/// quire keeps documents in boxes on this machine and serves them to programs through a JSON API. Start with
/// `quire quickstart`: it makes an account, a box and an API key, starts the server, and prints a curl line that
/// works as pasted.
#[derive(Parser)]
#[command(name = "quire", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  quire quickstart                                    try it: account, box, key, server
  quire serve --data /var/lib/quire                   run the server

  export QUIRE_DATA=/var/lib/quire                    the folder that the next four work on
  quire user add ada@example.org                      add an account
  quire box add Papers --owner ada@example.org        add a box
  quire key add --user ada@example.org --name ci      create an API key (shown only once)
  quire box grant Papers eve@example.org admin        let somebody else use the box

  export QUIRE_API_KEY=quire_…                        the key that the next three use
  quire add Papers ~/papers                           upload a folder
  quire search Papers \"how long is the warranty?\"     search it
  quire ask Papers \"how long is the warranty?\"        ask it

Settings are documented in defaults.toml; each can be set in a file (--config) or in the environment, as in
QUIRE__LIMITS__KEY_REQUESTS=500. quire uses the data folder that --data, QUIRE_DATA or the setting storage.folder
names, else ./quire-data.";

/// Options that every command takes, anywhere on the line.
#[derive(Args)]
struct Global {
    /// Folder that holds everything: catalog, documents, certificate [default: storage.folder, else quire-data]
    #[arg(long, global = true, value_name = "DIR", env = "QUIRE_DATA")]
    data: Option<PathBuf>,
    /// Settings file (TOML)
    #[arg(long, global = true, value_name = "FILE", env = "QUIRE_CONFIG")]
    config: Option<PathBuf>,
    /// Print JSON, for scripts; errors too
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Try quire: create an account, a box and a key, then serve
    Quickstart(serve::Listen),
    /// Run the server
    Serve(serve::Listen),
    /// Accounts: add, list, disable, unlock, confirm
    #[command(subcommand)]
    User(user::Command),
    /// Boxes and who may use them: add, list, grant, revoke, delete
    #[command(subcommand, name = "box")]
    Boxes(boxes::Command),
    /// API keys: add, list, revoke
    #[command(subcommand)]
    Key(key::Command),
    /// Plans and monthly intelligence units
    #[command(subcommand)]
    Plan(plan::Command),
    /// Upload files and folders into a box, and wait until they are processed
    Add(files::Add),
    /// Keep a folder and a box the same: upload new and changed files, follow renames and deletions
    Sync(sync::Sync),
    /// List the files of a box
    Files(files::List),
    /// Search a box
    Search(search::Search),
    /// Ask a box a question; the answer quotes its documents
    Ask(ask::Ask),
    /// Measure how well searches of a box work, with questions whose answers are known
    Eval(eval::Eval),
    /// Delete files permanently
    Delete(files::Delete),
    /// Show the current models; list, verify, pull others
    Models(models::Models),
    /// Test what answers questions: the language model, or quotations
    #[command(subcommand)]
    Answerer(answerer::Command),
    /// Rebuild a box's index with the current models; the old index stays in use meanwhile
    Reindex(reindex::Reindex),
    /// Back up the data folder while the server runs; what has not changed since the last backup takes no extra space
    Backup(backup::Backup),
    /// Restore a backup into an empty data folder; the whole backup is checked first
    Restore(backup::Restore),
    /// Write a box with all its files, passages and vectors into one file
    Export(bundle::Export),
    /// Create a box from a file that `quire export` wrote
    Import(bundle::Import),
    /// Move everything from a data folder to servers, or back; run it again if it is interrupted
    MigrateStore(migrate::Migrate),
    /// Check everything: settings, disk, backups, certificate, clock, stores, queue, models; --scrub reads all data
    Doctor(doctor::Doctor),
    /// Print a completion script for your shell
    Completions(shell::Completions),
    /// Print the manual page (roff), or write one page per command into a folder
    Man(shell::Man),
    /// Print the OpenAPI document of the API
    Openapi,
}

/// A failure on this machine: whoever runs the command may see what it was.
fn local(error: anyhow::Error) -> Fault {
    Fault::new(Reason::Internal, format!("{error:#}"))
}

/// Reads the command line and runs what it says.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misread(&error),
    };
    let json = cli.global.json;
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::failed(&local(error.into()), json),
    };
    match runtime.block_on(execute(cli)) {
        Ok(code) => code,
        Err(fault) => output::failed(&fault, json),
    }
}

/// Runs a command; one that reports failures of its own says so by its exit code.
async fn execute(cli: Cli) -> Result<ExitCode, Fault> {
    let global = &cli.global;
    let Some(command) = cli.command else {
        output::say(&output::plain("command-next-steps"));
        return Ok(ExitCode::SUCCESS);
    };
    let done = match command {
        Command::Add(add) => return files::add(global, add).await,
        Command::Sync(sync) => return sync::run(global, sync).await,
        Command::Answerer(command) => return answerer::run(global, command).await,
        Command::Doctor(doctor) => return doctor::run(global, doctor).await,
        Command::Quickstart(listen) => Box::pin(quickstart::run(global, listen)).await,
        Command::Serve(listen) => Box::pin(serve::run(global, listen)).await,
        Command::User(command) => user::run(global, command).await,
        Command::Boxes(command) => boxes::run(global, command).await,
        Command::Key(command) => key::run(global, command).await,
        Command::Plan(command) => plan::run(global, command).await,
        Command::Backup(wanted) => backup::take(global, wanted).await,
        Command::Restore(wanted) => backup::restore(global, wanted).await,
        Command::Export(wanted) => bundle::export(global, wanted).await,
        Command::Import(wanted) => bundle::import(global, wanted).await,
        Command::MigrateStore(migrate) => migrate::run(global, migrate).await,
        Command::Reindex(wanted) => Box::pin(reindex::run(global, wanted)).await,
        Command::Models(models) => models::run(global, models).await,
        Command::Files(list) => files::list(global, list).await,
        Command::Search(search) => search::run(global, search).await,
        Command::Ask(ask) => ask::run(global, ask).await,
        Command::Eval(eval) => eval::run(global, eval).await,
        Command::Delete(delete) => files::delete(global, delete).await,
        Command::Completions(completions) => shell::complete(completions, &mut Cli::command()),
        Command::Man(man) => shell::manual(man, Cli::command()),
        Command::Openapi => shell::openapi(),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// A line that does not parse: clap's own words for people, the error object for scripts.
fn misread(error: &clap::Error) -> ExitCode {
    let help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if help || !std::env::args().any(|argument| argument == "--json") {
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    }
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    output::failed(&Fault::new(Reason::InvalidParameter, line), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_stand_anywhere() {
        for line in [
            "quire --json --data d user list",
            "quire user --json list --data d",
            "quire user list --data d --json",
        ] {
            let cli = Cli::try_parse_from(line.split(' ')).unwrap();
            assert!(cli.global.json && cli.global.data == Some("d".into()), "{line}");
        }
    }
}
