//! Second factors: asked for once confirmed, each code good for one use, gone with the account.

use super::fresh;

#[tokio::test]
async fn a_code_is_good_once_and_no_earlier_one_after_it() {
    let fresh = fresh();
    let catalog = &fresh.catalog;
    let (ada, eve) = (fresh.user("ada@example.org").await.id, fresh.user("eve@example.org").await.id);
    assert!(catalog.second_factor(ada).await.unwrap().is_none());
    assert!(!catalog.confirm_second_factor(ada, 1, Vec::new()).await.unwrap(), "nothing was offered");
    for secret in [[1; 20], [2; 20]] {
        assert!(catalog.offer_second_factor(ada, secret).await.unwrap());
    }
    let waiting = catalog.second_factor(ada).await.unwrap().unwrap();
    assert_eq!((waiting.secret, waiting.confirmed), ([2; 20], false), "the latest offer counts");
    assert!(catalog.with_second_factor().await.unwrap().is_empty());
    assert!(catalog.confirm_second_factor(ada, 100, vec![[7; 32], [8; 32]]).await.unwrap());
    assert_eq!(catalog.with_second_factor().await.unwrap(), [ada]);
    assert!(!catalog.offer_second_factor(ada, [3; 20]).await.unwrap(), "what is asked for stays");
    assert!(!catalog.confirm_second_factor(ada, 101, Vec::new()).await.unwrap());
    assert_eq!(catalog.second_factor(ada).await.unwrap().unwrap().secret, [2; 20]);

    let mut used = Vec::new();
    for step in [100, 99, 101, 101, 100, 105, 104] {
        used.push(catalog.use_step(ada, step).await.unwrap());
    }
    assert_eq!(used, [false, false, true, false, false, true, false]);
    assert!(!catalog.use_step(eve, 200).await.unwrap());

    for (user, code, good) in [(eve, 7, false), (ada, 9, false), (ada, 7, true), (ada, 7, false)] {
        assert_eq!(catalog.use_recovery_code(user, &[code; 32]).await.unwrap(), good, "{code}");
    }
    assert_eq!(catalog.second_factor(ada).await.unwrap().unwrap().recovery_codes, 1);
    assert!(catalog.remove_second_factor(ada).await.unwrap());
    assert!(!catalog.remove_second_factor(ada).await.unwrap());
    assert!(!catalog.use_recovery_code(ada, &[8; 32]).await.unwrap(), "its codes went with it");
    assert!(catalog.offer_second_factor(ada, [4; 20]).await.unwrap(), "it can be set up again");
}
