//! What was seen in the last so much time, in buckets.

use crate::stats::Rate;
use crate::stats::rate::Class;
use base64::Engine as _;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Buckets of a window of which nothing else is said: the oldest leaves whole, so a window is too long by one bucket at most.
pub(super) const BUCKETS: i64 = 60;

/// A window that moves with the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(try_from = "Stored", into = "Stored")]
pub(super) struct MovingWindow {
    /// Nanoseconds of a bucket.
    width: i64,
    /// The most buckets.
    most: i64,
    /// Number of the bucket since 1970, and what fell into it; in order.
    buckets: VecDeque<(i64, Rate)>,
}

/// A window as it is stored. What it holds is packed into bytes: as JSON it was five to fifty times as large.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stored {
    width: i64,
    #[serde(default = "usual")]
    most: i64,
    /// What earlier releases wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    buckets: Vec<(i64, Rate)>,
    /// Base64 of the buckets.
    #[serde(default)]
    packed: String,
}

/// The most bytes of a bucket as it is stored: a number, and two classes with their weights.
pub(super) const BUCKET_BYTES: usize = 64;

fn usual() -> i64 {
    BUCKETS
}

impl From<MovingWindow> for Stored {
    fn from(window: MovingWindow) -> Self {
        let packed = base64::engine::general_purpose::STANDARD_NO_PAD.encode(pack(&window.buckets));
        Self { width: window.width, most: window.most, buckets: Vec::new(), packed }
    }
}

impl TryFrom<Stored> for MovingWindow {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(&stored.packed);
        let mut buckets: VecDeque<(i64, Rate)> = stored.buckets.into();
        buckets.extend(bytes.ok().and_then(|bytes| unpack(&bytes)).ok_or("a window's buckets are damaged")?);
        // A width of nothing could hold no score.
        Ok(Self { width: stored.width.max(1), most: stored.most.max(1), buckets })
    }
}

/// The buckets as bytes: the distance to the number before, and for each class how many, and their weights where these are
/// not all 1.
fn pack(buckets: &VecDeque<(i64, Rate)>) -> Vec<u8> {
    let (mut out, mut before) = (Vec::new(), 0);
    for (number, seen) in buckets {
        put(&mut out, (number - before).cast_unsigned());
        before = *number;
        for class in seen.classes() {
            let n = class.n as f64;
            let is_plain = class.weight.to_bits() == n.to_bits() && class.square.to_bits() == n.to_bits();
            put(&mut out, class.n << 1 | u64::from(is_plain));
            if !is_plain {
                out.extend(class.weight.to_le_bytes());
                out.extend(class.square.to_le_bytes());
            }
        }
    }
    out
}

/// Reads what [`pack`] wrote; none if it is damaged.
fn unpack(mut bytes: &[u8]) -> Option<Vec<(i64, Rate)>> {
    let (mut buckets, mut number) = (Vec::new(), 0_i64);
    while !bytes.is_empty() {
        number = number.checked_add(get(&mut bytes)?.cast_signed())?;
        let (zeros, ones) = (class(&mut bytes)?, class(&mut bytes)?);
        buckets.push((number, Rate::of(zeros, ones)));
    }
    Some(buckets)
}

fn class(bytes: &mut &[u8]) -> Option<Class> {
    let head = get(bytes)?;
    let n = head >> 1;
    if head & 1 == 1 {
        return Some(Class { n, weight: n as f64, square: n as f64 });
    }
    let mut double = || {
        let (eight, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        Some(f64::from_le_bytes(*eight))
    };
    Some(Class { n, weight: double()?, square: double()? })
}

/// A number in seven bits a byte, the lowest first.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

impl MovingWindow {
    /// The last `length` nanoseconds.
    pub(super) fn new(length: i64) -> Self {
        Self::with(length, BUCKETS)
    }

    /// The last `length` nanoseconds, in so many buckets at most.
    pub(super) fn with(length: i64, most: i64) -> Self {
        let most = most.max(1);
        Self { width: (length / most).max(1), most, buckets: VecDeque::new() }
    }

    /// Counts an outcome at `at`, nanoseconds since 1970. One that comes late enters its own bucket; one that is too late for
    /// the window enters none.
    pub(super) fn push(&mut self, at: i64, failed: bool, pi: f64) {
        let number = at.div_euclid(self.width);
        let newest = self.buckets.back().map_or(number, |(newest, _)| (*newest).max(number));
        if number <= newest - self.most {
            return;
        }
        while self.buckets.front().is_some_and(|(oldest, _)| *oldest <= newest - self.most) {
            self.buckets.pop_front();
        }
        let place = self.buckets.partition_point(|(other, _)| *other < number);
        if self.buckets.get(place).is_none_or(|(other, _)| *other != number) {
            self.buckets.insert(place, (number, Rate::new()));
        }
        if let Some((_, seen)) = self.buckets.get_mut(place) {
            // Who calls has looked at the probability.
            let _ = seen.push(failed, pi);
        }
    }

    /// Forgets what lies after `at`: the clock was set back.
    pub(super) fn set_back(&mut self, at: i64) {
        let number = at.div_euclid(self.width);
        self.buckets.retain(|(other, _)| *other <= number);
    }

    /// Everything in the window.
    pub(super) fn total(&self) -> Rate {
        self.buckets.iter().fold(Rate::new(), |mut all, (_, seen)| {
            all.merge(seen);
            all
        })
    }

    /// When the oldest bucket begins, nanoseconds since 1970.
    pub(super) fn begins(&self) -> Option<i64> {
        self.buckets.front().map(|(number, _)| number * self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_buckets_leave_and_late_values_find_theirs() {
        let mut window = MovingWindow::new(60);
        for at in 0..200 {
            window.push(at, true, 0.5);
        }
        assert_eq!((window.total().n(), window.begins()), (60, Some(140)));
        window.push(150, false, 1.0);
        window.push(100, false, 1.0);
        assert_eq!((window.total().n(), window.buckets.len()), (61, 60));
        window.push(1_000, false, 1.0);
        assert_eq!((window.total().n(), window.begins()), (1, Some(1_000)));
    }

    #[test]
    fn buckets_survive_as_bytes_and_those_of_earlier_releases_are_read() {
        let mut window = MovingWindow::with(1_000, 24);
        for at in 0..5_000 {
            window.push(at * 3 - 700, at % 7 == 0, [1.0, 0.3, 1e-3][(at % 3) as usize]);
        }
        let json = serde_json::to_string(&window).unwrap();
        assert_eq!(serde_json::from_str::<MovingWindow>(&json).unwrap(), window);
        // At most so many bytes each: what the size of a state is reckoned from.
        assert!(json.len() < 24 * BUCKET_BYTES + 60, "{}", json.len());
        let mut plain = MovingWindow::new(60);
        (0..600).for_each(|at| plain.push(at / 10, false, 1.0));
        let json = serde_json::to_string(&plain).unwrap();
        assert!(json.len() < 60 * 6 + 60, "{}", json.len());
        let old = r#"{"width":1,"buckets":[[7,{"zeros":{"n":1,"weight":2.0,"square":4.0},"ones":{"n":0,"weight":0.0,"square":0.0}}]]}"#;
        let old: MovingWindow = serde_json::from_str(old).unwrap();
        assert_eq!((old.total().n(), old.most, old.begins()), (1, 60, Some(7)));
        for damaged in ["?", "gA", "AgI"] {
            let text = format!(r#"{{"width":1,"packed":"{damaged}"}}"#);
            assert!(serde_json::from_str::<MovingWindow>(&text).is_err(), "{damaged}");
        }
    }
}
