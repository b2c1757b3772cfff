//! The certificate: the operator's, or a self-signed one that is made once and kept.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::{
    ServerConfig,
    client::verify_server_name,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    server::ParsedCertificate,
};

use crate::config::Http;

/// Where a self-signed certificate is kept.
pub fn certificate_path(data: &Path) -> PathBuf {
    data.join("tls").join("cert.pem")
}

/// Where its key is kept.
pub fn key_path(data: &Path) -> PathBuf {
    certificate_path(data).with_file_name("key.pem")
}

/// TLS 1.2 and 1.3, h2 and http/1.1, with the configured certificate or our own.
pub fn server_config(http: &Http, data: &Path) -> Result<Arc<ServerConfig>> {
    let (certificate, key) = match (&http.certificate, &http.private_key) {
        (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
        _ => own_certificate(data, &http.certificate_names)?,
    };
    let chain = CertificateDer::pem_file_iter(&certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("cannot read the certificate {}", certificate.display()))?;
    let key = PrivateKeyDer::from_pem_file(&key)
        .with_context(|| format!("cannot read the key {}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .with_context(|| format!("{} and its key do not fit", certificate.display()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // The strongest suite that both have, whatever the client would like best.
    config.ignore_client_order = true;
    config.ticketer = ring::Ticketer::new()?;
    Ok(Arc::new(config))
}

/// The certificate that is kept in the data folder; a new one where it lacks a name that is wanted.
fn own_certificate(data: &Path, further: &[String]) -> Result<(PathBuf, PathBuf)> {
    let certificate = certificate_path(data);
    let key = key_path(data);
    if certificate.exists() && key.exists() {
        let Some(missing) = further.iter().find(|name| !is_good_for(&certificate, name)) else {
            return Ok((certificate, key));
        };
        tracing::warn!(
            "The certificate lacks the name {missing}: creating a new one; clients need the new {}",
            certificate.display()
        );
    }
    stores::make_private_folder(certificate.parent().expect("it has a folder"))?;
    make_certificate(&certificate, &key, further)?;
    tracing::info!("Created a self-signed certificate at {}", certificate.display());
    Ok((certificate, key))
}

/// Whether a client that asks for this name or address accepts the certificate.
fn is_good_for(certificate: &Path, name: &str) -> bool {
    let good = || {
        let certificate = CertificateDer::from_pem_file(certificate).ok()?;
        let parsed = ParsedCertificate::try_from(&certificate).ok()?;
        verify_server_name(&parsed, &ServerName::try_from(name).ok()?).ok()
    };
    good().is_some()
}

/// Good for this machine's names and those that are set, and as its own CA file: clients pin exactly this certificate.
fn make_certificate(certificate: &Path, key: &Path, further: &[String]) -> Result<()> {
    let host = gethostname::gethostname().to_string_lossy().into_owned();
    let mut names = vec!["localhost".to_string(), "127.0.0.1".into(), "::1".into()];
    // A host name that is no DNS name cannot stand in a certificate, and nobody could connect to it either.
    if rcgen::string::Ia5String::try_from(host.as_str()).is_ok() && !host.is_empty() && host != "localhost" {
        names.push(host);
    }
    for name in further {
        if ServerName::try_from(name.as_str()).is_err() {
            bail!("http.certificate_names: `{name}` is neither a host name nor an address");
        }
        names.push(name.clone());
    }
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "quire on this machine");
    params.is_ca = IsCa::ExplicitNoCa;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let pair = KeyPair::generate()?;
    let signed = params.self_signed(&pair)?;
    write_private(key, &pair.serialize_pem())?;
    fs::write(certificate, signed.pem()).with_context(|| format!("cannot write {}", certificate.display()))
}

fn write_private(path: &Path, text: &str) -> Result<()> {
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    let mut file = file.with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_certificate_is_made_for_a_name_that_is_set_later() {
        let data = tempfile::tempdir().unwrap();
        let (path, _) = own_certificate(data.path(), &[]).unwrap();
        let first = fs::read(&path).unwrap();
        assert!(is_good_for(&path, "localhost") && is_good_for(&path, "127.0.0.1"));
        assert!(!is_good_for(&path, "docs.example.org"));
        own_certificate(data.path(), &[]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first, "nothing changed: the same one");
        let names = ["docs.example.org".to_string(), "192.168.1.20".into()];
        own_certificate(data.path(), &names).unwrap();
        assert!(is_good_for(&path, "docs.example.org") && is_good_for(&path, "192.168.1.20"));
        assert!(is_good_for(&path, "localhost"), "what it had before, it keeps");
        let second = fs::read(&path).unwrap();
        own_certificate(data.path(), &names).unwrap();
        assert_eq!(fs::read(&path).unwrap(), second);
        let wrong = own_certificate(data.path(), &["not a name".into()]).unwrap_err().to_string();
        assert!(wrong.contains("`not a name`"), "{wrong}");
    }
}
