//! Log-probabilities of a server: the request, what is read of the answer, and what a server was found to be able to.
//!
//! Servers differ. Completions with `echo` and `logprobs` tell every token of a prompt; chat tells the likeliest tokens of an
//! answer only, which is enough for one word. Some tell nothing, and ignore that they were asked.

use super::manner::Manner;
use super::question::Likelihood;
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use std::time::Duration;
use tokio::time::Instant;

/// Tokens that chat tells at most.
const TOP: usize = 20;
/// A server that tells nothing is asked again after this: it may have been exchanged.
const AGAIN: Duration = Duration::from_mins(10);

/// What a server tells of likelihoods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ability {
    /// The log-probability of every token of a prompt.
    Echo,
    /// The likeliest tokens of an answer; why not more.
    Answers(String),
    /// Nothing, and why.
    Nothing(String),
}

/// What one server was found to be able to.
#[derive(Debug, Default)]
pub(super) struct Abilities {
    known: Mutex<Option<(Ability, Instant)>>,
}

impl Abilities {
    /// What is known; none if it was not tried, or long ago without success.
    pub(super) fn known(&self, now: Instant) -> Option<Ability> {
        let known = self.known.lock();
        let (ability, at) = known.as_ref()?;
        let is_settled = !matches!(ability, Ability::Nothing(_)) || now < *at + AGAIN;
        is_settled.then(|| ability.clone())
    }

    /// Keeps what was found at `now`.
    pub(super) fn keep(&self, ability: Ability, now: Instant) {
        *self.known.lock() = Some((ability, now));
    }
}

impl Likelihood<'_> {
    /// The path behind the base address.
    pub(super) fn path(&self) -> &'static [&'static str] {
        match self {
            Likelihood::Echo { .. } => &["completions"],
            Likelihood::Yes { .. } => &["chat", "completions"],
        }
    }

    /// The request. One token is written, because some servers take none for as many as there is room.
    pub(super) fn body(&self, model: &str, manner: Manner) -> Json {
        let mut body = match self {
            Likelihood::Echo { before, prompt, text } => json!({
                "model": model, "prompt": format!("{before}{prompt}{text}"), "echo": true, "logprobs": 1, "stream": false,
            }),
            Likelihood::Yes { prompt } => json!({
                "model": model, "messages": [{"role": "user", "content": prompt}], "logprobs": true,
                "top_logprobs": TOP, "stream": false,
            }),
        };
        body[manner.limit()] = json!(1);
        if !manner.leaves_temperature {
            body["temperature"] = json!(0);
        }
        body
    }

    /// The mean negative log-likelihood, nats, of the first choice of an answer.
    ///
    /// # Errors
    /// What the server did not tell.
    pub(super) fn read(&self, choice: &Json) -> Result<f64, String> {
        let nats = match self {
            Likelihood::Echo { before, prompt, text } => echoed(choice, (before, prompt), text)?,
            Likelihood::Yes { .. } => yes(choice)?,
        };
        if nats.is_finite() && nats >= -1e-6 {
            Ok(nats.max(0.0))
        } else {
            Err(format!("the server tells {nats} as a negative log-likelihood"))
        }
    }
}

/// Mean over the tokens that begin in `text`. Offsets are in characters, as servers in Python count them.
fn echoed(choice: &Json, (before, prompt): (&str, &str), text: &str) -> Result<f64, String> {
    const NOT_ECHOED: &str = "the server does not repeat the prompt with its log-probabilities (completions with echo and logprobs)";
    let told = &choice["logprobs"];
    let (Some(tokens), Some(logs)) = (told["tokens"].as_array(), told["token_logprobs"].as_array()) else {
        return Err(NOT_ECHOED.to_owned());
    };
    let repeated = choice["text"].as_str().unwrap_or_default();
    // Some servers repeat a beginning token as text, some leave it out.
    let behind = repeated.strip_prefix(before).unwrap_or(repeated);
    if !behind.starts_with(prompt) || tokens.len() != logs.len() {
        return Err(NOT_ECHOED.to_owned());
    }
    let starts = starts(tokens, &told["text_offset"])?;
    let last = tokens.last().and_then(Json::as_str).map_or(0, |token| token.chars().count());
    let length = starts.last().map_or(0, |start| start + last);
    // Where the tokens have no place for it, it is not among them.
    let is_counted = length > behind.chars().count();
    let begin = prompt.chars().count() + if is_counted { before.chars().count() } else { 0 };
    let end = begin + text.chars().count();
    let (mut sum, mut count) = (0.0, 0u32);
    for (start, log) in starts.into_iter().zip(logs) {
        if (begin..end).contains(&start) {
            sum -= log.as_f64().ok_or_else(|| "a token has no log-probability".to_owned())?;
            count += 1;
        }
    }
    if count == 0 { Err("no token begins in the text".to_owned()) } else { Ok(sum / f64::from(count)) }
}

/// Where each token begins, in characters: as the server says, else by the lengths of the tokens.
fn starts(tokens: &[Json], offsets: &Json) -> Result<Vec<usize>, String> {
    const WRONG: &str = "the server's tokens have no places in the text";
    if let Some(offsets) = offsets.as_array().filter(|offsets| offsets.len() == tokens.len()) {
        let place = |offset: &Json| offset.as_u64().and_then(|offset| usize::try_from(offset).ok());
        return offsets.iter().map(place).collect::<Option<_>>().ok_or_else(|| WRONG.to_owned());
    }
    let mut at = 0;
    let mut place = |token: &Json| {
        let start = at;
        at += token.as_str()?.chars().count();
        Some(start)
    };
    tokens.iter().map(&mut place).collect::<Option<_>>().ok_or_else(|| WRONG.to_owned())
}

/// −log of the probability of all first tokens that are a yes.
fn yes(choice: &Json) -> Result<f64, String> {
    let Some(top) = choice["logprobs"]["content"][0]["top_logprobs"].as_array() else {
        return Err("the server tells no likeliest tokens (chat completions with logprobs and top_logprobs)"
            .to_owned());
    };
    let is_yes =
        |token: &&Json| token["token"].as_str().is_some_and(|t| t.trim().eq_ignore_ascii_case("yes"));
    let sum: f64 =
        top.iter().filter(is_yes).filter_map(|token| token["logprob"].as_f64()).map(f64::exp).sum();
    if sum > 0.0 {
        // Rounding must not make it more than certain.
        Ok(-sum.min(1.0).ln())
    } else {
        Err(format!("a yes is not among the {} likeliest tokens that the server tells", top.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Likelihood<'static> = Likelihood::Echo { before: "", prompt: "Bär:", text: " a b" };

    fn choice(offsets: Option<&[u64]>, logs: &[Option<f64>], text: &str) -> Json {
        let mut choice = json!({
            "text": text,
            "logprobs": {"tokens": ["Bär", ":", " a", " b", " c"], "token_logprobs": logs},
        });
        if let Some(offsets) = offsets {
            choice["logprobs"]["text_offset"] = json!(offsets);
        }
        choice
    }

    const LOGS: [Option<f64>; 5] = [None, Some(-9.0), Some(-1.0), Some(-0.5), Some(-7.0)];

    #[test]
    fn the_mean_is_over_the_tokens_of_the_text_alone() {
        for offsets in [None, Some([0, 3, 4, 6, 8].as_slice())] {
            let nats = ASKED.read(&choice(offsets, &LOGS, "Bär: a b c")).unwrap();
            assert!((nats - 0.75).abs() < 1e-12, "{nats}");
        }
    }

    #[test]
    fn a_beginning_token_counts_for_nothing_wherever_it_stands() {
        let asked = Likelihood::Echo { before: "<s>", prompt: "Bär:", text: " a b" };
        assert_eq!(asked.body("m", Manner::default())["prompt"], "<s>Bär: a b");
        // Left out of the tokens, of the text too, or a token like any other.
        for text in ["<s>Bär: a b c", "Bär: a b c"] {
            for offsets in [None, Some([0, 3, 4, 6, 8].as_slice())] {
                let nats = asked.read(&choice(offsets, &LOGS, text)).unwrap();
                assert!((nats - 0.75).abs() < 1e-12, "{nats}");
            }
        }
        for offsets in [json!(null), json!([0, 3, 6, 7, 9, 11])] {
            let told = json!({"text": "<s>Bär: a b c", "logprobs": {"text_offset": offsets,
                "tokens": ["<s>", "Bär", ":", " a", " b", " c"], "token_logprobs": [null, -8.0, -9.0, -1.0, -0.5, -7.0]}});
            assert!((asked.read(&told).unwrap() - 0.75).abs() < 1e-12);
        }
    }

    #[test]
    fn what_a_server_does_not_tell_is_named() {
        let without = [None, None, None, Some(-0.5), None];
        for (wrong, part) in [
            (json!({"text": " c", "logprobs": null}), "echo and logprobs"),
            (choice(None, &LOGS, " c"), "echo and logprobs"),
            (choice(None, &LOGS[1..], "Bär: a b c"), "echo and logprobs"),
            (choice(None, &without, "Bär: a b c"), "no log-probability"),
            (choice(Some(&[0, 0, 0, 0, 0]), &LOGS, "Bär: a b c"), "no token"),
        ] {
            let error = ASKED.read(&wrong).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_yes_is_the_sum_of_its_forms() {
        let asked = Likelihood::Yes { prompt: "x" };
        let top = |tokens: &[(&str, f64)]| {
            let top: Vec<Json> = tokens.iter().map(|(t, p)| json!({"token": t, "logprob": p.ln()})).collect();
            json!({"logprobs": {"content": [{"token": "No", "top_logprobs": top}]}})
        };
        let nats = asked.read(&top(&[("No", 0.5), ("Yes", 0.3), (" yes", 0.1)])).unwrap();
        assert!((nats + 0.4f64.ln()).abs() < 1e-9, "{nats}");
        assert!(asked.read(&top(&[("No", 1.0)])).unwrap_err().contains("not among the 1"));
        assert!(asked.read(&json!({"message": {}})).unwrap_err().contains("top_logprobs"));
    }

    #[test]
    fn a_server_that_tells_nothing_is_tried_again_later() {
        let (abilities, now) = (Abilities::default(), Instant::now());
        assert_eq!(abilities.known(now), None);
        abilities.keep(Ability::Nothing("no".to_owned()), now);
        assert!(abilities.known(now).is_some() && abilities.known(now + AGAIN).is_none());
        abilities.keep(Ability::Echo, now);
        assert_eq!(abilities.known(now + AGAIN), Some(Ability::Echo));
    }
}
