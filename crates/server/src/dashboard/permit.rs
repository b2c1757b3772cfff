//! What a handler receives: who is signed in, the box in the path with the right to it, the file in it.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use engine::{
    Fault, Reason,
    access::{Managing, Operating, Owning, Person, Reading, Role, Writing},
    ids::{BoxId, FileId, Id, Kind},
    seams::catalog::{FileRecord, Session, User},
};

use super::visit::Visit;
use crate::{
    app::App,
    http::{audience::Audience, error::Failure},
};

/// Whoever asks, signed in or not.
pub(super) struct Visiting(pub(super) Arc<Visit>);

impl FromRequestParts<App> for Visiting {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Failure> {
        let visit = parts.extensions.get::<Arc<Visit>>().cloned();
        Ok(Visiting(visit.ok_or_else(|| Fault::internal("a page without a visit"))?))
    }
}

/// Somebody who is signed in.
#[derive(Clone)]
pub(super) struct SignedIn(pub(super) Arc<Visit>);

impl FromRequestParts<App> for SignedIn {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Visiting(visit) = Visiting::from_request_parts(parts, app).await?;
        match visit.session {
            Some(_) => Ok(SignedIn(visit)),
            None => Err(Failure(Fault::new(Reason::KeyMissing, "sign in first"))),
        }
    }
}

impl SignedIn {
    pub(super) fn session(&self) -> &Session {
        self.0.session.as_ref().expect("made of one only")
    }

    pub(super) fn user(&self) -> &User {
        &self.session().user
    }

    pub(super) fn person(&self) -> &Person {
        &self.session().person
    }
}

/// An operator, and the right of one.
pub(super) struct AsOperator {
    pub(super) who: SignedIn,
    pub(super) operating: Operating,
}

impl FromRequestParts<App> for AsOperator {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let who = SignedIn::from_request_parts(parts, app).await?;
        let operating = who.person().may_operate()?;
        Ok(AsOperator { who, operating })
    }
}

/// A right to a box.
pub(super) trait Permission: Sized + Send {
    /// The right, if the person has it.
    fn of(person: &Person, box_id: BoxId) -> Result<Self, Fault>;

    /// Every right includes that to read.
    fn reading(&self) -> &Reading;
}

impl Permission for Reading {
    fn of(person: &Person, box_id: BoxId) -> Result<Self, Fault> {
        person.may_read(box_id)
    }

    fn reading(&self) -> &Reading {
        self
    }
}

impl Permission for Writing {
    fn of(person: &Person, box_id: BoxId) -> Result<Self, Fault> {
        person.may_write(box_id)
    }

    fn reading(&self) -> &Reading {
        Writing::reading(self)
    }
}

impl Permission for Managing {
    fn of(person: &Person, box_id: BoxId) -> Result<Self, Fault> {
        person.may_manage(box_id)
    }

    fn reading(&self) -> &Reading {
        Managing::reading(self)
    }
}

impl Permission for Owning {
    fn of(person: &Person, box_id: BoxId) -> Result<Self, Fault> {
        person.may_own(box_id)
    }

    fn reading(&self) -> &Reading {
        self.managing().reading()
    }
}

/// The box in the path, as pages show it.
#[derive(Clone)]
pub(super) struct Here {
    pub(super) id: BoxId,
    pub(super) name: String,
    pub(super) role: Role,
}

impl Here {
    pub(super) fn may_write(&self) -> bool {
        self.role >= Role::Editor
    }

    pub(super) fn may_manage(&self) -> bool {
        self.role >= Role::Admin
    }

    pub(super) fn may_own(&self) -> bool {
        self.role == Role::Owner
    }
}

/// Somebody in a box, with a right to it.
pub(super) struct InBox<P> {
    pub(super) who: SignedIn,
    pub(super) here: Here,
    pub(super) right: P,
}

impl<P> InBox<P> {
    /// Whom a long answer about the box is for.
    pub(super) fn audience(&self, app: &App) -> Audience {
        Audience::signed_in(app, &self.who.0.token, self.who.user().id, self.here.id)
    }
}

impl<P: Permission> FromRequestParts<App> for InBox<P> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let who = SignedIn::from_request_parts(parts, app).await?;
        let id = in_path(parts, app, "box_id").await.ok_or_else(no_such_box)?;
        let right = P::of(who.person(), id)?;
        let record = app.catalog.boxes_of(&[*right.reading()]).await?.pop().ok_or_else(no_such_box)?;
        let role = who.person().role(id).ok_or_else(no_such_box)?;
        Ok(InBox { who, here: Here { id, name: record.name.as_str().to_string(), role }, right })
    }
}

/// Somebody at a file of a box, with a right to that.
pub(super) struct AtFile<P> {
    pub(super) at: InBox<P>,
    pub(super) file: FileRecord,
}

impl<P: Permission> FromRequestParts<App> for AtFile<P> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let at = InBox::<P>::from_request_parts(parts, app).await?;
        let id: FileId = in_path(parts, app, "file_id").await.ok_or_else(no_such_file)?;
        let file = app.catalog.files(at.right.reading(), &[id]).await?.pop().flatten();
        Ok(AtFile { at, file: file.ok_or_else(no_such_file)? })
    }
}

/// The identifier that the path names; a text that is none names nothing.
pub(super) async fn in_path<K: Kind>(parts: &mut Parts, app: &App, name: &str) -> Option<Id<K>> {
    let Path(segments) = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await.ok()?;
    segments.into_iter().find(|(segment, _)| segment == name)?.1.parse().ok()
}

/// The identifier of this kind in the path.
pub(super) struct Named<K>(pub(super) Id<K>);

impl<K: Kind> FromRequestParts<App> for Named<K> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Ok(Path(segments)) = Path::<Vec<(String, String)>>::from_request_parts(parts, app).await else {
            return Err(Failure(not_found()));
        };
        let found = segments.iter().find_map(|(_, value)| value.parse().ok());
        Ok(Named(found.ok_or_else(not_found)?))
    }
}

fn not_found() -> Fault {
    Fault::new(Reason::NotFound, "there is nothing with that name")
}

fn no_such_box() -> Fault {
    Fault::new(Reason::BoxUnknown, "the box does not exist, or you are not a member of it")
        .hint("ask one of its owners to add you")
}

pub(super) fn no_such_file() -> Fault {
    Fault::new(Reason::NotFound, "there is no such file in this box; it may have been deleted")
}
