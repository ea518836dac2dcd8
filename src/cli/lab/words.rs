//! How two texts differ, word by word.

/// Words of a text that are looked at: time and memory grow with their square.
const MAX_WORDS: usize = 400;
/// Words that are shown of what both texts say, on each side of a change.
const CONTEXT: usize = 3;

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    Both,
    Old,
    New,
}

/// Where the first 400 words of `new` are not those of `old`: `flows [-through Vienna-] {+to the sea+}`; what
/// both say far from a change is `…`. None where they have the same words, and where they share none: then each is the
/// difference.
pub fn differing(old: &str, new: &str) -> Option<String> {
    let words = |text: &str| text.split_whitespace().take(MAX_WORDS).map(str::to_owned).collect::<Vec<_>>();
    let steps = steps(&words(old), &words(new));
    let has = |place: In| steps.iter().any(|(found, _)| *found == place);
    let is_changed = has(In::Old) || has(In::New);
    if !(is_changed && has(In::Both)) {
        return None;
    }
    let runs: Vec<&[(In, String)]> = steps.chunk_by(|one, next| one.0 == next.0).collect();
    let told = runs.iter().enumerate().filter_map(|(at, run)| {
        let words: Vec<&str> = run.iter().map(|(_, word)| word.as_str()).collect();
        Some(match run.first()?.0 {
            In::Old => format!("[-{}-]", words.join(" ")),
            In::New => format!("{{+{}+}}", words.join(" ")),
            In::Both => folded(&words, at > 0, at + 1 < runs.len()),
        })
    });
    Some(told.collect::<Vec<_>>().join(" "))
}

/// Each word of both texts with where it stands, along a longest common subsequence.
fn steps(old: &[String], new: &[String]) -> Vec<(In, String)> {
    // How many words the rests from there on share.
    let mut shared = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            shared[a][b] = match old[a] == new[b] {
                true => shared[a + 1][b + 1] + 1,
                false => shared[a + 1][b].max(shared[a][b + 1]),
            };
        }
    }
    let (mut a, mut b, mut steps) = (0, 0, Vec::new());
    loop {
        let (place, word) = match (old.get(a), new.get(b)) {
            (Some(one), Some(other)) if one == other => (In::Both, one),
            (Some(one), Some(_)) if shared[a + 1][b] >= shared[a][b + 1] => (In::Old, one),
            (_, Some(other)) => (In::New, other),
            (Some(one), None) => (In::Old, one),
            (None, None) => return steps,
        };
        a += usize::from(place != In::New);
        b += usize::from(place != In::Old);
        steps.push((place, word.clone()));
    }
}

/// What both say, the middle of it left out where it is long.
fn folded(words: &[&str], is_behind: bool, is_before: bool) -> String {
    let of = |is_beside: bool| if is_beside { CONTEXT } else { 0 };
    let (first, last) = (of(is_behind), of(is_before));
    if words.len() <= first + last + 1 {
        return words.join(" ");
    }
    let (head, tail) = (&words[..first], &words[words.len() - last..]);
    [head, &["…"], tail].concat().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_told_between_those_that_do_not() {
        let told = |old: &str, new: &str| differing(old, new).unwrap_or_default();
        assert_eq!(told("the Danube in Vienna", "the Rhine in Vienna"), "the [-Danube-] {+Rhine+} in Vienna");
        assert_eq!(told("It is red.", "It is not red."), "It is {+not+} red.");
        assert_eq!(told("a b c", "b c d"), "[-a-] b c {+d+}");
        let old = "one two three four five six seven eight nine ten old end";
        let new = "uno two three four five six seven eight nine ten new end";
        assert_eq!(told(old, new), "[-one-] {+uno+} two three four … eight nine ten [-old-] {+new+} end");
        let far = "one two three four five old";
        assert_eq!(told(far, &far.replace("old", "new")), "… three four five [-old-] {+new+}");
        // The same words, whatever stands between them; no word in common; nothing at all.
        assert_eq!(differing("a  b\n", "a b"), None);
        assert_eq!(differing("yes", "I do not know."), None);
        assert_eq!(differing("", "x"), None);
    }

    #[test]
    fn of_a_long_text_the_beginning_is_looked_at() {
        let long = "word ".repeat(100_000);
        assert_eq!(differing(&long, &format!("{long} end")), None);
        assert_eq!(
            differing(&format!("old {long}"), &long).unwrap(),
            "[-old-] word word word … word word word {+word+}"
        );
    }
}
