//! Rows on their way into a file, so that a run that was stopped can go on.
//!
//! After each chunk the file is flushed to the disk, and a mark beside it says how far the run is: lines read, bytes
//! written. `--resume` cuts the file back to the mark and goes on with the next line, so no row is lost or there twice.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What is scored: evaluators with their versions.
    pub what: Vec<String>,
    /// Lines that were read.
    pub lines: usize,
    /// Their bytes.
    pub read: u64,
    /// Lines of them that did not parse.
    pub bad: u64,
    /// Bytes that were written.
    pub written: u64,
}

/// Where rows go.
pub struct Output {
    to: Box<dyn Write>,
    file: Option<(File, PathBuf)>,
    /// How far the run is; of a run that goes on, how far the one before was.
    pub mark: Mark,
}

impl Output {
    /// Standard output: nothing is marked.
    pub fn standard(what: Vec<String>) -> Self {
        let to = Box::new(BufWriter::new(io::stdout().lock()));
        Self { to, file: None, mark: Mark { what, ..Mark::default() } }
    }

    /// The file at `path`, made anew.
    ///
    /// # Errors
    /// When an unfinished run stands in the way, or the file cannot be written.
    pub fn begun(path: &Path, what: Vec<String>) -> Result<Self, String> {
        let beside = mark_path(path);
        if read_mark(&beside)?.is_some() {
            let (path, beside) = (path.display(), beside.display());
            return Err(format!(
                "{path}: {beside} tells of a run that was stopped: go on with --resume, or remove it"
            ));
        }
        Self::opened(path, Mark { what, ..Mark::default() })
    }

    /// The file at `path`, gone on with where a run was stopped; made anew if it is not there.
    ///
    /// # Errors
    /// When there is none to go on with, when it was another one, or the file cannot be written.
    pub fn resumed(path: &Path, what: Vec<String>) -> Result<Self, String> {
        let beside = mark_path(path);
        let mark = match read_mark(&beside)? {
            None if path.exists() => {
                let (path, beside) = (path.display(), beside.display());
                return Err(format!("{path}: there is no {beside}: this run ended, or is none of ours"));
            }
            None => Mark { what, ..Mark::default() },
            Some(before) if before.what != what => {
                let (then, now) = (before.what.join(", "), what.join(", "));
                return Err(format!("{}: was written by {then}; now it would be {now}", path.display()));
            }
            Some(before) => before,
        };
        Self::opened(path, mark)
    }

    fn opened(path: &Path, mark: Mark) -> Result<Self, String> {
        let named = |e: &dyn ToString| format!("{}: {}", path.display(), e.to_string());
        let mut file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(mark.written == 0)
            .open(path)
            .map_err(|e| named(&e))?;
        if file.metadata().map_err(|e| named(&e))?.len() < mark.written {
            return Err(named(&"is shorter than when the run was stopped: remove both files and begin anew"));
        }
        file.set_len(mark.written).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|e| named(&e))?;
        let kept = file.try_clone().map_err(|e| named(&e))?;
        Ok(Self { to: Box::new(BufWriter::new(file)), file: Some((kept, path.to_owned())), mark })
    }

    /// Makes durable what was written until now, and says that it comes from the first `lines` lines.
    pub fn chunk(&mut self, lines: usize, read: u64, bad: u64) -> io::Result<()> {
        self.to.flush()?;
        (self.mark.lines, self.mark.read, self.mark.bad) =
            (lines, self.mark.read + read, self.mark.bad + bad);
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        file.sync_data()?;
        self.mark.written = file.metadata()?.len();
        let (beside, new) = (mark_path(path), path.with_added_extension("progress.new"));
        std::fs::write(&new, serde_json::to_vec(&self.mark)?)?;
        std::fs::rename(new, beside)
    }

    /// The run is whole: there is nothing to go on with.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()?;
        let Some((file, path)) = &self.file else { return Ok(()) };
        file.sync_data()?;
        match std::fs::remove_file(mark_path(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn mark_path(path: &Path) -> PathBuf {
    path.with_added_extension("progress")
}

fn read_mark(path: &Path) -> Result<Option<Mark>, String> {
    let named = |e: &dyn ToString| format!("{}: {}", path.display(), e.to_string());
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|e| named(&e)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what() -> Vec<String> {
        vec!["looping 1".to_owned()]
    }

    #[test]
    fn a_run_that_was_stopped_goes_on_where_its_rows_are_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let mut first = Output::begun(&path, what()).unwrap();
        first.write_all(b"one\ntwo\n").unwrap();
        first.chunk(2, 20, 1).unwrap();
        first.write_all(b"thr").unwrap();
        first.flush().unwrap();
        drop(first);
        let refused = Output::begun(&path, what()).err().unwrap();
        assert!(refused.contains("--resume"), "{refused}");
        let other = Output::resumed(&path, vec!["looping 2".to_owned()]).err().unwrap();
        assert!(other.contains("looping 1"), "{other}");
        let mut second = Output::resumed(&path, what()).unwrap();
        assert_eq!((second.mark.lines, second.mark.read, second.mark.bad), (2, 20, 1));
        second.write_all(b"three\n").unwrap();
        second.chunk(3, 10, 0).unwrap();
        assert_eq!((second.mark.read, second.mark.bad), (30, 1));
        second.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no mark is left");
        let ended = Output::resumed(&path, what()).err().unwrap();
        assert!(ended.contains("this run ended"), "{ended}");
    }

    #[test]
    fn what_is_shorter_than_its_mark_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.jsonl");
        let mut first = Output::resumed(&path, what()).unwrap();
        first.write_all(b"one\n").unwrap();
        first.chunk(1, 5, 0).unwrap();
        drop(first);
        std::fs::write(&path, "o").unwrap();
        assert!(Output::resumed(&path, what()).err().unwrap().contains("shorter"));
        std::fs::write(mark_path(&path), "{").unwrap();
        assert!(Output::resumed(&path, what()).err().unwrap().contains("progress"));
    }
}
