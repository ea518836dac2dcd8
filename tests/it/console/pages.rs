//! Pages and their files: headers, forms, sizes, and that nothing comes from elsewhere.

use super::client::{get, header, request};
use crate::support::{Process, config, start};
use reqwest::Method;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

const PAGES: &[&str] = &[
    "/",
    "/trace/0af7651916cd43dd8448eb211c80319c",
    "/explore",
    "/scores/groundedness",
    "/alerts",
    "/review/first/item",
    "/lab/compare",
    "/sampling",
    "/system",
    "/sql",
    "/login",
];

/// What every answer says.
const ALWAYS: &[(&str, &str)] = &[
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

fn dist() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("console/dist")
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The files that the page names.
fn named(page: &str) -> BTreeSet<String> {
    let parts = page.split(['"', '\'']).filter_map(|part| part.strip_prefix("/assets/"));
    parts.map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_the_same_file_with_a_nonce_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    let (mut nonces, mut texts) = (BTreeSet::new(), BTreeSet::new());
    for path in PAGES {
        let answer = get(at, path, &[]).await;
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&answer, "cache-control"), "no-store");
        let policy = header(&answer, "content-security-policy");
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        for part in [
            "default-src 'none';",
            "script-src 'self';",
            "connect-src 'self';",
            "base-uri 'none';",
            "frame-ancestors 'none';",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.unwrap();
        assert!(text.contains(&format!("content=\"{nonce}\"")) && !text.contains("__NONCE__"), "{text}");
        texts.insert(text.replace(&nonce, ""));
        nonces.insert(nonce);
    }
    assert_eq!((nonces.len(), texts.len()), (PAGES.len(), 1));
    for (method, path, status) in [
        (Method::GET, "/nothing", 404),
        (Method::GET, "/assets/nothing.js", 404),
        (Method::GET, "/assets/..%2findex.html", 404),
        (Method::GET, "/assets/%2e%2e%2f%2e%2e%2fCargo.toml", 404),
        (Method::GET, "/v1/nothing", 404),
        (Method::POST, "/explore", 405),
        (Method::OPTIONS, "/v1/sql", 405),
        (Method::GET, "/THIRD-PARTY.txt", 200),
        (Method::GET, "/v1/me", 200),
        (Method::GET, "/v1/status", 200),
        (Method::GET, "/metrics", 200),
        (Method::GET, "/", 200),
    ] {
        let answer =
            request(at, method.clone(), path, &[("origin", "http://127.0.0.1:1")]).send().await.unwrap();
        assert_eq!(answer.status(), status, "{method} {path}");
        for (name, value) in ALWAYS {
            assert_eq!(header(&answer, name), *value, "{name} of {method} {path}");
        }
        let names: Vec<&str> = answer.headers().keys().map(|name| name.as_str()).collect();
        assert!(
            names.contains(&"content-security-policy") && names.contains(&"permissions-policy"),
            "{path}"
        );
        assert!(names.contains(&"cache-control"), "{path}");
        assert!(!names.iter().any(|name| name.starts_with("access-control")), "{path}: {names:?}");
    }
    // An exporter that is pointed here is told where the other port is set.
    let answer = request(at, Method::POST, "/v1/traces", &[]).send().await.unwrap();
    assert!(answer.status() == 404 && answer.text().await.unwrap().contains("ingest.http_listen"));
    // Who opens the address of queries is told how to ask.
    let answer = request(at, Method::GET, "/v1/sql", &[]).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), answer.headers()["allow"].to_str().unwrap()), (405, "POST"));
    assert!(answer.text().await.unwrap().contains("POST a statement"));
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_have_their_forms_and_tags() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    let page = get(at, "/", &[]).await.text().await.unwrap();
    let names = named(&page);
    assert!(names.len() >= 2, "{names:?}: a script and a style");
    for name in names {
        let path = format!("/assets/{name}");
        let stored = std::fs::read(dist().join("assets").join(&name)).unwrap();
        let mut tags = BTreeSet::new();
        for (accepts, encoding) in [("identity", ""), ("gzip", "gzip"), ("gzip, deflate, br", "br")] {
            let sent = [("accept-encoding", accepts)];
            let answer = get(at, &path, &sent).await;
            assert_eq!(answer.status(), 200, "{path}");
            assert_eq!(header(&answer, "cache-control"), "public, max-age=31536000, immutable");
            assert_eq!(header(&answer, "vary"), "accept-encoding");
            let kind = header(&answer, "content-type");
            let wanted = [("js", "text/javascript"), ("css", "text/css"), ("svg", "image/svg+xml")];
            let wanted =
                wanted.iter().find(|(end, _)| name.ends_with(end)).unwrap_or_else(|| panic!("{name}"));
            assert!(kind.starts_with(wanted.1), "{name}: {kind}");
            let (tag, form) = (header(&answer, "etag"), header(&answer, "content-encoding"));
            let bytes = answer.bytes().await.unwrap().to_vec();
            assert_eq!(tag, format!("\"{}\"", sha256(&bytes)), "{path}");
            match form.as_str() {
                "" => assert_eq!(bytes, stored, "{path}"),
                "gzip" => {
                    let mut plain = Vec::new();
                    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
                    assert_eq!(plain, stored, "{path}");
                }
                _ => assert!(bytes.len() < stored.len(), "{path}"),
            }
            assert!(form == encoding || stored.len() < 1_000, "{path}: {form} for {accepts}");
            let known = format!("\"x\", W/{tag}");
            let known = get(at, &path, &[sent[0], ("if-none-match", known.as_str())]).await;
            assert_eq!((known.status().as_u16(), header(&known, "etag")), (304, tag.clone()), "{path}");
            assert!(known.bytes().await.unwrap().is_empty());
            tags.insert(tag);
        }
        assert!(tags.len() == 3 || stored.len() < 1_000, "{path}: each form has a tag of its own");
    }
    app.stop().await.unwrap();
}

/// Every file of `console/dist` that a browser reads, with its text.
fn texts() -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([("index.html".to_owned(), dist().join("index.html"))]);
    for entry in std::fs::read_dir(dist().join("assets")).unwrap() {
        let path = entry.unwrap().path();
        files.insert(path.file_name().unwrap().to_string_lossy().into_owned(), path);
    }
    files.into_iter().map(|(name, path)| (name, std::fs::read_to_string(path).unwrap())).collect()
}

/// What only the file of the library has that draws: it compares HTML before it sets it.
const LIBRARY: &str = "__html==";

#[test]
fn nothing_in_the_console_leads_elsewhere() {
    let mut wrong = Vec::new();
    for (name, text) in texts() {
        for scheme in ["http://", "https://", "ws://", "wss://"] {
            for rest in text.split(scheme).skip(1) {
                let host = rest.split(|c: char| !(c.is_alphanumeric() || ".-".contains(c))).next().unwrap();
                // Names of XML's own, which nobody asks for, and what is told to be typed.
                let is_known = ["www.w3.org", "127.0.0.1", "localhost", ""].contains(&host);
                if !is_known && !host.ends_with(".example") {
                    wrong.push(format!("{name}: {scheme}{host}"));
                }
            }
        }
        for word in ["src=\"//", "href=\"//", "url(//", "url(\"//", "@import", "sourceMappingURL=http"] {
            if text.contains(word) {
                wrong.push(format!("{name}: {word}"));
            }
        }
        for word in ["innerHTML", "dangerouslySetInnerHTML", "document.write", "eval(", "new Function"] {
            // The library that draws has a way for HTML, twice in both words, and nobody here takes it; trusted types hold
            // that in the browser.
            let own = if word.ends_with("nnerHTML") && text.contains(LIBRARY) { 2 } else { 0 };
            if text.matches(word).count() != own {
                wrong.push(format!("{name}: {word}"));
            }
        }
    }
    let libraries = texts().values().filter(|text| text.contains(LIBRARY)).count();
    assert_eq!(libraries, 1, "the library that draws is in one file");
    let pages = texts().keys().filter(|name| name.ends_with(".js")).count();
    assert!(pages > 10, "the bundle has only {pages} scripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let page = &texts()["index.html"];
    assert!(page.contains("__NONCE__"), "the editor's styles need the nonce");
    for word in ["<script>", "<style", " onclick=", " onload=", "javascript:", " style="] {
        assert!(!page.contains(word), "index.html: {word} is refused by the policy");
    }
}

/// Bytes of `path` as brotli.
async fn weight(at: SocketAddr, path: &str) -> usize {
    let answer = get(at, path, &[("accept-encoding", "br")]).await;
    assert_eq!(answer.status(), 200, "{path}");
    answer.bytes().await.unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_console_is_small() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    let page = get(at, "/", &[]).await.text().await.unwrap();
    let (mut first, mut all) = (page.len(), page.len());
    for name in named(&page) {
        first += weight(at, &format!("/assets/{name}")).await;
    }
    for name in texts().keys().filter(|name| *name != "index.html") {
        let one = weight(at, &format!("/assets/{name}")).await;
        assert!(one <= 115 << 10, "{name} has {one} bytes");
        all += one;
    }
    assert!(first <= 110 << 10, "the first page has {first} bytes");
    assert!(all <= 400 << 10, "the console has {all} bytes");
    app.stop().await.unwrap();
}

#[test]
fn a_folder_is_read_while_developing_and_on_the_loopback_only() {
    let folder = tempfile::tempdir().unwrap();
    let dist = folder.path().join("dist");
    std::fs::create_dir_all(dist.join("assets")).unwrap();
    let serve = |listen: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundline"));
        command.args(["serve", "--console-dir"]).arg(&dist).arg("--data-dir").arg(folder.path().join("data"));
        command.env("GROUNDLINE_SERVER__HTTP_LISTEN", listen).env("GROUNDLINE_SERVER__ALLOW_EXPOSED", "true");
        command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap()
    };
    let refused = serve("127.0.0.1:0");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("index.html"), "{told}");
    std::fs::write(dist.join("index.html"), "first __NONCE__").unwrap();
    let refused = serve("0.0.0.0:0");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && told.contains("loopback"), "{told}");
    let data = folder.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let process = Process::start_with_args(&data, "", &["--console-dir".as_ref(), dist.as_os_str()]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let read = async || get(process.http, "/", &[]).await.text().await.unwrap();
        assert!(read().await.starts_with("first "));
        std::fs::write(dist.join("index.html"), "second __NONCE__").unwrap();
        std::fs::write(dist.join("assets/x.js"), "1").unwrap();
        assert!(read().await.starts_with("second "), "files are read anew");
        let answer = get(process.http, "/assets/x.js", &[]).await;
        assert_eq!(
            (answer.status().as_u16(), header(&answer, "cache-control")),
            (200, "no-cache".to_owned())
        );
    });
}
