//! Programs that people let in: how many register, a code that is good once, tokens that replace each other.

use engine::{
    apikey::{ApiKey, RefreshToken},
    seams::catalog::{Catalog, Exchange, KeyState, NewClient, NewCode, NewTokens, Refresh, Refreshed, User},
};

use super::{Fresh, at, fresh, reason};

/// Long after everything else.
const LATER: i64 = 1_000_000;

fn client(network: &str, second: i64) -> NewClient {
    NewClient {
        name: "A program".parse().unwrap(),
        redirect_uris: vec!["http://127.0.0.1/back".into()],
        network: network.into(),
        now: at(second),
        most_each: 2,
        most: 4,
    }
}

fn code(user: &User, number: u8) -> NewCode {
    NewCode {
        code: [number; 32],
        user: user.id,
        client: "a program".into(),
        name: "A program".parse().unwrap(),
        redirect_uri: "http://127.0.0.1:5/back".into(),
        challenge: "challenge".into(),
        audience: "/mcp".into(),
        only: None,
        permissions: "search,read".parse().unwrap(),
        now: at(10),
        expires_at: at(70),
    }
}

fn exchange(number: u8) -> Exchange {
    Exchange {
        code: [number; 32],
        client: "a program".into(),
        redirect_uri: Some("http://127.0.0.1:5/back".into()),
        challenge: "challenge".into(),
        audience: Some("/mcp".into()),
        now: at(11),
    }
}

fn tokens(access: ApiKey, refresh: RefreshToken) -> NewTokens {
    NewTokens { access, access_until: at(LATER), refresh, refresh_until: at(LATER + 100) }
}

fn first() -> (ApiKey, RefreshToken) {
    let access = ApiKey::generate();
    let refresh = RefreshToken::beside(&access);
    (access, refresh)
}

fn refresh(sent: &RefreshToken) -> Refresh {
    Refresh { sent: sent.clone(), client: "a program".into(), audience: None, now: at(20) }
}

async fn granted(fresh: &Fresh, user: &User, number: u8) -> (ApiKey, RefreshToken) {
    let (access, refresh) = first();
    fresh.catalog.add_code(code(user, number)).await.unwrap();
    let made = fresh.catalog.exchange_code(exchange(number), tokens(access.clone(), refresh.clone())).await;
    assert_eq!(made.unwrap().unwrap().to_string(), "search,read");
    (access, refresh)
}

async fn state(catalog: &dyn Catalog, access: &ApiKey) -> KeyState {
    catalog.stored_key(access.prefix()).await.unwrap().unwrap().state
}

#[tokio::test]
async fn registrations_are_bounded_by_network_and_in_all() {
    let fresh = fresh();
    let register =
        async |network: &str, second| fresh.catalog.register_client(client(network, second)).await.unwrap();
    let one = register("a", 1).await.unwrap();
    assert_eq!(fresh.catalog.client(one.id).await.unwrap(), Some(one));
    assert!(register("a", 2).await.is_some() && register("a", 3).await.is_none(), "two from one network");
    assert!(register("b", 3).await.is_some() && register("c", 3).await.is_some());
    assert!(register("d", 4).await.is_none(), "four in all");
    assert!(register("d", 100_000).await.is_some(), "those that nobody let in have made room");
}

#[tokio::test]
async fn a_code_is_good_once_and_only_for_what_it_was_made_for() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    fresh.catalog.add_code(code(&ada, 1)).await.unwrap();
    let (access, refresh) = first();
    let exchanged = async |wrong: Exchange| {
        fresh.catalog.exchange_code(wrong, tokens(access.clone(), refresh.clone())).await.unwrap()
    };
    for wrong in [
        exchange(2),
        Exchange { client: "another".into(), ..exchange(1) },
        Exchange { redirect_uri: Some("http://127.0.0.1:6/back".into()), ..exchange(1) },
        Exchange { challenge: "guess".into(), ..exchange(1) },
        Exchange { audience: Some("/boxes/x/mcp".into()), ..exchange(1) },
        Exchange { now: at(70), ..exchange(1) },
    ] {
        assert!(exchanged(wrong).await.is_none());
    }
    assert!(fresh.catalog.stored_key(access.prefix()).await.unwrap().is_none());
    assert!(exchanged(exchange(1)).await.is_some());
    let stored = fresh.catalog.stored_key(access.prefix()).await.unwrap().unwrap();
    assert_eq!((stored.state, stored.caller.audience.as_deref()), (KeyState::Active, Some("/mcp")));
    let hashes: Vec<_> = stored.secrets.iter().map(|secret| secret.hash).collect();
    assert_eq!(hashes, [access.secret_hash()], "nothing can be asked with half of a refresh token");
    assert!(stored.secrets[0].until.is_some());
    let listed = fresh.catalog.keys(Some(ada.id)).await.unwrap();
    assert_eq!(listed[0].client.as_deref(), Some("a program"));
    let version = fresh.catalog.access_version().await.unwrap();
    assert!(exchanged(exchange(1)).await.is_none(), "somebody else has seen it");
    assert_eq!(state(&*fresh.catalog, &access).await, KeyState::Revoked);
    assert!(fresh.catalog.access_version().await.unwrap() > version);
}

#[tokio::test]
async fn tokens_replace_each_other_and_an_old_one_ends_the_grant() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (access, one) = granted(&fresh, &ada, 1).await;
    let renew = async |sent: Refresh, refresh: &RefreshToken, access: &ApiKey| {
        fresh.catalog.refresh_grant(sent, tokens(access.clone(), refresh.clone())).await.unwrap()
    };
    let (two, second) = (one.next(), one.access());
    let another = Refresh { client: "another".into(), ..refresh(&one) };
    let elsewhere = Refresh { audience: Some("/boxes/x/mcp".into()), ..refresh(&one) };
    let late = Refresh { now: at(LATER + 100), ..refresh(&one) };
    for wrong in [another, elsewhere, late, refresh(&RefreshToken::beside(&access))] {
        assert_eq!(renew(wrong, &two, &second).await, Refreshed::Refused);
    }
    assert!(matches!(renew(refresh(&one), &two, &second).await, Refreshed::Done(_)));
    let stored = fresh.catalog.stored_key(access.prefix()).await.unwrap().unwrap();
    let hashes: Vec<_> = stored.secrets.iter().map(|secret| secret.hash).collect();
    assert_eq!(hashes, [second.secret_hash(), access.secret_hash()]);
    assert_eq!(renew(refresh(&one), &two.next(), &one.access()).await, Refreshed::Reused);
    assert_eq!(state(&*fresh.catalog, &access).await, KeyState::Revoked);
    assert_eq!(renew(refresh(&two), &two.next(), &one.access()).await, Refreshed::Refused);
    // What has ended is no longer listed once the program was let in again.
    let (again, token) = granted(&fresh, &ada, 2).await;
    let listed = fresh.catalog.keys(Some(ada.id)).await.unwrap();
    assert_eq!(listed.iter().map(|key| key.prefix.as_str()).collect::<Vec<_>>(), [again.prefix()]);
    assert!(!fresh.catalog.end_grant(&RefreshToken::beside(&again)).await.unwrap());
    assert!(fresh.catalog.end_grant(&token).await.unwrap());
    assert_eq!(state(&*fresh.catalog, &again).await, KeyState::Revoked);
    assert_eq!(renew(refresh(&token), &token.next(), &token.access()).await, Refreshed::Refused);
}

#[tokio::test]
async fn a_grant_for_a_box_needs_a_role_in_it() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let only = fresh.box_of(&ada).await.box_id();
    for (number, user) in [(1, &ada), (2, &eve)] {
        fresh.catalog.add_code(NewCode { only: Some(only), ..code(user, number) }).await.unwrap();
    }
    let (access, refresh) = first();
    let made = fresh.catalog.exchange_code(exchange(1), tokens(access.clone(), refresh.clone())).await;
    assert!(made.unwrap().is_some());
    let stored = fresh.catalog.stored_key(access.prefix()).await.unwrap().unwrap();
    assert_eq!(stored.caller.scope.unwrap().into_iter().collect::<Vec<_>>(), [only]);
    let (access, refresh) = first();
    let refused = fresh.catalog.exchange_code(exchange(2), tokens(access, refresh)).await;
    assert_eq!(reason(refused), Some(engine::Reason::NotFound));
}
