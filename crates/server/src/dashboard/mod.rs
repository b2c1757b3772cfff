//! The dashboard: what people see at `/`, from the same binary, without a request to anybody else.
//!
//! A request goes `visit → csrf → page::present → a handler`: [`visit`] finds out who it is, [`csrf`] that the request
//! comes from one of our pages, [`mod@page`] renders the result. [`ROUTES`] lists every route and the right it needs; a
//! handler receives that right as an argument ([`permit`]), and can reach nothing without it.

mod assets;
mod audit;
mod boxes;
mod certificate;
mod chat;
mod checklist;
mod consent;
mod conversations;
mod cookies;
mod csrf;
mod evaluation;
mod fields;
mod file;
mod files;
mod integrations;
mod keys;
mod members;
mod narrowed;
mod notices;
mod oidc;
mod onetime;
mod opened;
mod operator;
mod page;
mod passkeys;
mod permit;
mod playground;
mod profile;
mod qr;
mod questions;
mod rendered;
mod said;
mod search;
mod second_step;
mod settings;
mod show;
mod signin;
mod snippets;
mod tries;
mod upload;
mod usage;
mod visit;
mod webhooks;

use axum::{
    Router,
    http::Method,
    middleware::{from_fn, from_fn_with_state},
    routing::{MethodRouter, get, post},
};

pub use onetime::set_up_link;
pub(crate) use page::{nowhere, with_page_headers};

use crate::{app::App, http::compress::compress};

/// What a route requires of the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// To be signed in.
    SignedIn,
    /// A role in the box in the path: viewer or more.
    Reading,
    /// To be editor of it or more.
    Writing,
    /// To be admin of it or more.
    Managing,
    /// To be its owner.
    Owning,
    /// To be an operator of the server.
    Operating,
}

/// One way into the dashboard.
pub struct Route {
    /// GET reads, POST changes.
    pub method: Method,
    /// The path, with `{box_id}` and the like.
    pub path: &'static str,
    /// What it requires.
    pub needs: Needs,
    handler: fn() -> MethodRouter<App>,
}

/// A page or a part of one.
const fn page(path: &'static str, needs: Needs, handler: fn() -> MethodRouter<App>) -> Route {
    Route { method: Method::GET, path, needs, handler }
}

/// Something that is done; asks for the form's token.
const fn form(path: &'static str, needs: Needs, handler: fn() -> MethodRouter<App>) -> Route {
    Route { method: Method::POST, path, needs, handler }
}

/// Every way into the dashboard. A test walks it with everybody.
pub const ROUTES: &[Route] = &[
    // Coming in and going out.
    page("/sign-in", Needs::Nothing, || get(signin::show)),
    form("/sign-in", Needs::Nothing, || post(signin::sign_in)),
    page("/sign-in/code", Needs::Nothing, || get(second_step::show)),
    form("/sign-in/code", Needs::Nothing, || post(second_step::sign_in)),
    form("/sign-in/passkey/begin", Needs::Nothing, || post(passkeys::ask)),
    form("/sign-in/passkey", Needs::Nothing, || post(passkeys::sign_in)),
    page("/sign-in/oidc", Needs::Nothing, || get(oidc::leave)),
    page("/sign-in/oidc/callback", Needs::Nothing, || get(oidc::come_back)),
    form("/sign-out", Needs::SignedIn, || post(signin::sign_out)),
    page("/welcome", Needs::Nothing, || get(onetime::show)),
    form("/welcome", Needs::Nothing, || post(onetime::accept)),
    // Letting programs in.
    page("/oauth/authorize", Needs::SignedIn, || get(consent::show)),
    form("/oauth/authorize", Needs::SignedIn, || post(consent::decide)),
    // Boxes.
    page("/", Needs::SignedIn, || get(boxes::list)),
    form("/boxes", Needs::SignedIn, || post(boxes::add)),
    form("/account/checklist/hide", Needs::SignedIn, || post(checklist::hide)),
    // The files of a box.
    page("/boxes/{box_id}", Needs::Reading, || get(files::list)),
    form("/boxes/{box_id}/files", Needs::Writing, || post(upload::upload)),
    form("/boxes/{box_id}/files/add", Needs::Writing, || post(upload::add)),
    form("/boxes/{box_id}/files/selected", Needs::Writing, || post(files::selected)),
    form("/boxes/{box_id}/files/labels/undo", Needs::Writing, || post(files::undo_labels)),
    form("/boxes/{box_id}/files/retry-failed", Needs::Writing, || post(files::retry_failed)),
    page("/boxes/{box_id}/events", Needs::Reading, || get(files::events)),
    page("/boxes/{box_id}/files/{file_id}", Needs::Reading, || get(file::show)),
    page("/boxes/{box_id}/files/{file_id}/report", Needs::Reading, || get(file::report)),
    page("/boxes/{box_id}/files/{file_id}/pages/{number}", Needs::Reading, || get(file::one_page)),
    page("/boxes/{box_id}/files/{file_id}/pages/{number}/image", Needs::Reading, || get(file::picture)),
    page("/boxes/{box_id}/files/{file_id}/original", Needs::Reading, || get(file::original)),
    page("/boxes/{box_id}/files/{file_id}/download", Needs::Reading, || get(file::download)),
    form("/boxes/{box_id}/files/{file_id}/change", Needs::Writing, || post(file::change)),
    form("/boxes/{box_id}/files/{file_id}/read-again", Needs::Writing, || post(file::read_again)),
    form("/boxes/{box_id}/files/{file_id}/delete", Needs::Writing, || post(file::delete)),
    page("/files/{file_id}", Needs::SignedIn, || get(opened::show)),
    // Asking it.
    page("/boxes/{box_id}/search", Needs::Reading, || get(search::show)),
    form("/boxes/{box_id}/search", Needs::Reading, || post(search::search)),
    page("/search", Needs::SignedIn, || get(search::show_everywhere)),
    form("/search", Needs::SignedIn, || post(search::search_everywhere)),
    page("/boxes/{box_id}/chat", Needs::Reading, || get(chat::show)),
    form("/boxes/{box_id}/chat", Needs::Reading, || post(chat::ask)),
    form("/boxes/{box_id}/rate", Needs::Reading, || post(chat::rate)),
    page("/boxes/{box_id}/questions", Needs::Managing, || get(questions::list)),
    page("/boxes/{box_id}/evaluation", Needs::Managing, || get(evaluation::show)),
    form("/boxes/{box_id}/evaluation", Needs::Managing, || post(evaluation::add)),
    form("/boxes/{box_id}/evaluation/import", Needs::Managing, || post(evaluation::import)),
    page("/boxes/{box_id}/evaluation/export", Needs::Managing, || get(evaluation::export)),
    form("/boxes/{box_id}/evaluation/run", Needs::Managing, || post(evaluation::start)),
    form("/boxes/{box_id}/evaluation/questions/{question_id}/change", Needs::Managing, || {
        post(evaluation::change)
    }),
    form("/boxes/{box_id}/evaluation/questions/{question_id}/remove", Needs::Managing, || {
        post(evaluation::remove)
    }),
    page("/boxes/{box_id}/chat/{conversation_id}", Needs::Reading, || get(chat::continued)),
    form("/boxes/{box_id}/conversations", Needs::Reading, || post(conversations::keep)),
    form("/boxes/{box_id}/conversations/{conversation_id}/rename", Needs::Reading, || {
        post(conversations::rename)
    }),
    form("/boxes/{box_id}/conversations/{conversation_id}/delete", Needs::Reading, || {
        post(conversations::delete)
    }),
    form("/boxes/{box_id}/conversations/{conversation_id}/share", Needs::Reading, || {
        post(conversations::share)
    }),
    form("/boxes/{box_id}/conversations/{conversation_id}/unshare", Needs::Reading, || {
        post(conversations::unshare)
    }),
    page("/boxes/{box_id}/shared/{conversation_id}", Needs::Reading, || get(conversations::shared)),
    // Who has which role in it.
    page("/boxes/{box_id}/members", Needs::Reading, || get(members::list)),
    form("/boxes/{box_id}/members", Needs::Managing, || post(members::add)),
    form("/boxes/{box_id}/leave", Needs::Reading, || post(members::leave)),
    form("/boxes/{box_id}/members/{user_id}/role", Needs::Managing, || post(members::change)),
    form("/boxes/{box_id}/members/{user_id}/remove", Needs::Managing, || post(members::remove)),
    form("/boxes/{box_id}/invitations/{link_id}/withdraw", Needs::Managing, || post(members::withdraw)),
    // Its settings, and what was done in it.
    page("/boxes/{box_id}/settings", Needs::Managing, || get(settings::show)),
    form("/boxes/{box_id}/rename", Needs::Managing, || post(settings::rename)),
    form("/boxes/{box_id}/language", Needs::Managing, || post(settings::set_language)),
    form("/boxes/{box_id}/hand-over", Needs::Owning, || post(settings::hand_over)),
    form("/boxes/{box_id}/delete", Needs::Owning, || post(settings::delete)),
    page("/boxes/{box_id}/audit", Needs::Managing, || get(audit::of_box)),
    page("/boxes/{box_id}/audit/export", Needs::Managing, || get(audit::export_of_box)),
    // The visitor's account.
    page("/account/notices", Needs::SignedIn, || get(notices::show)),
    page("/account/notices/ids", Needs::SignedIn, || get(notices::ids)),
    page("/account/keys", Needs::SignedIn, || get(keys::list)),
    form("/account/keys", Needs::SignedIn, || post(keys::add)),
    form("/account/keys/{prefix}/revoke", Needs::SignedIn, || post(keys::revoke)),
    page("/account/integrations", Needs::SignedIn, || get(integrations::show)),
    page("/account/playground", Needs::SignedIn, || get(playground::show)),
    page("/account/certificate", Needs::SignedIn, || get(certificate::download)),
    page("/account/webhooks", Needs::SignedIn, || get(webhooks::list)),
    form("/account/webhooks", Needs::SignedIn, || post(webhooks::add)),
    form("/account/webhooks/{webhook_id}/delete", Needs::SignedIn, || post(webhooks::delete)),
    form("/account/webhooks/{webhook_id}/rotate", Needs::SignedIn, || post(webhooks::rotate)),
    form("/account/webhooks/{webhook_id}/attempts/{number}/replay", Needs::SignedIn, || {
        post(webhooks::replay)
    }),
    page("/account/usage", Needs::SignedIn, || get(usage::show)),
    page("/account/profile", Needs::SignedIn, || get(profile::show)),
    form("/account/profile", Needs::SignedIn, || post(profile::rename)),
    form("/account/language", Needs::SignedIn, || post(profile::set_language)),
    form("/account/password", Needs::SignedIn, || post(profile::change_password)),
    page("/account/second-step", Needs::SignedIn, || get(second_step::account)),
    form("/account/second-step/begin", Needs::SignedIn, || post(second_step::begin)),
    form("/account/second-step/confirm", Needs::SignedIn, || post(second_step::confirm)),
    form("/account/second-step/remove", Needs::SignedIn, || post(second_step::remove)),
    page("/account/passkeys", Needs::SignedIn, || get(passkeys::list)),
    form("/account/passkeys/begin", Needs::SignedIn, || post(passkeys::begin)),
    form("/account/passkeys", Needs::SignedIn, || post(passkeys::add)),
    form("/account/passkeys/remove", Needs::SignedIn, || post(passkeys::remove)),
    form("/account/connect", Needs::SignedIn, || post(oidc::connect)),
    form("/account/sessions/{session_id}/end", Needs::SignedIn, || post(profile::end_session)),
    form("/account/sign-out-everywhere", Needs::SignedIn, || post(profile::sign_out_everywhere)),
    // Administering the server.
    page("/operator/users", Needs::Operating, || get(operator::users::list)),
    form("/operator/users", Needs::Operating, || post(operator::users::invite)),
    form("/operator/users/{user_id}/change", Needs::Operating, || post(operator::users::change)),
    form("/operator/users/{user_id}/password-link", Needs::Operating, || {
        post(operator::users::password_link)
    }),
    form("/operator/users/{user_id}/confirm", Needs::Operating, || post(operator::users::confirm)),
    form("/operator/users/{user_id}/hand-over", Needs::Operating, || post(operator::users::hand_over)),
    form("/operator/users/{user_id}/second-step/remove", Needs::Operating, || {
        post(operator::users::remove_second_step)
    }),
    form("/operator/users/{user_id}/unlock", Needs::Operating, || post(operator::users::unlock)),
    form("/operator/invitations/{link_id}/withdraw", Needs::Operating, || post(operator::users::withdraw)),
    page("/operator/plans", Needs::Operating, || get(operator::plans::list)),
    form("/operator/plans", Needs::Operating, || post(operator::plans::put)),
    page("/operator/model", Needs::Operating, || get(operator::model::show)),
    form("/operator/model", Needs::Operating, || post(operator::model::choose)),
    form("/operator/model/try", Needs::Operating, || post(operator::model::try_out)),
    page("/operator/health", Needs::Operating, || get(operator::health::show)),
    page("/operator/system", Needs::Operating, || get(operator::system::show)),
    page("/operator/audit", Needs::Operating, || get(audit::of_all)),
    page("/operator/audit/export", Needs::Operating, || get(audit::export_of_all)),
];

/// The routes with what every visit passes, from the bottom up; assets need none of it.
pub(crate) fn router(app: &App) -> Router<App> {
    ROUTES
        .iter()
        .fold(Router::new(), |router, route| router.route(route.path, (route.handler)()))
        .layer(from_fn_with_state(app.clone(), csrf::check))
        .layer(from_fn_with_state(app.clone(), page::present))
        .layer(from_fn_with_state(app.clone(), visit::enter))
        .route(assets::PATH, get(assets::send))
        .route("/favicon.ico", get(assets::icon))
        .layer(from_fn(compress))
}
