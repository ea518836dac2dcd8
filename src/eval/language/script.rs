//! Writing systems, as far as they tell languages apart.

/// A writing system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Script {
    /// Most languages of Europe, Africa and the islands of Asia.
    Latin,
    /// East Slavic, Bulgarian, Kazakh, Mongolian.
    Cyrillic,
    /// Arabic, Persian, Urdu.
    Arabic,
    /// Hindi, Marathi.
    Devanagari,
    /// Chinese characters and Japanese syllables: one family, since Japanese texts mix them.
    Han,
    /// Hebrew, Yiddish.
    Hebrew,
    /// A script with one language; its ISO 639-3 code.
    Own(&'static str),
}

/// First and last letter of scripts that stand for one language.
const OWN: &[(char, char, &str)] = &[
    ('\u{370}', '\u{3ff}', "ell"),
    ('\u{1f00}', '\u{1fff}', "ell"),
    ('\u{531}', '\u{587}', "hye"),
    ('\u{980}', '\u{9ff}', "ben"),
    ('\u{a01}', '\u{a76}', "pan"),
    ('\u{a81}', '\u{aff}', "guj"),
    ('\u{b01}', '\u{b7f}', "ori"),
    ('\u{b82}', '\u{bff}', "tam"),
    ('\u{c00}', '\u{c7f}', "tel"),
    ('\u{c80}', '\u{cff}', "kan"),
    ('\u{d00}', '\u{d7f}', "mal"),
    ('\u{d81}', '\u{dff}', "sin"),
    ('\u{e01}', '\u{e7f}', "tha"),
    ('\u{e81}', '\u{eff}', "lao"),
    ('\u{1000}', '\u{109f}', "mya"),
    ('\u{10a0}', '\u{10ff}', "kat"),
    ('\u{1c90}', '\u{1cbf}', "kat"),
    ('\u{1100}', '\u{11ff}', "kor"),
    ('\u{1200}', '\u{139f}', "amh"),
    ('\u{1780}', '\u{17ff}', "khm"),
    ('\u{3131}', '\u{318e}', "kor"),
    ('\u{ac00}', '\u{d7a3}', "kor"),
];

impl Script {
    /// The writing system of a letter; none for what is no letter or of a script that nothing is known of.
    pub fn of(c: char) -> Option<Self> {
        Some(match c {
            'a'..='z' | 'A'..='Z' => Self::Latin,
            '\0'..='\u{a9}' => return None,
            '\u{aa}' | '\u{ba}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2af}' => {
                Self::Latin
            }
            '\u{1e00}'..='\u{1eff}' => Self::Latin,
            '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}' => Self::Cyrillic,
            '\u{5d0}'..='\u{5f2}' | '\u{fb1d}'..='\u{fb4f}' => Self::Hebrew,
            '\u{620}'..='\u{64a}' | '\u{66e}'..='\u{6d3}' | '\u{6fa}'..='\u{6ff}' => Self::Arabic,
            '\u{750}'..='\u{77f}' | '\u{fb50}'..='\u{fdfb}' | '\u{fe70}'..='\u{fefc}' => Self::Arabic,
            '\u{900}'..='\u{963}' | '\u{970}'..='\u{97f}' => Self::Devanagari,
            '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                Self::Han
            }
            '\u{20000}'..='\u{3134f}' => Self::Han,
            _ if is_kana(c) => Self::Han,
            _ => {
                let own =
                    OWN.iter().find(|(first, last, _)| (*first..=*last).contains(&c) && c.is_alphabetic());
                return own.map(|(_, _, code)| Self::Own(code));
            }
        })
    }

    /// How much text a letter stands for: a syllable or a word, where others spell.
    pub fn weight(self) -> usize {
        if matches!(self, Self::Han | Self::Own("kor")) { 2 } else { 1 }
    }
}

/// Japanese syllables.
pub fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_scripts_and_signs_have_none() {
        for (c, script) in [
            ('ß', Some(Script::Latin)),
            ('ệ', Some(Script::Latin)),
            ('ї', Some(Script::Cyrillic)),
            ('پ', Some(Script::Arabic)),
            ('ळ', Some(Script::Devanagari)),
            ('ー', Some(Script::Han)),
            ('語', Some(Script::Han)),
            ('한', Some(Script::Own("kor"))),
            ('ω', Some(Script::Own("ell"))),
            ('÷', None),
            ('7', None),
            ('๓', None),
            ('。', None),
            ('\u{1f600}', None),
        ] {
            assert_eq!(Script::of(c), script, "{c}");
        }
    }
}
