//! `hallucination`: does the context say what the answer says?

use std::sync::Arc;

use super::documents::{Evidence, document_name, evidence};
use super::english::{not_english, start_of};
use crate::domain::score::{Better, Score, Unsupported};
use crate::domain::trace::EvalInput;
use crate::eval::evaluator::{Evaluator, Metric};
use crate::eval::evidence::{
    Combiner, Context, Contribution, Features, Passage, all_supported, is_courtesy, missing,
    sentence_features, words,
};
use crate::eval::model::{COMBINER_VERSION, ModelError, Models, Slot, excerpt, segments};
use crate::eval::text::without_citations;

const NAME: &str = "hallucination";
const MAX_ANSWER_SENTENCES: usize = 50;
const MAX_CONTEXT_SENTENCES: usize = 2_000;
/// An answer of no more words is judged at once: its sentences lean on each other.
const SHORT_WORDS: usize = 40;
/// A longer question is a conversation or a text of its own, and is not read with the answer.
const QUESTION_WORDS: usize = 40;
/// Of a question no more chooses passages: it is compared once a sentence.
const CHOOSING_BYTES: usize = 4_000;
/// Talk over a context of no more words is judged without the question, which made what only fits it look supported.
const SNIPPET_WORDS: usize = 60;
/// A sentence of fewer words says nothing that could be checked.
const MIN_WORDS: usize = 3;
/// What the network would say of a sentence that stands word by word in the context.
const VERBATIM: [f32; 3] = [5.0, 0.0, 0.0];
/// From this probability on, a sentence is called contradicted.
const CONTRADICTED: f64 = 0.5;
/// The language of the context is told from so many of its sentences.
const LANGUAGE_SENTENCES: usize = 20;
/// No more missing numbers or names than this are told.
const MAX_TOLD: usize = 6;

/// The probability that the context supports everything that the answer says, from 0 to 1.
///
/// A cross-encoder reads each sentence of the answer with the sentences of the context that are nearest to it, from the
/// passages that share enough with the question and the sentence, and says whether they entail or contradict it. A logistic
/// regression combines this, for each sentence, with signs that cost nothing: numbers and names that the context does not
/// have, and shared words; [`all_supported`] puts the sentences together. A short answer is judged at once. The rationale tells the least supported sentence, its best evidence, and
/// what spoke against it; the evidence of a fail has the place of each unsupported sentence. An answer or a context that
/// is surely not English is skipped. Questions and sentences of one or two words are not judged unless there is nothing
/// else; greetings and offers of help never are. A short question is read before the sentence, because an answer such as
/// "No, only on Sundays" says nothing without it.
pub struct Hallucination {
    models: Arc<Models>,
    combiner: Combiner,
    metrics: [Metric; 1],
    version: String,
}

/// One sentence of the answer and what was found of it.
struct SentenceEvidence<'a> {
    text: &'a str,
    window: Passage,
    features: Features,
}

/// A question, which always helps to choose passages and is not always read.
#[derive(Clone, Copy)]
struct Asked<'a> {
    chooses: &'a str,
    read: Option<&'a str>,
}

impl Hallucination {
    /// With the threshold that the weights were measured with.
    ///
    /// # Errors
    /// When the stored combiner is damaged.
    pub fn new(models: Arc<Models>) -> Result<Self, ModelError> {
        let damaged = |e: serde_json::Error| ModelError::Open { model: NAME, reason: e.to_string() };
        let stored: Combiner = serde_json::from_str(models.combiner()).map_err(damaged)?;
        let combiner = stored.checked(Features::knows)?;
        let metric = Metric::new(NAME, Better::Higher, Some(combiner.threshold));
        let version = format!("7+{}+{COMBINER_VERSION}", models.version(Slot::Entailment));
        Ok(Self { models, combiner, metrics: [metric], version })
    }

    fn judge(&self, answer: &str, input: &EvalInput) -> Result<Score, ModelError> {
        let (evidence, cut_short) = evidence(input, MAX_CONTEXT_SENTENCES);
        if evidence.is_empty() {
            return Ok(Score::skipped(NAME, "contexts"));
        }
        let cut = segments(answer, MAX_ANSWER_SENTENCES);
        if cut.pieces.is_empty() {
            return Ok(Score::failed(NAME, "the answer has no sentence"));
        }
        let sentences = claims(&cut.pieces);
        if sentences.is_empty() {
            return Ok(Score::skipped(NAME, "claims"));
        }
        let start = start_of(evidence.iter().take(LANGUAGE_SENTENCES).map(|e| e.text));
        let reads_english = self.models.is_english(Slot::Entailment);
        if reads_english && let Some(why) = not_english([answer, &start])? {
            return Ok(Score::skipped(NAME, &why));
        }
        let context = self.context(&evidence);
        let said = without_courtesy(answer, &cut.pieces);
        let is_short = words(said).len() <= SHORT_WORDS;
        let whole = [said];
        let asked = input.asked();
        let question = Asked {
            chooses: beginning(asked.unwrap_or("")),
            read: asked.filter(|text| is_read(text, &context)),
        };
        let judged = self.sentences(&context, if is_short { &whole } else { &sentences }, question)?;
        let found =
            |sentence: &SentenceEvidence<'_>| self.combiner.logit(|name| sentence.features.value(name));
        let logits: Vec<f64> = judged.iter().map(|sentence| found(sentence).0).collect();
        let probability = all_supported(&logits);
        let threshold = self.metrics[0].threshold.unwrap_or(0.5);
        // A person wants to know which sentence of a short answer it is.
        let named = if is_short && sentences.len() > 1 && probability < threshold {
            self.sentences(&context, &sentences, question)?
        } else {
            judged
        };
        let worst = named.iter().min_by(|a, b| found(a).0.total_cmp(&found(b).0));
        let passed = probability >= threshold;
        let tell = |worst| explain(worst, passed, &context, &evidence, input);
        let mut why = worst.map(tell).unwrap_or_default();
        why += &worst.map(|worst| against(&found(worst).1)).unwrap_or_default();
        if cut.left_out > 0 {
            why += &format!(" Only the first {MAX_ANSWER_SENTENCES} sentences of the answer were judged.");
        }
        if cut_short {
            why += &format!(" Only the first {MAX_CONTEXT_SENTENCES} sentences of the context were read.");
        }
        let score = Score::measured(NAME, probability, threshold, Better::Higher).because(why);
        if passed {
            return Ok(score);
        }
        // A product of many sentences may fail where none does alone; the worst is told then.
        let mut bad: Vec<&SentenceEvidence<'_>> =
            named.iter().filter(|sentence| found(sentence).0 < 0.0).collect();
        if bad.is_empty() {
            bad.extend(worst);
        }
        let unsupported =
            bad.into_iter().filter_map(|one| unsupported(one, answer, &context, &evidence, input));
        Ok(score.with_evidence(unsupported.collect()))
    }

    fn context<'a>(&self, evidence: &[Evidence<'a>]) -> Context<'a> {
        let sentences: Vec<&str> = evidence.iter().map(|e| e.text).collect();
        let lengths = sentences.iter().map(|text| self.models.encoder.token_count(text)).collect();
        Context::new(sentences, lengths, evidence.iter().map(|e| e.passage).collect())
    }

    fn sentences<'a>(
        &self,
        context: &Context<'_>,
        sentences: &[&'a str],
        question: Asked<'_>,
    ) -> Result<Vec<SentenceEvidence<'a>>, ModelError> {
        let mut judged = Vec::with_capacity(sentences.len());
        let (mut pairs, mut places) = (Vec::new(), Vec::new());
        for text in sentences.iter().copied() {
            let Some(window) = context.window(text, question.chooses) else { continue };
            let is_said = is_verbatim(text, context.sentences[window.best]);
            if !is_said {
                let said =
                    question.read.map_or_else(|| text.to_owned(), |asked| format!("{} {text}", asked.trim()));
                pairs.push((context.text(&window.sentences), said));
                places.push(judged.len());
            }
            judged.push((text, window, VERBATIM.to_vec()));
        }
        for (at, logits) in places.into_iter().zip(self.models.entailment()?.of_pairs(&pairs)?) {
            judged[at].2 = logits.to_vec();
        }
        let measured = judged.into_iter().map(|(text, window, logits)| {
            let features = sentence_features(context, text, &window, &logits);
            SentenceEvidence { text, window, features }
        });
        Ok(measured.collect())
    }
}

impl Evaluator for Hallucination {
    fn id(&self) -> &str {
        NAME
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn evaluate(&self, input: &EvalInput) -> Vec<Score> {
        let Some(answer) = input.answered() else { return self.skip("answer") };
        self.or_failed(self.judge(answer, input).map(|score| vec![score]))
    }
}

/// The sentences that say something: no courtesies, no questions and none of one or two words; if nothing is left, all but
/// the courtesies.
fn claims<'a>(sentences: &[&'a str]) -> Vec<&'a str> {
    let is_question = |text: &str| {
        text.trim_end_matches(['"', '\'', '\u{201d}', '\u{2019}', ')', ']', '*', ' ']).ends_with('?')
    };
    let said: Vec<&str> = sentences.iter().copied().filter(|text| !is_courtesy(text)).collect();
    let kept: Vec<&str> =
        said.iter().copied().filter(|text| words(text).len() >= MIN_WORDS && !is_question(text)).collect();
    if kept.is_empty() { said } else { kept }
}

/// The answer without the courtesies at its ends.
fn without_courtesy<'a>(answer: &'a str, sentences: &[&'a str]) -> &'a str {
    let Some(first) = sentences.iter().position(|text| !is_courtesy(text)) else { return answer.trim() };
    let last = sentences.iter().rposition(|text| !is_courtesy(text)).unwrap_or(first);
    let [from, to] = [first, last].map(|at| range(answer, sentences[at]).unwrap_or([0, answer.len()]));
    let start = if first == 0 { 0 } else { from[0] };
    let end = if last + 1 == sentences.len() { answer.len() } else { to[1] };
    answer.get(start..end).unwrap_or(answer).trim()
}

/// What of a question chooses passages.
fn beginning(question: &str) -> &str {
    &question[..question.floor_char_boundary(CHOOSING_BYTES)]
}

/// Whether it is one question, short and about a text, and speaks to nobody.
fn is_read(question: &str, context: &Context<'_>) -> bool {
    let asked = words(question);
    let is_talk = asked.iter().any(|word| matches!(word.as_str(), "you" | "your"));
    let known: usize = context.sentences.iter().map(|text| words(text).len()).sum();
    question.trim_end().ends_with('?') && asked.len() <= QUESTION_WORDS && !is_talk && known > SNIPPET_WORDS
}

fn is_verbatim(sentence: &str, evidence: &str) -> bool {
    // The answer marks its sources, the context its own.
    let [said, known] = [sentence, evidence].map(|text| words(&without_citations(text)));
    said.len() >= MIN_WORDS && known.windows(said.len()).any(|run| run == said)
}

/// Where the sentence stands in the answer, and its best evidence in its document.
fn unsupported(
    sentence: &SentenceEvidence<'_>,
    answer: &str,
    context: &Context<'_>,
    evidence: &[Evidence<'_>],
    input: &EvalInput,
) -> Option<Unsupported> {
    let best = sentence.window.best;
    let document = evidence.get(best)?.document;
    let content = input.contexts.get(document)?.content.as_deref()?;
    Some(Unsupported {
        answer: range(answer, sentence.text)?,
        document,
        context: range(content, context.sentences[best])?,
    })
}

/// The bytes of `part`, which is a slice of `whole`.
fn range(whole: &str, part: &str) -> Option<[usize; 2]> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start + part.len();
    (whole.get(start..end)? == part).then_some([start, end])
}

fn explain(
    worst: &SentenceEvidence<'_>,
    passed: bool,
    context: &Context<'_>,
    evidence: &[Evidence<'_>],
    input: &EvalInput,
) -> String {
    let best = worst.window.best;
    let Features { entailed, contradicted, .. } = worst.features;
    let verdict = match (passed, contradicted > entailed.max(CONTRADICTED)) {
        (true, _) => "The context supports the answer; least sure is",
        (false, true) => "The context contradicts",
        (false, false) => "The context does not say",
    };
    let mut why = format!(
        "{verdict} \"{}\". Best evidence, in {}: \"{}\" (entailed {entailed:.2}, contradicted {contradicted:.2}).",
        excerpt(worst.text),
        document_name(input, evidence[best].document),
        excerpt(context.sentences[best]),
    );
    let (numbers, names) = missing(context, worst.text);
    for (what, list) in [("Numbers", numbers), ("Names", names)] {
        if !list.is_empty() {
            let told: Vec<String> = list.into_iter().take(MAX_TOLD).collect();
            why += &format!(" {what} that are not in the context: {}.", told.join(", "));
        }
    }
    why
}

/// The signs that spoke against a sentence, the strongest first.
fn against(parts: &[Contribution<'_>]) -> String {
    const TOLD: usize = 3;
    const STRONG: f64 = -0.2;
    let strong = parts.iter().filter(|part| part.moved < STRONG).take(TOLD);
    let told: Vec<String> =
        strong.map(|part| format!("{} {:.2} ({:+.1})", part.name, part.value, part.moved)).collect();
    if told.is_empty() { String::new() } else { format!(" Against it: {}.", told.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::document::Document;
    use crate::domain::score::ScoreStatus;

    fn judged(answer: &str, contexts: &[&str]) -> Score {
        let document = |text: &&str| Document { content: Some((*text).to_owned()), ..Document::default() };
        let input = EvalInput {
            answer: Some(answer.to_owned()),
            contexts: contexts.iter().map(document).collect(),
            ..EvalInput::default()
        };
        let evaluator = Hallucination::new(Models::embedded(1).unwrap()).unwrap();
        let mut scores = evaluator.evaluate(&input);
        assert_eq!(scores.len(), 1);
        scores.remove(0)
    }

    fn asked(question: &str, answer: &str, context: &str) -> Score {
        let input = EvalInput {
            question: Some(question.to_owned()),
            answer: Some(answer.to_owned()),
            contexts: vec![Document { content: Some(context.to_owned()), ..Document::default() }],
            ..EvalInput::default()
        };
        Hallucination::new(Models::embedded(1).unwrap()).unwrap().evaluate(&input).remove(0)
    }

    /// What the card says is still wrong is not asked here: swapped roles ("Tom Becker replaced her").
    #[test]
    fn everyday_answers_are_read() {
        let trial = "In this trial 9,525 healthy people over 70 in Australia and the United States took 100 mg of aspirin or a \
                     placebo each day. After a median of 4.7 years low-dose aspirin did not lower the risk of heart disease or \
                     stroke compared with placebo. Serious bleeding was more frequent in the aspirin group, in 3.8 % of the \
                     participants against 2.7 %. The authors advise healthy older people not to start aspirin on their own.";
        let question = "Did aspirin help healthy older people in the trial?";
        let no = asked(question, "No, low-dose aspirin did not reduce heart disease or stroke.", trial);
        let yes =
            asked(question, "Yes, low-dose aspirin lowered the risk of heart disease and stroke.", trial);
        assert_eq!((no.passed, yes.passed), (Some(true), Some(false)), "{no:?} {yes:?}");
        let bank = "International transfers arrive within 5 to 7 business days. A fee of 12 euros is charged for each transfer.";
        let takes = |time: &str| {
            let answer = format!("A transfer to another country takes about a {time}.");
            asked("How long does a transfer abroad take?", &answer, bank)
        };
        let (week, month) = (takes("week"), takes("month"));
        assert_eq!((week.passed, month.passed), (Some(true), Some(false)), "{week:?} {month:?}");
        let finance = "Maria Keller is the new chief financial officer. She replaces Tom Becker, who retired in March. From 2006 to 2015 \
                       she worked at Deloitte, before she joined the company as head of accounting.";
        let spent = |years: &str| {
            let answer = format!("She spent {years} years at Deloitte.");
            asked("How long was she at Deloitte?", &answer, finance)
        };
        let (nine, four) = (spent("nine"), spent("four"));
        assert_eq!((nine.passed, four.passed), (Some(true), Some(false)), "{nine:?} {four:?}");
        let router = "To restore the factory settings, hold the reset button for ten seconds. The network name and the Wi-Fi password are \
                      reset to the values on the label. Parental controls have to be set up again.";
        let password = |becomes: &str| {
            let answer = format!("The Wi-Fi password will be {becomes}.");
            asked("What happens to the Wi-Fi password after a factory reset?", &answer, router)
        };
        let (reset, kept) = (password("reset"), password("kept"));
        assert_eq!((reset.passed, kept.passed), (Some(true), Some(false)), "{reset:?} {kept:?}");
    }

    #[test]
    fn a_plan_has_the_features_that_are_told_of_it() {
        let plans = "Feature comparison. Free: up to 3 users, community support. Pro: up to 50 users, single sign-on (SSO), e-mail \
                     support, 12 euros per user and month. Enterprise: unlimited users, SSO, audit log, dedicated support, price on \
                     request. All plans include the mobile app and the public API.";
        let question = "Is single sign-on part of the Pro plan?";
        let yes = asked(question, "Yes, the Pro plan comes with single sign-on.", plans);
        let no = asked(question, "No, SSO is only on the Enterprise plan.", plans);
        assert_eq!((yes.passed, no.passed), (Some(true), Some(false)), "{yes:?} {no:?}");
    }

    #[test]
    fn passages_beside_the_point_are_not_read() {
        let returns = "Return policy: unopened items may be returned within 30 days of delivery for a full refund. Opened items may \
                       be returned within 14 days and a 15% restocking fee is charged.";
        let policies = format!(
            "[1] {returns}\n[2] Shipping: standard delivery takes 3 to 5 business days and costs 4.90 EUR. Items damaged in delivery \
             are replaced.\n[3] Warranty: the kettle has a two-year limited warranty. No refund is offered for limescale damage."
        );
        let question = "How many days do I have to return an unopened item, and is a restocking fee charged?";
        let right = "You can return an unopened item within 30 days of delivery for a full refund. There is no restocking fee for \
                     unopened items.";
        let among = asked(question, right, &policies);
        assert!(among.value.unwrap() > 0.6, "{among:?}");
        let wrong =
            "You have 90 days to return an unopened item, and a 25% restocking fee is always charged.";
        assert_eq!(asked(question, wrong, &policies).passed, Some(false));
    }

    #[test]
    fn days_and_exceptions_are_read() {
        let museum = "The museum opens at nine in the morning. It is closed on Mondays. Tickets cost twelve euros. Children \
                      under six enter free of charge.";
        let mondays = |answer: &str| asked("Is the museum open on Mondays?", answer, museum);
        let (closed, open) =
            (mondays("It does not open on Mondays."), mondays("The museum is open on Mondays."));
        assert_eq!((closed.passed, open.passed), (Some(true), Some(false)), "{closed:?} {open:?}");
        let free = asked("What do small children pay?", "Children under six do not have to pay.", museum);
        assert_eq!(free.passed, Some(true), "{free:?}");
    }

    #[test]
    fn a_short_question_about_a_text_is_read_and_talk_is_not() {
        let sentences = vec!["One word after the other makes a text that is long enough to ask about it."; 5];
        let long = Context::new(sentences.clone(), vec![16; 5], vec![0; 5]);
        let short = Context::new(sentences[..1].to_vec(), vec![16], vec![0]);
        assert!(is_read("How long is the text?", &long));
        assert!(!is_read("How long is the text?", &short));
        assert!(!is_read("Do you like the text?", &long));
        assert!(!is_read("Tell me of the text.", &long));
        assert!(!is_read(&format!("Is it {}long?", "very ".repeat(50)), &long));
    }

    const CONTEXTS: [&str; 2] = [
        "The museum opens at nine in the morning. It is closed on Mondays.",
        "Tickets cost twelve euros. Children under six enter free of charge.",
    ];

    #[test]
    fn a_supported_answer_passes_and_the_wrong_sentence_of_another_is_named() {
        let good = judged("The museum opens at nine in the morning. A ticket costs twelve euros.", &CONTEXTS);
        assert_eq!(good.passed, Some(true), "{good:?}");
        let bad = judged("The museum opens at nine in the morning. Tickets cost forty euros.", &CONTEXTS);
        assert_eq!(bad.passed, Some(false), "{bad:?}");
        assert!(bad.value.unwrap() < good.value.unwrap() - 0.2, "{good:?} {bad:?}");
        let why = bad.rationale.unwrap();
        assert!(why.starts_with("The context ") && why.contains("\"Tickets cost forty euros"), "{why}");
        assert!(why.contains("Best evidence, in document 2: \"Tickets cost twelve euros.\""), "{why}");
        let tickets = Unsupported { answer: [41, 66], document: 1, context: [0, 26] };
        assert_eq!(bad.evidence, [tickets]);
        assert!(good.evidence.is_empty(), "{good:?}");
    }

    #[test]
    fn courtesies_are_no_claims() {
        let plain = judged("A ticket costs twelve euros.", &CONTEXTS);
        let polite =
            "Happy to help with your visit! A ticket costs twelve euros. Let me know if you need more.";
        assert_eq!(judged(polite, &CONTEXTS).value, plain.value);
        let only = judged("Happy to help with your visit!", &CONTEXTS);
        assert_eq!((only.status, only.error.as_deref()), (ScoreStatus::Skipped, Some("claims")));
    }

    #[test]
    fn citations_are_no_part_of_what_is_said_word_by_word() {
        let evidence = "Tickets cost twelve euros.[4] Children under six enter free of charge.";
        assert!(is_verbatim("Children under six enter free of charge [1, 2].", evidence));
        assert!(is_verbatim("twelve euros [1] children", evidence));
        assert!(!is_verbatim("Children under five enter free of charge [1].", evidence));
    }

    #[test]
    fn odd_input_is_told_and_never_a_panic() {
        assert_eq!(judged("An answer.", &[]).status, ScoreStatus::Skipped);
        assert_eq!(judged("  ", &CONTEXTS).status, ScoreStatus::Skipped);
        for answer in ["\u{0}", "?", "🙂🙂", "שלום עולם", "a", "Really? Why?"] {
            let score = judged(answer, &CONTEXTS);
            assert!(score.value.is_none_or(|value| (0.0..=1.0).contains(&value)), "{answer:?}: {score:?}");
        }
        let long = judged(&"Tickets cost twelve euros on every day of the week. ".repeat(300), &CONTEXTS);
        assert!(long.rationale.unwrap().contains("Only the first 50 sentences"));
    }

    #[test]
    fn what_is_not_english_gets_no_number() {
        let german = "Das Museum öffnet um neun Uhr morgens und ist montags geschlossen.";
        let told = |score: Score| (score.status, score.error.unwrap_or_default());
        let (status, why) = told(judged(german, &CONTEXTS));
        assert_eq!(status, ScoreStatus::Skipped);
        assert!(why.starts_with("language: deu"), "{why}");
        let (status, why) = told(judged("The museum opens at nine in the morning.", &[german, german]));
        assert_eq!(status, ScoreStatus::Skipped, "{why}");
    }

    #[test]
    fn the_same_input_has_the_same_score() {
        let answer = "The museum is open on Mondays.";
        assert_eq!(judged(answer, &CONTEXTS).value, judged(answer, &CONTEXTS).value);
    }
}
