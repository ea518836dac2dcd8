//! Until when a certificate holds. X.509 is read as far as that and no further: the handshake judges the rest.

use chrono::NaiveDateTime;
use rustls::pki_types::CertificateDer;

/// Tags of DER: the version of a certificate, and the two forms of a time.
const VERSION: u8 = 0xa0;
const SHORT_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;

/// When the first of these certificates ends, seconds since 1970-01-01 UTC; none where one of them cannot be read.
pub(super) fn first_end(chain: &[CertificateDer<'_>]) -> Option<i64> {
    let ends: Option<Vec<i64>> = chain.iter().map(|one| not_after(one)).collect();
    ends?.into_iter().min()
}

fn not_after(certificate: &[u8]) -> Option<i64> {
    let (_, signed, _) = element(certificate)?;
    let (_, mut fields, _) = element(signed)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // The serial number, the algorithm of the signature, the issuer.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (_, validity, _) = element(fields)?;
    let (_, _, after_the_begin) = element(validity)?;
    let (tag, text, _) = element(after_the_begin)?;
    seconds(tag, std::str::from_utf8(text).ok()?)
}

/// One element of DER: its tag, what it holds, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (bytes.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (held, after) = rest.split_at_checked(length)?;
    Some((tag, held, after))
}

fn seconds(tag: u8, text: &str) -> Option<i64> {
    let full = match tag {
        // Years of two digits reach from 1950 to 2049.
        SHORT_TIME if text < "50" => format!("20{text}"),
        SHORT_TIME => format!("19{text}"),
        LONG_TIME => text.to_owned(),
        _ => return None,
    };
    Some(NaiveDateTime::parse_from_str(&full, "%Y%m%d%H%M%SZ").ok()?.and_utc().timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    fn ending(year: i32, month: u8, day: u8) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(1990, 1, 1);
        params.not_after = date_time_ymd(year, month, day);
        params.self_signed(&key).unwrap().der().clone()
    }

    fn told(year: i32, month: u8, day: u8) -> Option<String> {
        let end = chrono::DateTime::from_timestamp(first_end(&[ending(year, month, day)])?, 0)?;
        Some(end.to_rfc3339())
    }

    #[test]
    fn the_end_is_read_in_both_forms_of_time() {
        assert_eq!(told(2026, 12, 31).unwrap(), "2026-12-31T00:00:00+00:00");
        assert_eq!(told(1999, 1, 2).unwrap(), "1999-01-02T00:00:00+00:00");
        assert_eq!(told(2049, 12, 31).unwrap(), "2049-12-31T00:00:00+00:00");
        // From 2050 on a year has four digits.
        assert_eq!(told(2050, 1, 1).unwrap(), "2050-01-01T00:00:00+00:00");
        assert_eq!(told(9999, 12, 31).unwrap(), "9999-12-31T00:00:00+00:00");
    }

    #[test]
    fn a_chain_ends_with_its_first_certificate_and_what_is_none_has_no_end() {
        let (early, late) = (ending(2030, 1, 1), ending(2040, 1, 1));
        assert_eq!(first_end(&[late.clone(), early.clone()]), first_end(std::slice::from_ref(&early)));
        for length in 0..early.len() {
            let cut = CertificateDer::from(early[..length].to_vec());
            assert_eq!(first_end(&[late.clone(), cut]), None, "{length} bytes");
        }
        assert_eq!(first_end(&[]), None);
    }
}
