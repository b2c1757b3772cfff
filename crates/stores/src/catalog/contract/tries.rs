//! Wrong passwords: who waits because of them, and who does not.

use std::time::Duration;

use engine::{
    access::Operating,
    seams::catalog::{Place, SignIns, Subject},
};

use super::{
    Fresh,
    dashboard::{DAY, at, session},
    fresh,
};

#[tokio::test]
async fn guesses_wait_longer_and_longer_and_survive_a_restart() {
    let fresh = fresh();
    let account = Subject::From("ada@example.org".parse().unwrap(), "10.0.0.1".into());
    let network = Subject::Network("10.0.0.1".into());
    let both = [account.clone(), network.clone()];
    for number in 0..5 {
        assert_eq!(fresh.catalog.count_try(&both, at(0)).await.unwrap(), None, "try {number}");
    }
    let Fresh { catalog, place } = fresh;
    drop(catalog);
    let catalog = place.open();
    assert_eq!(catalog.count_try(&both, at(0)).await.unwrap(), Some(Duration::from_secs(2)));
    assert_eq!(
        catalog.count_try(&both, at(1)).await.unwrap(),
        Some(Duration::from_secs(1)),
        "waiting is not counted"
    );
    assert_eq!(catalog.count_try(&both, at(2)).await.unwrap(), None);
    assert_eq!(catalog.count_try(&both, at(2)).await.unwrap(), Some(Duration::from_secs(4)));
    let other = [Subject::From("eve@example.org".parse().unwrap(), "10.0.0.1".into()), network.clone()];
    assert_eq!(catalog.count_try(&other, at(2)).await.unwrap(), None, "another account does not wait");
    catalog.forgive_tries(&both).await.unwrap();
    assert_eq!(catalog.count_try(&[account], at(2)).await.unwrap(), None);
    // Of the network one try was forgiven: seven were counted, one taken back.
    for _ in 6..20 {
        assert_eq!(catalog.count_try(std::slice::from_ref(&network), at(3)).await.unwrap(), None);
    }
    assert!(catalog.count_try(std::slice::from_ref(&network), at(3)).await.unwrap().is_some());
    assert_eq!(
        catalog.count_try(&[network], at(3 + DAY)).await.unwrap(),
        None,
        "a day later all is forgotten"
    );
}

#[tokio::test]
async fn whoever_guesses_at_an_account_makes_nobody_else_wait() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let catalog = &fresh.catalog;
    let from = |network: &str| Subject::From(ada.email.clone(), network.into());
    // One wrong password every quarter of an hour, for a week: it used to lock the account for as long.
    for quarter in 0..7 * 96 {
        catalog
            .count_try(&[from("10.6.6.6"), Subject::Account(ada.email.clone())], at(quarter * 900))
            .await
            .unwrap();
    }
    let now = at(7 * DAY + 61);
    assert_eq!(
        catalog.count_try(&[from("192.0.2.1"), Subject::Account(ada.email.clone())], now).await.unwrap(),
        None
    );
    // However many networks guess, a known browser and a known network do not wait.
    let browser = Place::Browser([7; 32]);
    assert!(!catalog.is_known_place(&ada.email, &browser).await.unwrap());
    catalog
        .remember_places(ada.id, &[browser.clone(), Place::Network("192.0.2.1".into())], now)
        .await
        .unwrap();
    assert!(catalog.is_known_place(&ada.email, &browser).await.unwrap());
    assert!(catalog.is_known_place(&ada.email, &Place::Network("192.0.2.1".into())).await.unwrap());
    let everywhere = Subject::Account(ada.email.clone());
    for number in 0..200 {
        catalog.count_try(&[from(&format!("10.0.0.{number}")), everywhere.clone()], now).await.unwrap();
    }
    assert!(catalog.count_try(&[from("10.1.1.1"), everywhere.clone()], now).await.unwrap().is_some());
    assert_eq!(catalog.count_try(&[Subject::Browser(ada.email.clone(), [7; 32])], now).await.unwrap(), None);
    assert_eq!(catalog.count_try(&[from("192.0.2.1")], now).await.unwrap(), None);
    // An operator can end the wait of everybody, for this account and no other with a longer address.
    let longer = Subject::Account("ada@example.org.example".parse().unwrap());
    for _ in 0..101 {
        catalog.count_try(std::slice::from_ref(&longer), now).await.unwrap();
    }
    catalog.unlock(&Operating::for_operator(), &ada.email).await.unwrap();
    assert_eq!(catalog.count_try(&[from("10.6.6.6"), everywhere], now).await.unwrap(), None);
    assert!(catalog.count_try(&[longer], now).await.unwrap().is_some());
}

#[tokio::test]
async fn so_many_places_are_known_and_a_new_password_forgets_them() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let (catalog, email) = (&fresh.catalog, &ada.email);
    let place = |number: i64| Place::Network(format!("10.0.0.{number}"));
    for number in 0..50 {
        catalog.remember_places(ada.id, &[place(number)], at(number)).await.unwrap();
    }
    assert!(!catalog.is_known_place(email, &place(9)).await.unwrap(), "the newest forty");
    assert!(catalog.is_known_place(email, &place(10)).await.unwrap());
    catalog.remember_places(ada.id, &[place(60)], at(91 * DAY)).await.unwrap();
    assert!(!catalog.is_known_place(email, &place(49)).await.unwrap(), "it was long ago");
    let here = catalog.begin_session(session(&ada, [1; 32])).await.unwrap();
    catalog.set_password(ada.id, "hash".into(), here).await.unwrap();
    assert!(!catalog.is_known_place(email, &place(60)).await.unwrap());
}
