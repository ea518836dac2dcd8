//! What a run would ask of judges, and cost at most, without asking.

use super::lines::read_chunk;
use crate::eval::parallel;
use crate::eval::{Evaluator, Forecast, forecast_line};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::sync::Arc;

/// What one evaluator would ask.
#[derive(Default)]
struct Total {
    requests: u64,
    input_tokens: i64,
    output_tokens: i64,
    usd: f64,
    /// Requests whose price nobody configured.
    unpriced: u64,
}

impl Total {
    fn add(&mut self, forecast: &Forecast) {
        self.requests += forecast.requests;
        self.input_tokens += forecast.input_tokens;
        self.output_tokens += forecast.output_tokens;
        match forecast.usd {
            Some(usd) => self.usd += usd,
            None => self.unpriced += forecast.requests,
        }
    }
}

/// Reads every line and tells, by evaluator, requests, tokens and money at most; retries come on top. Nobody is asked.
pub fn forecast(
    mut input: Box<dyn BufRead>,
    evaluators: &[Arc<dyn Evaluator>],
    workers: usize,
) -> io::Result<(u64, String)> {
    let (mut number, mut bad, mut lines) = (0, 0, 0u64);
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    loop {
        let chunk = read_chunk(&mut input, &mut number)?;
        if chunk.is_empty() {
            return Ok((bad, text(lines, bad, evaluators, &totals)));
        }
        let found = parallel::map(&chunk, workers, |_, (number, line)| {
            let text = String::from_utf8_lossy(line);
            (!text.trim().is_empty()).then(|| forecast_line(evaluators, *number, text.trim()))
        });
        for one in found.into_iter().flatten() {
            lines += 1;
            let Ok(asked) = one else {
                bad += 1;
                continue;
            };
            asked.iter().for_each(|(id, forecast)| totals.entry(id.clone()).or_default().add(forecast));
        }
    }
}

fn text(lines: u64, bad: u64, evaluators: &[Arc<dyn Evaluator>], totals: &BTreeMap<String, Total>) -> String {
    let mut out = format!("{lines} lines, {bad} of them do not parse\n");
    let local = evaluators.iter().filter(|evaluator| evaluator.waits().is_none()).count();
    let _ = writeln!(out, "{local} evaluators run here and ask nobody");
    for (id, total) in totals {
        let Total { requests, input_tokens, output_tokens, usd, unpriced } = total;
        let _ = write!(
            out,
            "{id}: {requests} requests, {input_tokens} tokens read, at most {output_tokens} written, "
        );
        let _ = match unpriced {
            0 => writeln!(out, "at most {usd:.4} US dollars"),
            _ => writeln!(out, "price not known (price_input_usd and price_output_usd of the judge)"),
        };
    }
    let most: f64 = totals.values().map(|total| total.usd).sum();
    if totals.len() > 1 {
        let _ = writeln!(out, "all together at most {most:.4} US dollars");
    }
    out + "nobody was asked, nothing was written\n"
}
