//! Bearer tokens.

use super::pipe::say;
use crate::net::{Entry, Role, TokenSet, digest_of, new_token};
use clap::{Args, Subcommand, ValueEnum};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can be done with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenVerb {
    /// Make one. It is printed once; only its digest is kept.
    New(NewArgs),
}

/// Arguments of `token new`.
#[derive(Debug, Args)]
pub struct NewArgs {
    /// Who will have it; shown in logs and errors.
    #[arg(long)]
    name: String,
    /// Whose rows it writes and reads; needed for the roles ingest, query, review and lab.
    #[arg(long)]
    tenant: Option<String>,
    /// What it may do; several times for several.
    #[arg(long = "role", value_enum, required = true)]
    roles: Vec<RoleName>,
    /// Append the entry to this tokens file, and print nothing but the token.
    #[arg(long)]
    append: Option<PathBuf>,
}

/// The roles by their names on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum RoleName {
    /// Send spans and logs.
    Ingest,
    /// Ask SQL over its tenant's rows, annotate them, and do what review may.
    Query,
    /// Answer items of its tenant's queue of labels, and see nothing else.
    Review,
    /// Read /metrics.
    Metrics,
    /// Change its tenant's datasets and experiments.
    Lab,
    /// All but sending, over every tenant's rows; silence alerts, put failed items back, purge items of datasets.
    Admin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Ingest => Role::Ingest,
            RoleName::Query => Role::Query,
            RoleName::Review => Role::Review,
            RoleName::Metrics => Role::Metrics,
            RoleName::Lab => Role::Lab,
            RoleName::Admin => Role::Admin,
        }
    }
}

/// Runs the verb: exit code 1 if the file could not be written, 2 for an entry that a server would refuse.
pub fn run(verb: TokenVerb) -> ExitCode {
    let TokenVerb::New(args) = verb;
    let Some(token) = new_token() else {
        eprintln!("groundline token: the system gives no random numbers");
        return ExitCode::from(1);
    };
    let entry = Entry {
        name: args.name,
        sha256: hex::encode(digest_of(token.as_bytes())),
        tenant: args.tenant,
        roles: args.roles.into_iter().map(Role::from).collect(),
    };
    let faults = entry.faults();
    if !faults.is_empty() {
        eprintln!("groundline token: {}", faults.join("; "));
        return ExitCode::from(2);
    }
    match args.append {
        None => {
            say(format_args!(
                "{token}\n\n# This is shown once. For the file of server.tokens_file:\n{}",
                entry.to_toml()
            ));
        }
        Some(file) => {
            if let Err(error) = append(&file, &entry) {
                eprintln!("groundline token: {}: {error}", file.display());
                return ExitCode::from(1);
            }
            say(token);
        }
    }
    ExitCode::SUCCESS
}

/// Writes the file anew beside the old one and puts it in its place: a server that looks at that moment sees one of the two.
fn append(file: &Path, entry: &Entry) -> Result<(), String> {
    // Of a link it is the file behind it: one in the place of the link would not be the one that a server reads.
    let file = &std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.to_string()),
    };
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&entry.to_toml());
    TokenSet::parse(&text).map_err(|e| e.to_string())?;
    let mut name = file.file_name().ok_or("not the name of a file")?.to_owned();
    name.push(".new");
    let new = file.with_file_name(name);
    let mut out = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)
        .map_err(|e| format!("{}: {e}", new.display()))?;
    out.write_all(text.as_bytes()).and_then(|()| out.sync_all()).map_err(|e| e.to_string())?;
    // An operator who opened the old file to a group meant the new one too.
    if let Ok(old) = std::fs::metadata(file) {
        std::fs::set_permissions(&new, old.permissions()).map_err(|e| e.to_string())?;
    }
    std::fs::rename(&new, file).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_the_tokens_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("tokens.toml"), folder.path().join("link.toml"));
        std::os::unix::fs::symlink("tokens.toml", &link).unwrap();
        let entry = |name: &str| Entry {
            name: name.to_owned(),
            sha256: hex::encode(digest_of(name.as_bytes())),
            tenant: Some("shop".to_owned()),
            roles: vec![Role::Ingest],
        };
        append(&file, &entry("one")).unwrap();
        append(&link, &entry("two")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("one") && text.contains("two"), "{text}");
    }
}
