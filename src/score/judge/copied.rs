//! Parts that a judge copied, found again in the text that it was given: what it only made up is no part of it.

use super::delimit::Block;
use super::shape::Finding;

/// The finding with its parts as they stand in `blocks`: white space is that of the text, whatever the judge made of it.
///
/// # Errors
/// The first part that stands in none of them.
pub(super) fn placed(finding: Finding, blocks: &[Block]) -> Result<Finding, String> {
    let place = |part: &String| {
        let found = blocks.iter().find_map(|block| stands(part, &block.text));
        found.map(str::to_owned).ok_or_else(|| {
            let begin: String = part.chars().take(80).collect();
            format!("the reply has a part that does not stand in the text: {begin:?}")
        })
    };
    let parts = finding.parts.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    Ok(Finding { parts, ..finding })
}

/// The first place in `text` where `part` stands, but for white space.
fn stands<'a>(part: &str, text: &'a str) -> Option<&'a str> {
    let dense = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let (wanted, whole) = (dense(part), dense(text));
    if wanted.is_empty() {
        return None;
    }
    let first = whole[..whole.find(&wanted)?].chars().count();
    let last = first + wanted.chars().count() - 1;
    let mut dark = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let (start, begin) = dark.nth(first)?;
    let (end, c) = if last == first { (start, begin) } else { dark.nth(last - first - 1)? };
    text.get(start..end + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_texts_own() {
        let text = "Send it  within\n14 days – or 14 weeks.";
        for (part, found) in [
            ("within 14 days", Some("within\n14 days")),
            (" within\t14days ", Some("within\n14 days")),
            ("–", Some("–")),
            ("S", Some("S")),
            (text, Some(text)),
            ("within 15 days", None),
            ("Within 14 days", None),
            (" ", None),
        ] {
            assert_eq!(stands(part, text), found, "{part}");
        }
        assert_eq!(stands("x", ""), None);
    }

    #[test]
    fn what_was_made_up_is_no_part() {
        let blocks = [Block::new("ANSWER", "14 days"), Block::new("ANSWER", "two weeks")];
        let finding = |parts: &[&str]| Finding {
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            ..Finding::default()
        };
        assert_eq!(placed(finding(&["weeks", "14"]), &blocks).unwrap().parts, ["weeks", "14"]);
        assert!(placed(finding(&["14", "a month"]), &blocks).unwrap_err().contains("a month"));
        assert!(placed(finding(&[]), &blocks).unwrap().parts.is_empty());
    }
}
