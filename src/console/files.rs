//! The files of the console, each in the forms that a browser may take.

use crate::net::takes_coding;
use axum::http::HeaderMap;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// One file as the build made it.
struct File {
    /// Its path in `console/dist`.
    name: &'static str,
    plain: Form,
    brotli: Option<Form>,
    gzip: Option<Form>,
}

/// The bytes of a file, or of the file compressed.
#[derive(Clone, Copy)]
struct Form {
    bytes: &'static [u8],
    sha256: &'static str,
}

/// Made by build.rs: every file of `console/dist`.
const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// Largest file that is read from a folder, bytes.
const MAX_FILE: u64 = 16 << 20;

/// Where the files are.
#[derive(Debug, Clone, Default)]
pub struct Files {
    folder: Option<PathBuf>,
}

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Whoever can write to the folder would decide what other people's browsers run.
    #[error("--console-dir is for developing: server.http_listen is {0}, and must be a loopback address")]
    Exposed(SocketAddr),
    /// It has no page.
    #[error("--console-dir {0:?}: there is no index.html that can be read; build the console first")]
    Empty(PathBuf),
}

/// A file as it is sent.
pub(super) struct Found {
    pub(super) bytes: Bytes,
    /// SHA-256 of these bytes.
    pub(super) sha256: String,
    /// How they are compressed.
    pub(super) encoding: Option<&'static str>,
    /// Whether the same name always means the same bytes.
    pub(super) is_fixed: bool,
}

impl Files {
    /// Those in the program.
    pub fn embedded() -> Self {
        Self::default()
    }

    /// Those in `folder`, read anew for every request, for a server that listens on `listen`.
    ///
    /// # Errors
    /// If other machines can reach the server, or the folder has no page.
    pub fn of_folder(folder: &Path, listen: SocketAddr) -> Result<Self, FolderError> {
        if !listen.ip().is_loopback() {
            return Err(FolderError::Exposed(listen));
        }
        if !folder.join("index.html").is_file() {
            return Err(FolderError::Empty(folder.to_owned()));
        }
        Ok(Self { folder: Some(folder.to_owned()) })
    }

    /// The file `name`, a path below the root, in a form that `headers` allow; none if there is no such file.
    pub(super) async fn find(&self, name: &str, headers: &HeaderMap) -> Option<Found> {
        match &self.folder {
            None => embedded(FILES.iter().find(|file| file.name == name)?, headers),
            Some(folder) => read(folder, name).await,
        }
    }

    /// The page as text.
    pub(super) async fn page(&self) -> Option<String> {
        let found = self.find("index.html", &HeaderMap::new()).await?;
        String::from_utf8(found.bytes.to_vec()).ok()
    }
}

fn embedded(file: &File, headers: &HeaderMap) -> Option<Found> {
    let forms = [("br", file.brotli), ("gzip", file.gzip)];
    let smaller = forms
        .into_iter()
        .find_map(|(name, form)| Some((name, form?)).filter(|_| takes_coding(headers, name)));
    let (encoding, form) = smaller.map_or((None, file.plain), |(name, form)| (Some(name), form));
    let bytes = Bytes::from_static(form.bytes);
    Some(Found { bytes, sha256: form.sha256.to_owned(), encoding, is_fixed: true })
}

async fn read(folder: &Path, name: &str) -> Option<Found> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    if !name.split('/').all(is_plain) {
        return None;
    }
    let path = folder.join(name);
    let known = tokio::fs::metadata(&path).await.ok()?;
    if !known.is_file() || known.len() > MAX_FILE {
        return None;
    }
    let bytes = tokio::fs::read(&path).await.ok()?;
    let sha256 = hex::encode(Sha256::digest(&bytes));
    Some(Found { bytes: bytes.into(), sha256, encoding: None, is_fixed: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_folder_gives_its_own_files_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let (here, root) = (SocketAddr::from(([127, 0, 0, 1], 1)), folder.path().join("dist"));
        assert!(matches!(Files::of_folder(&root, here), Err(FolderError::Empty(_))));
        std::fs::create_dir_all(root.join("assets")).unwrap();
        std::fs::write(root.join("index.html"), "page").unwrap();
        std::fs::write(root.join("assets/.hidden"), "no").unwrap();
        std::fs::write(folder.path().join("secret"), "no").unwrap();
        let out = SocketAddr::from(([0, 0, 0, 0], 1));
        assert!(matches!(Files::of_folder(&root, out), Err(FolderError::Exposed(_))));
        let files = Files::of_folder(&root, here).unwrap();
        assert_eq!(files.page().await.as_deref(), Some("page"));
        for name in
            ["../secret", "assets/../../secret", "assets/.hidden", "/etc/passwd", "assets", "", "a//b"]
        {
            assert!(files.find(name, &HeaderMap::new()).await.is_none(), "{name}");
        }
    }

    #[test]
    fn the_program_carries_a_page() {
        assert!(FILES.iter().any(|file| file.name == "index.html"));
        assert!(FILES.iter().any(|file| file.name == "THIRD-PARTY.txt"));
        for file in FILES {
            assert_eq!(hex::encode(Sha256::digest(file.plain.bytes)), file.plain.sha256, "{}", file.name);
        }
    }
}
