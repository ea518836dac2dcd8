//! A found value as it may be shown.

/// A mask tells the length of a value only up to here.
const MAX_MASK: usize = 24;

/// `value` with stars for all letters and digits but the last `keep`, separators left out.
pub fn masked_but_last(value: &str, keep: usize) -> String {
    let chars: Vec<char> = value.chars().filter(|c| c.is_alphanumeric()).collect();
    let hidden = chars.len().saturating_sub(keep);
    let mut mask = "*".repeat(hidden.min(MAX_MASK));
    mask.extend(&chars[hidden..]);
    mask
}

/// `value` with stars for all but the first `keep` characters.
pub fn masked_but_first(value: &str, keep: usize) -> String {
    let hidden = value.chars().count().saturating_sub(keep);
    let mut mask: String = value.chars().take(keep).collect();
    mask.push_str(&"*".repeat(hidden.min(MAX_MASK)));
    mask
}

/// The first letter and the ends of an e-mail address, else the last four characters of a long number.
pub fn mask_pii(value: &str) -> String {
    if let Some((local, domain)) = value.split_once('@') {
        let top = domain.rsplit('.').next().unwrap_or_default();
        return format!("{}@***.{top}", masked_but_first(local, 1));
    }
    let length = value.chars().filter(|c| c.is_alphanumeric()).count();
    masked_but_last(
        value,
        if length >= 12 {
            4
        } else if length >= 9 {
            2
        } else {
            0
        },
    )
}

/// Four characters of a long value tell whose it is; of a short one they would be too much of it.
pub fn mask_secret(value: &str) -> String {
    masked_but_first(value, if value.len() >= 20 { 4 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hide() {
        assert_eq!(masked_but_last("4111 1111 1111 1111", 4), "************1111");
        assert_eq!(masked_but_first("AKIAIOSFODNN7EXAMPLE", 4), "AKIA****************");
        assert_eq!(masked_but_first(&"x".repeat(500), 2).len(), 26);
    }
}
