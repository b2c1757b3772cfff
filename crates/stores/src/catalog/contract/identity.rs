//! Who somebody is: one-time links and identities at providers.

use engine::{
    Reason,
    access::{Managing, Operating, Role},
    ids::BoxId,
    seams::catalog::{
        Email, Guest, Identity, Inviters, KeyState, MostInvitations, NewOneTimeLink, NewUser, Newcomer,
        Purpose, TokenHash, User,
    },
};

use super::{
    Fresh,
    dashboard::{DAY, at, session},
    fresh, manage, own,
    passkeys::added,
    reason,
};

fn link(purpose: Purpose, token: TokenHash, made_by: Option<&User>) -> NewOneTimeLink {
    let made_by = made_by.map(|user| user.id);
    NewOneTimeLink { purpose, token, made_by, now: at(0), expires_at: at(DAY) }
}

fn newcomer(email: &str, password_hash: Option<&str>) -> Newcomer {
    let password_hash = password_hash.map(str::to_string);
    Newcomer { signed_in: None, email: email.parse().unwrap(), name: None, password_hash }
}

fn invitation(email: &str, member: Option<(BoxId, Role)>) -> Purpose {
    Purpose::Join { email: email.parse().unwrap(), plan: Default::default(), member }
}

impl Fresh {
    async fn operator(&self) -> User {
        let email: Email = "operator@example.org".parse().unwrap();
        let user = NewUser { email, password_hash: Some("hash".into()), plan: Default::default() };
        let user = self.catalog.add_user(user).await.unwrap();
        self.catalog.set_user_operator(user.id, true).await.unwrap();
        self.catalog.user(&user.email).await.unwrap()
    }

    /// Follows the link of a secret; says whose account that gives.
    async fn follow(&self, token: TokenHash, newcomer: Newcomer, inviters: Inviters) -> Option<User> {
        self.catalog.use_link(&token, newcomer, inviters, at(1)).await.unwrap()
    }

    async fn stands(&self, token: TokenHash) -> bool {
        self.catalog.link(&token, at(1)).await.unwrap().is_some()
    }

    async fn role(&self, box_id: BoxId, user: &User) -> Option<Role> {
        let members = self.catalog.members(manage_box(box_id).reading()).await.unwrap();
        members.into_iter().find(|member| member.user == user.id).map(|member| member.role)
    }
}

fn manage_box(box_id: BoxId) -> Managing {
    Managing::for_operator(box_id)
}

#[tokio::test]
async fn the_set_up_link_works_once_and_makes_an_operator() {
    let fresh = fresh();
    let catalog = &fresh.catalog;
    assert!(!catalog.is_set_up().await.unwrap());
    catalog.add_link(link(Purpose::SetUp { user: None }, [1; 32], None)).await.unwrap();
    catalog.add_link(link(Purpose::SetUp { user: None }, [2; 32], None)).await.unwrap();
    assert!(catalog.link(&[1; 32], at(1)).await.unwrap().is_none(), "the newest only");
    assert!(catalog.link(&[2; 32], at(DAY)).await.unwrap().is_none(), "it expires");
    let email: engine::seams::catalog::Email = "ada@example.org".parse().unwrap();
    let name = Some("Ada".parse().unwrap());
    let first = Newcomer { name: name.clone(), ..newcomer("ada@example.org", Some("hash")) };
    let ada = fresh.follow([2; 32], first.clone(), Inviters::Operators).await.unwrap();
    assert!(ada.operator && ada.name == name);
    assert!(catalog.is_set_up().await.unwrap());
    assert!(fresh.follow([2; 32], first, Inviters::Operators).await.is_none(), "once");
    assert_eq!(catalog.stored_sign_in(&email).await.unwrap().unwrap().password_hash.as_deref(), Some("hash"));
    catalog.add_link(link(Purpose::SetUp { user: None }, [3; 32], None)).await.unwrap();
    assert!(catalog.link(&[3; 32], at(1)).await.unwrap().is_none(), "a server is set up once");
    assert_eq!(reason(catalog.set_user_operator(ada.id, false).await), Some(Reason::Conflict));
    assert_eq!(reason(catalog.set_user_disabled(ada.id, true).await), Some(Reason::Conflict));
}

#[tokio::test]
async fn a_set_up_link_can_be_for_an_account_that_is_there() {
    let fresh = fresh();
    let you = fresh.user("you@localhost").await;
    let catalog = &fresh.catalog;
    catalog.add_link(link(Purpose::SetUp { user: Some(you.id) }, [1; 32], None)).await.unwrap();
    let used = fresh.follow([1; 32], newcomer("you@localhost", Some("hash")), Inviters::Operators).await;
    assert_eq!(used.map(|user| (user.id, user.operator)), Some((you.id, true)));
}

#[tokio::test]
async fn an_invitation_makes_a_member_once_and_dies_with_its_box() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let writing = fresh.box_of(&ada).await;
    let (catalog, id) = (&fresh.catalog, writing.box_id());
    let join = |role| invitation("eve@example.org", Some((id, role)));
    catalog.add_link(link(join(Role::Editor), [1; 32], Some(&ada))).await.unwrap();
    let waiting = catalog.links_to_box(&manage(&writing), at(1)).await.unwrap();
    assert_eq!((waiting.len(), waiting[0].box_name.as_deref()), (1, Some("papers")));
    let hers = newcomer("eve@example.org", Some("hash"));
    let eve = fresh.follow([1; 32], hers.clone(), Inviters::Owners).await.unwrap();
    assert!(!eve.operator);
    assert_eq!(fresh.role(id, &eve).await, Some(Role::Editor));
    assert!(fresh.follow([1; 32], hers.clone(), Inviters::Owners).await.is_none());
    assert!(catalog.links_to_box(&manage(&writing), at(1)).await.unwrap().is_empty());
    // A second one neither takes a role down nor changes the password, and is for whoever holds the account.
    catalog.add_link(link(join(Role::Viewer), [2; 32], Some(&ada))).await.unwrap();
    let somebody = newcomer("eve@example.org", Some("other"));
    let refused = catalog.use_link(&[2; 32], somebody.clone(), Inviters::Owners, at(1)).await;
    assert_eq!(
        reason(refused),
        Some(Reason::RoleInsufficient),
        "who holds the link is not who holds the account"
    );
    let herself = Newcomer { signed_in: Some(eve.id), ..somebody };
    fresh.follow([2; 32], herself, Inviters::Operators).await.unwrap();
    assert_eq!(fresh.role(id, &eve).await, Some(Role::Editor));
    let stored = catalog.stored_sign_in(&eve.email).await.unwrap().unwrap();
    assert_eq!(stored.password_hash.as_deref(), Some("hash"));
    let third = catalog.add_link(link(join(Role::Admin), [3; 32], Some(&ada))).await.unwrap();
    let elsewhere = fresh.box_of(&ada).await;
    catalog.withdraw_from_box(&manage(&elsewhere), third).await.unwrap();
    assert!(fresh.stands([3; 32]).await, "another box's right is no right");
    catalog.withdraw_from_box(&manage(&writing), third).await.unwrap();
    assert!(!fresh.stands([3; 32]).await);
    catalog.add_link(link(join(Role::Admin), [4; 32], Some(&ada))).await.unwrap();
    catalog.begin_delete_box(&own(&writing)).await.unwrap();
    assert!(!fresh.stands([4; 32]).await, "it dies with its box");
}

#[tokio::test]
async fn a_new_password_by_link_ends_all_sign_ins() {
    let fresh = fresh();
    let ada = fresh.user("ada@example.org").await;
    let catalog = &fresh.catalog;
    catalog.begin_session(session(&ada, [7; 32])).await.unwrap();
    added(&fresh, ada.id, 1, 0).await;
    let reset = Purpose::Reset { user: ada.id, email: ada.email.clone() };
    let operator = fresh.operator().await;
    catalog.add_link(link(reset, [1; 32], Some(&operator))).await.unwrap();
    fresh.follow([1; 32], newcomer("ada@example.org", Some("new")), Inviters::Operators).await.unwrap();
    assert!(catalog.session(&[7; 32], at(1), at(-1)).await.unwrap().is_none());
    let stored = catalog.stored_sign_in(&ada.email).await.unwrap().unwrap();
    assert_eq!(stored.password_hash.as_deref(), Some("new"));
    assert!(
        catalog.passkeys_of(ada.id).await.unwrap().is_empty(),
        "whoever made one may not be who has the link"
    );
}

#[tokio::test]
async fn invitations_to_the_server_are_listed_and_withdrawn() {
    let fresh = fresh();
    let (catalog, operating) = (&fresh.catalog, Operating::for_operator());
    let by = fresh.operator().await;
    let id = catalog.add_link(link(invitation("eve@example.org", None), [1; 32], Some(&by))).await.unwrap();
    assert_eq!(catalog.links_to_server(&operating, at(1)).await.unwrap().len(), 1);
    catalog.withdraw_from_server(&operating, id).await.unwrap();
    assert!(catalog.links_to_server(&operating, at(1)).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_link_dies_with_its_makers_right_to_make_it() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let writing = fresh.box_of(&ada).await;
    let (catalog, id, managing) = (&fresh.catalog, writing.box_id(), manage(&writing));
    catalog.grant(&managing, eve.id, Role::Owner).await.unwrap();
    let invite = async |token: u8, role| {
        let purpose = invitation(&format!("friend{token}@example.org"), Some((id, role)));
        catalog.add_link(link(purpose, [token; 32], Some(&eve))).await.unwrap();
    };
    invite(1, Role::Owner).await;
    invite(2, Role::Admin).await;
    catalog.grant(&managing, eve.id, Role::Admin).await.unwrap();
    assert!(!fresh.stands([1; 32]).await, "an admin makes no owners");
    assert!(fresh.stands([2; 32]).await, "but admins");
    catalog.grant(&managing, eve.id, Role::Editor).await.unwrap();
    assert!(!fresh.stands([2; 32]).await);
    catalog.grant(&managing, eve.id, Role::Admin).await.unwrap();
    assert!(!fresh.stands([2; 32]).await, "what ended stays ended");
    invite(3, Role::Admin).await;
    catalog.revoke(&managing, eve.id).await.unwrap();
    let outside = newcomer("friend3@example.org", Some("hash"));
    assert!(fresh.follow([3; 32], outside, Inviters::Owners).await.is_none(), "a member who was removed");
    catalog.grant(&managing, eve.id, Role::Admin).await.unwrap();
    invite(4, Role::Admin).await;
    catalog.set_user_disabled(eve.id, true).await.unwrap();
    catalog.set_user_disabled(eve.id, false).await.unwrap();
    assert!(!fresh.stands([4; 32]).await, "an account that was switched off");
    // Nor does what waits for somebody outlive their removal.
    catalog
        .add_link(link(invitation("eve@example.org", Some((id, Role::Owner))), [5; 32], Some(&ada)))
        .await
        .unwrap();
    catalog.revoke(&managing, eve.id).await.unwrap();
    assert!(!fresh.stands([5; 32]).await);
    // A box that is handed over takes owners' invitations of the old owner along.
    catalog.grant(&managing, eve.id, Role::Viewer).await.unwrap();
    catalog
        .add_link(link(invitation("x@example.org", Some((id, Role::Owner))), [6; 32], Some(&ada)))
        .await
        .unwrap();
    catalog.hand_over(&own(&writing), ada.id, eve.id).await.unwrap();
    assert!(!fresh.stands([6; 32]).await);
}

#[tokio::test]
async fn links_of_an_operator_die_with_the_office() {
    let fresh = fresh();
    let (catalog, operator, ada) =
        (&fresh.catalog, fresh.operator().await, fresh.user("ada@example.org").await);
    catalog.set_user_operator(ada.id, true).await.unwrap();
    let reset = Purpose::Reset { user: operator.id, email: operator.email.clone() };
    catalog.add_link(link(reset, [1; 32], Some(&ada))).await.unwrap();
    catalog.add_link(link(invitation("eve@example.org", None), [2; 32], Some(&ada))).await.unwrap();
    assert!(fresh.stands([1; 32]).await && fresh.stands([2; 32]).await);
    catalog.set_user_operator(ada.id, false).await.unwrap();
    assert!(!fresh.stands([1; 32]).await && !fresh.stands([2; 32]).await);
    catalog.set_user_operator(ada.id, true).await.unwrap();
    assert!(!fresh.stands([1; 32]).await && !fresh.stands([2; 32]).await);
    // Nobody is let in to an account that is disabled, nor with a link from before a new password.
    let reset = Purpose::Reset { user: ada.id, email: ada.email.clone() };
    catalog.add_link(link(reset.clone(), [3; 32], Some(&operator))).await.unwrap();
    let here = catalog.begin_session(session(&ada, [1; 32])).await.unwrap();
    catalog.set_password(ada.id, "hash".into(), here).await.unwrap();
    assert!(!fresh.stands([3; 32]).await);
    catalog.add_link(link(reset, [4; 32], Some(&operator))).await.unwrap();
    catalog.set_user_operator(operator.id, true).await.unwrap();
    catalog.set_user_disabled(ada.id, true).await.unwrap();
    catalog.set_user_disabled(ada.id, false).await.unwrap();
    assert!(!fresh.stands([4; 32]).await);
}

#[tokio::test]
async fn only_operators_make_accounts_by_invitation_unless_owners_may() {
    let fresh = fresh();
    let (catalog, ada) = (&fresh.catalog, fresh.user("ada@example.org").await);
    let id = fresh.box_of(&ada).await.box_id();
    let join = || invitation("victim@example.org", Some((id, Role::Viewer)));
    catalog.add_link(link(join(), [1; 32], Some(&ada))).await.unwrap();
    let own = newcomer("victim@example.org", Some("chosen by ada"));
    let made = catalog.use_link(&[1; 32], own.clone(), Inviters::Operators, at(1)).await;
    assert_eq!(reason(made), Some(Reason::RoleInsufficient));
    let wanted = catalog.wanted_accounts(&Operating::for_operator(), at(1)).await.unwrap();
    assert_eq!(
        wanted.iter().map(|one| (one.email.as_str(), one.by.as_str())).collect::<Vec<_>>(),
        [("victim@example.org", "ada@example.org")]
    );
    // The operator makes the account: it is a member at once, of what waited for it.
    let operator = fresh.operator().await;
    catalog.add_link(link(invitation("victim@example.org", None), [2; 32], Some(&operator))).await.unwrap();
    let victim = fresh.follow([2; 32], own, Inviters::Operators).await.unwrap();
    assert!(victim.vouched && victim.invited_by.is_none());
    assert_eq!(fresh.role(id, &victim).await, Some(Role::Viewer));
    assert!(!fresh.stands([1; 32]).await, "it is used up");
    assert!(catalog.wanted_accounts(&Operating::for_operator(), at(1)).await.unwrap().is_empty());
    // Where owners may, nobody vouches for the address until an operator does.
    catalog
        .add_link(link(invitation("eve@example.org", Some((id, Role::Viewer))), [3; 32], Some(&ada)))
        .await
        .unwrap();
    let eve = fresh.follow([3; 32], newcomer("eve@example.org", Some("x")), Inviters::Owners).await.unwrap();
    assert!(!eve.vouched && eve.invited_by == Some(ada.id));
    let other = fresh.box_of(&victim).await.box_id();
    catalog
        .add_link(link(invitation("eve@example.org", Some((other, Role::Viewer))), [4; 32], Some(&victim)))
        .await
        .unwrap();
    assert_eq!(fresh.role(other, &eve).await, None);
    catalog.vouch_for(&Operating::for_operator(), eve.id).await.unwrap();
    assert_eq!(fresh.role(other, &eve).await, Some(Role::Viewer));
}

fn guest(subject: &str, email: Option<&str>) -> Guest {
    let identity = Identity { issuer: "https://id.example".into(), subject: subject.into() };
    Guest { identity, email: email.map(|email| email.parse().unwrap()), name: None }
}

#[tokio::test]
async fn a_provider_never_opens_an_account_that_somebody_else_holds() {
    let fresh = fresh();
    let (catalog, operating) = (&fresh.catalog, Operating::for_operator());
    let admit =
        async |guest: Guest, everybody| catalog.admit(guest, everybody, Inviters::Operators, at(1)).await;
    let held = fresh.user("victim@example.org").await;
    let here = catalog.begin_session(session(&held, [1; 32])).await.unwrap();
    catalog.set_password(held.id, "of somebody else".into(), here).await.unwrap();
    let key = fresh.key_of(&held, None).await;
    added(&fresh, held.id, 1, 0).await;
    let victim = || guest("victim", Some("victim@example.org"));
    assert_eq!(reason(admit(victim(), true).await), Some(Reason::RoleInsufficient), "it has a password");
    assert_eq!(reason(admit(guest("x", None), true).await), Some(Reason::RoleInsufficient), "no address");
    // An operator can let it be taken over: then nothing of its holder until now is left.
    catalog.set_awaits_identity(&operating, held.id, true).await.unwrap();
    let user = admit(victim(), false).await.unwrap();
    assert_eq!((user.id, user.vouched, user.awaits_identity), (held.id, true, false));
    assert!(catalog.session(&[1; 32], at(1), at(-1)).await.unwrap().is_none());
    assert_eq!(catalog.stored_sign_in(&user.email).await.unwrap().unwrap().password_hash, None);
    assert_eq!(catalog.stored_key(&key).await.unwrap().unwrap().state, KeyState::Revoked);
    assert!(catalog.passkeys_of(held.id).await.unwrap().is_empty());
    assert_eq!(admit(victim(), false).await.unwrap().id, held.id, "the same the next time");
    // Somebody else to whom the provider gave the same address since is somebody else.
    let later = guest("successor", Some("victim@example.org"));
    assert_eq!(reason(admit(later, true).await), Some(Reason::RoleInsufficient));
    // What the command line made is held by nobody, and for whoever proves the address.
    let unheld = fresh.user("new@example.org").await;
    let key = fresh.key_of(&unheld, None).await;
    assert_eq!(admit(guest("new", Some("new@example.org")), false).await.unwrap().id, unheld.id);
    assert_eq!(
        catalog.stored_key(&key).await.unwrap().unwrap().state,
        KeyState::Active,
        "its operator made it"
    );
    let by_passkey = fresh.user("keyed@example.org").await;
    added(&fresh, by_passkey.id, 2, 0).await;
    let refused = admit(guest("keyed", Some("keyed@example.org")), true).await;
    assert_eq!(reason(refused), Some(Reason::RoleInsufficient), "it has a passkey");
    catalog.set_user_disabled(unheld.id, true).await.unwrap();
    assert_eq!(reason(admit(guest("new", None), true).await), Some(Reason::RoleInsufficient), "switched off");
}

#[tokio::test]
async fn whom_a_provider_vouches_for_gets_an_account_when_invited_and_what_waited() {
    let fresh = fresh();
    let (catalog, ada, operator) =
        (&fresh.catalog, fresh.user("ada@example.org").await, fresh.operator().await);
    let id = fresh.box_of(&ada).await.box_id();
    let eve = || guest("eve", Some("eve@example.org"));
    let join = invitation("eve@example.org", Some((id, Role::Editor)));
    catalog.add_link(link(join, [1; 32], Some(&ada))).await.unwrap();
    let uninvited = catalog.admit(eve(), false, Inviters::Operators, at(1)).await;
    assert_eq!(reason(uninvited), Some(Reason::RoleInsufficient), "a member of a box makes no accounts");
    catalog.add_link(link(invitation("eve@example.org", None), [2; 32], Some(&operator))).await.unwrap();
    let user = catalog.admit(eve(), false, Inviters::Operators, at(1)).await.unwrap();
    assert!(user.vouched);
    assert_eq!(fresh.role(id, &user).await, Some(Role::Editor));
    assert!(!fresh.stands([1; 32]).await && !fresh.stands([2; 32]).await, "both are used up");
    let join = invitation("kim@example.org", Some((id, Role::Viewer)));
    catalog.add_link(link(join, [3; 32], Some(&ada))).await.unwrap();
    let kim =
        catalog.admit(guest("kim", Some("kim@example.org")), false, Inviters::Owners, at(1)).await.unwrap();
    assert_eq!(fresh.role(id, &kim).await, Some(Role::Viewer));
}

#[tokio::test]
async fn an_identity_is_tied_by_whoever_proved_who_they_are_and_to_one_account() {
    let fresh = fresh();
    let (ada, eve) = (fresh.user("ada@example.org").await, fresh.user("eve@example.org").await);
    let catalog = &fresh.catalog;
    let connect = |user: &User| Purpose::Connect { user: user.id, email: user.email.clone() };
    let who = || guest("ada", Some("other@example.org"));
    assert!(!catalog.connect(&[1; 32], ada.id, who(), at(1)).await.unwrap(), "nothing was proven");
    catalog.add_link(link(connect(&ada), [1; 32], Some(&ada))).await.unwrap();
    assert!(!catalog.connect(&[1; 32], eve.id, who(), at(1)).await.unwrap(), "by somebody else");
    let misused =
        catalog.use_link(&[1; 32], newcomer("ada@example.org", Some("x")), Inviters::Owners, at(1)).await;
    assert_eq!(reason(misused), Some(Reason::NotFound), "it is no way in");
    assert!(catalog.connect(&[1; 32], ada.id, who(), at(1)).await.unwrap());
    assert!(!catalog.connect(&[1; 32], ada.id, who(), at(1)).await.unwrap(), "once");
    assert_eq!(catalog.user_of_identity(&who().identity).await.unwrap().map(|user| user.id), Some(ada.id));
    catalog.add_link(link(connect(&eve), [2; 32], Some(&eve))).await.unwrap();
    assert_eq!(reason(catalog.connect(&[2; 32], eve.id, who(), at(1)).await), Some(Reason::Conflict));
    assert!(catalog.has_identity(ada.id).await.unwrap() && !catalog.has_identity(eve.id).await.unwrap());
}

#[tokio::test]
async fn a_box_and_a_person_have_so_many_invitations() {
    let fresh = fresh();
    let (catalog, ada, operator) =
        (&fresh.catalog, fresh.user("ada@example.org").await, fresh.operator().await);
    let (one, two) = (fresh.box_of(&ada).await.box_id(), fresh.box_of(&ada).await.box_id());
    let most = MostInvitations { of_box: 3, of_person: 4 };
    let invite = async |number: u8, box_id, by: &User| {
        let purpose = invitation(&format!("guest{number}@example.org"), Some((box_id, Role::Viewer)));
        reason(catalog.invite(link(purpose, [number; 32], Some(by)), most).await)
    };
    for number in 1..=3 {
        assert_eq!(invite(number, one, &ada).await, None);
    }
    assert_eq!(invite(4, one, &ada).await, Some(Reason::Conflict), "the box is full");
    assert_eq!(invite(3, one, &ada).await, None, "in the place of an older one");
    assert_eq!(invite(5, two, &ada).await, None);
    let made = fresh.follow([5; 32], newcomer("guest5@example.org", Some("x")), Inviters::Owners).await;
    assert!(made.is_some());
    assert_eq!(invite(6, two, &ada).await, Some(Reason::Conflict), "accounts that were made count on");
    catalog.grant(&manage_box(two), operator.id, Role::Owner).await.unwrap();
    assert_eq!(invite(6, two, &operator).await, None, "operators may make any account anyway");
}
