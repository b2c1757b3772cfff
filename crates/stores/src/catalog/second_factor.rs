//! Second factors, the codes that were used, and those that are left.

use async_trait::async_trait;
use engine::{
    Fault,
    ids::UserId,
    seams::catalog::{SECRET_BYTES, SecondFactor, SecondFactors, TokenHash},
};

use super::{Sql, sql::Row};
use crate::{Error, blobs::hexadecimal};

#[async_trait]
impl SecondFactors for Sql {
    async fn second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, Fault> {
        let sql =
            "select secret, confirmed, (select count(*) from recovery_codes r where r.user_id = s.user_id)
                   from second_factors s where user_id = $1";
        Ok(self.database.read(|t| t.first(sql, &[user.into()])?.as_ref().map(read).transpose())?)
    }

    async fn with_second_factor(&self) -> Result<Vec<UserId>, Fault> {
        let sql = "select user_id from second_factors where confirmed = 1";
        let found = self
            .database
            .read(|t| t.all(sql, &[])?.iter().map(|row| row.parse(0)).collect::<Result<_, Error>>());
        Ok(found?)
    }

    async fn offer_second_factor(&self, user: UserId, secret: [u8; SECRET_BYTES]) -> Result<bool, Fault> {
        let sql = "insert into second_factors (user_id, secret, confirmed, last_step) values ($1, $2, 0, 0)
                   on conflict (user_id) do update set secret = excluded.secret where second_factors.confirmed = 0";
        let offered = move |t: &super::sql::Transaction<'_>| {
            Ok(t.execute(sql, &[user.into(), hexadecimal(&secret).into()])? > 0)
        };
        self.database.write(offered).await
    }

    async fn confirm_second_factor(
        &self,
        user: UserId,
        step: i64,
        recovery: Vec<TokenHash>,
    ) -> Result<bool, Fault> {
        self.database
            .write(move |t| {
                let confirm =
                    "update second_factors set confirmed = 1, last_step = $2 where user_id = $1 and confirmed = 0";
                let confirmed = t.execute(confirm, &[user.into(), step.into()])? > 0;
                if confirmed {
                    for code in &recovery {
                        let add = "insert into recovery_codes (user_id, code_hash) values ($1, $2)";
                        t.execute(add, &[user.into(), hexadecimal(code).into()])?;
                    }
                }
                Ok(confirmed)
            })
            .await
    }

    async fn use_step(&self, user: UserId, step: i64) -> Result<bool, Fault> {
        let sql = "update second_factors set last_step = $2 where user_id = $1 and last_step < $2";
        self.database.write(move |t| Ok(t.execute(sql, &[user.into(), step.into()])? > 0)).await
    }

    async fn use_recovery_code(&self, user: UserId, code: &TokenHash) -> Result<bool, Fault> {
        let (sql, code) =
            ("delete from recovery_codes where user_id = $1 and code_hash = $2", hexadecimal(code));
        self.database.write(move |t| Ok(t.execute(sql, &[user.into(), code.as_str().into()])? > 0)).await
    }

    async fn remove_second_factor(&self, user: UserId) -> Result<bool, Fault> {
        self.database
            .write(move |t| {
                t.execute("delete from recovery_codes where user_id = $1", &[user.into()])?;
                Ok(t.execute("delete from second_factors where user_id = $1", &[user.into()])? > 0)
            })
            .await
    }
}

fn read(row: &Row) -> Result<SecondFactor, Error> {
    let secret = row.bytes(0)?.try_into();
    Ok(SecondFactor {
        secret: secret.map_err(|_| Error::Corrupt("the secret of a second factor".into()))?,
        confirmed: row.integer(1)? == 1,
        recovery_codes: row.integer(2)?.try_into().unwrap_or(0),
    })
}
