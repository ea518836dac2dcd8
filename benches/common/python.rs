//! A Python of the harnesses, for the engines that they measure beside ours.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A Python in ~/.cache/groundline-bench-venv that can do the statement `import`; `packages` are installed if it cannot.
pub fn python(import: &str, packages: &[&str]) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
    let venv = PathBuf::from(std::env::var("HOME")?).join(".cache/groundline-bench-venv");
    let python = venv.join("bin/python");
    let asked = Command::new(&python).args(["-c", import]).stderr(Stdio::null()).status();
    if asked.is_ok_and(|status| status.success()) {
        return Ok(python);
    }
    let ran = |command: &mut Command| -> Result<(), Box<dyn Error + Send + Sync>> {
        let status = command.status()?;
        if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
    };
    ran(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    ran(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    Ok(python)
}
