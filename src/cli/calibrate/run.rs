//! The verb.

use super::args::CalibrateArgs;
use super::{fit, labels, report, write};
use crate::cli::pipe::say;
use std::process::ExitCode;

/// Runs it: exit code 1 if there are too few labels or no server, or the file could not be written.
pub async fn run(args: CalibrateArgs) -> ExitCode {
    match calibrated(&args).await {
        Ok(text) => {
            say(text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("groundline calibrate: {error}");
            ExitCode::from(1)
        }
    }
}

async fn calibrated(args: &CalibrateArgs) -> Result<String, String> {
    let labels = labels::read(args).await?;
    let fitted = fit::fit(&labels, &args.metric, args.method, args.max_error)?;
    let mut text = match args.json {
        true => report::object(&labels, &fitted).to_string(),
        false => report::text(&labels, &fitted),
    };
    if let Some(path) = args.config.as_deref().filter(|_| args.write) {
        write::write(path, &fitted.calibrated, labels.items.len())?;
        if !args.json {
            text.push_str(&format!("\n{}: written; a server reads it when it starts", path.display()));
        }
    }
    Ok(text)
}
