//! Ids that follow from what they name, so that whoever knows that knows the id.

use crate::domain::id::EXPERIMENT_MARK;
use sha2::{Digest, Sha256};

/// The run of an experiment, item and repetition: 32 hexadecimal digits.
pub fn run_id(experiment_id: &str, item_id: &str, repetition: i64) -> String {
    digits(&format!("run\0{experiment_id}\0{item_id}\0{repetition}"), 16)
}

/// The trace id and the span id under which the target of an attempt may send its spans. The trace id is marked, so that
/// sampling knows these spans whenever and through whichever server they come.
pub fn trace_ids(run_id: &str, attempt: i64) -> (String, String) {
    let of = |what: &str, bytes: usize| digits(&format!("{what}\0{run_id}\0{attempt}"), bytes);
    let rest = 16 - EXPERIMENT_MARK.len();
    (format!("{}{}", hex::encode(EXPERIMENT_MARK), of("trace", rest)), of("span", 8))
}

/// The same as the header `traceparent` of W3C.
pub fn traceparent(run_id: &str, attempt: i64) -> String {
    let (trace, span) = trace_ids(run_id, attempt);
    format!("00-{trace}-{span}-01")
}

/// The first bytes of a hash.
pub fn digits(text: &str, bytes: usize) -> String {
    hex::encode(&Sha256::digest(text)[..bytes])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::TraceId;

    #[test]
    fn a_run_is_named_by_experiment_item_and_repetition() {
        assert_eq!(run_id("e", "i", 1), run_id("e", "i", 1));
        assert_ne!(run_id("e", "i", 1), run_id("e", "i", 2));
        let parent = traceparent(&run_id("e", "i", 1), 1);
        assert_eq!((parent.len(), parent.matches('-').count()), (55, 3));
        assert_ne!(parent, traceparent(&run_id("e", "i", 1), 2));
        let trace = TraceId::from_hex(&parent[3..35]).unwrap();
        assert!(trace.is_of_experiment());
    }
}
