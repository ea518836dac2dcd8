//! What requests to judges and plug-ins share: secrets, waits, and errors in words.

use super::secret::Secret;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use std::path::Path;
use std::time::Duration;

/// So much of an error, or of a server's message, is told, characters.
const MAX_TOLD: usize = 300;
/// No server is left alone for longer because it says so.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The secret in the file that `key` names; none for an empty path. It is read each time, so that it may change.
///
/// # Errors
/// When it cannot be read.
pub(super) async fn read_secret(key: &str, path: &Path) -> Result<Option<Secret>, String> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    // A file may lie on a network: others get this thread meanwhile.
    let text = tokio::fs::read_to_string(path).await;
    let text = text.map_err(|e| format!("{key} {}: {e}", path.display()))?;
    Ok(Some(Secret::new(text.trim())))
}

/// The certificates of the file that `ca_file` names, PEM; none for an empty path.
///
/// # Errors
/// When it cannot be read, or holds none.
pub(super) fn authorities(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let told = |why: String| format!("ca_file: {}: {why}", path.display());
    let pem = std::fs::read(path).map_err(|e| told(format!("cannot be read: {e}")))?;
    let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|e| told(e.to_string()))?;
    if found.is_empty() {
        return Err(told("holds no certificate (PEM)".to_owned()));
    }
    Ok(Some(pem))
}

/// A client that no redirect leads to whom nobody has named, and that takes the signatures of the file that `ca_file` names
/// beside the public ones.
///
/// # Errors
/// When the file cannot be used.
pub(super) fn client(ca_file: &Path) -> Result<reqwest::ClientBuilder, String> {
    let mut client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    if let Some(pem) = authorities(ca_file)? {
        for one in reqwest::Certificate::from_pem_bundle(&pem).map_err(|e| format!("ca_file: {e}"))? {
            client = client.add_root_certificate(one);
        }
    }
    Ok(client)
}

/// A header value that is not logged.
///
/// # Errors
/// When it has characters that HTTP does not take.
pub(super) fn sensitive(value: &Secret) -> Result<HeaderValue, String> {
    let made = HeaderValue::try_from(value.reveal());
    let mut made =
        made.map_err(|_| "the key or a header has characters that HTTP does not take".to_owned())?;
    made.set_sensitive(true);
    Ok(made)
}

/// An error with its causes: the outermost one alone says only that the request failed.
pub(super) fn told(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text.chars().take(MAX_TOLD).collect()
}

/// The beginning of what a server says, without `secrets`: they are looked for first, as half of one would not be found.
pub(super) fn said<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let text = secrets.into_iter().fold(text.to_owned(), |text, secret| secret.taken_out_of(&text));
    text.chars().take(MAX_TOLD).collect()
}

/// What `Retry-After` asks for, seconds or a date, and not longer than a minute.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    crate::units::retry_after(headers.get(RETRY_AFTER)?.to_str().ok()?, LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn no_part_of_a_secret_is_told() {
        let (key, text) = (Secret::new("sk-1234"), "x".repeat(MAX_TOLD - 4) + "sk-1234");
        assert_eq!(said(&text, [&key]), "x".repeat(MAX_TOLD - 4) + "<hid");
        assert_eq!(said(&text, []).chars().count(), MAX_TOLD);
    }

    async fn read(path: &Path) -> Result<Option<String>, String> {
        Ok(read_secret("secret_file", path).await?.map(|secret| secret.reveal().to_owned()))
    }

    #[tokio::test]
    async fn a_secret_is_read_from_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "sk-1\n").unwrap();
        assert_eq!(
            (read(file.path()).await, read(Path::new("")).await),
            (Ok(Some("sk-1".to_owned())), Ok(None))
        );
        assert!(read(Path::new("/no/such/file")).await.unwrap_err().starts_with("secret_file /no/such/file"));
    }

    #[test]
    fn a_secret_is_read_on_another_thread() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "sk-1").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            // The only other thread waits meanwhile.
            let (go, waits) = std::sync::mpsc::channel::<()>();
            let busy = tokio::task::spawn_blocking(move || waits.recv().is_err());
            let read = || read_secret("secret_file", file.path());
            assert!(read().now_or_never().is_none(), "others would wait for the disk");
            drop(go);
            assert!(busy.await.unwrap());
            assert_eq!(read().await.unwrap().unwrap().reveal(), "sk-1");
        });
    }
}
