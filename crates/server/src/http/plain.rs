//! Plain HTTP on the TLS port: told to come back with HTTPS, and any key it carried is marked exposed.

use axum::{
    Router,
    extract::{Request, State},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
};

use super::{auth, error::Failure, layers};
use crate::app::App;

/// Answers everything with the same refusal, in the same envelope as everything else.
pub fn router(app: &App) -> Router {
    Router::new()
        .fallback(refuse)
        .with_state(app.clone())
        .layer(from_fn_with_state(app.clone(), layers::frame))
}

async fn refuse(State(app): State<App>, request: Request) -> Response {
    let (head, _) = request.into_parts();
    let from = layers::client_address(&app, &head);
    let exposed = auth::expose_plain_key(&app, from, &head.headers, &head.uri).await;
    let fault = exposed.err().unwrap_or_else(|| layers::https_required(&head.uri));
    layers::close(Failure(fault).into_response())
}
