//! The languages whose statistics are read, by writing system.

/// A writing system that several of the languages share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Script {
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Han,
}

/// The order is the order of the groups in the table.
pub const SCRIPTS: [Script; 5] =
    [Script::Latin, Script::Cyrillic, Script::Arabic, Script::Devanagari, Script::Han];

/// Source package, ISO 639-3, folder of translated catalogues, writing system.
pub const LANGUAGES: &[(&str, &str, &str, Script)] = &[
    ("afrikaans", "afr", "af", Script::Latin),
    ("albanian", "sqi", "sq", Script::Latin),
    ("azerbaijani", "aze", "az", Script::Latin),
    ("basque", "eus", "eu", Script::Latin),
    ("bokmal", "nob", "nb", Script::Latin),
    ("bosnian", "bos", "bs", Script::Latin),
    ("catalan", "cat", "ca", Script::Latin),
    ("croatian", "hrv", "hr", Script::Latin),
    ("czech", "ces", "cs", Script::Latin),
    ("danish", "dan", "da", Script::Latin),
    ("dutch", "nld", "nl", Script::Latin),
    ("english", "eng", "en", Script::Latin),
    ("esperanto", "epo", "eo", Script::Latin),
    ("estonian", "est", "et", Script::Latin),
    ("finnish", "fin", "fi", Script::Latin),
    ("french", "fra", "fr", Script::Latin),
    ("ganda", "lug", "lg", Script::Latin),
    ("german", "deu", "de", Script::Latin),
    ("hungarian", "hun", "hu", Script::Latin),
    ("icelandic", "isl", "is", Script::Latin),
    ("indonesian", "ind", "id", Script::Latin),
    ("irish", "gle", "ga", Script::Latin),
    ("italian", "ita", "it", Script::Latin),
    ("latin", "lat", "la", Script::Latin),
    ("latvian", "lav", "lv", Script::Latin),
    ("lithuanian", "lit", "lt", Script::Latin),
    ("malay", "msa", "ms", Script::Latin),
    ("maori", "mri", "mi", Script::Latin),
    ("nynorsk", "nno", "nn", Script::Latin),
    ("polish", "pol", "pl", Script::Latin),
    ("portuguese", "por", "pt", Script::Latin),
    ("romanian", "ron", "ro", Script::Latin),
    ("shona", "sna", "sn", Script::Latin),
    ("slovak", "slk", "sk", Script::Latin),
    ("slovene", "slv", "sl", Script::Latin),
    ("somali", "som", "so", Script::Latin),
    ("sotho", "sot", "st", Script::Latin),
    ("spanish", "spa", "es", Script::Latin),
    ("swahili", "swa", "sw", Script::Latin),
    ("swedish", "swe", "sv", Script::Latin),
    ("tagalog", "tgl", "tl", Script::Latin),
    ("tsonga", "tso", "ts", Script::Latin),
    ("tswana", "tsn", "tn", Script::Latin),
    ("turkish", "tur", "tr", Script::Latin),
    ("vietnamese", "vie", "vi", Script::Latin),
    ("welsh", "cym", "cy", Script::Latin),
    ("xhosa", "xho", "xh", Script::Latin),
    ("yoruba", "yor", "yo", Script::Latin),
    ("zulu", "zul", "zu", Script::Latin),
    ("belarusian", "bel", "be", Script::Cyrillic),
    ("bulgarian", "bul", "bg", Script::Cyrillic),
    ("kazakh", "kaz", "kk", Script::Cyrillic),
    ("macedonian", "mkd", "mk", Script::Cyrillic),
    ("mongolian", "mon", "mn", Script::Cyrillic),
    ("russian", "rus", "ru", Script::Cyrillic),
    ("serbian", "srp", "sr", Script::Cyrillic),
    ("ukrainian", "ukr", "uk", Script::Cyrillic),
    ("arabic", "ara", "ar", Script::Arabic),
    ("persian", "pes", "fa", Script::Arabic),
    ("urdu", "urd", "ur", Script::Arabic),
    ("hindi", "hin", "hi", Script::Devanagari),
    ("marathi", "mar", "mr", Script::Devanagari),
    ("chinese", "cmn", "zh_CN", Script::Han),
    ("japanese", "jpn", "ja", Script::Han),
];

/// The writing system of a letter, where it is one of the shared ones.
pub fn script_of(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z'
        | '\u{aa}'
        | '\u{ba}'
        | '\u{df}'..='\u{f6}'
        | '\u{f8}'..='\u{2af}'
        | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' => {
            Script::Arabic
        }
        '\u{900}'..='\u{97f}' => Script::Devanagari,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Script::Han,
        _ => return None,
    })
}
