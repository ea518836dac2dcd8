//! Luhn, Verhoeff, ISO 7064 and the other check digits.

/// The digits of `text`; anything else is passed over.
pub fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Whether the digits satisfy the formula of Luhn (ISO/IEC 7812).
pub fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, d)| if i % 2 == 0 { *d } else { d * 2 / 10 + d * 2 % 10 })
        .sum();
    !digits.is_empty() && sum.is_multiple_of(10)
}

/// Σ digit × weight over the shorter of the two.
pub fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(d, w)| d * w).sum()
}

/// The remainder by 97 of a text of digits and letters, letters counting from 10 (ISO 7064 MOD 97-10).
pub fn mod97(text: impl Iterator<Item = char>) -> Option<u32> {
    let mut rest = 0;
    for c in text {
        let value = c.to_digit(36)?;
        rest = (rest * if value > 9 { 100 } else { 10 } + value) % 97;
    }
    Some(rest)
}

/// Whether the digits satisfy ISO 7064 MOD 11,10, as the German tax number does.
pub fn mod11_10(digits: &[u32]) -> bool {
    let Some((check, body)) = digits.split_last() else { return false };
    let mut product = 10;
    for d in body {
        let sum = (d + product) % 10;
        product = (if sum == 0 { 10 } else { sum }) * 2 % 11;
    }
    (11 - product) % 10 == *check
}

/// Multiplication in the dihedral group of order 10.
fn dihedral(a: u32, b: u32) -> u32 {
    match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a - 5 + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    }
}

/// Whether the digits satisfy the scheme of Verhoeff, as the Indian Aadhaar number does.
pub fn verhoeff(digits: &[u32]) -> bool {
    const STEP: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let mut check = 0;
    for (i, d) in digits.iter().rev().enumerate() {
        let mut permuted = *d as usize;
        for _ in 0..i % 8 {
            permuted = STEP[permuted];
        }
        check = dihedral(check, permuted as u32);
    }
    check == 0 && !digits.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luhn_tells_a_changed_digit() {
        assert!(luhn(&digits("79927398713")));
        assert!(!luhn(&digits("79927398710")));
        assert!(!luhn(&[]));
    }

    #[test]
    fn mod97_of_letters() {
        assert_eq!(mod97("3214282912345698765432161182".chars()), Some(1));
        assert_eq!(mod97("A-".chars()), None);
    }

    #[test]
    fn mod11_10_of_the_published_example() {
        assert!(mod11_10(&digits("86095742719")));
        assert!(!mod11_10(&digits("86095742718")));
    }

    #[test]
    fn verhoeff_of_the_published_example() {
        assert!(verhoeff(&digits("2363")));
        assert!(!verhoeff(&digits("2364")));
        assert!(!verhoeff(&digits("3263")));
    }
}
