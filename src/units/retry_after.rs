//! When to come back, as servers say it.

use std::time::Duration;

/// What the header `Retry-After` asks for, seconds or a date, and not longer than `longest`; none for anything else.
pub fn retry_after(text: &str, longest: Duration) -> Option<Duration> {
    let text = text.trim();
    let seconds = match text.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let at = chrono::DateTime::parse_from_rfc2822(text).ok()?;
            (at.timestamp_millis() - chrono::Utc::now().timestamp_millis()) as f64 / 1e3
        }
    };
    let wait = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(longest);
    Some(wait.min(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_seconds_or_a_date_and_bounded() {
        let longest = Duration::from_mins(1);
        let wait = |text: &str| retry_after(text, longest);
        assert_eq!(wait("2"), Some(Duration::from_secs(2)));
        assert_eq!(wait(" 0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("86400"), Some(longest));
        assert_eq!(wait("1e300"), Some(longest));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("NaN"), Some(Duration::ZERO));
    }
}
