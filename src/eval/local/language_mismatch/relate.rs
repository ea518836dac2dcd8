//! How the languages of two texts stand to each other, with a third answer besides same and other: it cannot be told.

use crate::eval::language::{Guess, Script};

/// Log-odds for one of two close languages from which a text speaks for it.
const CLEAR: f32 = 4.0;
/// Log-odds, and letters, from which an unsure text is taken to be in the language of the other text.
const LIKELY: f32 = 0.5;
const LIKELY_LETTERS: usize = 24;
/// Letters of which one of two texts in different scripts needs as many.
const ENOUGH_LETTERS: usize = 8;
/// Words without a capital by which a Latin text is more than a name.
const SMALL_WORDS: usize = 3;

/// How the languages of two texts stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are the same.
    Same,
    /// They differ.
    Other,
    /// It cannot be told.
    Unknown,
}

/// Compares the languages of two texts. Each must speak against the other's language before they count as different.
pub fn relate(a: &Guess, b: &Guess) -> Relation {
    let (Some(first), Some(second)) = (a.code, b.code) else { return Relation::Unknown };
    if first == second && (a.is_sure || b.is_sure) {
        return Relation::Same;
    }
    if a.script != b.script {
        // Latin names and terms stand in texts of every script: a Latin text must show its language.
        let is_latin_name =
            |g: &Guess| g.script == Some(Script::Latin) && !g.is_sure && g.small_words < SMALL_WORDS;
        let is_short = a.letters < ENOUGH_LETTERS && b.letters < ENOUGH_LETTERS;
        return if is_latin_name(a) || is_latin_name(b) || is_short {
            Relation::Unknown
        } else {
            Relation::Other
        };
    }
    match (a.is_sure, b.is_sure) {
        (true, true)
            if !are_close(first, second)
                || (speaks_for(a, first, second) && speaks_for(b, second, first)) =>
        {
            Relation::Other
        }
        (true, false) if fits(b, first, second) => Relation::Same,
        (false, true) if fits(a, second, first) => Relation::Same,
        _ => Relation::Unknown,
    }
}

/// Whether a text is far better explained by `own` than by a close language.
fn speaks_for(guess: &Guess, own: &str, other: &str) -> bool {
    guess.odds(own, other).is_some_and(|odds| odds >= CLEAR)
}

/// Whether an unsure text is rather in `wanted` when only the two are compared.
fn fits(guess: &Guess, wanted: &str, own: &str) -> bool {
    guess.letters >= LIKELY_LETTERS && guess.odds(wanted, own).is_some_and(|odds| odds >= LIKELY)
}

/// Languages that short texts do not tell apart.
fn are_close(a: &str, b: &str) -> bool {
    const GROUPS: &[&[&str]] = &[
        &["dan", "nob", "nno", "swe"],
        &["spa", "por", "cat", "ita", "lat"],
        &["rus", "ukr", "bel", "bul", "mkd", "srp"],
        &["ces", "slk", "slv", "hrv", "bos", "pol"],
        &["ind", "msa"],
        &["nld", "afr"],
        &["hin", "mar"],
        &["ara", "pes", "urd"],
        &["tur", "aze"],
        &["zul", "xho"],
        &["sot", "tsn"],
        &["cmn", "jpn"],
    ];
    GROUPS.iter().any(|group| group.contains(&a) && group.contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::language::identify;

    fn related(a: &str, b: &str) -> Relation {
        relate(&identify(a).unwrap(), &identify(b).unwrap())
    }

    #[test]
    fn a_short_question_fits_a_sure_answer() {
        let answer =
            "The halftime show was headlined by the British rock group with special guest performers.";
        assert_ne!(related("Super Bowl 50 halftime performers names?", answer), Relation::Other);
    }

    #[test]
    fn close_languages_need_more() {
        let danish = "Hvor mange mennesker bor der i byen, og hvad hedder den?";
        let norwegian = "Hvor mange mennesker bor det i byen, og hva heter den?";
        assert_ne!(related(danish, norwegian), Relation::Other);
        let hindi = "राजधानी में कितने लोग रहते हैं और वे क्या करते हैं?";
        let marathi = "राजधानीत किती लोक राहतात आणि ते काय करतात?";
        assert_ne!(related(hindi, marathi), Relation::Same);
    }

    #[test]
    fn names_in_latin_letters_are_no_other_language() {
        assert_eq!(
            related("Кто основал компанию Tesla Motors?", "Martin Eberhard, Marc Tarpenning"),
            Relation::Unknown
        );
        assert_eq!(
            related("Кто основал компанию?", "The company was founded by two engineers in the spring."),
            Relation::Other
        );
    }
}
