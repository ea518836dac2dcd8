//! Whom a verb trusts that talks to a server over https.

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::path::{Path, PathBuf};

/// Whose signatures are taken.
#[derive(Debug, Clone, Default, Args)]
pub struct Trust {
    /// Certificates (PEM) of your own authority, for a server at an https address, beside the public ones.
    // Clap's own reader of paths refuses an empty variable, and with it every verb that has one.
    #[arg(long, env = "GROUNDLINE_CA_FILE", value_name = "PATH",
        value_parser = OsStringValueParser::new().map(PathBuf::from))]
    ca_file: Option<PathBuf>,
}

impl Trust {
    /// A client that takes these signatures. The file is read now.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no certificate.
    pub(super) fn client(&self) -> Result<reqwest::Client, String> {
        let Some(path) = self.named() else { return Ok(reqwest::Client::new()) };
        let wrong = |error: reqwest::Error| told(path, &format!("holds what is no certificate: {error}"));
        let pem = read(path)?;
        let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(wrong)?;
        if found.is_empty() {
            return Err(told(path, "holds no certificate (PEM)"));
        }
        let mut client = reqwest::Client::builder();
        for one in found {
            client = client.add_root_certificate(one);
        }
        client.build().map_err(wrong)
    }

    /// The certificates, PEM; none without a file.
    ///
    /// # Errors
    /// As [`Trust::client`].
    pub(super) fn pem(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(path) = self.named() else { return Ok(None) };
        self.client()?;
        read(path).map(Some)
    }

    /// The file; an empty name is none.
    fn named(&self) -> Option<&Path> {
        self.ca_file.as_deref().filter(|path| !path.as_os_str().is_empty())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| told(path, &format!("cannot be read: {error}")))
}

fn told(path: &Path, why: &str) -> String {
    format!("--ca-file {}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_told_with_the_option() {
        let folder = tempfile::tempdir().unwrap();
        let trust = |text: &str| {
            let path = folder.path().join("ca.pem");
            std::fs::write(&path, text).unwrap();
            Trust { ca_file: Some(path) }
        };
        for none in [Trust::default(), Trust { ca_file: Some(PathBuf::new()) }] {
            assert!(none.client().is_ok() && none.pem() == Ok(None));
        }
        for (made, word) in [
            (trust("no PEM"), "holds no certificate (PEM)"),
            (Trust { ca_file: Some("/nowhere/ca.pem".into()) }, "cannot be read"),
        ] {
            let error = made.client().unwrap_err();
            assert!(error.starts_with("--ca-file /") && error.contains(word), "{error}");
            assert_eq!(made.pem(), Err(error));
        }
        // What stands in the file is no certificate, though it is written like one.
        let damaged = trust("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").client();
        assert!(damaged.unwrap_err().contains("no certificate"));
    }
}
