//! A user's `tokenizer.json`, read by Hugging Face's library.

use std::path::Path;

use tokenizers::{Encoding, PostProcessor as _, Tokenizer, TruncationDirection};

use super::network::Sequence;
use super::template::Template;
use super::wordpiece::Part;

/// A token has no more bytes than this in what is read of a long text.
const BYTES_A_TOKEN: usize = 64;

/// Names of the token that fills batches, where the file does not say.
const PADDING: [&str; 3] = ["[PAD]", "<pad>", "<|padding|>"];

/// Names of the token for what is not known.
const UNKNOWN: [&str; 2] = ["[UNK]", "<unk>"];

/// A tokenizer and how many tokens its model reads.
///
/// Names of special tokens inside a text are plain text here: a sender cannot end the input early.
pub(super) struct TokenizerFile {
    tokenizer: Tokenizer,
    limit: usize,
    padding: i32,
    unknown: Option<u32>,
    /// Special tokens around one text, and around two.
    specials: [usize; 2],
}

impl TokenizerFile {
    /// Reads the file. `padding` is the id that fills batches, if it is known from elsewhere.
    ///
    /// # Errors
    /// When it is not there or is no tokenizer.
    pub(super) fn open(path: &Path, limit: usize, padding: Option<i32>) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("cannot be read: {e}"))?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|e| format!("is no tokenizer.json: {e}"))?;
        let id = |name: &&str| tokenizer.token_to_id(name);
        let stored =
            tokenizer.get_padding().map(|padding| padding.pad_id).or_else(|| PADDING.iter().find_map(id));
        let unknown = UNKNOWN.iter().find_map(id);
        let padding = padding.or_else(|| stored.and_then(|id| i32::try_from(id).ok())).unwrap_or(0);
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| e.to_string())?;
        tokenizer.set_encode_special_tokens(true);
        let around = |is_pair| tokenizer.get_post_processor().map_or(0, |post| post.added_tokens(is_pair));
        let specials = [around(false), around(true)];
        if specials[1] >= limit {
            return Err(format!(
                "puts {} special tokens around two texts, and max_tokens is {limit}",
                specials[1]
            ));
        }
        Ok(Self { tokenizer, limit, padding, unknown, specials })
    }

    /// The template with these texts as ids, at most [`TokenizerFile::limit`] in all.
    ///
    /// The short text is cut to its part, and to half of the room; the long one to what is left.
    ///
    /// # Errors
    /// When the library fails.
    pub(super) fn encode(
        &self,
        template: &Template,
        long: &str,
        short: Option<&str>,
    ) -> Result<Sequence, String> {
        let room = self.limit - self.specials[usize::from(template.is_pair())];
        let short = match (short, template.kept()) {
            (Some(text), Some(part)) => self.fit(text, within(part, room / 2))?,
            (text, _) => text.unwrap_or_default(),
        };
        let (first, second) = template.fill("", short);
        let taken = self.count(&first) + second.as_deref().map_or(0, |text| self.count(text));
        let long = self.fit(long, Part::Beginning(room.saturating_sub(taken)))?;
        let (first, second) = template.fill(long, short);
        let mut first = self.plain(&first)?;
        let mut second = second.map(|text| self.plain(&text)).transpose()?;
        // Where texts meet, tokens may be cut otherwise than in each alone.
        cut(&mut first, room);
        if let Some(second) = &mut second {
            cut(second, room - first.len().min(room));
        }
        let whole = self.tokenizer.post_process(first, second, true).map_err(|e| e.to_string())?;
        let ids: Option<Vec<i32>> = whole.get_ids().iter().map(|id| i32::try_from(*id).ok()).collect();
        let ids = ids.ok_or("a token id has more than 31 bits")?;
        let second = whole.get_type_ids().iter().position(|kind| *kind == 1).unwrap_or(ids.len());
        Ok(Sequence { ids, second })
    }

    /// What is kept of a text.
    fn fit<'a>(&self, text: &'a str, part: Part) -> Result<&'a str, String> {
        let (Part::Beginning(limit) | Part::End(limit)) = part;
        // No token is shorter than a byte.
        if text.len() <= limit {
            return Ok(text);
        }
        let most = limit.saturating_mul(BYTES_A_TOKEN).min(text.len());
        let text = match part {
            Part::Beginning(_) => &text[..text.floor_char_boundary(most)],
            Part::End(_) => &text[text.ceil_char_boundary(text.len() - most)..],
        };
        let encoding = self.plain(text)?;
        let places = encoding.get_offsets();
        if places.len() <= limit {
            return Ok(text);
        }
        let kept = match part {
            Part::Beginning(_) if limit == 0 => "",
            Part::Beginning(_) => &text[..text.floor_char_boundary(places[limit - 1].1)],
            Part::End(_) => {
                places.get(places.len() - limit).map_or("", |place| &text[text.ceil_char_boundary(place.0)..])
            }
        };
        Ok(kept)
    }

    fn plain(&self, text: &str) -> Result<Encoding, String> {
        self.tokenizer.encode(text, false).map_err(|e| e.to_string())
    }

    /// How many tokens a text has, without special ones; none if the library fails.
    pub(super) fn count(&self, text: &str) -> usize {
        self.plain(text).map_or(0, |found| found.len())
    }

    /// How many of them are known and have a letter or a digit.
    pub(super) fn count_meaningful(&self, text: &str) -> usize {
        let Ok(found) = self.plain(text) else { return 0 };
        let says =
            |at: &(usize, usize)| text.get(at.0..at.1).is_some_and(|t| t.chars().any(char::is_alphanumeric));
        let known =
            found.get_ids().iter().zip(found.get_offsets()).filter(|(id, _)| Some(**id) != self.unknown);
        known.filter(|(_, at)| says(at)).count()
    }

    /// Tokens that the model reads, special ones included.
    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    /// The id that fills batches.
    pub(super) const fn padding(&self) -> i32 {
        self.padding
    }

    /// How many tokens it knows.
    pub(super) fn size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }
}

fn within(part: Part, most: usize) -> Part {
    match part {
        Part::Beginning(tokens) => Part::Beginning(tokens.min(most)),
        Part::End(tokens) => Part::End(tokens.min(most)),
    }
}

fn cut(encoding: &mut Encoding, room: usize) {
    if encoding.len() > room {
        encoding.truncate(room, 0, TruncationDirection::Right);
        // What was cut off would be read as further windows.
        drop(encoding.take_overflowing());
    }
}
