//! Times the checks that every request passes: key, role and limit, on the embedded store.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, header};
use engine::{
    apikey::ApiKey,
    permissions::Permissions,
    seams::catalog::{NewKey, NewUser},
};
use jiff::Timestamp;
use server::{assemble, config::Config, http::auth};

const REQUESTS: u32 = 200_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut config = Config::defaults();
    config.limits.key_requests = u32::MAX;
    config.limits.user_requests = u32::MAX;
    let assembled = assemble::assemble(folder.path(), config).await?;
    let app = &assembled.app;
    let user = NewUser { email: "a@b.c".parse().unwrap(), password_hash: None, plan: Default::default() };
    let user = app.catalog.add_user(user).await?.id;
    let box_id = app.catalog.add_box("b".parse().unwrap(), user).await?.id;
    let key = ApiKey::generate();
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::try_from(format!("Bearer {}", key.reveal()))?;
    headers.insert(header::AUTHORIZATION, bearer);
    let (name, permissions, origins) = ("k".parse().unwrap(), Permissions::ALL, Default::default());
    let key = NewKey { key, user, name, expires_at: None, permissions, boxes: None, origins };
    app.catalog.add_key(key).await?;

    let mut rounds: Vec<Duration> = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        for _ in 0..REQUESTS {
            let now = Timestamp::now();
            let caller = auth::authenticate(app, &headers, "/api/public/v1/check", now).await?;
            caller.may_read(box_id)?;
            app.limiter.take(&caller.prefix, caller.user, now).await?;
        }
        rounds.push(started.elapsed() / REQUESTS);
    }
    rounds.sort();
    println!("key + role + limit check: median {:.2?} a request (of {rounds:.2?})", rounds[2]);
    Ok(())
}
