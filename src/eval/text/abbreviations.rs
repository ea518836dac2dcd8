//! Words whose full stop is part of the word.

/// What a full stop behind a word may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abbreviation {
    /// Something always follows in the same sentence (`Dr.`, `e.g.`).
    Inner,
    /// Only before a number (`No. 5`), for the word is also an ordinary one.
    BeforeNumber,
    /// It may also end the sentence (`Inc.`, `etc.`).
    Either,
}

const INNER: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "rev", "hon", "st", "mt", "ft", "gen", "col", "capt", "lt", "sgt",
    "cmdr", "gov", "sen", "rep", "pres", "messrs", "mme", "mlle", "e.g", "i.e", "eg", "ie", "cf", "vs",
    "v.s", "viz", "approx", "ca", "al", "resp", "incl", "excl", "esp", "eqn", "hr", "fr", "dipl", "ing",
    "z.b", "d.h", "u.a", "bzw", "vgl", "bspw", "usw", "evtl", "ggf", "sog", "zzgl", "inkl", "ud", "uds",
    "sra", "dra", "srta", "ej", "p.ej", "sig", "dott", "ecc", "np", "tzn", "tzw", "ul", "godz", "tel", "ext",
    "attn", "dept", "univ", "min", "max", "avg", "est", "г", "ул", "т.е", "т.д", "т.п", "т.к", "см", "напр",
    "g.g.a", "o.a", "bv", "d.w.z",
];

const BEFORE_NUMBER: &[&str] = &[
    "no", "nos", "nr", "num", "fig", "figs", "sec", "art", "arts", "ch", "chap", "vol", "p", "pp", "pg",
    "eq", "tab", "para", "cl", "s", "abs", "kap", "ref", "ver", "v", "lot", "rm", "apt", "bldg", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "núm", "pág", "cap", "poz",
    "ust", "par", "str",
];

const EITHER: &[&str] = &[
    "inc", "ltd", "co", "corp", "llc", "plc", "bros", "jr", "sr", "esq", "etc", "a.m", "p.m", "am", "u.s",
    "u.k", "u.s.a", "u.n", "e.u", "d.c", "ph.d", "b.a", "m.a", "m.d", "b.sc", "m.sc", "ave", "blvd", "rd",
    "hwy", "sq", "b.c", "a.d", "b.c.e", "c.e", "ibid", "op.cit", "o.o", "s.a", "s.r.l", "s.p.a", "dist",
    "mio", "mrd", "assn", "ed", "eds", "mfg", "intl", "gmbh",
];

/// Words that seldom follow an abbreviation or initial inside a sentence, so that a capital on one means a beginning.
const STARTERS: &[&str] = &[
    "The", "This", "That", "These", "Those", "There", "It", "Its", "He", "She", "They", "We", "You", "I",
    "My", "Our", "Your", "His", "Her", "Their", "In", "On", "At", "For", "From", "With", "By", "As", "If",
    "When", "While", "After", "Before", "However", "But", "And", "So", "Then", "Also", "Although", "Because",
    "Since", "What", "Who", "Why", "How", "Where", "Which", "No", "Yes", "Not", "All", "Some", "Most",
    "Many", "Each", "Both", "To", "A", "An", "Please", "Thanks", "Use", "See", "Do", "Is", "Are", "Can",
    "Der", "Die", "Das", "Es", "Er", "Sie", "Wir", "Le", "La", "Les", "Il", "Elle", "El", "Los", "Las", "En",
    "Un", "Una",
];

/// Months that German, Danish, Czech and others write behind an ordinal number (`3. Mai`).
const MONTHS: &[&str] = &[
    "januar",
    "jänner",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
    "desember",
    "december",
    "marts",
    "maj",
    "mars",
    "january",
    "february",
    "march",
    "may",
    "june",
    "july",
    "october",
];

/// What `word`, given in lower case and without its last full stop, is as an abbreviation.
pub fn kind(word: &str) -> Option<Abbreviation> {
    if INNER.contains(&word) {
        Some(Abbreviation::Inner)
    } else if BEFORE_NUMBER.contains(&word) {
        Some(Abbreviation::BeforeNumber)
    } else if EITHER.contains(&word) {
        Some(Abbreviation::Either)
    } else {
        None
    }
}

/// Whether `word` with its capital is one that sentences begin with.
pub fn is_starter(word: &str) -> bool {
    STARTERS.contains(&word)
}

/// Whether `word` names a month.
pub fn is_month(word: &str) -> bool {
    MONTHS.contains(&word.to_lowercase().as_str())
}
