//! The sampling that happened before us: OpenTelemetry's consistent probability sampling writes its rejection
//! threshold into `tracestate` as `ot=th:<hex>`, up to 14 digits, most significant first, trailing zeros left out.

/// The probability with which the trace was kept upstream; 1 if nothing, or nothing readable, is said.
pub fn probability(trace_state: &str) -> f64 {
    threshold(trace_state).map_or(1.0, |rejected| 1.0 - rejected)
}

/// The share of traces that upstream rejected.
fn threshold(trace_state: &str) -> Option<f64> {
    let vendor = trace_state.split(',').find_map(|member| member.trim().strip_prefix("ot="))?;
    let digits = vendor.split(';').find_map(|field| field.strip_prefix("th:"))?;
    if digits.is_empty() || digits.len() > 14 {
        return None;
    }
    let value = u64::from_str_radix(digits, 16).ok()?;
    let missing = u32::try_from(14 - digits.len()).ok()?;
    let rejected = (value << (4 * missing)) as f64 / (1u64 << 56) as f64;
    (rejected < 1.0).then_some(rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_of_the_specification() {
        assert_eq!(probability("ot=th:0"), 1.0);
        assert_eq!(probability("ot=th:8"), 0.5);
        assert_eq!(probability("vendor=x, ot=rv:abc;th:c"), 0.25);
        assert!((probability("ot=th:fd70a3d70a3d71") - 0.01).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_read_is_no_sampling() {
        for text in ["", "ot=th:", "ot=th:xyz", "ot=th:123456789abcdef0", "th:8", "vendor=th:8"] {
            assert_eq!(probability(text), 1.0, "{text}");
        }
    }
}
