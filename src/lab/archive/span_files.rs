//! The spans of an archive: files of a limited size that are read one by one, so that they are never all in memory.

use super::manifest::{Manifest, OfTraces};
use super::span_row;
use super::tables::SPANS;
use super::traces::Traces;
use super::versions::Bounds;
use crate::lab::cells;
use crate::lab::zip::Archive;
use arrow::array::RecordBatch;
use bytes::Bytes;

/// Most spans of an archive.
pub const MAX_SPANS: u64 = 1_000_000;
/// Most files of them: an archive that was made here has fewer, whatever its spans are.
const MAX_FILES: usize = 1_000;

/// The name of such a file, counted from 1.
pub fn name(number: usize) -> String {
    format!("{}{number:05}.parquet", SPANS.file)
}

/// Whether a file of an archive stands among its spans.
pub fn is_among(name: &str) -> bool {
    name.starts_with(SPANS.file)
}

/// The spans of an archive that is what it says.
#[derive(Debug)]
pub struct SpanFiles {
    archive: Archive<Bytes>,
    names: Vec<String>,
}

impl SpanFiles {
    /// Those of the files `names` of `archive`, in their order. When it returns, each file is what the manifest says, and
    /// each span is one that the receiver could have stored, of a trace that was made for one of the `runs`, and there once.
    ///
    /// # Errors
    /// The first thing that is not so, with its place.
    pub fn checked(
        archive: Archive<Bytes>,
        names: Vec<String>,
        manifest: &Manifest,
        runs: &RecordBatch,
        bounds: Bounds<'_>,
    ) -> Result<Self, String> {
        numbered(&names)?;
        let traces = Traces::of(runs);
        let mut found = OfTraces { left_out: traces.left_out, ..OfTraces::default() };
        let (mut last, mut size) = ((String::new(), String::new()), 0u64);
        let files = Self { archive, names };
        for name in &files.names {
            let bytes = files.archive.unpacked(name)?;
            manifest.holds(name, &bytes)?;
            size = size.saturating_add(bytes.len() as u64);
            let most = bounds.config.max_zip_size;
            if size > most.bytes() {
                return Err(format!("the spans of the archive have more than {most} (lab.max_zip_size)"));
            }
            let rows = SPANS.read_as(name, bytes)?;
            found.spans = found.spans.saturating_add(rows.num_rows() as u64);
            if found.spans > MAX_SPANS {
                return Err(format!("the archive has more than {MAX_SPANS} spans"));
            }
            for row in cells::rows(std::slice::from_ref(&rows)) {
                let key = (row.text("trace_id"), row.text("span_id"));
                let told = |why: &str| format!("{name}: the span {} of the trace {}: {why}", key.1, key.0);
                if !traces.own.contains(&key.0) {
                    return Err(told("its trace was not made for a run of the archive"));
                }
                if key <= last {
                    return Err(told("it is there twice, or not in the order of trace_id and span_id"));
                }
                span_row::checked(row).map_err(|why| told(&why))?;
                found.traces += u64::from(key.0 != last.0);
                last = key;
            }
            span_row::redacted(&rows, bounds).map_err(|why| format!("{name}: {why}"))?;
        }
        match manifest.traces {
            Some(told) if told != found => Err(format!(
                "the manifest says that there are {} spans of {} traces, without {} other traces; there are {} of {}, without {}",
                told.spans, told.traces, told.left_out, found.spans, found.traces, found.left_out
            )),
            None if !files.names.is_empty() => {
                Err("there are spans, and the manifest says nothing of them".to_owned())
            }
            _ => Ok(files),
        }
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.names.len()
    }

    /// The rows of the file `at`, counted from 0.
    ///
    /// # Errors
    /// That there is none: what is here was read before.
    pub fn read(&self, at: usize) -> Result<RecordBatch, String> {
        let name = self.names.get(at).ok_or("there is no such file of spans")?;
        SPANS.read_as(name, self.archive.unpacked(name)?)
    }
}

/// Whether the files are numbered from 1 and have no other names.
fn numbered(names: &[String]) -> Result<(), String> {
    if names.len() > MAX_FILES {
        return Err(format!("the archive has {} files of spans, at most {MAX_FILES}", names.len()));
    }
    match names.iter().zip(1..).find(|(found, number)| **found != name(*number)) {
        None => Ok(()),
        Some((found, number)) => {
            Err(format!("{found:?} is in the archive where {:?} should be", name(number)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::manifest::{Entry, Files};
    use super::super::tried::span;
    use super::*;
    use crate::domain::span::Span;
    use crate::domain::time::UnixNanos;
    use crate::lab::Config;
    use crate::lab::dataset::Item;
    use crate::lab::ids::trace_ids;
    use crate::lab::zip::{Limits, Writer};
    use crate::schema::batch::spans_to_batch;
    use crate::units::ByteSize;
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    /// A run with one attempt, and that of another trace.
    fn runs() -> RecordBatch {
        let production = "0af7651916cd43dd8448eb211c80319c".to_owned();
        let columns: [(&str, ArrayRef); 3] = [
            ("run_id", Arc::new(StringArray::from(vec!["r", "s"]))),
            ("attempt", Arc::new(Int64Array::from(vec![1, 1]))),
            ("trace_id", Arc::new(StringArray::from(vec![trace_ids("r", 1).0, production]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// The bytes of a file with these spans of a run's trace.
    fn file(run: &str, spans: &[u8]) -> Vec<u8> {
        let trace = trace_ids(run, 1).0;
        let spans: Vec<Span> = spans.iter().map(|id| span(&trace, *id, "said")).collect();
        let rows = spans_to_batch(&spans, "shop", UnixNanos(9_000)).unwrap();
        let names: Vec<usize> =
            SPANS.schema().fields().iter().map(|f| rows.schema().index_of(f.name()).unwrap()).collect();
        SPANS.written(&rows.project(&names).unwrap()).unwrap()
    }

    /// An archive with these files, whose manifest says that they are so many spans of so many traces.
    fn opened(
        files: &[(&str, Vec<u8>)],
        told: Option<(u64, u64)>,
        most: ByteSize,
    ) -> Result<SpanFiles, String> {
        let (mut zip, mut entries) = (Writer::default(), BTreeMap::new());
        for (name, bytes) in files {
            zip.add(name, bytes).unwrap();
            entries.insert((*name).to_owned(), Entry::of(bytes, None));
        }
        let mut manifest = Manifest::of(Vec::new(), Vec::new(), &Files::new(), &BTreeMap::new());
        if let Some((spans, traces)) = told {
            manifest = manifest.with_traces(OfTraces { traces, spans, left_out: 1 }, entries);
        }
        let config = Config { max_zip_size: most, ..Config::default() };
        let would_redact = |_: &Item| false;
        let bounds = Bounds { config: &config, would_redact: &would_redact, redact: None };
        let archive = Archive::open(Bytes::from(zip.finish().unwrap()), Limits::default())?;
        let names = archive.names().map(str::to_owned).collect();
        SpanFiles::checked(archive, names, &manifest, &runs(), bounds)
    }

    #[test]
    fn spans_of_an_archive_are_those_of_its_runs_each_once() {
        let (one, two) = ("spans/00001.parquet", "spans/00002.parquet");
        let large = ByteSize::gib(1);
        let read = opened(&[(one, file("r", &[1, 2])), (two, file("r", &[3]))], Some((3, 1)), large).unwrap();
        assert_eq!(
            (read.files(), read.read(0).unwrap().num_rows(), read.read(1).unwrap().num_rows()),
            (2, 2, 1)
        );
        assert!(read.read(2).is_err());
        assert_eq!(opened(&[], Some((0, 0)), large).unwrap().files(), 0);
        for (what, files, told, why) in [
            ("another run", vec![(one, file("x", &[1]))], Some((1, 1)), "not made for a run of the archive"),
            ("twice in a file", vec![(one, file("r", &[1, 1]))], Some((2, 1)), "there twice"),
            (
                "twice in two",
                vec![(one, file("r", &[2])), (two, file("r", &[2]))],
                Some((2, 1)),
                "there twice",
            ),
            ("a wrong count", vec![(one, file("r", &[1]))], Some((2, 1)), "says that there are 2 spans"),
            ("uncounted", vec![(one, file("r", &[1]))], None, "its SHA-256"),
            ("a gap", vec![(two, file("r", &[1]))], Some((1, 1)), "where \"spans/00001.parquet\" should be"),
            ("another name", vec![("spans/more.txt", vec![1])], Some((0, 0)), "should be"),
            ("no table", vec![(one, b"PAR1".to_vec())], Some((0, 0)), "spans/00001.parquet: "),
        ] {
            let told = opened(&files, told, large).unwrap_err();
            assert!(told.contains(why), "{what}: {told}");
        }
        let small = opened(&[(one, file("r", &[1]))], Some((1, 1)), ByteSize::kib(1)).unwrap_err();
        assert!(small.contains("more than 1KiB (lab.max_zip_size)"), "{small}");
    }

    #[test]
    fn rows_that_say_whose_they_are_or_have_other_columns_are_refused() {
        let with = |column: &str| {
            let columns: [(&str, ArrayRef); 1] = [(column, Arc::new(StringArray::from(vec!["a"])))];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(plain)).unwrap();
            writer.write(&batch).unwrap();
            let bytes = writer.into_inner().unwrap();
            opened(&[("spans/00001.parquet", bytes)], Some((1, 1)), ByteSize::gib(1)).unwrap_err()
        };
        assert!(with("tenant").contains("they belong to who restores them"), "{}", with("tenant"));
        assert!(with("mood").contains("\"mood\" is not known here"), "{}", with("mood"));
        assert!(with("trace_id").contains("is missing"), "{}", with("trace_id"));
    }
}
