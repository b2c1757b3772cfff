//! `quire box`: boxes and who may use them.

use std::{sync::Arc, time::Duration};

use clap::Subcommand;
use engine::{
    Fault, Reason,
    access::{Managing, Owning, Role, Writing, no_such_box},
    ingest::Relocation,
    seams::catalog::{BoxLanguage, BoxName, BoxRecord, Catalog, Claim, Email},
};
use serde_json::{Value, json};

use super::{
    Global,
    client::Connection,
    local,
    output::{self, moment},
};
use crate::assemble;

/// How often to check whether the server has deleted a box.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long the old copy of a box that was moved stays, for searches that are in progress there.
const LAST_SEARCHES: Duration = Duration::from_secs(5);

const WHICH_LIST: &str = "With an API key (QUIRE_API_KEY or --key) and no data folder named (--data, QUIRE_DATA, \
storage.folder), the server at QUIRE_URL is asked. Otherwise the list comes from the data folder.";

#[derive(Subcommand)]
pub(super) enum Command {
    /// Add a box
    Add {
        /// Its name
        name: BoxName,
        /// Account that owns it
        #[arg(long, value_name = "EMAIL")]
        owner: Email,
        /// What its documents are in: auto, english or multilingual
        #[arg(long, value_name = "LANGUAGE", default_value = "auto")]
        language: BoxLanguage,
    },
    /// Change the language of a box; if that changes its model, its index is rebuilt while the box stays usable
    Set {
        /// Box: its id or its name
        r#box: String,
        /// What its documents are in: auto, english or multilingual
        #[arg(long, value_name = "LANGUAGE")]
        language: BoxLanguage,
    },
    /// List all boxes with their members; with an API key and without a data folder, those that the key can use
    #[command(after_help = WHICH_LIST)]
    List {
        #[command(flatten)]
        connection: Connection,
    },
    /// Give an account a role in a box (viewer, editor, admin or owner; admins and owners may use the API)
    Grant {
        /// Box: its id or its name
        r#box: String,
        /// The account's address
        email: Email,
        /// The role
        role: Role,
    },
    /// Remove an account's role in a box
    Revoke {
        /// Box: its id or its name
        r#box: String,
        /// The account's address
        email: Email,
    },
    /// Move a box to another index cluster while it is in use (index.shards; index.url is number 0)
    Move {
        /// Box: its id or its name
        r#box: String,
        /// Number of the cluster
        shard: u32,
    },
    /// Delete a box and everything in it, permanently; asks first
    Delete {
        /// Box: its id or its name
        r#box: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    match command {
        Command::Add { name, owner, language } => add(global, name, &owner, language).await,
        Command::Set { r#box, language } => set(global, &r#box, language).await,
        Command::List { connection } => list(global, &connection).await,
        Command::Grant { r#box, email, role } => grant(global, &r#box, &email, role).await,
        Command::Revoke { r#box, email } => revoke(global, &r#box, &email).await,
        Command::Move { r#box, shard } => relocate(global, &r#box, shard).await,
        Command::Delete { r#box, yes } => delete(global, &r#box, yes).await,
    }
}

/// The box that an operator names by id or by a name that only one box has.
pub(super) async fn find(catalog: &dyn Catalog, named: &str) -> Result<BoxRecord, Fault> {
    let boxes = catalog.boxes().await?;
    if let Some(record) = boxes.iter().find(|record| record.id.to_string() == named) {
        return Ok(record.clone());
    }
    let mut matching = boxes.into_iter().filter(|record| record.name.as_str() == named);
    match (matching.next(), matching.next()) {
        (Some(record), None) => Ok(record),
        (Some(_), Some(_)) => {
            Err(Fault::new(Reason::Conflict, format!("several boxes are called `{named}`"))
                .hint("use the id that `quire box list` shows"))
        }
        (None, _) => Err(Fault::new(Reason::NotFound, format!("there is no box `{named}`"))
            .hint("`quire box list` shows all of them")),
    }
}

async fn add(global: &Global, name: BoxName, owner: &Email, language: BoxLanguage) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    assemble::can_speak(&global.settings()?.models, language)?;
    let owner = catalog.user(owner).await?;
    let record = catalog.add_box_for(name, language, owner.id).await?;
    let value = json!({"boxId": record.id, "name": record.name, "language": record.language});
    let said =
        output::text("command-box-added").with("box", record.name.as_str()).with("id", record.id.to_string());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

/// Sets what a box is for; the server indexes it again where that is needed.
async fn set(global: &Global, named: &str, language: BoxLanguage) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    assemble::can_speak(&global.settings()?.models, language)?;
    let record = find(&*catalog, named).await?;
    let again = catalog.set_language(&Managing::for_operator(record.id), language).await?;
    let value = json!({"boxId": record.id, "language": language, "indexedAgain": again});
    let said = output::text(if again { "command-box-language-rebuilt" } else { "command-box-language" })
        .with("box", record.name.as_str())
        .with("language", language.as_str());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

async fn list(global: &Global, connection: &Connection) -> Result<(), Fault> {
    if connection.has_key() && !global.names_data(&global.settings()?) {
        return list_usable(global, connection).await;
    }
    let catalog = global.catalog()?;
    let mut value = Vec::new();
    let mut rows = Vec::new();
    for record in catalog.boxes().await? {
        let members = catalog.members(Writing::for_operator(record.id).reading()).await?;
        let roles: Vec<_> = members.iter().map(|m| json!({"email": m.email, "role": m.role})).collect();
        value.push(json!({"boxId": record.id, "name": record.name, "language": record.language, "createdAt": record.created_at, "members": roles}));
        let members =
            members.iter().map(|m| format!("{} ({})", m.email, m.role)).collect::<Vec<_>>().join(", ");
        let created = moment(Some(record.created_at));
        let (name, language) = (record.name.as_str().to_string(), record.language.to_string());
        rows.push(vec![name, record.id.to_string(), language, created, members]);
    }
    let heads = [
        "command-head-name",
        "command-head-id",
        "command-head-language",
        "command-head-created",
        "command-head-members",
    ];
    let table = output::table(&heads, &rows, &output::plain("command-no-boxes"));
    output::print(global.json, &value, &table);
    Ok(())
}

/// The boxes that an API key can use, as the server says.
async fn list_usable(global: &Global, connection: &Connection) -> Result<(), Fault> {
    let working = output::working(global.json, output::plain("command-asking-server"));
    let boxes = connection.open(global)?.boxes().await?;
    drop(working);
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_string();
    let created = |entry: &Value| moment(text(entry, "createdAt").parse().ok());
    let rows: Vec<_> = boxes
        .iter()
        .map(|entry| vec![text(entry, "name"), text(entry, "boxId"), text(entry, "role"), created(entry)])
        .collect();
    let heads = ["command-head-name", "command-head-id", "command-head-role", "command-head-created"];
    let table = output::table(&heads, &rows, &output::plain("command-no-usable-box"));
    output::print(global.json, &boxes, &table);
    Ok(())
}

async fn grant(global: &Global, named: &str, email: &Email, role: Role) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let record = find(&*catalog, named).await?;
    let user = catalog.user(email).await.map_err(|fault| match fault.reason {
        Reason::NotFound => Fault::new(Reason::NotFound, format!("there is no account {email}")).hint(&format!(
            "add it with `quire user add {email}`, or invite the person on the box's Members page in the dashboard"
        )),
        _ => fault,
    })?;
    catalog.grant(&Managing::for_operator(record.id), user.id, role).await?;
    let value = json!({"boxId": record.id, "email": email, "role": role});
    let said = output::text("command-granted")
        .with("email", email)
        .with("role", output::words().role(&role))
        .with("box", record.name.as_str());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

async fn revoke(global: &Global, named: &str, email: &Email) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let (record, user) = (find(&*catalog, named).await?, catalog.user(email).await?);
    catalog.revoke(&Managing::for_operator(record.id), user.id).await?;
    let value = json!({"boxId": record.id, "email": email, "role": null});
    let said = output::text("command-revoked-role").with("email", email).with("box", record.name.as_str());
    output::print(global.json, &value, &said.plain());
    Ok(())
}

/// Copies the box while it is used, then keeps everybody from changing it for as long as it takes to catch up and to note
/// where it is from now on. Searches go on all the while; those that began before end on the old copy, which goes last.
async fn relocate(global: &Global, named: &str, shard: u32) -> Result<(), Fault> {
    let config = global.settings()?;
    let catalog = global.catalog()?;
    let record = find(&*catalog, named).await?;
    let writing = Writing::for_operator(record.id);
    let shards = assemble::open_shards(&global.existing(&config)?, &config).await.map_err(local)?;
    let wrong = || {
        let cause = format!("there is no shard {shard}; there are 0 to {}", shards.len() - 1);
        Fault::new(Reason::InvalidParameter, cause)
    };
    let to = shards.get(shard as usize).ok_or_else(wrong)?;
    let before = catalog.place_box(&writing, 0).await?;
    if before == shard {
        return Err(Fault::new(Reason::Conflict, format!("the box is already on shard {shard}")));
    }
    let from = shards.get(before as usize).ok_or_else(wrong)?;
    let mut relocation = Relocation::default();
    let claim = async |file| {
        let claimed = catalog.claim(Claim::File(record.id, file)).await?;
        let stays = catalog.files(writing.reading(), &[file]).await?.pop().flatten().is_some();
        Ok(stays.then_some(claimed))
    };
    let bar = output::started(global.json, output::bar("command-copying", "command-files"));
    let seen = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let copied = relocation.catch_up(&**from, &**to, &writing, claim, seen).await?;
    bar.finish_and_clear();
    let _working = output::working(global.json, output::plain("command-switching"));
    let held = catalog.claim(Claim::Box(record.id)).await?;
    if !catalog.box_stays(record.id).await? {
        to.drop_box(&writing).await?;
        return Err(no_such_box());
    }
    let all = async |_| Ok(Some(()));
    let caught_up = relocation.catch_up(&**from, &**to, &writing, all, |_, _| {}).await?;
    engine::ingest::compare(&**from, &**to, &writing).await?;
    catalog.move_box(&writing, shard).await?;
    drop(held);
    tokio::time::sleep(LAST_SEARCHES).await;
    from.drop_box(&writing).await?;
    from.draft().drop_box(&writing).await?;
    let value =
        json!({"boxId": record.id, "from": before, "to": shard, "files": copied, "caughtUp": caught_up});
    let said = output::text("command-moved-box")
        .with("box", record.name.as_str())
        .with("from", before.to_string())
        .with("to", shard.to_string())
        .with("files", output::words().count("frame-count-files", copied as u64));
    output::print(global.json, &value, &said.plain());
    Ok(())
}

/// Where a server runs on the data folder, it has the box open: then it is told to delete it, and waited for.
async fn delete(global: &Global, named: &str, yes: bool) -> Result<(), Fault> {
    let config = global.settings()?;
    let data = global.existing(&config)?;
    let catalog = global.catalog()?;
    let record = find(&*catalog, named).await?;
    if !yes {
        let reading = [*Writing::for_operator(record.id).reading()];
        let files = catalog.totals(&reading).await?.first().map_or(0, |totals| totals.files);
        let question = output::text("command-delete-box").with("box", record.name.as_str());
        output::confirm(&question.with("count", files))?;
    }
    let _working = output::working(global.json, output::plain("command-deleting"));
    let owning = Owning::for_operator(record.id);
    if config.is_shared() || !assemble::is_served(&data) {
        let library = assemble::open_library(&data, &config).await.map_err(local)?;
        Arc::new(library).delete_box(&owning).await?;
    } else {
        catalog.begin_delete_box(&owning).await?;
        while catalog.half_deleted_boxes().await?.contains(&record.id) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    let value = json!({"boxId": record.id, "deleted": true});
    let said = output::text("command-deleted-box").with("box", record.name.as_str());
    output::print(global.json, &value, &said.plain());
    Ok(())
}
