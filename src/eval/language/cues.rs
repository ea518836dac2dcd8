//! Words and endings that tell two languages apart where the published letter statistics cannot.
//!
//! Those of Hindi and Marathi have no vowel signs, which carry the grammar; of Yiddish there are none.

/// Words of Marathi that are none of Hindi.
const MARATHI: &[&str] = &[
    "आहे",
    "आहेत",
    "आणि",
    "होते",
    "होता",
    "होती",
    "केली",
    "केले",
    "केला",
    "नाही",
    "नाहीत",
    "हे",
    "ही",
    "हा",
    "त्या",
    "त्यांनी",
    "त्याने",
    "तिने",
    "मी",
    "आम्ही",
    "तुम्ही",
    "त्यांच्या",
    "त्याच्या",
    "काय",
    "कसे",
    "कोण",
    "कुठे",
    "कधी",
    "किती",
    "म्हणून",
    "मात्र",
    "असे",
    "असा",
    "अशी",
    "आपल्या",
    "आपले",
    "येथे",
    "तेथे",
    "असून",
    "झाली",
    "झाले",
    "झाला",
    "करण्यात",
    "साठी",
    "पण",
    "सर्व",
    "मध्ये",
    "यांनी",
    "यांच्या",
    "व",
    "तर",
    "होणार",
    "पाहिजे",
    "करा",
    "नये",
    "शकत",
    "म्हणाले",
    "दिली",
    "दिला",
    "दिले",
    "गेली",
    "गेले",
    "गेला",
];

/// Endings of Marathi words.
const MARATHI_ENDINGS: &[&str] = &[
    "चा",
    "ची",
    "चे",
    "णी",
    "ळी",
    "साठी",
    "पासून",
    "कडून",
    "च्या",
    "ाचा",
    "ाची",
    "ाचे",
    "ांचा",
    "ांची",
    "ांचे",
    "ांनी",
    "ाने",
    "ाला",
    "ांना",
    "ामध्ये",
    "ासाठी",
    "ाही",
    "ण्यात",
    "ण्याचा",
    "ण्याची",
    "ण्यासाठी",
    "ातील",
    "ावर",
    "ाखाली",
    "ामुळे",
    "ाकडे",
    "ाशी",
    "ून",
    "तात",
    "णार",
    "ण्याचे",
    "ल्या",
    "ले",
    "ीत",
    "ात",
    "णे",
    "वणे",
    "लेला",
    "लेली",
    "लेले",
    "ीला",
    "ीचा",
    "ीची",
    "ीचे",
];

/// Words of Hindi that are none of Marathi.
const HINDI: &[&str] = &[
    "है",
    "हैं",
    "और",
    "में",
    "की",
    "के",
    "का",
    "को",
    "से",
    "पर",
    "ने",
    "यह",
    "वह",
    "ये",
    "वे",
    "था",
    "थे",
    "थी",
    "थीं",
    "नहीं",
    "कि",
    "भी",
    "हो",
    "गया",
    "गई",
    "गए",
    "गयी",
    "कर",
    "लिए",
    "करने",
    "किया",
    "किए",
    "इस",
    "उस",
    "इसके",
    "उसके",
    "उन्होंने",
    "मैं",
    "हम",
    "आप",
    "तुम",
    "क्या",
    "कैसे",
    "कौन",
    "कहाँ",
    "कहां",
    "कब",
    "कितने",
    "क्यों",
    "बहुत",
    "अपने",
    "अपनी",
    "अपना",
    "जो",
    "साथ",
    "बाद",
    "रहा",
    "रही",
    "रहे",
    "होता",
    "करें",
    "सकते",
    "सकता",
    "कोई",
    "एवं",
    "हुए",
    "हुआ",
    "हुई",
    "दिया",
    "लेकिन",
    "मेरे",
    "मेरा",
    "यहाँ",
    "द्वारा",
    "जाता",
    "जाती",
    "वाले",
];

/// Endings of Hindi words.
const HINDI_ENDINGS: &[&str] = &[
    "ों",
    "ियाँ",
    "ियां",
    "ियों",
    "ाएँ",
    "ाएं",
    "ें",
    "ूँ",
    "ूं",
    "ाना",
    "ाई",
    "ाया",
    "ाए",
    "ाकर",
    "कर",
    "ेगा",
    "ेगी",
    "ेंगे",
    "िए",
    "ये",
    "ता",
    "ते",
    "ाने",
    "ाओ",
    "ना",
    "ने",
    "ाँ",
    "ाव",
    "ावट",
];

/// Words of Yiddish; Hebrew has few of them, and writes no double letters.
const YIDDISH: &[&str] = &[
    "און", "איז", "די", "דער", "דאס", "פון", "פֿון", "מיט", "ניט", "נישט", "זיך", "האט", "אין", "צו", "וואס",
    "איך",
];

/// What a word without a cue says: more of Hindi's words have one.
const MARATHI_LEFT: f32 = 0.5;

/// Log-odds that a text in Devanagari is Marathi rather than Hindi.
pub fn marathi(text: &str) -> f32 {
    let is_letter = |c: char| matches!(c, '\u{900}'..='\u{963}' | '\u{970}'..='\u{97f}');
    let mut odds = 0.0;
    for word in text.split(|c| !is_letter(c)).filter(|word| !word.is_empty()) {
        odds += match word {
            _ if MARATHI.contains(&word) => 3.0,
            _ if HINDI.contains(&word) => -3.0,
            _ => {
                let longest = |endings: &[&str]| {
                    endings
                        .iter()
                        .filter(|e| word.ends_with(*e) && word.len() > e.len())
                        .map(|e| e.len())
                        .max()
                };
                match (longest(MARATHI_ENDINGS), longest(HINDI_ENDINGS)) {
                    (None, None) => MARATHI_LEFT,
                    (ours, theirs) if ours > theirs => 2.0,
                    (ours, theirs) if ours < theirs => -2.0,
                    _ => 0.0,
                }
            }
        };
        // Hindi has lost the one and writes the other otherwise; Marathi has no dotted letters.
        odds += 3.0 * word.chars().filter(|c| matches!(c, 'ळ' | '\u{945}')).count() as f32;
        odds -=
            3.0 * word.chars().filter(|c| matches!(c, '\u{93c}' | '\u{958}'..='\u{95f}' | 'ँ')).count() as f32;
    }
    odds
}

/// Whether a text in Hebrew letters is Yiddish.
pub fn is_yiddish(text: &str) -> bool {
    if text.contains(['\u{5f0}', '\u{5f1}', '\u{5f2}']) {
        return true;
    }
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let hits = words().filter(|word| YIDDISH.contains(word)).count();
    hits >= 2 && hits * 6 >= words().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_tells_marathi_from_hindi() {
        assert!(marathi("राजधानीत किती लोक राहतात आणि ते काय करतात?") > 3.0);
        assert!(marathi("राजधानी में कितने लोग रहते हैं और वे क्या करते हैं?") < -3.0);
        assert!(marathi("").abs() < 1e-6);
    }

    #[test]
    fn yiddish_is_not_hebrew() {
        assert!(is_yiddish("ווי אזוי האט מען דאס געטאן און פון וואס איז עס?"));
        assert!(!is_yiddish("כמה אנשים גרים בעיר הבירה של המדינה?"));
    }
}
