//! Certificates, and who must show one.

use super::certificate::first_end;
use super::config::TlsFiles;
use super::reload::Source;
use parking_lot::RwLock;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::{ConfigBuilder, RootCertStore, WantsVerifier};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The certificates of now. Cheap to clone; every clone sees those of the last reload.
#[derive(Clone)]
pub struct Tls {
    now: Arc<RwLock<Made>>,
    is_mutual: bool,
}

/// Protocols are agreed on in the handshake, so each kind of endpoint has a configuration of its own.
#[derive(Clone)]
struct Made {
    http: Arc<ServerConfig>,
    pg: Arc<ServerConfig>,
    end: Option<i64>,
}

impl Tls {
    /// Reads the files; gives the source that reads them again when they change.
    ///
    /// # Errors
    /// What is wrong with the files, with the key of the one at fault. Later faults are logged, and the certificates from
    /// before go on to hold.
    pub fn load(files: &TlsFiles) -> Result<(Self, Source), String> {
        let mut paths = vec![files.cert.clone(), files.key.clone()];
        paths.extend(files.is_mutual().then(|| files.client_ca.clone()));
        let first = make(&read_all(&paths)?)?;
        let now = Arc::new(RwLock::new(first));
        let to = now.clone();
        let source = Source::load("tls", paths, move |contents| {
            *to.write() = make(contents)?;
            Ok(())
        })?;
        Ok((Self { now, is_mutual: files.is_mutual() }, source))
    }

    /// Whether clients must show a certificate.
    pub fn is_mutual(&self) -> bool {
        self.is_mutual
    }

    /// When the first certificate of the chain ends, seconds since 1970-01-01 UTC; none where that cannot be read.
    pub fn end(&self) -> Option<i64> {
        self.now.read().end
    }

    /// For a new connection that speaks HTTP or gRPC.
    pub fn http(&self) -> TlsAcceptor {
        self.now.read().http.clone().into()
    }

    /// For a new connection of the PostgreSQL port.
    pub fn pg(&self) -> TlsAcceptor {
        self.now.read().pg.clone().into()
    }
}

fn read_all(paths: &[PathBuf]) -> Result<Vec<Vec<u8>>, String> {
    let read = |path: &PathBuf| {
        std::fs::read(path).map_err(|e| format!("server.tls: {}: cannot be read: {e}", path.display()))
    };
    paths.iter().map(read).collect()
}

fn make(contents: &[Vec<u8>]) -> Result<Made, String> {
    let (cert, key, client_ca) = match contents {
        [cert, key] => (cert, key, None),
        [cert, key, client_ca] => (cert, key, Some(client_ca)),
        _ => return Err("server.tls: a certificate and a key are expected".to_owned()),
    };
    let chain = certificates("cert", cert)?;
    let end = first_end(&chain);
    let key =
        PrivateKeyDer::from_pem_slice(key).map_err(|e| format!("server.tls.key: no private key: {e}"))?;
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS: {e}"))?;
    let mut http = verified(builder, client_ca)?
        .with_single_cert(chain, key)
        .map_err(|e| format!("server.tls.cert and server.tls.key: {e}"))?;
    let mut pg = http.clone();
    http.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    pg.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(Made { http: Arc::new(http), pg: Arc::new(pg), end })
}

type WantsCert = ConfigBuilder<ServerConfig, rustls::server::WantsServerCert>;

fn verified(
    builder: ConfigBuilder<ServerConfig, WantsVerifier>,
    client_ca: Option<&Vec<u8>>,
) -> Result<WantsCert, String> {
    let Some(client_ca) = client_ca else { return Ok(builder.with_no_client_auth()) };
    let mut roots = RootCertStore::empty();
    for certificate in certificates("client_ca", client_ca)? {
        roots.add(certificate).map_err(|e| format!("server.tls.client_ca: {e}"))?;
    }
    let provider = builder.crypto_provider().clone();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|e| format!("server.tls.client_ca: {e}"))?;
    Ok(builder.with_client_cert_verifier(verifier))
}

fn certificates(key: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match all {
        Ok(all) if all.is_empty() => Err(format!("server.tls.{key}: the file has no certificate in PEM")),
        Ok(all) => Ok(all),
        Err(error) => Err(format!("server.tls.{key}: {error}")),
    }
}
