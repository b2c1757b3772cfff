//! Who may do what.
//!
//! Permission is a value: only this file makes a [`Reading`], a [`Writing`], a [`Managing`], an
//! [`Owning`], a [`Leaving`], an [`Acting`] or an [`Operating`], and whatever reads or changes something asks for one, so a forgotten check
//! does not compile. A [`Caller`] comes with an API key, a [`Person`] is signed in to the dashboard.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Fault, Reason,
    ids::{BoxId, UserId},
    origins::Origins,
    permissions::{Permission, Permissions},
};

/// The role of a user in a box, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads in the dashboard.
    Viewer,
    /// Also changes files, in the dashboard.
    Editor,
    /// Also manages members, and may use the API.
    Admin,
    /// Also deletes the box or hands it over.
    Owner,
}

impl Role {
    /// All roles, weakest first.
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Editor, Role::Admin, Role::Owner];

    /// The role as written on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
            Role::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Role::ALL
            .into_iter()
            .find(|role| role.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("`{text}` is not a role: use viewer, editor, admin or owner"))
    }
}

/// Proof that the holder may read a box.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    box_id: BoxId,
}

impl Reading {
    /// The box that may be read.
    pub fn box_id(&self) -> BoxId {
        self.box_id
    }
}

/// Proof that the holder may change the files of a box, and so also read it.
#[derive(Debug, Clone, Copy)]
pub struct Writing {
    reading: Reading,
}

impl Writing {
    /// The box that may be changed.
    pub fn box_id(&self) -> BoxId {
        self.reading.box_id
    }

    /// Whoever may change may read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// The right of operators' commands and of workers, which act on the store itself and for no user. Never reached
    /// from a request.
    pub fn for_operator(box_id: BoxId) -> Self {
        Writing { reading: Reading { box_id } }
    }
}

/// Proof that the holder may decide who has which role in a box, and so also change it.
#[derive(Debug, Clone, Copy)]
pub struct Managing {
    writing: Writing,
    /// The holder's own role: nobody can grant or revoke a higher one.
    role: Role,
}

impl Managing {
    /// The box that may be managed.
    pub fn box_id(&self) -> BoxId {
        self.writing.box_id()
    }

    /// Whoever may manage may change.
    pub fn writing(&self) -> &Writing {
        &self.writing
    }

    /// Whoever may manage may read.
    pub fn reading(&self) -> &Reading {
        self.writing.reading()
    }

    /// Whether the holder may change somebody's role from `before` to `after`; `None` means no member. Only owners may
    /// add or remove owners.
    pub fn may_turn(&self, before: Option<Role>, after: Option<Role>) -> Result<(), Fault> {
        let about_owners = [before, after].contains(&Some(Role::Owner));
        if about_owners && self.role != Role::Owner {
            return Err(Fault::new(Reason::RoleInsufficient, "only an owner can add or remove owners")
                .hint("ask an owner of the box"));
        }
        Ok(())
    }

    /// The operator's own right, see [`Writing::for_operator`].
    pub fn for_operator(box_id: BoxId) -> Self {
        Managing { writing: Writing::for_operator(box_id), role: Role::Owner }
    }
}

/// Proof that the holder may delete a box or hand it over, and so also manage it.
#[derive(Debug, Clone, Copy)]
pub struct Owning {
    managing: Managing,
}

impl Owning {
    /// The box that is owned.
    pub fn box_id(&self) -> BoxId {
        self.managing.box_id()
    }

    /// Whoever owns a box may manage it.
    pub fn managing(&self) -> &Managing {
        &self.managing
    }

    /// The operator's own right, see [`Writing::for_operator`].
    pub fn for_operator(box_id: BoxId) -> Self {
        Owning { managing: Managing::for_operator(box_id) }
    }
}

/// Proof that the holder may give up their own role in a box.
#[derive(Debug, Clone, Copy)]
pub struct Leaving {
    box_id: BoxId,
    user: UserId,
}

impl Leaving {
    /// The box that is left.
    pub fn box_id(&self) -> BoxId {
        self.box_id
    }

    /// Who leaves.
    pub fn user(&self) -> UserId {
        self.user
    }
}

/// Proof that the holder may found boxes and make keys in the name of an account, and how far: whoever acts with a key
/// makes none that can do more than it.
#[derive(Debug, Clone)]
pub struct Acting {
    user: UserId,
    permissions: Permissions,
    scope: Option<BTreeSet<BoxId>>,
    until: Option<Timestamp>,
}

impl Acting {
    /// The account.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// The right to found a box. A key that is restricted to boxes would found one that it could not use.
    pub fn may_found(&self) -> Result<(), Fault> {
        if self.scope.is_none() {
            return Ok(());
        }
        Err(Fault::new(Reason::KeyScope, "this key is restricted to certain boxes and cannot create others")
            .hint("use a key for all boxes"))
    }

    /// What a new key may be used for: what is wanted, or else what is usual.
    pub fn permissions(&self, wanted: Option<Permissions>) -> Result<Permissions, Fault> {
        let usual = || Permissions::USUAL.common(self.permissions);
        let permissions = wanted.or_else(usual).unwrap_or(self.permissions);
        if permissions.within(self.permissions) {
            return Ok(permissions);
        }
        Err(Fault::new(
            Reason::KeyScope,
            format!("a key cannot give permissions that it does not have; this one has {}", self.permissions),
        )
        .param("permissions"))
    }

    /// The only boxes that a new key is valid for: those that are wanted, or else those of whoever makes it.
    pub fn boxes(&self, wanted: Option<Vec<BoxId>>) -> Result<Option<Vec<BoxId>>, Fault> {
        let Some(scope) = &self.scope else { return Ok(wanted) };
        let wanted = wanted.unwrap_or_else(|| scope.iter().copied().collect());
        if wanted.iter().all(|box_id| scope.contains(box_id)) {
            return Ok(Some(wanted));
        }
        Err(Fault::new(Reason::KeyScope, "a key cannot give access to boxes that it cannot use itself")
            .param("boxes"))
    }

    /// When a new key stops working: when that is wanted, but not later than whatever makes it.
    pub fn until(&self, wanted: Option<Timestamp>) -> Result<Option<Timestamp>, Fault> {
        match (wanted, self.until) {
            (Some(wanted), Some(end)) if wanted > end => Err(Fault::new(
                Reason::KeyScope,
                format!("a key cannot create a key that outlives it; this one expires at {end}"),
            )
            .param("expiresAt")),
            (wanted, end) => Ok(wanted.or(end)),
        }
    }

    /// Whether a key of these boxes may be seen and revoked: one that reaches no further than whoever asks.
    pub fn reaches(&self, boxes: Option<&[BoxId]>) -> bool {
        match (&self.scope, boxes) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(scope), Some(boxes)) => boxes.iter().all(|box_id| scope.contains(box_id)),
        }
    }

    /// The command line's own right. Never reached from a request.
    pub fn for_operator(user: UserId) -> Self {
        Acting { user, permissions: Permissions::ALL, scope: None, until: None }
    }
}

/// Proof that the holder administers the whole server: accounts, plans, its health. Gives no right to any box.
#[derive(Debug, Clone, Copy)]
pub struct Operating {
    _only_made_here: (),
}

impl Operating {
    /// The command line's own right. Never reached from a request.
    pub fn for_operator() -> Self {
        Operating { _only_made_here: () }
    }
}

/// Somebody who is signed in to the dashboard, and everything that decides what they may do there.
#[derive(Debug, Clone)]
pub struct Person {
    /// Who.
    pub user: UserId,
    /// Whether they administer the whole server.
    pub operator: bool,
    /// Their role in each of their boxes.
    pub roles: BTreeMap<BoxId, Role>,
}

impl Person {
    /// The right to read a box in the dashboard: any role.
    pub fn may_read(&self, box_id: BoxId) -> Result<Reading, Fault> {
        self.at_least(Role::Viewer, box_id).map(|_| Reading { box_id })
    }

    /// The right to change a box's files in the dashboard.
    pub fn may_write(&self, box_id: BoxId) -> Result<Writing, Fault> {
        self.at_least(Role::Editor, box_id).map(|_| Writing { reading: Reading { box_id } })
    }

    /// The right to manage a box.
    pub fn may_manage(&self, box_id: BoxId) -> Result<Managing, Fault> {
        let role = self.at_least(Role::Admin, box_id)?;
        Ok(Managing { writing: Writing { reading: Reading { box_id } }, role })
    }

    /// The right to delete a box or hand it over.
    pub fn may_own(&self, box_id: BoxId) -> Result<Owning, Fault> {
        self.at_least(Role::Owner, box_id)?;
        Ok(Owning { managing: self.may_manage(box_id)? })
    }

    /// The right to leave a box, with any role.
    pub fn may_leave(&self, box_id: BoxId) -> Result<Leaving, Fault> {
        self.at_least(Role::Viewer, box_id).map(|_| Leaving { box_id, user: self.user })
    }

    /// The right to administer the server.
    pub fn may_operate(&self) -> Result<Operating, Fault> {
        if self.operator {
            return Ok(Operating { _only_made_here: () });
        }
        Err(Fault::new(
            Reason::RoleInsufficient,
            "only operators of the server can see this page; ask one of them",
        ))
    }

    /// The right to found boxes and to make keys in one's own name.
    pub fn may_act(&self) -> Acting {
        Acting { user: self.user, permissions: Permissions::ALL, scope: None, until: None }
    }

    /// The role in a box, if any.
    pub fn role(&self, box_id: BoxId) -> Option<Role> {
        self.roles.get(&box_id).copied()
    }

    /// Every box that the person may read.
    pub fn readable(&self) -> Vec<Reading> {
        self.roles.keys().map(|&box_id| Reading { box_id }).collect()
    }

    fn at_least(&self, least: Role, box_id: BoxId) -> Result<Role, Fault> {
        match self.role(box_id) {
            Some(role) if role >= least => Ok(role),
            Some(role) => Err(Fault::new(
                Reason::RoleInsufficient,
                format!(
                    "your role in this box is {role}; this requires {least} or higher; ask an owner of the box"
                ),
            )),
            None => {
                Err(Fault::new(Reason::BoxUnknown, "the box does not exist, or you are not a member of it")
                    .hint("ask one of its owners to add you"))
            }
        }
    }
}

/// A usable API key and everything that decides what it may do, as of one version of the catalog.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The user who created the key.
    pub user: UserId,
    /// The public part of the key; names it in logs and limits.
    pub prefix: String,
    /// What its owner calls the key.
    pub key_name: String,
    /// When the key stops working.
    pub expires_at: Option<Timestamp>,
    /// What the key may be used for.
    pub permissions: Permissions,
    /// The only boxes that the key is valid for; `None` is all boxes of the user.
    pub scope: Option<BTreeSet<BoxId>>,
    /// The only web sites whose pages may use it; none is a key for programs.
    pub origins: Origins,
    /// The only path that it is valid at, where a program got it for that; `None` for keys.
    pub audience: Option<String>,
    /// The user's role in each of their boxes.
    pub roles: BTreeMap<BoxId, Role>,
}

/// The right to use uploads that are in no box: those of an account, or of one of its keys alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uploading {
    user: UserId,
    key: String,
    only_own: bool,
}

impl Uploading {
    /// Whose uploads they are.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// The key whose uploads alone they are; `None` is all keys of the account.
    pub fn only_of(&self) -> Option<&str> {
        self.only_own.then_some(&self.key)
    }
}

impl Caller {
    /// The right to search a box through the API and to ask it questions. What that reads of the box is not given out
    /// whole, so it asks for less than [`Caller::may_read`].
    pub fn may_search(&self, box_id: BoxId) -> Result<Reading, Fault> {
        self.check(Permission::Search, box_id).map(|_| Reading { box_id })
    }

    /// The right to read a box through the API.
    pub fn may_read(&self, box_id: BoxId) -> Result<Reading, Fault> {
        self.check(Permission::Read, box_id).map(|_| Reading { box_id })
    }

    /// The right to change a box's files through the API.
    pub fn may_write(&self, box_id: BoxId) -> Result<Writing, Fault> {
        self.check(Permission::Write, box_id).map(|_| Writing { reading: Reading { box_id } })
    }

    /// The right to manage a box through the API.
    pub fn may_manage(&self, box_id: BoxId) -> Result<Managing, Fault> {
        let role = self.check(Permission::Manage, box_id)?;
        Ok(Managing { writing: Writing { reading: Reading { box_id } }, role })
    }

    /// The right to delete a box through the API.
    pub fn may_own(&self, box_id: BoxId) -> Result<Owning, Fault> {
        let managing = self.may_manage(box_id)?;
        match managing.role {
            Role::Owner => Ok(Owning { managing }),
            role @ (Role::Viewer | Role::Editor | Role::Admin) => Err(Fault::new(
                Reason::RoleInsufficient,
                format!(
                    "your role in this box is {role}; only an owner can do this; ask an owner of the box"
                ),
            )),
        }
    }

    /// The right to found boxes and to make keys, no more of either than this key can do itself.
    pub fn may_act(&self) -> Result<Acting, Fault> {
        self.must(Permission::Manage)?;
        Ok(Acting {
            user: self.user,
            permissions: self.permissions,
            scope: self.scope.clone(),
            until: self.expires_at,
        })
    }

    /// Refuses where the key lacks a permission. Answers from the key alone, so it says nothing about what exists.
    pub fn must(&self, needed: Permission) -> Result<(), Fault> {
        if self.permissions.has(needed) {
            return Ok(());
        }
        let cause = format!("this requires the permission `{needed}`; the key has {}", self.permissions);
        Err(Fault::new(Reason::KeyScope, cause).hint("use a key that has it"))
    }

    /// Refuses requests that do not come from a page of the web sites that the key names, if it names any. Whoever is no browser
    /// can claim to be such a page, so this limits where a key can be put, not what it can do.
    pub fn may_come_from(&self, origin: Option<&str>) -> Result<(), Fault> {
        if self.origins.is_empty() || origin.is_some_and(|origin| self.origins.names(origin)) {
            return Ok(());
        }
        let cause =
            "this key is for pages of certain web sites, and the request does not come from one of them";
        Err(Fault::new(Reason::KeyScope, cause)
            .hint("create a key that names this site, or one without origins"))
    }

    /// Every box that the key may read.
    pub fn readable(&self) -> Result<Vec<Reading>, Fault> {
        self.must(Permission::Read)?;
        Ok(self.reachable())
    }

    /// Every box that the key may search.
    pub fn searchable(&self) -> Result<Vec<Reading>, Fault> {
        self.must(Permission::Search)?;
        Ok(self.reachable())
    }

    fn reachable(&self) -> Vec<Reading> {
        self.reach().map(|box_id| Reading { box_id }).collect()
    }

    /// The uploads that the key may use. One that is restricted to boxes has only those that it made: the others are in boxes that it
    /// must not read, or will be.
    pub fn uploads(&self) -> Uploading {
        Uploading { user: self.user, key: self.prefix.clone(), only_own: self.scope.is_some() }
    }

    /// Whether the key may be used on a box, whatever for.
    pub fn reaches(&self, box_id: BoxId) -> Result<(), Fault> {
        self.check_box(box_id).map(drop)
    }

    /// Every box that the key may be used on, whatever for.
    pub fn reach(&self) -> impl Iterator<Item = BoxId> {
        self.roles.keys().copied().filter(|&box_id| self.check_box(box_id).is_ok())
    }

    /// The role the user has in a box, whether or not it allows anything.
    pub fn role(&self, box_id: BoxId) -> Option<Role> {
        self.roles.get(&box_id).copied()
    }

    fn check(&self, needed: Permission, box_id: BoxId) -> Result<Role, Fault> {
        self.must(needed)?;
        self.check_box(box_id)
    }

    /// The API asks for the same role to read and to write. The scope comes first: it answers from the key alone, so
    /// it says nothing about which boxes exist.
    fn check_box(&self, box_id: BoxId) -> Result<Role, Fault> {
        if self.scope.as_ref().is_some_and(|boxes| !boxes.contains(&box_id)) {
            return Err(Fault::new(Reason::KeyScope, "this key is restricted to other boxes")
                .hint("use a key that includes this box"));
        }
        match self.role(box_id) {
            Some(role @ (Role::Admin | Role::Owner)) => Ok(role),
            Some(role @ (Role::Viewer | Role::Editor)) => Err(Fault::new(
                Reason::RoleInsufficient,
                format!(
                    "the role {role} cannot use the API; the API requires admin or owner; ask an owner of the box"
                ),
            )),
            None => Err(no_such_box()),
        }
    }
}

/// The one answer for a box that does not exist and for a box of somebody else.
pub fn no_such_box() -> Fault {
    Fault::new(Reason::BoxUnknown, "the box does not exist, or this key has no access to it")
        .hint("GET /boxes lists the boxes that it can use")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Option<Role>, scope: Option<BTreeSet<BoxId>>, box_id: BoxId) -> Caller {
        Caller {
            user: UserId::generate(),
            prefix: "AAAAAAAA".into(),
            key_name: "test".into(),
            expires_at: None,
            permissions: Permissions::ALL,
            scope,
            origins: Origins::default(),
            audience: None,
            roles: role.map(|role| (box_id, role)).into_iter().collect(),
        }
    }

    fn reason(result: Result<Reading, Fault>) -> Option<Reason> {
        result.err().map(|fault| fault.reason)
    }

    #[test]
    fn only_admins_and_owners_use_the_api() {
        let id = BoxId::generate();
        for (role, expected) in [
            (Some(Role::Owner), None),
            (Some(Role::Admin), None),
            (Some(Role::Editor), Some(Reason::RoleInsufficient)),
            (Some(Role::Viewer), Some(Reason::RoleInsufficient)),
            (None, Some(Reason::BoxUnknown)),
        ] {
            assert_eq!(reason(caller(role, None, id).may_read(id)), expected, "{role:?}");
            assert_eq!(caller(role, None, id).may_write(id).is_ok(), expected.is_none(), "{role:?}");
        }
    }

    #[test]
    fn a_scoped_key_reaches_only_its_boxes_and_learns_nothing_of_others() {
        let (mine, other) = (BoxId::generate(), BoxId::generate());
        let scoped = caller(Some(Role::Owner), Some([mine].into()), mine);
        assert!(scoped.may_read(mine).is_ok());
        assert_eq!(reason(scoped.may_read(other)), Some(Reason::KeyScope));
        assert_eq!(reason(scoped.may_read(BoxId::generate())), Some(Reason::KeyScope));
    }

    #[test]
    fn each_role_in_the_dashboard_adds_to_the_one_before() {
        let id = BoxId::generate();
        for role in Role::ALL.map(Some).into_iter().chain([None]) {
            let roles = role.map(|role| (id, role)).into_iter().collect();
            let person = Person { user: UserId::generate(), operator: false, roles };
            assert_eq!(person.may_read(id).is_ok(), role.is_some(), "{role:?}");
            assert_eq!(person.may_write(id).is_ok(), role >= Some(Role::Editor), "{role:?}");
            assert_eq!(person.may_manage(id).is_ok(), role >= Some(Role::Admin), "{role:?}");
            assert_eq!(person.may_own(id).is_ok(), role >= Some(Role::Owner), "{role:?}");
            assert!(person.may_operate().is_err());
            assert!(person.may_read(BoxId::generate()).is_err());
        }
    }

    #[test]
    fn an_operator_looks_after_the_server_and_into_no_box() {
        let person = Person { user: UserId::generate(), operator: true, roles: BTreeMap::new() };
        assert!(person.may_operate().is_ok());
        assert!(person.may_read(BoxId::generate()).is_err());
    }

    #[test]
    fn an_admin_neither_makes_nor_unmakes_owners() {
        let id = BoxId::generate();
        let managing = |role| {
            let person = Person { user: UserId::generate(), operator: false, roles: [(id, role)].into() };
            person.may_manage(id).unwrap()
        };
        let (admin, owner) = (managing(Role::Admin), managing(Role::Owner));
        for (before, after) in [(None, Some(Role::Owner)), (Some(Role::Owner), None)] {
            assert!(admin.may_turn(before, after).is_err());
            assert!(owner.may_turn(before, after).is_ok());
        }
        assert!(admin.may_turn(Some(Role::Viewer), Some(Role::Admin)).is_ok());
    }

    #[test]
    fn a_scope_adds_no_rights() {
        let id = BoxId::generate();
        assert_eq!(
            reason(caller(Some(Role::Viewer), Some([id].into()), id).may_read(id)),
            Some(Reason::RoleInsufficient)
        );
        assert_eq!(reason(caller(None, Some([id].into()), id).may_read(id)), Some(Reason::BoxUnknown));
    }

    #[test]
    fn each_permission_opens_its_own_door_and_no_other() {
        let id = BoxId::generate();
        for permission in Permission::ALL {
            let mut key = caller(Some(Role::Owner), None, id);
            key.permissions = Permissions::of([permission]).unwrap();
            let doors = [
                (Permission::Search, key.may_search(id).is_ok()),
                (Permission::Search, key.searchable().is_ok()),
                (Permission::Read, key.may_read(id).is_ok()),
                (Permission::Read, key.readable().is_ok()),
                (Permission::Write, key.may_write(id).is_ok()),
                (Permission::Manage, key.may_manage(id).is_ok()),
                (Permission::Manage, key.may_own(id).is_ok()),
                (Permission::Manage, key.may_act().is_ok()),
            ];
            for (door, open) in doors {
                assert_eq!(open, door == permission, "{door} with {permission}");
            }
            let foreign = key.may_read(BoxId::generate()).map_err(|fault| fault.reason);
            let expected = if permission == Permission::Read { Reason::BoxUnknown } else { Reason::KeyScope };
            assert_eq!(foreign.unwrap_err(), expected, "a missing permission tells nothing of boxes");
        }
    }

    #[test]
    fn only_an_owners_key_owns() {
        let id = BoxId::generate();
        assert!(caller(Some(Role::Owner), None, id).may_own(id).is_ok());
        let admin = caller(Some(Role::Admin), None, id);
        assert!(admin.may_manage(id).is_ok());
        assert_eq!(admin.may_own(id).unwrap_err().reason, Reason::RoleInsufficient);
        assert!(admin.may_manage(id).unwrap().may_turn(None, Some(Role::Owner)).is_err());
    }

    #[test]
    fn a_key_for_web_sites_comes_from_their_pages_only() {
        let mut key = caller(None, None, BoxId::generate());
        for from in [None, Some("https://www.example.org"), Some("null")] {
            assert!(key.may_come_from(from).is_ok(), "a key for programs comes from anywhere: {from:?}");
        }
        key.origins = "https://www.example.org".parse().unwrap();
        assert!(key.may_come_from(Some("https://www.example.org")).is_ok());
        for from in
            [None, Some("https://example.org"), Some("http://www.example.org"), Some("null"), Some("")]
        {
            assert_eq!(key.may_come_from(from).unwrap_err().reason, Reason::KeyScope, "{from:?}");
        }
    }

    #[test]
    fn a_key_makes_none_that_can_do_more_than_itself() {
        let (mine, other) = (BoxId::generate(), BoxId::generate());
        let mut key = caller(Some(Role::Owner), Some([mine].into()), mine);
        key.permissions = "search,manage".parse().unwrap();
        key.expires_at = Some(Timestamp::from_second(1_000).unwrap());
        let acting = key.may_act().unwrap();
        assert!(acting.may_found().is_err());
        assert_eq!(acting.permissions(None).unwrap().to_string(), "search");
        assert!(acting.permissions(Some("search,manage".parse().unwrap())).is_ok());
        assert!(acting.permissions(Some("write".parse().unwrap())).is_err());
        assert_eq!(acting.boxes(None).unwrap(), Some(vec![mine]));
        assert!(acting.boxes(Some(vec![mine, other])).is_err());
        assert_eq!(acting.until(None).unwrap(), key.expires_at);
        assert!(acting.until(Some(Timestamp::from_second(2_000).unwrap())).is_err());
        assert!(acting.until(Some(Timestamp::from_second(500).unwrap())).is_ok());
        assert!(
            acting.reaches(Some(&[mine])) && !acting.reaches(Some(&[mine, other])) && !acting.reaches(None)
        );
        let manager = Caller { permissions: "manage".parse().unwrap(), scope: None, ..key };
        assert_eq!(manager.may_act().unwrap().permissions(None).unwrap().to_string(), "manage");
    }
}
