//! One-time links.

use async_trait::async_trait;
use engine::{
    Fault, Reason,
    access::{Managing, Operating, Role},
    bounds::Bound,
    ids::{BoxId, LinkId, UserId},
    seams::catalog::{
        Inviters, MostInvitations, NewOneTimeLink, NewUser, Newcomer, OneTimeLink, OneTimeLinks, PersonName,
        PlanName, Purpose, TokenHash, User, Wanted,
    },
};
use jiff::Timestamp;

use super::{
    Sql, bounds,
    boxes::set_role,
    invitations::must_have_room,
    keys::bump_access_version,
    signin::able_operators,
    sql::{Row, Transaction, Value},
    users::{add, find_user, find_user_by_email},
};
use crate::{Error, blobs::hexadecimal};

pub(super) const SELECT: &str =
    "select l.id, l.purpose, l.email, l.user_id, l.plan, l.box_id, l.role, b.name, l.created_at,
    l.expires_at, l.made_by, maker.operator
    from one_time_links l left join boxes b on b.id = l.box_id left join users maker on maker.id = l.made_by";

/// Whether the link `l` is still valid: its maker may still do what it does, and the account it is for is not disabled.
/// Only the server itself makes set-up links, without anybody's right.
pub(super) const STANDS: &str = "(l.purpose = 'set_up' or exists (
    select 1 from users m left join memberships r on r.user_id = m.id and r.box_id = l.box_id
    where m.id = l.made_by and m.disabled_at is null and case
        when l.purpose = 'connect' then m.id = l.user_id
        when l.box_id is null then m.operator = 1
        else r.role = 'owner' or (r.role = 'admin' and l.role <> 'owner') end))
    and not exists (select 1 from users f where f.id = l.user_id and f.disabled_at is not null)";

#[async_trait]
impl OneTimeLinks for Sql {
    async fn add_link(&self, link: NewOneTimeLink) -> Result<LinkId, Fault> {
        self.database.write(move |t| Ok(insert(t, &link)?)).await
    }

    async fn invite(&self, link: NewOneTimeLink, most: MostInvitations) -> Result<LinkId, Fault> {
        let limits = self.bounds.clone();
        self.database
            .write(move |t| {
                must_have_room(t, &link, most)?;
                let id = insert(t, &link)?;
                if let Purpose::Join { member: Some((box_id, _)), .. } = &link.purpose {
                    bounds::check_box(t, &limits, *box_id, Bound::Members)?;
                }
                Ok(id)
            })
            .await
    }

    async fn link(&self, token: &TokenHash, now: Timestamp) -> Result<Option<OneTimeLink>, Fault> {
        let token = hexadecimal(token);
        Ok(self.database.read(|t| find(t, &token, now))?)
    }

    async fn use_link(
        &self,
        token: &TokenHash,
        newcomer: Newcomer,
        inviters: Inviters,
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
                let user = take(t, link, newcomer, inviters)?;
                bump_access_version(t)?;
                Ok(find_user(t, user)?)
            })
            .await
    }

    async fn links_to_box(&self, managing: &Managing, now: Timestamp) -> Result<Vec<OneTimeLink>, Fault> {
        let sql =
            format!("{SELECT} where l.box_id = $1 and l.expires_at > $2 and {STANDS} order by l.id desc");
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
            "{SELECT} where l.purpose = 'join' and l.box_id is null and l.expires_at > $1 and {STANDS}
             order by l.id desc"
        );
        Ok(self.database.read(|t| list(t, &sql, &[now.into()]))?)
    }

    async fn wanted_accounts(&self, _: &Operating, now: Timestamp) -> Result<Vec<Wanted>, Fault> {
        let sql = format!(
            "select distinct l.email, maker.email from one_time_links l join users maker on maker.id = l.made_by
             where l.purpose = 'join' and l.box_id is not null and l.expires_at > $1 and {STANDS}
             and not exists (select 1 from users u where u.email = l.email and u.vouched = 1)
             order by l.email, maker.email"
        );
        let read = |row: &Row| Ok(Wanted { email: row.email(0)?, by: row.email(1)? });
        let wanted = self
            .database
            .read(|t| t.all(&sql, &[now.into()])?.iter().map(read).collect::<Result<_, Error>>());
        Ok(wanted?)
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
                // No identifier is empty, so that an empty one stands for no box.
                let sql = "delete from one_time_links where purpose = 'join' and email = $1
                           and coalesce(box_id, '') = $2";
                let of_box = box_id.map(|id| id.to_string()).unwrap_or_default();
                transaction.execute(sql, &[email.as_str().into(), of_box.into()])?;
                ("join", Some(email.as_str()), None, Some(plan.as_str()), box_id, role)
            }
            Purpose::Reset { user, email } => {
                let sql = "delete from one_time_links where purpose = 'reset' and user_id = $1";
                transaction.execute(sql, &[(*user).into()])?;
                ("reset", Some(email.as_str()), Some(*user), None, None, None)
            }
            Purpose::Connect { user, email } => {
                let sql = "delete from one_time_links where purpose = 'connect' and user_id = $1";
                transaction.execute(sql, &[(*user).into()])?;
                ("connect", Some(email.as_str()), Some(*user), None, None, None)
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
    let sql = format!("{SELECT} where l.token_hash = $1 and l.expires_at > $2 and {STANDS}");
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

pub(super) fn list(
    transaction: &Transaction<'_>,
    sql: &str,
    parameters: &[Value],
) -> Result<Vec<OneTimeLink>, Error> {
    transaction.all(sql, parameters)?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<OneTimeLink, Error> {
    let purpose = match row.text(1)? {
        "set_up" => Purpose::SetUp { user: row.optional(3, Row::parse::<UserId>)? },
        "join" => {
            let box_id = row.optional(5, Row::parse::<BoxId>)?;
            let role = row.optional(6, Row::parse::<Role>)?;
            Purpose::Join { email: row.email(2)?, plan: row.parse(4)?, member: box_id.zip(role) }
        }
        "reset" => Purpose::Reset { user: row.parse(3)?, email: row.email(2)? },
        "connect" => Purpose::Connect { user: row.parse(3)?, email: row.email(2)? },
        other => return Err(Error::Corrupt(format!("a link for {other}"))),
    };
    Ok(OneTimeLink {
        id: row.parse(0)?,
        purpose,
        box_name: row.optional(7, |row, column| row.text(column).map(str::to_string))?,
        created_at: row.time(8)?,
        expires_at: row.time(9)?,
        made_by: row.optional(10, Row::parse)?,
        by_operator: row.optional(11, Row::integer)? == Some(1),
    })
}

/// Applies the link to the account.
fn take(
    transaction: &Transaction<'_>,
    link: OneTimeLink,
    newcomer: Newcomer,
    inviters: Inviters,
) -> Result<UserId, Fault> {
    match link.purpose {
        Purpose::SetUp { user } => {
            let user = match user {
                Some(user) => user,
                None => make(transaction, &newcomer, PlanName::default(), None)?,
            };
            set_up_account(transaction, user, &newcomer)?;
            transaction.execute("update users set operator = 1 where id = $1", &[user.into()])?;
            Ok(user)
        }
        Purpose::Join { email, plan, member } => {
            let user = match find_user_by_email(transaction, &email)? {
                Some(user) => must_be_theirs(&user, &newcomer)?,
                None => {
                    let invited_by = if link.by_operator { None } else { link.made_by };
                    if invited_by.is_some() && inviters == Inviters::Operators {
                        return Err(waits());
                    }
                    make(transaction, &Newcomer { email, ..newcomer }, plan, invited_by)?
                }
            };
            if let Some((box_id, role)) = member {
                join(transaction, box_id, user, role)?;
            }
            Ok(user)
        }
        Purpose::Reset { user, .. } => {
            set_up_account(transaction, user, &newcomer)?;
            for table in ["sessions", "known_places", "one_time_links", "passkeys"] {
                transaction.execute(&format!("delete from {table} where user_id = $1"), &[user.into()])?;
            }
            Ok(user)
        }
        Purpose::Connect { .. } => Err(Fault::new(
            Reason::NotFound,
            "this link cannot be opened here; start again on your Profile page",
        )),
    }
}

/// An account may have been created after the link was looked at: whoever holds the link need not be the holder of that
/// account.
fn must_be_theirs(user: &User, newcomer: &Newcomer) -> Result<UserId, Fault> {
    if newcomer.signed_in == Some(user.id) {
        return Ok(user.id);
    }
    Err(Fault::new(
        Reason::RoleInsufficient,
        "this invitation is for an account that already exists; sign in to that account, then open the link again",
    ))
}

fn waits() -> Fault {
    Fault::new(
        Reason::RoleInsufficient,
        "there is no account with this address yet, and only operators of this server can create one",
    )
    .hint("ask an operator; the invitation stays open until then")
}

fn make(
    transaction: &Transaction<'_>,
    newcomer: &Newcomer,
    plan: PlanName,
    invited_by: Option<UserId>,
) -> Result<UserId, Fault> {
    let Newcomer { email, password_hash, .. } = newcomer;
    let new = NewUser { email: email.clone(), password_hash: password_hash.clone(), plan };
    let user = add(transaction, &new, invited_by)?.id;
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

/// A link never lowers a role.
pub(super) fn join(
    transaction: &Transaction<'_>,
    box_id: BoxId,
    user: UserId,
    role: Role,
) -> Result<(), Fault> {
    let sql = "select role from memberships where box_id = $1 and user_id = $2";
    let row = transaction.first(sql, &[box_id.into(), user.into()])?;
    let has = row.map(|row| row.parse::<Role>(0)).transpose()?;
    if transaction
        .first("select 1 from boxes where id = $1 and deleting_at is null", &[box_id.into()])?
        .is_none()
    {
        return Err(Fault::new(
            Reason::NotFound,
            "the box that this invitation is for has been deleted; ask the person who invited you",
        ));
    }
    if has < Some(role) { set_role(transaction, box_id, user, role) } else { Ok(()) }
}

/// Ends the links that do what their maker no longer may.
pub(super) fn end_links_of(transaction: &Transaction<'_>, maker: UserId) -> Result<(), Error> {
    let sql = format!("delete from one_time_links as l where l.made_by = $1 and not ({STANDS})");
    transaction.execute(&sql, &[maker.into()])?;
    Ok(())
}
