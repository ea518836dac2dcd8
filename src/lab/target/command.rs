//! A process that reads and writes JSON lines: one item in, one answer out. It serves all items and is started again when
//! it has died.

use super::answer::Answer;
use super::question::Question;
use super::spec::{Form, TargetSpec};
use super::wire::MAX_ANSWER;
use crate::lab::template::brief;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command as Program};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// Deaths in a row, without an answer between them, after which it is not started again.
const MAX_DEATHS: u32 = 10;
/// How long a process that has closed its output may take to end.
const LAST: Duration = Duration::from_secs(1);

pub(super) struct Command {
    words: Vec<String>,
    folder: PathBuf,
    parameters: BTreeMap<String, Json>,
    form: Form,
    retries: u32,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Option<Running>,
    deaths: u32,
}

struct Running {
    child: Child,
    /// The process group, which has the number of the process.
    group: Option<i32>,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Command {
    pub fn new(spec: &TargetSpec, folder: &Path) -> Self {
        Self {
            words: spec.command.clone(),
            folder: folder.to_path_buf(),
            parameters: spec.parameters.clone(),
            form: spec.form,
            retries: spec.retries,
            timeout: spec.timeout,
            state: Mutex::default(),
        }
    }

    /// Asks the process, and again after it has died; one that does not answer in time is killed.
    pub async fn ask(&self, question: &Question) -> Result<Answer, String> {
        // One item at a time: the waits of the others are not theirs.
        let mut state = self.state.lock().await;
        let line = question.message(&self.parameters).to_string() + "\n";
        let mut tries = 0;
        loop {
            if state.deaths >= MAX_DEATHS {
                return Err(format!(
                    "the command died {MAX_DEATHS} times without an answer, and is not started again"
                ));
            }
            if state.running.is_none() {
                state.running = Some(Running::start(&self.words, &self.folder, question)?);
            }
            let Some(running) = &mut state.running else { return Err("the command does not run".to_owned()) };
            let started = Instant::now();
            match timeout(self.timeout, running.exchange(&line)).await {
                Ok(Ok(answer)) => {
                    state.deaths = 0;
                    let mut answer = self.read(&answer, question)?;
                    answer.duration_ms.get_or_insert(started.elapsed().as_secs_f64() * 1e3);
                    return Ok(answer);
                }
                Ok(Err(why)) => {
                    let why = ended(&mut state, why).await;
                    if tries >= self.retries {
                        return Err(format!("{why} (asked {} times)", tries + 1));
                    }
                    tries += 1;
                }
                Err(_) => {
                    let words = crate::units::words(self.timeout);
                    return Err(ended(&mut state, format!("no answer in {words} (target.timeout)")).await);
                }
            }
        }
    }

    fn read(&self, line: &[u8], question: &Question) -> Result<Answer, String> {
        let told = |why: &dyn std::fmt::Display| {
            format!(
                "the command wrote a line that is no JSON ({why}): {}; with form = \"any\" texts are answers",
                shown(line)
            )
        };
        let text = std::str::from_utf8(line).map_err(|e| told(&e))?;
        if self.form == Form::Strict {
            serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|e| told(&e))?;
        }
        Answer::read(text, question, self.form)
    }
}

/// Kills what runs; why it ended, in words.
async fn ended(state: &mut State, why: String) -> String {
    state.deaths += 1;
    let Some(mut running) = state.running.take() else { return why };
    let status = timeout(LAST, running.child.wait()).await;
    if let Ok(Ok(status)) = status {
        return format!("the command ended ({status}) before it answered");
    }
    // It is killed as it is dropped; waiting for it leaves no zombie behind.
    let _ = running.child.start_kill();
    let _ = timeout(LAST, running.child.wait()).await;
    why
}

fn shown(line: &[u8]) -> String {
    brief(&String::from_utf8_lossy(line))
}

impl Running {
    fn start(words: &[String], folder: &Path, first: &Question) -> Result<Self, String> {
        let (program, arguments) = words.split_first().ok_or("target.command is empty")?;
        let mut command = Program::new(program);
        command
            .args(arguments)
            // Of its first item; each line has its own.
            .env("TRACEPARENT", &first.traceparent)
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if !folder.as_os_str().is_empty() {
            command.current_dir(folder);
        }
        let mut child =
            command.spawn().map_err(|e| format!("target.command {program:?} does not start: {e}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("target.command {program:?} has no pipes"));
        };
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        Ok(Self { child, group, stdin, stdout: BufReader::new(stdout) })
    }

    /// Writes and reads at once: a process that answers while it is still being asked must not wait for who waits for it.
    async fn exchange(&mut self, line: &str) -> Result<Vec<u8>, String> {
        let stdin = &mut self.stdin;
        let write = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        let (written, read) = tokio::join!(write, read_line(&mut self.stdout));
        // What it answered before it closed its input still counts.
        let answer = read?;
        match (answer, written) {
            (Some(answer), _) => Ok(answer),
            (None, Err(error)) => Err(format!("the command does not read: {error}")),
            (None, Ok(())) => Err("the command closed its output before it answered".to_owned()),
        }
    }
}

impl Drop for Running {
    /// Kills the process and all that it has started.
    fn drop(&mut self) {
        let Some(group) = self.group else { return };
        // SAFETY: kill takes two numbers and touches no memory. The group was made for our own child and has its number.
        let _ = unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}

/// The next line that is not blank, of at most 16 MiB; none at the end.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    loop {
        let buffer =
            from.fill_buf().await.map_err(|e| format!("the command's output cannot be read: {e}"))?;
        if buffer.is_empty() {
            return Ok((!line.trim_ascii().is_empty()).then_some(line));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(buffer.len(), |end| end + 1);
        line.extend_from_slice(&buffer[..taken]);
        from.consume(taken);
        if line.len() > MAX_ANSWER {
            return Err("the command wrote a line of more than 16 MiB".to_owned());
        }
        if end.is_some() {
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
            line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(script: &str, spec: TargetSpec) -> Command {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        Command::new(&TargetSpec { command, ..spec }, Path::new(""))
    }

    async fn asked(command: &Command, input: &str) -> Result<String, String> {
        let question = Question {
            input: input.into(),
            item_id: "1".to_owned(),
            traceparent: format!("00-{input}"),
            ..Question::default()
        };
        let answer = command.ask(&question).await?;
        answer.error.map_or_else(|| Ok(answer.output.as_str().unwrap_or_default().to_owned()), Err)
    }

    #[tokio::test]
    async fn one_process_answers_all_and_is_started_again_when_it_dies() {
        let one = command("while read line; do echo '\"'$$'\"'; done", TargetSpec::default());
        let first = asked(&one, "a").await.unwrap();
        assert_eq!(asked(&one, "b").await.unwrap(), first);
        let dies = command("read line; echo '{\"output\": \"'$$'\"}'", TargetSpec::default());
        let first = asked(&dies, "a").await.unwrap();
        assert_ne!(asked(&dies, "b").await.unwrap(), first);
    }

    #[tokio::test]
    async fn a_program_that_writes_texts_and_knows_its_trace() {
        let any = TargetSpec { form: Form::Any, ..TargetSpec::default() };
        let told = command("while read line; do echo under $TRACEPARENT; done", any);
        assert_eq!(asked(&told, "a").await.unwrap(), "under 00-a");
    }

    #[tokio::test]
    async fn every_way_to_go_wrong_is_told() {
        let spec = |timeout| TargetSpec { retries: 1, timeout, ..TargetSpec::default() };
        let (soon, late) = (Duration::from_millis(100), Duration::from_mins(5));
        for (script, timeout, part) in [
            ("exit 3", late, "ended (exit status: 3) before it answered (asked 2 times)"),
            ("exec sleep 600", soon, "no answer in 100ms (target.timeout)"),
            ("while :; do printf 'xxxxxxxxxxxxxxxxxxxx'; done", soon, "(target.timeout)"),
            ("yes | tr -d '\\n'", late, "a line of more than 16 MiB"),
            ("read l; echo hello", late, "no JSON"),
            (
                "read l; echo '{\"run_id\": \"other\", \"output\": \"x\"}'",
                late,
                "answered with run_id \"other\"",
            ),
            (
                "read l; echo '{\"item_id\": \"2\", \"output\": \"x\"}'",
                late,
                "item_id \"2\", asked was \"1\"",
            ),
            ("read l; echo '{\"error\": \"no key\"}'", late, "no key"),
        ] {
            let told = asked(&command(script, spec(timeout)), "a").await.unwrap_err();
            assert!(told.contains(part), "{script}: {told}");
        }
        let none = Command::new(
            &TargetSpec { command: vec!["no-such-program".to_owned()], ..spec(late) },
            Path::new(""),
        );
        assert!(asked(&none, "a").await.unwrap_err().contains("does not start"));
    }

    #[tokio::test]
    async fn a_command_that_only_dies_is_left_alone_in_the_end() {
        let dies = command("exit 1", TargetSpec { retries: 20, ..TargetSpec::default() });
        let told = asked(&dies, "a").await.unwrap_err();
        assert!(told.contains("died 10 times"), "{told}");
    }
}
