//! Passkeys: each of one account and counted forward, challenges good once.

use std::time::Duration;

use engine::{
    Reason,
    ids::{PasskeyId, UserId},
    seams::catalog::{Challenge, MOST_PASSKEYS, NewPasskey},
};
use jiff::Timestamp;

use super::{Fresh, fresh, reason};

fn passkey(user: UserId, credential: u8, sign_count: u32) -> NewPasskey {
    NewPasskey {
        user,
        name: format!("passkey {credential}").parse().unwrap(),
        host: "quire.example.org".into(),
        credential: vec![credential; 64],
        public_key: vec![0xa5, credential],
        sign_count,
        created_at: Timestamp::from_second(1_000_000).unwrap(),
    }
}

/// The challenge of this number, which expires five minutes after the passkeys above were made.
fn challenge(number: u8) -> Challenge {
    Challenge { hash: [number; 32], expires_at: Timestamp::from_second(1_000_300).unwrap() }
}

/// Adds the passkey of this number, with the challenge of the same number.
pub(super) async fn added(fresh: &Fresh, user: UserId, credential: u8, sign_count: u32) -> PasskeyId {
    fresh.catalog.add_passkey(passkey(user, credential, sign_count), challenge(credential)).await.unwrap()
}

#[tokio::test]
async fn a_passkey_is_of_one_account_which_has_so_many() {
    let fresh = fresh();
    let catalog = &fresh.catalog;
    let (ada, eve) = (fresh.user("ada@example.org").await.id, fresh.user("eve@example.org").await.id);
    assert!(catalog.passkey(&[1; 64]).await.unwrap().is_none());
    let first = added(&fresh, ada, 1, 7).await;
    let (found, user) = catalog.passkey(&[1; 64]).await.unwrap().unwrap();
    assert_eq!((found.id, user.id, found.used_at), (first, ada, None));
    assert_eq!((found.made.name.as_str(), found.made.host.as_str()), ("passkey 1", "quire.example.org"));
    assert_eq!((found.made.credential, found.made.public_key), (vec![1; 64], vec![0xa5, 1]));
    assert_eq!((found.made.sign_count, found.made.created_at.as_second()), (7, 1_000_000));

    let taken = catalog.add_passkey(passkey(eve, 1, 0), challenge(90)).await;
    assert_eq!(reason(taken), Some(Reason::Conflict), "an authenticator cannot be had twice");
    let again = catalog.add_passkey(passkey(eve, 2, 0), challenge(1)).await;
    assert_eq!(reason(again), Some(Reason::Conflict), "the challenge was answered before");
    for credential in 2..=MOST_PASSKEYS as u8 {
        added(&fresh, ada, credential, 0).await;
    }
    let more = catalog.add_passkey(passkey(ada, 91, 0), challenge(91)).await;
    assert_eq!(reason(more), Some(Reason::Conflict));
    let all = catalog.passkeys_of(ada).await.unwrap();
    assert_eq!((all.len(), all[0].id, &all[19].made.credential), (MOST_PASSKEYS, first, &vec![20; 64]));

    assert!(catalog.remove_passkey(eve, first).await.unwrap().is_none(), "it is not hers");
    let name = catalog.remove_passkey(ada, first).await.unwrap();
    assert_eq!(name.unwrap().as_str(), "passkey 1");
    assert!(catalog.remove_passkey(ada, first).await.unwrap().is_none());
    assert!(catalog.passkey(&[1; 64]).await.unwrap().is_none());
    assert!(catalog.passkeys_of(eve).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_count_goes_forward_and_a_challenge_is_good_once() {
    let fresh = fresh();
    let catalog = &fresh.catalog;
    let ada = fresh.user("ada@example.org").await.id;
    let (counts, never) = (added(&fresh, ada, 1, 5).await, added(&fresh, ada, 2, 0).await);
    let now = Timestamp::from_second(1_000_100).unwrap();
    for (number, passkey, count, good) in [
        (10, counts, 6, true),
        (10, counts, 7, false),
        (11, counts, 6, false),
        (12, counts, 5, false),
        (13, counts, 0, false),
        (14, counts, u32::MAX, true),
        (15, never, 0, true),
        (16, never, 0, true),
        (17, never, 3, true),
        (18, never, 0, false),
        (19, PasskeyId::generate(), 9, false),
    ] {
        let used = catalog.use_passkey(passkey, count, challenge(number), now).await.unwrap();
        assert_eq!(used, good, "{number}");
    }
    let all = catalog.passkeys_of(ada).await.unwrap();
    assert_eq!((all[0].made.sign_count, all[0].used_at), (u32::MAX, Some(now)));
    // What has expired is forgotten; who answers it late is refused before the catalog is asked.
    let late = now.saturating_add(Duration::from_secs(600)).unwrap();
    assert!(catalog.use_passkey(never, 4, challenge(10), late).await.unwrap());
}
