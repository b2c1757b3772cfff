//! Who does something through the API, for the audit log.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts};
use engine::{Fault, access::Caller, ids::BoxId, seams::catalog::Action};

use super::{auth::Asking, error::Failure, layers};
use crate::{app::App, manage::By};

/// A key in use, and where from.
pub struct Actor {
    app: App,
    caller: Arc<Caller>,
    address: String,
}

impl FromRequestParts<App> for Actor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Failure> {
        let Asking(caller) = Asking::from_request_parts(parts, app).await?;
        let address = layers::client_address(app, parts).to_canonical().to_string();
        Ok(Actor { app: app.clone(), caller, address })
    }
}

impl Actor {
    /// Records what was done in a box, and to what.
    pub async fn note(&self, action: Action, box_id: BoxId, target: &str) -> Result<(), Fault> {
        self.by().note(action, Some(box_id), target).await
    }

    /// Who it is, to those who do what the dashboard does too.
    pub(crate) fn by(&self) -> By {
        By {
            app: self.app.clone(),
            user: Some(self.caller.user),
            who: format!("API key {} ({})", self.caller.key_name, self.caller.prefix),
            address: self.address.clone(),
        }
    }
}
