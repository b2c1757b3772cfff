//! Everything that is served, under one roof: the API, the dashboard and the documentation, with the layers around them.

use axum::{Router, extract::DefaultBodyLimit};
use tower::ServiceExt;

use crate::{
    app::App,
    dashboard, docs,
    http::{aliases, layers, routes},
};

/// All routes with all layers around them.
pub fn router(app: &App) -> Router {
    let routes = routes::router()
        .merge(dashboard::router(app))
        .merge(docs::router(app.assets.look()))
        .fallback(dashboard::nowhere)
        .method_not_allowed_fallback(layers::unknown_method)
        .with_state(app.clone())
        // Every reader of a body has its own limit.
        .layer(DefaultBodyLimit::disable());
    let stack = layers::stack(app, routes);
    Router::new().fallback_service(
        stack.into_service().map_request(aliases::resolve).map_response(layers::keep_allow_to_405),
    )
}
