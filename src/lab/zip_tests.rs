use super::*;

fn files() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("suite.csv".to_owned(), b"a,b\n".repeat(100)),
        ("documents/\u{e4}.txt".to_owned(), Vec::new()),
    ])
}

#[test]
fn what_is_written_is_read_and_equal_files_give_equal_bytes() {
    let bytes = write(&files()).unwrap();
    assert!(is_zip(&bytes));
    assert_eq!(read(&bytes).unwrap(), files());
    assert_eq!(write(&files()).unwrap(), bytes);
    assert_eq!(read(&write(&BTreeMap::new()).unwrap()).unwrap(), BTreeMap::new());
}

#[test]
fn names_that_lead_out_are_refused() {
    for name in ["../x", "/etc/x", "a/../../x", "c:\\x", "a\\b", "./x"] {
        let bytes = write(&BTreeMap::from([(name.to_owned(), b"x".to_vec())])).unwrap();
        assert!(read(&bytes).unwrap_err().contains("refused"), "{name}");
    }
}

/// The place of the entry's list in an archive of one file.
fn list(bytes: &[u8]) -> usize {
    directory(bytes, Limits::default()).unwrap().0
}

#[test]
fn claims_are_not_believed() {
    let good = write(&BTreeMap::from([("bomb".to_owned(), vec![0u8; 1 << 20])])).unwrap();
    assert!(good.len() < 4_000);
    let claim = |size: u32| {
        let mut bytes = good.clone();
        let at = list(&good) + 24;
        bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
        read(&bytes).unwrap_err()
    };
    assert!(claim(10).contains("damaged"));
    assert!(claim(1 << 21).contains("damaged"));
    // Nor are those of a file that nobody reads, which is unpacked to where it says that it ends.
    let unread = |bytes: &[u8]| Archive::open(bytes, Limits::default()).unwrap().check_others(|_| false);
    assert_eq!(unread(&good), Ok(()));
    let mut short = good.clone();
    let at = list(&good) + 24;
    short[at..at + 4].copy_from_slice(&10u32.to_le_bytes());
    assert!(unread(&short).unwrap_err().contains("\"bomb\" is damaged"));
    assert_eq!(Archive::open(&short, Limits::default()).unwrap().check_others(|name| name == "bomb"), Ok(()));
    assert!(claim(u32::MAX).contains("claims 4294967295 bytes"));
    for cut in [0, 10, good.len() / 2, good.len() - 1] {
        assert!(read(&good[..cut]).is_err(), "{cut}");
    }
    let mut link = good.clone();
    let at = list(&good) + 38;
    link[at..at + 4].copy_from_slice(&(LINK << 16).to_le_bytes());
    assert!(read(&link).unwrap_err().contains("link"));
    let mut flipped = good.clone();
    flipped[40] ^= 0xff;
    assert!(read(&flipped).is_err());
}

/// Every entry is the same megabyte of zeros, so a small archive claims thousands of them.
#[test]
fn entries_that_share_their_bytes_meet_the_limit() {
    let mut files = BTreeMap::new();
    files.insert("a".to_owned(), vec![0u8; 1 << 20]);
    let one = write(&files).unwrap();
    let start = list(&one);
    let entry = &one[start..one.len() - END_BYTES];
    let shared = |size: u32| {
        let mut bytes = one[..start].to_vec();
        for at in 0..9u8 {
            let mut copy = entry.to_vec();
            copy[24..28].copy_from_slice(&size.to_le_bytes());
            let name = copy.len() - 1;
            copy[name] = b'0' + at;
            bytes.extend_from_slice(&copy);
        }
        let mut end = one[one.len() - END_BYTES..].to_vec();
        end[10..12].copy_from_slice(&9u16.to_le_bytes());
        bytes.extend_from_slice(&end);
        bytes
    };
    let within = |size: u32, all: u64, entries: usize| {
        read_within(&shared(size), Limits { all, entries, ..Limits::default() })
    };
    assert_eq!(within(1 << 20, 9 << 20, 9).unwrap().len(), 9);
    assert!(within(1 << 20, 8 << 20, 9).unwrap_err().contains("more than 8 MiB together"));
    assert_eq!(within(1 << 20, 9 << 20, 8).unwrap_err(), "9 files, at most 8");
    // Each takes its time though it claims to be empty: what is packed counts, too.
    assert!(within(0, 4_096, 9).unwrap_err().contains("more than 4096 bytes together"));
    assert!(within(0, 1 << 20, 9).unwrap_err().contains("damaged"));
}

/// Logs of Inspect are packed so.
#[test]
fn what_zstd_packed_is_read_and_counted() {
    let content = b"what was said ".repeat(1_000);
    let packed = zstd::stream::encode_all(content.as_slice(), 3).unwrap();
    let mut crc = Crc::new();
    crc.update(&content);
    let plain = write(&BTreeMap::from([("a".to_owned(), content.clone())])).unwrap();
    let start = list(&plain);
    let mut entry = plain[start..plain.len() - END_BYTES].to_vec();
    entry[10..12].copy_from_slice(&ZSTD.to_le_bytes());
    entry[20..24].copy_from_slice(&u32::try_from(packed.len()).unwrap().to_le_bytes());
    let mut bytes = plain[..31].to_vec();
    bytes.extend_from_slice(&packed);
    let at = u32::try_from(bytes.len()).unwrap();
    bytes.extend_from_slice(&entry);
    let mut end = plain[plain.len() - END_BYTES..].to_vec();
    end[16..20].copy_from_slice(&at.to_le_bytes());
    bytes.extend_from_slice(&end);
    assert_eq!(read(&bytes).unwrap(), BTreeMap::from([("a".to_owned(), content)]));
    let one = Limits { entry: 1_000, ..Limits::default() };
    assert!(read_within(&bytes, one).unwrap_err().contains("\"a\" claims 14000 bytes"));
}
