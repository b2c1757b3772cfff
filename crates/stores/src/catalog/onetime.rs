//! One-time links.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Managing, Operating, Role},
    ids::{BoxId, LinkId, UserId},
    seams::catalog::{
        Email, NewOneTimeLink, NewUser, OneTimeLink, OneTimeLinks, PersonName, Purpose, TokenHash, User,
    },
};
use jiff::Timestamp;

use super::{
    Sql,
    boxes::set_role,
    keys::bump_access_version,
    signin::able_operators,
    sql::{Row, Transaction, Value},
    users::{add, find_user, find_user_by_email},
};
use crate::{Error, blobs::hexadecimal};

const SELECT: &str =
    "select l.id, l.purpose, l.email, l.user_id, l.plan, l.box_id, l.role, b.name, l.created_at,
    l.expires_at from one_time_links l left join boxes b on b.id = l.box_id";

#[async_trait]
impl OneTimeLinks for Sql {
    async fn add_link(&self, link: NewOneTimeLink) -> Result<LinkId, Fault> {
        self.database.write(move |t| Ok(insert(t, &link)?)).await
    }

    async fn link(&self, token: &TokenHash, now: Timestamp) -> Result<Option<OneTimeLink>, Fault> {
        let token = hexadecimal(token);
        Ok(self.database.read(|t| find(t, &token, now))?)
    }

    async fn use_link(
        &self,
        token: &TokenHash,
        email: Email,
        name: Option<PersonName>,
        password_hash: Option<String>,
        now: Timestamp,
    ) -> Result<Option<User>, Fault> {
        let token = hexadecimal(token);
        self.database
            .write(move |t| {
                let Some(link) = find(t, &token, now)? else { return Ok(None) };
                // Whoever deletes the row has it; nobody else can.
                let sql = "delete from one_time_links where token_hash = $1";
                if t.execute(sql, &[token.as_str().into()])? == 0 {
                    return Ok(None);
                }
                let user = take(t, link.purpose, Newcomer { email, name, password_hash })?;
                bump_access_version(t)?;
                Ok(find_user(t, user)?)
            })
            .await
    }

    async fn links_to_box(&self, managing: &Managing, now: Timestamp) -> Result<Vec<OneTimeLink>, Fault> {
        let sql = format!("{SELECT} where l.box_id = $1 and l.expires_at > $2 order by l.id desc");
        Ok(self.database.read(|t| list(t, &sql, &[managing.box_id().into(), now.into()]))?)
    }

    async fn withdraw_from_box(&self, managing: &Managing, link: LinkId) -> Result<(), Fault> {
        let box_id = managing.box_id();
        self.database
            .write(move |t| {
                let sql = "delete from one_time_links where id = $1 and box_id = $2";
                t.execute(sql, &[link.into(), box_id.into()])?;
                Ok(())
            })
            .await
    }

    async fn links_to_server(&self, _: &Operating, now: Timestamp) -> Result<Vec<OneTimeLink>, Fault> {
        let sql = format!(
            "{SELECT} where l.purpose = 'join' and l.box_id is null and l.expires_at > $1 order by l.id desc"
        );
        Ok(self.database.read(|t| list(t, &sql, &[now.into()]))?)
    }

    async fn withdraw_from_server(&self, _: &Operating, link: LinkId) -> Result<(), Fault> {
        self.database
            .write(move |t| {
                let sql = "delete from one_time_links where id = $1 and purpose = 'join' and box_id is null";
                t.execute(sql, &[link.into()])?;
                Ok(())
            })
            .await
    }
}

fn insert(transaction: &Transaction<'_>, link: &NewOneTimeLink) -> Result<LinkId, Error> {
    transaction.execute("delete from one_time_links where expires_at <= $1", &[link.now.into()])?;
    let (purpose, email, user, plan, box_id, role): (_, Option<&str>, Option<UserId>, Option<&str>, _, _) =
        match &link.purpose {
            Purpose::SetUp { user } => {
                transaction.execute("delete from one_time_links where purpose = 'set_up'", &[])?;
                ("set_up", None, *user, None, None, None)
            }
            Purpose::Join { email, plan, member } => {
                let (box_id, role) = member.map_or((None, None), |(id, role)| (Some(id), Some(role)));
                ("join", Some(email.as_str()), None, Some(plan.as_str()), box_id, role)
            }
            Purpose::Reset { user, email } => {
                let sql = "delete from one_time_links where purpose = 'reset' and user_id = $1";
                transaction.execute(sql, &[(*user).into()])?;
                ("reset", Some(email.as_str()), Some(*user), None, None, None)
            }
        };
    let id = LinkId::generate();
    transaction.execute(
        "insert into one_time_links
         (id, token_hash, purpose, email, user_id, plan, box_id, role, made_by, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        &[
            id.into(),
            hexadecimal(&link.token).into(),
            purpose.into(),
            email.into(),
            user.into(),
            plan.into(),
            box_id.into(),
            role.map(Role::as_str).into(),
            link.made_by.into(),
            link.now.into(),
            link.expires_at.into(),
        ],
    )?;
    Ok(id)
}

fn find(transaction: &Transaction<'_>, token: &str, now: Timestamp) -> Result<Option<OneTimeLink>, Error> {
    let sql = format!("{SELECT} where l.token_hash = $1 and l.expires_at > $2");
    let row = transaction.first(&sql, &[token.into(), now.into()])?;
    let link = row.map(|row| read(&row)).transpose()?;
    // A server is set up once, however many links were printed.
    match link {
        Some(OneTimeLink { purpose: Purpose::SetUp { .. }, .. }) if able_operators(transaction)? > 0 => {
            Ok(None)
        }
        link => Ok(link),
    }
}

fn list(transaction: &Transaction<'_>, sql: &str, parameters: &[Value]) -> Result<Vec<OneTimeLink>, Error> {
    transaction.all(sql, parameters)?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<OneTimeLink, Error> {
    let purpose = match row.text(1)? {
        "set_up" => Purpose::SetUp { user: row.optional(3, Row::parse::<UserId>)? },
        "join" => {
            let box_id = row.optional(5, Row::parse::<BoxId>)?;
            let role = row.optional(6, Row::parse::<Role>)?;
            Purpose::Join { email: row.parse(2)?, plan: row.parse(4)?, member: box_id.zip(role) }
        }
        "reset" => Purpose::Reset { user: row.parse(3)?, email: row.parse(2)? },
        other => return Err(Error::Corrupt(format!("a link for {other}"))),
    };
    Ok(OneTimeLink {
        id: row.parse(0)?,
        purpose,
        box_name: row.optional(7, |row, column| row.text(column).map(str::to_string))?,
        created_at: row.time(8)?,
        expires_at: row.time(9)?,
    })
}

/// Whoever follows a link.
struct Newcomer {
    email: Email,
    name: Option<PersonName>,
    password_hash: Option<String>,
}

/// Makes the account what the link says.
fn take(transaction: &Transaction<'_>, purpose: Purpose, newcomer: Newcomer) -> Result<UserId, Fault> {
    match purpose {
        Purpose::SetUp { user } => {
            let user = match user {
                Some(user) => user,
                None => make(transaction, &newcomer, Default::default())?,
            };
            set_up_account(transaction, user, &newcomer)?;
            transaction.execute("update users set operator = 1 where id = $1", &[user.into()])?;
            Ok(user)
        }
        Purpose::Join { email, plan, member } => {
            let user = match find_user_by_email(transaction, &email)? {
                Some(user) => user.id,
                None => make(transaction, &Newcomer { email, ..newcomer }, plan)?,
            };
            if let Some((box_id, role)) = member {
                join(transaction, box_id, user, role)?;
            }
            Ok(user)
        }
        Purpose::Reset { user, .. } => {
            set_up_account(transaction, user, &newcomer)?;
            transaction.execute("delete from sessions where user_id = $1", &[user.into()])?;
            Ok(user)
        }
    }
}

fn make(
    transaction: &Transaction<'_>,
    newcomer: &Newcomer,
    plan: engine::seams::catalog::PlanName,
) -> Result<UserId, Fault> {
    let Newcomer { email, password_hash, .. } = newcomer;
    let new = NewUser { email: email.clone(), password_hash: password_hash.clone(), plan };
    let user = add(transaction, &new)?.id;
    set_up_account(transaction, user, newcomer)?;
    Ok(user)
}

/// Sets what the newcomer chose; what they left out stays.
fn set_up_account(transaction: &Transaction<'_>, user: UserId, newcomer: &Newcomer) -> Result<(), Fault> {
    transaction.execute(
        "update users set name = coalesce($1, name), password_hash = coalesce($2, password_hash) where id = $3",
        &[
            newcomer.name.as_ref().map(PersonName::as_str).into(),
            newcomer.password_hash.clone().into(),
            user.into(),
        ],
    )?;
    Ok(())
}

/// A link never takes a role down.
fn join(transaction: &Transaction<'_>, box_id: BoxId, user: UserId, role: Role) -> Result<(), Fault> {
    let sql = "select role from memberships where box_id = $1 and user_id = $2";
    let row = transaction.first(sql, &[box_id.into(), user.into()])?;
    let has = row.map(|row| row.parse::<Role>(0)).transpose()?;
    if transaction.first("select 1 from boxes where id = $1", &[box_id.into()])?.is_none() {
        return Err(Fault::new(Reason::NotFound, "the box of this invitation was deleted"));
    }
    if has < Some(role) { set_role(transaction, box_id, user, role) } else { Ok(()) }
}
