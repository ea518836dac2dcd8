//! A program that answers items: one line of JSON in, one line out. It is started when it is first asked, and again when it
//! has died or was too slow.

use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Most bytes of an answer.
pub const MAX_ANSWER: usize = 16 << 20;

/// The program, and its process if it runs.
pub struct Program {
    command: String,
    timeout: Duration,
    running: Option<Running>,
}

struct Running {
    /// Killed when it is dropped.
    _child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Not started yet.
    pub fn new(command: &str, timeout: Duration) -> Self {
        Self { command: command.to_owned(), timeout, running: None }
    }

    /// What the shell runs.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The line that it answers to `item`. After a fault it is started anew for the next item.
    ///
    /// # Errors
    /// When it does not start, dies, is too slow, or writes a line without end.
    pub async fn ask(&mut self, item: &Value) -> Result<String, String> {
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start(item)?,
        };
        let answer = tokio::time::timeout(self.timeout, running.ask(item)).await;
        let answer =
            answer.unwrap_or_else(|_| Err(format!("no answer within {} s", self.timeout.as_secs_f64())));
        if answer.is_ok() {
            self.running = Some(running);
        }
        answer
    }

    fn start(&self, item: &Value) -> Result<Running, String> {
        let told = |e: std::io::Error| format!("{:?} does not start: {e}", self.command);
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(&self.command)
            .env("TRACEPARENT", item["traceparent"].as_str().unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(told)?;
        let missing = || format!("{:?} has no standard input or output", self.command);
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        Ok(Running { _child: child, input, output })
    }
}

impl Running {
    async fn ask(&mut self, item: &Value) -> Result<String, String> {
        let died = |e: std::io::Error| format!("the program died: {e}");
        self.input.write_all(format!("{item}\n").as_bytes()).await.map_err(died)?;
        self.input.flush().await.map_err(died)?;
        let mut line = Vec::new();
        let most = MAX_ANSWER as u64;
        (&mut self.output).take(most).read_until(b'\n', &mut line).await.map_err(died)?;
        match line.last() {
            Some(b'\n') => Ok(String::from_utf8_lossy(&line).into_owned()),
            Some(_) if line.len() as u64 == most => {
                Err(format!("the answer is longer than {MAX_ANSWER} bytes"))
            }
            _ => Err("the program ended before it answered; see what it wrote to standard error".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn a_program_that_dies_or_hangs_is_started_again() {
        let item = json!({"input": "x"});
        let mut echo = Program::new("while read line; do echo \"$line\"; done", Duration::from_secs(60));
        assert_eq!(echo.ask(&item).await.unwrap(), format!("{item}\n"));
        assert_eq!(echo.ask(&item).await.unwrap(), format!("{item}\n"));
        let mut once = Program::new("read line; echo one", Duration::from_secs(60));
        assert_eq!(once.ask(&item).await.unwrap(), "one\n");
        assert!(once.ask(&item).await.is_err());
        assert_eq!(once.ask(&item).await.unwrap(), "one\n");
        let mut slow = Program::new("read line; sleep 600", Duration::from_millis(50));
        assert!(slow.ask(&item).await.unwrap_err().contains("no answer within"));
    }
}
