//! The certificate that this server made itself: programs and other computers need it to trust the server.

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use engine::{Fault, Reason};

use super::permit::SignedIn;
use crate::{
    app::App,
    config::Tls,
    http::{error::Failure, tls},
};

/// What it is called once it is downloaded; the samples name it.
pub(super) const NAME: &str = "quire-cert.pem";

/// Whether the server has one: not where the operator brought another, or a proxy has it.
pub(super) fn of(app: &App) -> bool {
    app.config.http.certificate.is_none() && app.config.http.tls != Tls::Proxy
}

/// Sends it. It is no secret: every connection begins with it.
pub(super) async fn download(State(app): State<App>, _: SignedIn) -> Result<Response, Failure> {
    let none = || Fault::new(Reason::NotFound, "this server has a certificate that browsers already trust");
    if !of(&app) {
        return Err(none().into());
    }
    let pem = tokio::fs::read(tls::certificate_path(&app.about.data)).await.map_err(Fault::internal)?;
    let mut response = pem.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-pem-file"));
    let disposition =
        HeaderValue::try_from(format!("attachment; filename=\"{NAME}\"")).expect("plain letters");
    headers.insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}
