//! Numbers of a text, in one spelling.

/// English number words up to nineteen, each at its value; others but the tens are not numbers here.
const UP_TO_NINETEEN: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
fifteen sixteen seventeen eighteen nineteen";

/// The tens from twenty to ninety.
const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";

/// Every number in digits, in order: thousands separators out, a decimal comma as a point, zeros behind the last digit of
/// a fraction out.
pub fn digits(text: &str) -> Vec<String> {
    let (mut found, mut current) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let joins =
            matches!(c, '.' | ',') && !current.is_empty() && chars.peek().is_some_and(char::is_ascii_digit);
        if c.is_ascii_digit() || joins {
            current.push(c);
        } else if !current.is_empty() {
            found.push(one_spelling(&std::mem::take(&mut current)));
        }
    }
    if !current.is_empty() {
        found.push(one_spelling(&current));
    }
    found
}

/// The digits of an English number word in lower case, up to ninety.
pub fn number_word(word: &str) -> Option<String> {
    let small = UP_TO_NINETEEN.split_whitespace().position(|name| name == word);
    let tens = TENS.split_whitespace().position(|name| name == word).map(|at| (at + 2) * 10);
    small.or(tens).map(|number| number.to_string())
}

fn one_spelling(number: &str) -> String {
    let parts: Vec<&str> = number.split(['.', ',']).collect();
    if parts.len() > 1 && parts[0].len() <= 3 && parts[1..].iter().all(|part| part.len() == 3) {
        return parts.concat();
    }
    if let [whole, fraction] = parts[..] {
        let fraction = fraction.trim_end_matches('0');
        return if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    }
    number.replace(',', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_number_are_one_number() {
        for (text, expected) in [
            ("1,000 items", "1000"),
            ("1.000 Stück", "1000"),
            ("3.50 EUR", "3.5"),
            ("3,5 %", "3.5"),
            ("25%.", "25"),
        ] {
            assert_eq!(digits(text), [expected], "{text}");
        }
        assert_eq!(digits("from 9 to 17, or 1.2.3"), ["9", "17", "1.2.3"]);
    }

    #[test]
    fn words_up_to_ninety_are_numbers() {
        for (word, expected) in
            [("zero", "0"), ("one", "1"), ("nineteen", "19"), ("twenty", "20"), ("ninety", "90")]
        {
            assert_eq!(number_word(word).as_deref(), Some(expected));
        }
        assert_eq!(number_word("hundred").or(number_word("One")), None);
    }
}
