//! `quire key`: API keys.

use clap::Subcommand;
use engine::{
    Fault, Reason,
    access::Acting,
    apikey::ApiKey,
    origins::{Origins, WebOrigin},
    permissions::Permissions,
    seams::catalog::{Email, KeyName, KeyRecord},
};
use jiff::{Span, Timestamp, tz::TimeZone};
use serde_json::json;

use super::{
    Global, boxes,
    output::{self, moment},
};
use crate::manage::keys::{self, WantedKey};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create an API key; it is shown only once
    Add {
        /// Account that the key acts for
        #[arg(long, value_name = "EMAIL")]
        user: Email,
        /// A name to recognise it by
        #[arg(long, default_value = "unnamed")]
        name: KeyName,
        /// When it stops working, from now: 90d, 12h, 1y
        #[arg(long, value_name = "TIME", value_parser = expiry)]
        expires: Option<Timestamp>,
        /// Box that it may be used on, by id or name (may be repeated) [default: all boxes of the account]
        #[arg(long = "box", value_name = "BOX")]
        boxes: Vec<String>,
        /// What it may be used for: search, read, write, manage, separated by commas [default: search,read,write; search with --origin]
        #[arg(long, value_name = "LIST")]
        permissions: Option<Permissions>,
        /// Web site whose pages may use it: scheme, host and port (may be repeated); needs --box, and can only search
        #[arg(long = "origin", value_name = "ORIGIN")]
        origins: Vec<WebOrigin>,
    },
    /// List keys; secrets are not stored and cannot be shown
    List {
        /// Only the keys of this account
        #[arg(long, value_name = "EMAIL")]
        user: Option<Email>,
    },
    /// Revoke a key, effective from the next request; other keys are not affected
    Revoke {
        /// The part of the key between the underscores
        prefix: String,
    },
}

fn expiry(text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("`{text}` is not a time such as 90d, 12h or 1y");
    let span: Span = text.parse().map_err(|_| wrong())?;
    if span.is_negative() || span.is_zero() {
        return Err(format!("`{text}` is not in the future"));
    }
    let end = Timestamp::now().to_zoned(TimeZone::UTC).checked_add(span).map_err(|_| wrong())?;
    Ok(end.timestamp())
}

pub(super) async fn run(global: &Global, command: Command) -> Result<(), Fault> {
    match command {
        Command::Add { user, name, expires, boxes, permissions, origins } => {
            let origins = Origins::of(origins).map_err(|wrong| Fault::invalid("origin", wrong))?;
            let wanted = WantedKey { name, boxes: None, permissions, expires_at: expires, origins };
            add(global, &user, wanted, &boxes).await
        }
        Command::List { user } => list(global, user).await,
        Command::Revoke { prefix } => revoke(global, &prefix).await,
    }
}

async fn add(global: &Global, email: &Email, wanted: WantedKey, named: &[String]) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let user = catalog.user(email).await?;
    let mut boxes = Vec::new();
    for name in named {
        boxes.push(boxes::find(&*catalog, name).await?.id);
    }
    let wanted = WantedKey { boxes: (!named.is_empty()).then_some(boxes), ..wanted };
    let (shown, record) = keys::make(&*catalog, &Acting::for_operator(user.id), wanted).await?;
    let value = json!({
        "key": shown, "prefix": record.prefix, "name": record.name, "expiresAt": record.expires_at,
        "boxes": record.boxes, "permissions": record.permissions, "origins": record.origins,
    });
    output::print(global.json, &value, &output::text("command-new-key").with("key", &shown).plain());
    Ok(())
}

async fn list(global: &Global, user: Option<Email>) -> Result<(), Fault> {
    let catalog = global.catalog()?;
    let user = match user {
        Some(email) => Some(catalog.user(&email).await?.id),
        None => None,
    };
    let keys = catalog.keys(user).await?;
    let value: Vec<_> = keys.iter().map(as_json).collect();
    let rows: Vec<_> = keys.iter().map(as_row).collect();
    let heads = [
        "command-head-prefix",
        "command-head-name",
        "command-head-account",
        "command-head-state",
        "command-head-last-used",
        "command-head-expires",
        "command-head-boxes",
        "command-head-may",
        "command-head-from",
    ];
    let text = output::table(&heads, &rows, &output::plain("command-no-keys"));
    output::print(global.json, &value, &text);
    Ok(())
}

fn state(key: &KeyRecord) -> &'static str {
    if key.revoked_at.is_some() {
        "revoked"
    } else if key.expires_at.is_some_and(|end| end <= Timestamp::now()) {
        "expired"
    } else if key.exposed.is_some() {
        "exposed"
    } else {
        "active"
    }
}

fn as_json(key: &KeyRecord) -> serde_json::Value {
    json!({
        "prefix": key.prefix, "name": key.name, "email": key.email, "state": state(key), "boxes": key.boxes,
        "permissions": key.permissions, "origins": key.origins,
        "createdAt": key.created_at, "expiresAt": key.expires_at, "revokedAt": key.revoked_at,
        "exposedAt": key.exposed.as_ref().map(|(at, _)| at), "exposedHow": key.exposed.as_ref().map(|(_, how)| how),
        "lastUsedAt": key.last_used_at, "client": key.client,
    })
}

fn as_row(key: &KeyRecord) -> Vec<String> {
    let boxes =
        key.boxes.as_ref().map_or_else(|| output::plain("command-all"), |boxes| boxes.len().to_string());
    vec![
        key.prefix.clone(),
        key.name.as_str().to_string(),
        key.email.to_string(),
        output::plain(match state(key) {
            "revoked" => "account-state-revoked",
            "expired" => "account-state-expired",
            "exposed" => "command-exposed",
            _ => "account-state-active",
        }),
        moment(key.last_used_at),
        moment(key.expires_at),
        boxes,
        key.permissions.to_string(),
        if key.origins.is_empty() { output::plain("command-anywhere") } else { key.origins.to_string() },
    ]
}

async fn revoke(global: &Global, given: &str) -> Result<(), Fault> {
    // A whole key pasted by mistake names its prefix just as well.
    let prefix = ApiKey::find(given).map_or_else(|| given.to_string(), |key| key.prefix().to_string());
    if prefix.is_empty() {
        return Err(Fault::new(
            Reason::MissingParameter,
            "give the prefix of the key, the part between the underscores",
        ));
    }
    global.catalog()?.revoke_key(&prefix).await?;
    let value = json!({"prefix": prefix, "revoked": true});
    output::print(global.json, &value, &output::text("command-revoked-key").with("prefix", &prefix).plain());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now = Timestamp::now().as_second();
        for (text, seconds) in [("90d", 90 * 86_400), ("12h", 43_200), ("1s", 1), ("2w", 14 * 86_400)] {
            let end = expiry(text).unwrap().as_second();
            assert!((now + seconds - 1..=now + seconds + 5).contains(&end), "{text}");
        }
        for wrong in ["", "soon", "0d", "-5d", "90"] {
            assert!(expiry(wrong).is_err(), "{wrong}");
        }
    }
}
