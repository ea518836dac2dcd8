//! F7: a journal that was cut, flipped, emptied or lost in parts. The server starts, serves the rest, and says so.

use super::server::{Server, Settings};
use super::small;
use crate::support::{request, span, text};
use groundline::journal::{Config, Journal, JournalError};
use groundline::schema::columns::Table;
use groundline::schema::frame::{self, FrameKind, Part};
use groundline::units::ByteSize;
use prost::Message;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Nothing is written to files, so that the journal alone holds the spans, in segments of a few frames.
fn settings(data_dir: &Path) -> Settings {
    small(data_dir)
        .set("LAKE__FLUSH_INTERVAL", "3600000ms")
        .set("INGEST__MAX_REQUEST_SIZE", 8 << 10)
        .set("INGEST__MAX_IN_FLIGHT_SIZE", 64 << 10)
        .set("JOURNAL__MAX_FRAME_SIZE", 64 << 10)
        .set("JOURNAL__SEGMENT_SIZE", 128 << 10)
}

const SPANS: u64 = 24;

/// A data directory with spans 0 to 23, a frame each, whose server was killed. Frames of sampling follow them.
async fn filled(folder: &Path) {
    let mut server = settings(folder).start();
    for number in 0..SPANS {
        let body =
            request("f07", vec![span(number, number, vec![text("k", &"v".repeat(1_500))])]).encode_to_vec();
        let post = reqwest::Client::new().post(format!("http://{}/v1/traces", server.otlp_http));
        let answer = post.header("content-type", "application/x-protobuf").body(body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
    server.kill();
}

fn segments(data_dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(data_dir.join("journal"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "seg"))
        .collect();
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// The spans that the server shows.
async fn shown(server: &Server) -> BTreeSet<i64> {
    let rows = server.query("SELECT span_id FROM spans").await.unwrap();
    rows.iter().map(|row| i64::from_str_radix(row["span_id"].as_str().unwrap(), 16).unwrap() - 1).collect()
}

/// One kind of damage.
struct Damage {
    name: &'static str,
    make: fn(&[PathBuf]),
    /// How many spans it may cost at most.
    costs: usize,
    /// Whether it is a cut that a crash explains, or damage that needs a person.
    alarm: bool,
}

fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

const DAMAGES: &[Damage] = &[
    Damage {
        name: "a torn tail",
        make: |s| edit(&s[s.len() - 1], |b| b.truncate(b.len() - 9)),
        costs: 1,
        alarm: false,
    },
    Damage { name: "a flipped bit", make: |s| edit(&s[0], |b| b[700] ^= 4), costs: 1, alarm: true },
    Damage { name: "a flipped header", make: |s| edit(&s[0], |b| b[3] ^= 4), costs: 0, alarm: true },
    Damage { name: "an emptied segment", make: |s| edit(&s[0], Vec::clear), costs: 12, alarm: true },
    Damage { name: "a lost segment", make: |s| std::fs::remove_file(&s[1]).unwrap(), costs: 12, alarm: true },
    Damage {
        name: "zeros in the middle",
        make: |s| edit(&s[1], |b| b[2_000..5_000].fill(0)),
        costs: 3,
        alarm: true,
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_damage_costs_what_it_hit_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    filled(&whole).await;
    assert!(segments(&whole).len() >= 3, "{:?}", segments(&whole));
    for (at, damage) in DAMAGES.iter().enumerate() {
        let data_dir = folder.path().join(format!("damaged-{at}"));
        copy(&whole, &data_dir);
        (damage.make)(&segments(&data_dir));
        let server = settings(&data_dir).start();
        let shown = shown(&server).await;
        let lost = usize::try_from(SPANS).unwrap() - shown.len();
        assert!(lost <= damage.costs, "{}: {lost} spans are gone, {shown:?}", damage.name);
        let (torn, quarantined) = (
            server.metric("groundline_journal_torn_bytes").await,
            server.metric("groundline_journal_quarantined").await,
        );
        println!(
            "{}: {lost} of {SPANS} spans lost, {torn} bytes cut, {quarantined} quarantined",
            damage.name
        );
        assert_eq!(quarantined > 0.0, damage.alarm, "{}", damage.name);
        assert_eq!(torn > 0.0, !damage.alarm, "{}", damage.name);
        let ready = reqwest::get(format!("http://{}/health/ready", server.http)).await.unwrap();
        assert_eq!(ready.status(), 200, "{}: it serves what is left", damage.name);
        let said = ready.text().await.unwrap();
        assert_eq!(said.contains("damaged"), damage.alarm, "{}: {said}", damage.name);
        // And it takes more.
        let more = request("f07", vec![span(99, 99, vec![])]).encode_to_vec();
        let post = reqwest::Client::new().post(format!("http://{}/v1/traces", server.otlp_http));
        let answer = post.header("content-type", "application/x-protobuf").body(more).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
}

/// Opens it. A child that another test starts just now may hold a copy of the lock for a moment.
fn open(dir: &Path, config: Config) -> Journal {
    for _ in 0..500 {
        match Journal::open(dir, config.clone(), groundline::schema::FORMAT) {
            Err(JournalError::Locked { .. }) => std::thread::sleep(std::time::Duration::from_millis(10)),
            opened => return opened.unwrap(),
        }
    }
    panic!("{} stays locked", dir.display());
}

/// Where the last record of a segment begins: records begin with a mark, and have their length behind it.
fn last_record(bytes: &[u8]) -> usize {
    let (mut at, mut last) = (32, 32);
    while at + 28 <= bytes.len() {
        last = at;
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap());
        at += 28 + length as usize;
    }
    last
}

/// The last record cut at its ends and in between: all frames before it stay, none is made up, and the rest is counted.
/// GROUNDLINE_EVERY_BYTE cuts at each byte, which the journal's own tests do with short records.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f07_the_last_record_is_cut_anywhere() {
    // In memory, because each of hundreds of starts syncs.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let whole = folder.path().join("whole");
    filled(&whole).await;
    let last = segments(&whole).pop().unwrap();
    let bytes = std::fs::read(&last).unwrap();
    let config = || Config {
        segment_size: ByteSize::kib(128),
        max_frame_size: ByteSize::kib(64),
        ..Config::default()
    };
    let journal = whole.join("journal");
    for entry in std::fs::read_dir(&journal).unwrap() {
        let path = entry.unwrap().path();
        // A number that a cursor has passed is not given again; here every cut must be the end of the journal.
        if path.extension().is_some_and(|e| e == "cursor") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let frames = |cut: usize| {
        std::fs::write(&last, &bytes[..cut]).unwrap();
        let journal = open(&journal, config());
        let mut reader = journal.reader(0).unwrap();
        let mut spans = 0;
        let mut count = 0;
        while let Some(frame) = reader.next().unwrap() {
            let parts = frame::decode(&frame.payload, FrameKind::of(Table::Spans)).unwrap();
            spans += parts
                .iter()
                .map(|p| if let Part::Rows(_, rows) = p { rows.num_rows() } else { 0 })
                .sum::<usize>();
            count += 1;
        }
        (count, spans, journal.stats())
    };
    let (all, spans, _) = frames(bytes.len());
    assert_eq!(spans as u64, SPANS);
    let mut cuts = 0;
    let every = std::env::var("GROUNDLINE_EVERY_BYTE").is_ok();
    let start = last_record(&bytes);
    let wanted = |cut: &usize| every || cut - start < 40 || bytes.len() - cut < 40 || cut.is_multiple_of(251);
    for cut in (start..bytes.len()).filter(wanted) {
        let (count, _, stats) = frames(cut);
        assert_eq!(stats.quarantined_frames, 0, "cut at {cut}");
        assert_eq!(count, all - 1, "cut at {cut}");
        cuts += 1;
    }
    assert!(cuts > 100, "only {cuts} cuts");
    println!("{cuts} cuts of the last record, {} bytes", bytes.len() - start);
}
