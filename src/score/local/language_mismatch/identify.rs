//! Which language a text is in, with a third answer besides yes and no: it cannot be told.

use regex::Regex;
use std::sync::LazyLock;
use whatlang::{Detector, Lang, Script};

/// No more characters than this are looked at.
const MAX_CHARS: usize = 4_000;
/// Letters that a language with a script of its own needs.
const MIN_LETTERS_OWN_SCRIPT: usize = 2;
/// Letters that the statistics need.
const MIN_LETTERS: usize = 24;
/// Confidence of the statistics from which they are believed, and that which suffices when function words agree.
const SURE: f64 = 0.9;
const LIKELY: f64 = 0.15;
/// What a guess that is not sure is called.
const UNKNOWN: &str = "not told";
/// The share of letters that must be of the main script.
const MAIN_SCRIPT: f64 = 0.75;

static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?s)```.*?(?:```|$)|`[^`\n]{1,200}`|https?://\S+|www\.\S+|\S+@\S+\.\S+|<[^<>\n]{1,100}>|[\p{N}_#@*/\\|=+]+")
        .expect("a constant that the tests compile")
});

/// Small words that are frequent in one language and rare in its neighbours.
const FUNCTION_WORDS: &[(Lang, &str)] = &[
    (
        Lang::Eng,
        "the of and is are was were what who when where which how why does did do to for with that this from by has have it not be you can would there their they",
    ),
    (
        Lang::Deu,
        "der die das und ist sind war wer wann wo welche welcher wie warum nicht ein eine einen dem den des mit von für auf im zu wurde wird hat haben sich auch als bei nach über wieviele",
    ),
    (
        Lang::Fra,
        "le la les des du et est sont était qui quand où quel quelle quels comment pourquoi un une dans pour avec par sur au aux ne pas que ce cette il elle ont combien être",
    ),
    (
        Lang::Spa,
        "el la los las del y es son era quién cuándo dónde cuál qué cómo por para con una un en se su al lo más fue cuántos cuántas está han como entre",
    ),
    (
        Lang::Ita,
        "il lo gli della del dei di e è sono era chi quando dove quale che come perché un una nel con per al alla da si più non quanti quante delle stato hanno",
    ),
    (
        Lang::Por,
        "o os as do da dos das e é são era quem quando onde qual que como por para com uma um em no na se não mais foi quantos quantas está ao pelo pela",
    ),
    (
        Lang::Nld,
        "de het een en is zijn was wie wanneer waar welke wat hoe waarom van voor met op te dat die niet aan door bij naar ook hoeveel worden werd heeft",
    ),
    (
        Lang::Swe,
        "och är var vem när vilken vilket vad hur varför en ett den det som för med på av att inte till från har de sig hade många",
    ),
    (
        Lang::Dan,
        "og er var hvem hvornår hvor hvilken hvilket hvad hvordan hvorfor en et den det som for med på af at ikke til fra har de sig blev mange",
    ),
    (
        Lang::Nob,
        "og er var hvem når hvor hvilken hvilket hva hvordan hvorfor en et den det som for med på av at ikke til fra har de seg ble mange",
    ),
    (
        Lang::Fin,
        "ja on ovat oli kuka milloin missä mikä mitä miten miksi ei se että joka kun hän niin myös mutta kuin olla ovat kuinka monta",
    ),
    (
        Lang::Pol,
        "i w na z jest są był była kto kiedy gdzie który która jaki jak dlaczego się nie do że to od przez po ile oraz dla co",
    ),
    (
        Lang::Ces,
        "a v na je jsou byl byla kdo kdy kde který která jaký jak proč se ne do že to od pro kolik nebo při jsem bylo",
    ),
    (
        Lang::Ron,
        "și în este sunt era cine când unde care ce cum de la cu un o pe din pentru nu se a fost câte câți mai sau",
    ),
    (
        Lang::Hun,
        "a az és van volt ki mikor hol melyik mi hogyan miért nem egy hogy is meg de mint vagy hány ez azt",
    ),
    (
        Lang::Tur,
        "ve bir bu da de ne kim nerede nasıl neden hangi için ile olan olarak kaç mi mı daha çok gibi",
    ),
    (
        Lang::Ind,
        "yang dan di adalah siapa kapan mana apa bagaimana mengapa dengan untuk dari ini itu pada tidak ke berapa oleh dalam",
    ),
    (
        Lang::Vie,
        "là của và ai khi nào đâu gì như thế tại sao được không những một các cho với trong có người bao nhiêu",
    ),
];

/// A language by its ISO 639-3 code, as the text's statistics tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    /// The code.
    pub code: &'static str,
    /// Whether the evaluator would decide by it; if not, it abstains.
    pub is_sure: bool,
}

/// The language of a text; none where there is nothing to tell it by.
pub fn language_of(text: &str) -> Option<Language> {
    let guess = identify(text);
    guess.lang.map(|lang| Language { code: lang.code(), is_sure: guess.is_sure })
}

/// What was found out about a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// The script that nearly all letters are of.
    script: Option<Script>,
    /// The likeliest language.
    lang: Option<Lang>,
    /// Whether that language can be relied on.
    is_sure: bool,
    /// The text without code, addresses and numbers.
    text: String,
}

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

impl Guess {
    /// The language as ISO 639-3 where it is sure, else "not told".
    pub fn name(&self) -> &'static str {
        match (self.lang, self.is_sure) {
            (Some(lang), true) => lang.code(),
            _ => UNKNOWN,
        }
    }
}

/// Looks at script, function words and letter statistics of the first 4,000 characters.
pub fn identify(text: &str) -> Guess {
    let start: String = text.chars().take(MAX_CHARS).collect();
    let clean = NOISE.replace_all(&start, " ").into_owned();
    let letters = clean.chars().filter(|c| c.is_alphabetic()).count();
    let mut guess = Guess { script: None, lang: None, is_sure: false, text: clean };
    let Some(info) = whatlang::detect(&guess.text) else { return guess };
    if letters < MIN_LETTERS_OWN_SCRIPT || share_of(info.script(), &guess.text) < MAIN_SCRIPT {
        return guess;
    }
    guess.script = Some(info.script());
    guess.lang = Some(info.lang());
    if info.script().langs().len() == 1 {
        guess.is_sure = true;
        return guess;
    }
    let by_words = by_function_words(&guess.text);
    if let Some(lang) = by_words {
        // Statistics against clear words: neither is believed.
        guess.is_sure = lang == info.lang() || info.confidence() < SURE;
        guess.lang = Some(lang);
    } else {
        guess.is_sure = letters >= MIN_LETTERS && info.confidence() >= SURE;
    }
    guess
}

/// Compares the languages of two texts. Each must speak against the other's language before they count as different.
pub fn relate(a: &Guess, b: &Guess) -> Relation {
    let (Some(first), Some(second)) = (a.lang, b.lang) else { return Relation::Unknown };
    if first == second && (a.is_sure || b.is_sure) {
        return Relation::Same;
    }
    let is_other_script = family(a.script) != family(b.script);
    let has_enough = |g: &Guess| g.text.chars().filter(|c| c.is_alphabetic()).count() >= 8;
    if is_other_script {
        // Latin names and terms stand in texts of every script: a Latin text must show its language.
        let is_latin_name =
            |g: &Guess| g.script == Some(Script::Latin) && !g.is_sure && small_words(&g.text) < 3;
        return if is_latin_name(a) || is_latin_name(b) || !(has_enough(a) || has_enough(b)) {
            Relation::Unknown
        } else {
            Relation::Other
        };
    }
    match (a.is_sure, b.is_sure) {
        (true, true) if !are_close(first, second) => Relation::Other,
        (true, true) => by_pair(a, b, first, second),
        (true, false) if fits(b, first, second) => Relation::Same,
        (false, true) if fits(a, second, first) => Relation::Same,
        _ => Relation::Unknown,
    }
}

/// Words of two letters or more without a capital: names have few.
fn small_words(text: &str) -> usize {
    let is_small = |word: &&str| word.chars().count() > 1 && word.chars().all(char::is_lowercase);
    text.split(|c: char| !c.is_alphabetic()).filter(is_small).count()
}

/// Whether an unsure text is rather in `wanted` when only the two are compared.
fn fits(guess: &Guess, wanted: Lang, own: Lang) -> bool {
    let letters = guess.text.chars().filter(|c| c.is_alphabetic()).count();
    let info = Detector::with_allowlist(vec![wanted, own]).detect(&guess.text);
    letters >= MIN_LETTERS && info.is_some_and(|info| info.lang() == wanted && info.confidence() >= LIKELY)
}

/// Two close languages count as different only if each text is far better explained by its own.
fn by_pair(a: &Guess, b: &Guess, first: Lang, second: Lang) -> Relation {
    let detector = Detector::with_allowlist(vec![first, second]);
    let speaks_for = |g: &Guess, lang: Lang| {
        detector.detect(&g.text).is_some_and(|info| info.lang() == lang && info.confidence() >= SURE)
    };
    if speaks_for(a, first) && speaks_for(b, second) { Relation::Other } else { Relation::Unknown }
}

/// Languages that short texts do not tell apart.
fn are_close(a: Lang, b: Lang) -> bool {
    const GROUPS: &[&[Lang]] = &[
        &[Lang::Dan, Lang::Nob, Lang::Swe],
        &[Lang::Spa, Lang::Por, Lang::Cat, Lang::Ita],
        &[Lang::Rus, Lang::Ukr, Lang::Bel, Lang::Bul, Lang::Mkd, Lang::Srp],
        &[Lang::Ces, Lang::Slk, Lang::Slv, Lang::Hrv, Lang::Pol],
        &[Lang::Ind, Lang::Jav],
        &[Lang::Nld, Lang::Afr],
        &[Lang::Hin, Lang::Mar, Lang::Nep],
        &[Lang::Ara, Lang::Pes, Lang::Urd],
        &[Lang::Tur, Lang::Aze],
    ];
    GROUPS.iter().any(|group| group.contains(&a) && group.contains(&b))
}

/// Chinese and Japanese share characters; a Japanese text of ideographs only looks Chinese.
fn family(script: Option<Script>) -> Option<Script> {
    match script {
        Some(Script::Hiragana | Script::Katakana) => Some(Script::Mandarin),
        other => other,
    }
}

/// The language with at least two function words and twice as many as any other.
fn by_function_words(text: &str) -> Option<Lang> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()).take(200).collect();
    let mut hits: Vec<(usize, Lang)> = FUNCTION_WORDS
        .iter()
        .map(|(lang, list)| (words.iter().filter(|word| list.split(' ').any(|w| w == **word)).count(), *lang))
        .collect();
    hits.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    let [(best, lang), (second, _), ..] = hits.as_slice() else { return None };
    // Names may be any number of the words, but an eighth of a sentence is function words in all of these.
    (*best >= 2 && *best >= 2 * second && best * 8 >= words.len()).then_some(*lang)
}

/// The share of the letters that are of `script`, judged by their Unicode ranges.
fn share_of(script: Script, text: &str) -> f64 {
    let letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
    let is_cjk = matches!(script, Script::Mandarin | Script::Hiragana | Script::Katakana);
    let is_same = |c: &char| {
        let is_latin = c.is_ascii() || matches!(*c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
        let is_cjk_char =
            matches!(*c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}');
        match script {
            Script::Latin => is_latin,
            _ if is_cjk => is_cjk_char,
            _ => !is_latin && !is_cjk_char,
        }
    };
    // Latin names are common in texts of other scripts: an ideograph or syllable sign says as much as two letters.
    let same = letters.iter().filter(|c| is_same(c)).count() as f64
        * if script == Script::Latin { 1.0 } else { 2.0 };
    let other = letters.iter().filter(|c| !is_same(c)).count() as f64;
    if same + other == 0.0 { 0.0 } else { same / (same + other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_identified() {
        for (code, text) in [
            ("eng", "How many people live in the capital of the country?"),
            ("deu", "Wie viele Menschen leben in der Hauptstadt des Landes?"),
            ("fra", "Combien de personnes vivent dans la capitale du pays ?"),
            ("spa", "¿Cuántas personas viven en la capital del país?"),
            ("ell", "Πόσοι άνθρωποι ζουν εκεί;"),
            ("kor", "수도에는 몇 명이 살고 있습니까?"),
            ("jpn", "首都には何人が住んでいますか。"),
            ("cmn", "首都有多少人居住？"),
            ("tha", "มีคนอาศัยอยู่กี่คน"),
        ] {
            assert_eq!(identify(text).name(), code, "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_not_told() {
        for text in [
            "",
            "42",
            "Paris",
            "https://example.org/the-way-of-the-world",
            "`let the = of + and;`",
            "OK",
            "привет the world of words",
        ] {
            assert_eq!(identify(text).name(), UNKNOWN, "{text}");
        }
    }

    #[test]
    fn a_short_question_fits_a_sure_answer() {
        let question = identify("Super Bowl 50 halftime performers names?");
        let answer = identify(
            "The halftime show was headlined by the British rock group with special guest performers.",
        );
        assert_ne!(relate(&question, &answer), Relation::Other);
    }

    #[test]
    fn close_languages_need_more() {
        let danish = identify("Hvor mange mennesker bor der i byen, og hvad hedder den?");
        let norwegian = identify("Hvor mange mennesker bor det i byen, og hva heter den?");
        assert_ne!(relate(&danish, &norwegian), Relation::Other);
    }
}
