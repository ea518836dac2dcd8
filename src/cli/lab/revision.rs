//! The commit of the application that is asked.

use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A file system that hangs keeps no experiment from beginning.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is kept of a target with an experiment, with the commit that is checked out in `folder`, `git_commit`, and whether
/// tracked files differ from it, `git_dirty`. Without git, outside of a repository and before its first commit nothing is added.
pub async fn revised(described: &Value, folder: &Path) -> Value {
    let mut described = described.clone();
    let Some(commit) = git(folder, &["rev-parse", "--verify", "HEAD"]).await else { return described };
    if commit.is_empty() || !commit.chars().all(|c| c.is_ascii_hexdigit()) {
        return described;
    }
    described["git_commit"] = commit.into();
    // Reports and environments that a build makes are untracked, and are no change of the application.
    if let Some(changed) = git(folder, &["status", "--porcelain", "--untracked-files=no"]).await {
        described["git_dirty"] = (!changed.is_empty()).into();
    }
    described
}

/// What git says; none where it is not there, refuses, or does not answer.
async fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut program = Command::new("git");
    // Looking starts no other program of the repository's settings, and changes nothing in it.
    program.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]).args(arguments).current_dir(folder);
    program.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let told = tokio::time::timeout(PATIENCE, program.output()).await.ok()?.ok()?;
    told.status.success().then(|| String::from_utf8_lossy(&told.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn git_here(folder: &Path, arguments: &[&str]) -> bool {
        let names = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "commit.gpgsign=false"];
        let mut program = std::process::Command::new("git");
        program.args(names).args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
        program.status().is_ok_and(|status| status.success())
    }

    #[tokio::test]
    async fn the_commit_is_told_and_nothing_is_invented_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, target) = (folder.path(), json!({"kind": "command"}));
        assert_eq!(revised(&target, &folder.join("missing")).await, target);
        assert_eq!(revised(&target, folder).await, target, "no repository");
        // Without git there is nothing more to see.
        if !git_here(folder, &["init", "--quiet"]) {
            return;
        }
        assert_eq!(revised(&target, folder).await, target, "no commit");
        std::fs::write(folder.join("app.py"), "a").unwrap();
        assert!(git_here(folder, &["add", "."]) && git_here(folder, &["commit", "--quiet", "-m", "a"]));
        std::fs::write(folder.join("report.json"), "{}").unwrap();
        let clean = revised(&target, folder).await;
        assert_eq!((clean["git_dirty"].as_bool(), clean["kind"].as_str()), (Some(false), Some("command")));
        assert!(matches!(clean["git_commit"].as_str().map(str::len), Some(40 | 64)), "{clean}");
        std::fs::write(folder.join("app.py"), "b").unwrap();
        let dirty = revised(&target, folder).await;
        assert_eq!((&dirty["git_dirty"], &dirty["git_commit"]), (&json!(true), &clean["git_commit"]));
    }
}
