//! The words and signs of a path.

use crate::sql::error::SqlError;
use serde_json::Number;
use std::iter::Peekable;
use std::str::CharIndices;

/// A word or a sign.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// A text in quotes.
    Text(String),
    /// A word without quotes.
    Word(String),
    /// `$name`
    Variable(String),
    /// A number.
    Number(Number),
    /// A sign.
    Sign(&'static str),
}

/// A token, and the bytes of the path that spell it.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
}

/// The signs; those that begin another stand behind it.
const SIGNS: [&str; 27] = [
    "||", "&&", "==", "!=", "<>", "<=", ">=", "**", "<", ">", "!", "*", "+", "-", "/", "%", "(", ")", "[",
    "]", "{", "}", ".", ",", "?", "@", "$",
];

/// Letters of a path that an error shows.
const SHOWN: usize = 40;

/// What a syntax error says, in PostgreSQL's words; `why` says what to do.
pub fn syntax(path: &str, from: usize, to: usize, why: &str) -> SqlError {
    let near: String = path.get(from..to).unwrap_or_default().chars().take(SHOWN).collect();
    SqlError::Wrong(if near.is_empty() {
        format!("syntax error at end of jsonpath input: {why}")
    } else {
        format!("syntax error at or near \"{near}\" of jsonpath input, byte {from}: {why}")
    })
}

/// The tokens of `path`.
///
/// # Errors
/// For a sign that paths do not have, a number that is none, and a text or comment without an end.
pub fn tokens(path: &str) -> Result<Vec<Placed>, SqlError> {
    let mut reader = Reader { path, letters: path.char_indices().peekable() };
    let mut all = Vec::new();
    while let Some((from, letter)) = reader.letters.peek().copied() {
        if letter.is_whitespace() {
            reader.letters.next();
            continue;
        }
        if path[from..].starts_with("/*") {
            reader.comment(from)?;
            continue;
        }
        let token = reader.token(from, letter)?;
        all.push(Placed { token, from, to: reader.place() });
    }
    Ok(all)
}

struct Reader<'a> {
    path: &'a str,
    letters: Peekable<CharIndices<'a>>,
}

/// Whether a word without quotes may have the letter.
fn is_of_word(letter: char) -> bool {
    !letter.is_whitespace() && !"?%$.[]{}()|&!=<>@#,*:-+/\"\\'".contains(letter)
}

impl Reader<'_> {
    /// Where the next letter is.
    fn place(&mut self) -> usize {
        self.letters.peek().map_or(self.path.len(), |(at, _)| *at)
    }

    /// Takes the letters before `place`.
    fn skip_to(&mut self, place: usize) {
        while self.letters.next_if(|(at, _)| *at < place).is_some() {}
    }

    fn comment(&mut self, from: usize) -> Result<(), SqlError> {
        let inner = self.path[from + 2..].find("*/");
        let end = inner.ok_or_else(|| syntax(self.path, from, from + 2, "the comment has no end"))?;
        self.skip_to(from + 2 + end + 2);
        Ok(())
    }

    fn token(&mut self, from: usize, letter: char) -> Result<Token, SqlError> {
        let rest = &self.path[from..];
        let second = rest.chars().nth(1);
        if letter == '"' {
            return Ok(Token::Text(self.quoted(from)?));
        }
        if letter == '$' && second.is_some_and(|second| second == '"' || is_of_word(second)) {
            self.letters.next();
            let name = if second == Some('"') { self.quoted(from + 1)? } else { self.word() };
            return Ok(Token::Variable(name));
        }
        if letter.is_ascii_digit() || (letter == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number(from);
        }
        if is_of_word(letter) {
            return Ok(Token::Word(self.word()));
        }
        let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
            let why = match letter {
                '=' => "equality is written ==",
                '\'' => "texts stand in double quotes",
                _ => "a key with this sign stands in double quotes",
            };
            return Err(syntax(self.path, from, from + letter.len_utf8(), why));
        };
        self.skip_to(from + sign.len());
        Ok(Token::Sign(sign))
    }

    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some((_, letter)) = self.letters.next_if(|(_, letter)| is_of_word(*letter)) {
            word.push(letter);
        }
        word
    }

    /// A number, also in base 16, 8 or 2, with `_` between its digits.
    fn number(&mut self, from: usize) -> Result<Token, SqlError> {
        let mut before = ' ';
        while let Some((_, letter)) = self.letters.next_if(|(_, letter)| {
            let is_exponent = matches!(before, 'e' | 'E') && matches!(letter, '+' | '-');
            letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_') || is_exponent
        }) {
            // The sign behind an `e` of base 16 is an operator.
            before = if self.path[from..].starts_with("0x") { ' ' } else { letter };
        }
        let to = self.place();
        let spelled = &self.path[from..to];
        let is_apart = !spelled.starts_with('_') && !spelled.ends_with('_') && !spelled.contains("__");
        let number = is_apart.then(|| number_of(&spelled.replace('_', "").to_lowercase())).flatten();
        number.map(Token::Number).ok_or_else(|| {
            syntax(
                self.path,
                from,
                to,
                "this is no number; a key that begins with a digit stands in double quotes",
            )
        })
    }

    /// A text, from its quotes on, with the escapes of JavaScript.
    fn quoted(&mut self, from: usize) -> Result<String, SqlError> {
        let endless = |path: &str| syntax(path, from, path.len(), "the text has no end");
        self.letters.next();
        let mut text = String::new();
        loop {
            let Some((at, letter)) = self.letters.next() else { return Err(endless(self.path)) };
            match letter {
                '"' => return Ok(text),
                '\\' => {
                    let (_, escaped) = self.letters.next().ok_or_else(|| endless(self.path))?;
                    text.push(self.escaped(at, escaped)?);
                }
                plain => text.push(plain),
            }
        }
    }

    fn escaped(&mut self, from: usize, letter: char) -> Result<char, SqlError> {
        Ok(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => return self.code(from, 2),
            'u' if self.letters.next_if(|(_, letter)| *letter == '{').is_some() => {
                let mut code = 0u32;
                while let Some((_, digit)) = self.letters.next_if(|(_, letter)| letter.is_ascii_hexdigit()) {
                    code = code.saturating_mul(16).saturating_add(digit.to_digit(16).unwrap_or(0));
                }
                let is_closed = self.letters.next_if(|(_, letter)| *letter == '}').is_some();
                let letter = char::from_u32(code).filter(|letter| is_closed && *letter != '\0');
                return letter.ok_or_else(|| self.no_code(from));
            }
            'u' => return self.unit(from),
            plain => plain,
        })
    }

    /// `\u00e9`, or the two halves of a letter beyond them.
    fn unit(&mut self, from: usize) -> Result<char, SqlError> {
        let first = self.digits(4).ok_or_else(|| self.no_code(from))?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).filter(|c| *c != '\0').ok_or_else(|| self.no_code(from));
        }
        let is_next = ['\\', 'u'].into_iter().all(|sign| self.letters.next_if(|(_, c)| *c == sign).is_some());
        let second = if is_next { self.digits(4) } else { None };
        let second = second.filter(|second| (0xdc00..0xe000).contains(second));
        let both = second.map(|second| 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        both.and_then(char::from_u32).ok_or_else(|| self.no_code(from))
    }

    fn code(&mut self, from: usize, digits: usize) -> Result<char, SqlError> {
        let code = self.digits(digits).and_then(char::from_u32).filter(|letter| *letter != '\0');
        code.ok_or_else(|| self.no_code(from))
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let mut code = 0;
        for _ in 0..count {
            let (_, digit) = self.letters.next_if(|(_, letter)| letter.is_ascii_hexdigit())?;
            code = code * 16 + digit.to_digit(16)?;
        }
        Some(code)
    }

    fn no_code(&mut self, from: usize) -> SqlError {
        let to = self.place();
        syntax(self.path, from, to, "the escape names no letter")
    }
}

/// The number that `spelled` is, in lower case and without `_`.
fn number_of(spelled: &str) -> Option<Number> {
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = spelled.strip_prefix(prefix) {
            return u64::from_str_radix(digits, base).ok().map(Number::from);
        }
    }
    let is_whole = spelled.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole && spelled.len() > 1 && spelled.starts_with('0') {
        return None;
    }
    let whole = if is_whole { spelled.parse::<u64>().ok().map(Number::from) } else { None };
    let is_plain = spelled.bytes().all(|byte| byte.is_ascii_digit() || b".e+-".contains(&byte));
    let real = if is_plain { spelled.parse::<f64>().ok().and_then(Number::from_f64) } else { None };
    whole.or(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> Vec<Token> {
        tokens(path)
            .unwrap_or_else(|why| panic!("{path}: {why}"))
            .into_iter()
            .map(|placed| placed.token)
            .collect()
    }

    #[test]
    fn words_signs_and_numbers() {
        let sign = Token::Sign;
        let word = |text: &str| Token::Word(text.to_owned());
        assert_eq!(read("$.a_1"), [sign("$"), sign("."), word("a_1")]);
        assert_eq!(
            read("$.**{1}"),
            ["$", ".", "**", "{"]
                .map(sign)
                .into_iter()
                .chain([Token::Number(1.into()), sign("}"),])
                .collect::<Vec<_>>()
        );
        assert_eq!(read("$x"), [Token::Variable("x".to_owned())]);
        assert_eq!(read(r#"$"x y" /* says nothing */ <>"#), [Token::Variable("x y".to_owned()), sign("<>")]);
        assert_eq!(read("0x1F 1_000 7"), [31u64, 1000, 7].map(|n| Token::Number(n.into())));
        for (spelled, value) in
            [("1.5", 1.5), (".5", 0.5), ("2.", 2.0), ("1e-3", 0.001), ("99999999999999999999", 1e20)]
        {
            assert_eq!(read(spelled), [Token::Number(Number::from_f64(value).unwrap())], "{spelled}");
        }
    }

    #[test]
    fn texts_have_the_escapes_of_javascript() {
        let text = |path: &str| match read(path).as_slice() {
            [Token::Text(text)] => text.clone(),
            other => panic!("{path}: {other:?}"),
        };
        assert_eq!(text(r#""a\"b\\c\n""#), "a\"b\\c\n");
        assert_eq!(text(r#""\u00e9\x41\u{1f600}\ud83d\ude00""#), "éA😀😀");
    }

    #[test]
    fn what_is_no_token_is_told() {
        for path in [
            "$.a = 1",
            "$.a#b",
            "'a'",
            "\"a",
            "/* a",
            "1a",
            "1__0",
            "\"\\u12\"",
            "\"\\ud83d\"",
            "01",
            "1.2.3",
        ] {
            let why = tokens(path).expect_err(path).to_string();
            assert!(why.contains("of jsonpath input"), "{path}: {why}");
        }
    }
}
