//! Where a database is, read from its URL.

use std::{path::PathBuf, sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore, pki_types::CertificateDer, pki_types::pem::PemObject};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Error;

/// How long one host may take to answer: a dead one must not hold up the next.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long sent data may stay unacknowledged before the connection counts as dead.
const DEAD_AFTER: Duration = Duration::from_secs(10);

/// A database and how to talk to it.
///
/// `postgresql://user:password@one:5432,two:5432/name?target_session_attrs=read-write`, as libpq reads it, and two
/// parameters of ours: `schema` names the schema that our tables are in (created where it is missing), `sslrootcert` a PEM
/// file of the authority to trust in place of the system's.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) tls: MakeRustlsConnect,
    /// The schema of our tables, where it is not the user's own.
    pub(crate) schema: Option<String>,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, Error> {
        let (plain, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (mut schema, mut authority, mut theirs) = (None, None, Vec::new());
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) => schema = Some(name.to_string()),
                Some(("sslrootcert", path)) => authority = Some(PathBuf::from(path)),
                _ => theirs.push(parameter),
            }
        }
        let plain_name = |name: &String| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if schema.as_ref().is_some_and(|name| !plain_name(name)) {
            return Err(Error::Address("a schema is named with letters, digits and underscores".into()));
        }
        let mut config: tokio_postgres::Config =
            format!("{plain}?{}", theirs.join("&")).parse().map_err(|error: tokio_postgres::Error| {
                // The address may hold a password: only what is wrong with it is said.
                Error::Address(format!("not an address of PostgreSQL: {error}"))
            })?;
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(DEAD_AFTER).keepalives_idle(DEAD_AFTER);
        config.application_name("quire");
        if !theirs.iter().any(|parameter| parameter.starts_with("sslmode=")) {
            // Nothing that leaves the machine goes in the clear unless somebody says so.
            let local = config.get_hosts().iter().all(is_local);
            config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
        }
        let tls = MakeRustlsConnect::new(trusting(authority.as_deref(), &config)?);
        Ok(Address { config, tls, schema })
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

fn trusting(
    authority: Option<&std::path::Path>,
    config: &tokio_postgres::Config,
) -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(path) => {
            let wrong =
                |error: &dyn std::fmt::Display| Error::Address(format!("{}: {error}", path.display()));
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
                roots.add(certificate).map_err(|error| wrong(&error))?;
            }
        }
        None if config.get_ssl_mode() != SslMode::Disable => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        None => {}
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Address(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_machine_is_encrypted() {
        let mode = |url: &str| Address::parse(url).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgresql://quire@127.0.0.1/quire"), SslMode::Disable);
        assert_eq!(mode("postgresql://quire@db.example.org/quire"), SslMode::Require);
        assert_eq!(mode("postgresql://quire@127.0.0.1,10.0.0.7/quire"), SslMode::Require);
        assert_eq!(mode("postgresql://quire@10.0.0.7/quire?sslmode=disable"), SslMode::Disable);
    }

    #[test]
    fn parameters_of_ours_are_taken_out() {
        let url =
            "postgresql://quire@127.0.0.1:1,127.0.0.1:2/quire?schema=a_1&target_session_attrs=read-write";
        let address = Address::parse(url).unwrap();
        assert_eq!(address.schema.as_deref(), Some("a_1"));
        assert_eq!(address.config.get_hosts().len(), 2);
        for wrong in ["postgresql://h/d?schema=a;b", "mysql://h/d", "postgresql://h/d?nonsense=1"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
