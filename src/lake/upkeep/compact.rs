//! Which files are merged.
//!
//! Files are grouped by when their rows came, not by what time the rows claim: clocks that are wrong by decades cannot
//! make more files. Within a window of arrival, files of like size are merged once there are enough of them, so that a
//! row is written again only as often as its file outgrows a tier. When the window has passed, what is small in it
//! becomes one file. So a window of `b` bytes has at most
//! `TIERS × (min_files − 1) + 2 × b ÷ target + 1` files once the plan is empty.

use super::super::config::Config;
use super::super::manifest::LogFile;
use crate::schema::columns::Table;
use crate::units::millis;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many tiers of sizes there are below the half of the target.
pub const TIERS: u32 = 4;

/// Each tier holds files this many times larger than the tier below it.
const TIER_FACTOR: u64 = 8;

/// Most files that one merge reads at once, unless more are asked for before any are merged. Each holds about 5 MB of
/// decompressors, one for every column, and pages.
pub const MAX_MERGE_FILES: usize = 8;

/// A file with this many rows is as large as the target, however small its rows are.
const MAX_ROWS: u64 = 8_000_000;

/// Rows that came within one such window may be merged, milliseconds. A merged file is as old as its newest row, so the
/// window is a small part of the time for which rows of the table are kept.
pub fn window(table: Table, config: &Config) -> i64 {
    let kept = config
        .retention
        .shortest_age(table)
        .map_or(Duration::MAX, |age| (age / 4).max(Duration::from_secs(1)));
    millis(config.compact_window.min(kept)).max(1)
}

/// The merges that are due at `now` (milliseconds since 1970), oldest window first. Each is a list of at least two
/// indices into `files`, oldest first; no file is in two merges.
pub fn plan(files: &[LogFile], now: i64, window: i64, config: &Config) -> Vec<Vec<usize>> {
    let mut windows: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        if weight(file, config) < config.compact_target_size.bytes() / 2 {
            windows.entry(file.arrived.div_euclid(window)).or_default().push(at);
        }
    }
    let mut merges = Vec::new();
    for (number, mut small) in windows {
        // The path decides between files of one moment, so that the plan does not depend on the order of the log.
        small.sort_by(|a, b| {
            let key = |at: &usize| (files[*at].arrived, &files[*at].file.path);
            key(a).cmp(&key(b))
        });
        let passed = number < now.div_euclid(window);
        if passed {
            merges.extend(chunks(files, &small, config).into_iter().filter(|chunk| chunk.len() > 1));
            continue;
        }
        let mut tiers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for at in small {
            tiers.entry(tier(&files[at], config)).or_default().push(at);
        }
        for alike in tiers.into_values().filter(|alike| alike.len() >= config.compact_min_files) {
            merges.extend(chunks(files, &alike, config).into_iter().filter(|chunk| {
                // The rest of a long list waits for company of its own.
                chunk.len() >= config.compact_min_files
                    || chunk.len() > 1
                        && total(files, chunk, config) >= config.compact_target_size.bytes() / 2
            }));
        }
    }
    merges
}

/// The size of a file as far as merging goes, bytes.
fn weight(file: &LogFile, config: &Config) -> u64 {
    let by_rows =
        u128::from(file.file.rows) * u128::from(config.compact_target_size.bytes()) / u128::from(MAX_ROWS);
    file.file.bytes.max(u64::try_from(by_rows).unwrap_or(u64::MAX))
}

fn total(files: &[LogFile], chunk: &[usize], config: &Config) -> u64 {
    chunk.iter().map(|at| weight(&files[*at], config)).sum()
}

/// 0 for files of an eighth to a half of the target and so on; the last tier has all that is smaller.
fn tier(file: &LogFile, config: &Config) -> u32 {
    let mut floor = config.compact_target_size.bytes() / 2 / TIER_FACTOR;
    for tier in 0..TIERS - 1 {
        if weight(file, config) >= floor {
            return tier;
        }
        floor /= TIER_FACTOR;
    }
    TIERS - 1
}

/// Cuts a list into runs that do not exceed the target and the number of files.
fn chunks(files: &[LogFile], list: &[usize], config: &Config) -> Vec<Vec<usize>> {
    let most = MAX_MERGE_FILES.max(config.compact_min_files);
    let mut chunks: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for at in list {
        let weight = weight(&files[*at], config);
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < most && bytes + weight <= config.compact_target_size.bytes() => {
                chunk.push(*at);
                bytes += weight;
            }
            _ => {
                chunks.push(vec![*at]);
                bytes = weight;
            }
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::DataFile;
    use crate::lake::config::RetentionRule;

    const DAY: i64 = 86_400_000;

    fn file(number: u64, bytes: u64, arrived: i64) -> LogFile {
        LogFile {
            file: DataFile {
                path: format!("{number:06}.parquet").into(),
                bytes,
                rows: 10,
                min_time: None,
                max_time: None,
            },
            arrived,
        }
    }

    /// Plans and merges until nothing is due; gives how many bytes were written.
    fn settle(files: &mut Vec<LogFile>, now: i64, config: &Config) -> u64 {
        let (mut written, mut number) = (0, 500_000 + files.len() as u64);
        loop {
            let merges = plan(files, now, DAY, config);
            if merges.is_empty() {
                return written;
            }
            let mut gone = Vec::new();
            for merge in merges {
                assert!((2..=MAX_MERGE_FILES).contains(&merge.len()));
                let bytes = merge.iter().map(|at| files[*at].file.bytes).sum::<u64>();
                assert!(bytes <= config.compact_target_size.bytes());
                written += bytes;
                number += 1;
                files.push(file(number, bytes, merge.iter().map(|at| files[*at].arrived).max().unwrap()));
                gone.extend(merge);
            }
            gone.sort_unstable();
            assert!(gone.windows(2).all(|two| two[0] != two[1]), "a file is in two merges");
            for at in gone.into_iter().rev() {
                files.remove(at);
            }
        }
    }

    #[test]
    fn few_files_wait_and_enough_of_them_are_merged() {
        let config = Config::default();
        let mut files: Vec<_> = (0..7).map(|n| file(n, 1_000, n as i64)).collect();
        assert!(plan(&files, 10, DAY, &config).is_empty());
        files.push(file(7, 1_000, 7));
        assert_eq!(plan(&files, 10, DAY, &config), [(0..8).collect::<Vec<_>>()]);
        // A big one does not join them, and does not count.
        files[7].file.bytes = 3 << 20;
        assert!(plan(&files, 10, DAY, &config).is_empty());
    }

    #[test]
    fn as_many_as_are_asked_for_are_merged_at_once() {
        let config = Config { compact_min_files: 20, ..Config::default() };
        let files: Vec<_> = (0..20).map(|n| file(n, 1_000, 0)).collect();
        assert_eq!(plan(&files, 10, DAY, &config), [(0..20).collect::<Vec<_>>()]);
    }

    #[test]
    fn the_order_of_the_log_does_not_matter() {
        let config = Config::default();
        let mut files: Vec<_> = (0..200).map(|n| file(n, 1_000 + n * 977 % 90_000, (n / 9) as i64)).collect();
        let names = |files: &[LogFile]| -> Vec<Vec<String>> {
            let merges = plan(files, DAY * 2, DAY, &config);
            let name = |at: &usize| files[*at].file.path.to_string();
            merges.iter().map(|merge| merge.iter().map(name).collect()).collect()
        };
        let before = names(&files);
        assert!(!before.is_empty());
        files.reverse();
        assert_eq!(names(&files), before);
    }

    #[test]
    fn a_passed_window_ends_as_one_file_and_windows_are_not_mixed() {
        let config = Config::default();
        let mut files: Vec<_> = (0..3).map(|n| file(n, 1_000 << (4 * n), 5)).collect();
        files.extend((3..6).map(|n| file(n, 1_000, DAY + 5)));
        assert_eq!(plan(&files, DAY + 10, DAY, &config), [vec![0, 1, 2]]);
        settle(&mut files, DAY * 3, &config);
        assert_eq!(files.len(), 2);
        assert!(plan(&files, DAY * 900, DAY, &config).is_empty());
    }

    #[test]
    fn the_window_is_short_where_rows_are_kept_for_short() {
        let mut config = Config::default();
        assert_eq!(window(Table::Spans, &config), DAY);
        config.retention.max_age = Duration::from_secs(4_000);
        assert_eq!(window(Table::Spans, &config), 1_000_000);
        let tenant = "trial".to_owned();
        config.retention.rules.push(RetentionRule {
            tenant,
            max_age: Some(Duration::from_secs(400)),
            ..RetentionRule::default()
        });
        let windows = [Table::Spans, Table::Alerts].map(|table| window(table, &config));
        assert_eq!(windows, [100_000, 1_000_000]);
    }

    #[test]
    fn many_rows_are_as_good_as_many_bytes() {
        let config = Config::default();
        let mut files: Vec<_> = (0..8).map(|n| file(n, 1_000, 0)).collect();
        files[0].file.rows = MAX_ROWS;
        assert_eq!(plan(&files, DAY, DAY, &config), [(1..8).collect::<Vec<_>>()]);
    }

    /// A year of a file each thirty seconds, of sizes that vary: the number of files and the bytes written stay bounded.
    #[test]
    fn the_number_of_files_is_bounded_and_rows_are_rewritten_few_times() {
        let config = Config::default();
        let (mut files, mut came, mut written) = (Vec::new(), 0u64, 0);
        let days: i64 = 10;
        for n in 0..days * 2_880 {
            let bytes = 20_000 + (n.unsigned_abs() * 7_919_993) % 3_000_000;
            let now = n * 30_000;
            came += bytes;
            files.push(file(n.unsigned_abs(), bytes, now));
            if n % 8 == 0 {
                written += settle(&mut files, now, &config);
                let open = usize::try_from(TIERS).unwrap() * (config.compact_min_files - 1);
                let passed = usize::try_from(now / DAY).unwrap() + 1;
                let full = usize::try_from(2 * came / config.compact_target_size.bytes()).unwrap();
                assert!(files.len() <= open + passed + full + 8, "{} files", files.len());
            }
        }
        assert_eq!(came, files.iter().map(|f| f.file.bytes).sum::<u64>());
        assert!(written < 5 * came, "every byte was written {:.1} times more", written as f64 / came as f64);
    }
}
