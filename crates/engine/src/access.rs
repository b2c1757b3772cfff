//! Who may do what.
//!
//! Permission is a value: only this file makes a [`Reading`], a [`Writing`], a [`Managing`], an
//! [`Owning`] or an [`Operating`], and whatever reads or changes something asks for one, so a forgotten check does not
//! compile. A [`Caller`] comes with an API key, a [`Person`] is signed in to the dashboard.

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
    /// The only boxes that the key is valid for; `None` is all boxes of the user.
    pub scope: Option<BTreeSet<BoxId>>,
    /// The user's role in each of their boxes.
    pub roles: BTreeMap<BoxId, Role>,
}

impl Caller {
    /// The right to read a box through the API.
    pub fn may_read(&self, box_id: BoxId) -> Result<Reading, Fault> {
        self.check(box_id).map(|()| Reading { box_id })
    }

    /// The right to change a box's files through the API.
    pub fn may_write(&self, box_id: BoxId) -> Result<Writing, Fault> {
        self.check(box_id).map(|()| Writing { reading: Reading { box_id } })
    }

    /// Every box that the key may be used on.
    pub fn readable(&self) -> Vec<Reading> {
        self.roles.keys().filter_map(|&box_id| self.may_read(box_id).ok()).collect()
    }

    /// The role the user has in a box, whether or not it allows anything.
    pub fn role(&self, box_id: BoxId) -> Option<Role> {
        self.roles.get(&box_id).copied()
    }

    /// The API asks for the same role to read and to write. The scope comes first: it answers from the key alone, so
    /// it says nothing about which boxes exist.
    fn check(&self, box_id: BoxId) -> Result<(), Fault> {
        if self.scope.as_ref().is_some_and(|boxes| !boxes.contains(&box_id)) {
            return Err(Fault::new(Reason::KeyScope, "this key is restricted to other boxes")
                .hint("use a key that includes this box"));
        }
        match self.role(box_id) {
            Some(Role::Admin | Role::Owner) => Ok(()),
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
            scope,
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
}
