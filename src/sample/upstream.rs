//! The sampling that happened before us: OpenTelemetry's consistent probability sampling writes its rejection
//! threshold into `tracestate` as `ot=th:<hex>`, up to 14 lower-case digits, most significant first, trailing zeros left
//! out.

/// What `tracestate` says of the sampling before us.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Upstream {
    /// The probability with which the trace was kept; 1 if nothing, or nothing readable, is said.
    pub probability: f64,
    /// Whether what is said can be read.
    pub is_readable: bool,
}

impl Upstream {
    /// Reads a `tracestate`; empty for none.
    pub fn read(trace_state: &str) -> Self {
        match digits(trace_state).map(kept) {
            None => Self { probability: 1.0, is_readable: true },
            Some(None) => Self { probability: 1.0, is_readable: false },
            Some(Some(probability)) => Self { probability, is_readable: true },
        }
    }
}

/// The digits of the threshold, if one is said.
fn digits(trace_state: &str) -> Option<&str> {
    let vendor = trace_state.split(',').find_map(|member| member.trim().strip_prefix("ot="))?;
    vendor.split(';').find_map(|field| field.strip_prefix("th:"))
}

/// The share of traces that upstream kept, above 0.
fn kept(digits: &str) -> Option<f64> {
    const ALL: u64 = 1 << 56;
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if digits.is_empty() || digits.len() > 14 || !digits.bytes().all(is_digit) {
        return None;
    }
    let value = u64::from_str_radix(digits, 16).ok()?;
    let missing = u32::try_from(14 - digits.len()).ok()?;
    Some((ALL - (value << (4 * missing))) as f64 / ALL as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_of_the_specification() {
        let probability = |state| Upstream::read(state).probability;
        assert_eq!(probability("ot=th:0"), 1.0);
        assert_eq!(probability("ot=th:8"), 0.5);
        assert_eq!(probability("vendor=x, ot=rv:abc;th:c"), 0.25);
        assert!((probability("ot=th:fd70a3d70a3d71") - 0.01).abs() < 1e-9);
        assert_eq!(probability("ot=th:ffffffffffffff"), 1.0 / (1u64 << 56) as f64);
    }

    #[test]
    fn what_is_not_said_is_no_sampling_and_what_cannot_be_read_is_told() {
        for text in ["", "th:8", "vendor=th:8", "ot=rv:abc", "ot="] {
            assert_eq!(Upstream::read(text), Upstream { probability: 1.0, is_readable: true }, "{text}");
        }
        for text in ["ot=th:", "ot=th:xyz", "ot=th:123456789abcdef0", "ot=th:+8", "ot=th:C", "ot=th:-8"] {
            assert_eq!(Upstream::read(text), Upstream { probability: 1.0, is_readable: false }, "{text}");
        }
    }
}
