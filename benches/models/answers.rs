//! An answer of five sentences on three documents of 150 words, by `groundedness` and `hallucination`.

use crate::Failed;
use crate::common::system;
use groundline::domain::document::Document;
use groundline::domain::score::ScoreStatus;
use groundline::domain::trace::EvalInput;
use groundline::eval::{Config, Registry};
use std::time::{Duration, Instant};

/// The number in each sentence makes it new to the caches.
const SENTENCES: [&str; 18] = [
    "Unused items may be sent back within {} days of delivery for a full refund of the price.",
    "A restocking fee of 12 percent applies only to tents that have been opened by the customer.",
    "To start a return, log in, open the page with your {} last orders, choose the item and print the label.",
    "Customers in Alaska and Hawaii pay their own return postage, and everywhere else we cover it.",
    "Our warehouse in Boise inspects parcels within {} working days of their arrival there.",
    "Card issuers usually need another five to seven days to show the credit on the statement.",
    "Gift card purchases are refunded as store credit, which stays valid for {} months after that.",
    "Tents are repaired free of charge during the first two years if a seam or a pole breaks in normal use.",
    "Number {} of the terms says that damage by animals, fire or careless storage is not covered.",
    "A repair takes about three weeks, and a spare tent may be borrowed for that time on request.",
    "The shop in the old mill opens at {} in the morning and closes at six, except on public holidays.",
    "Parking behind the building is free for customers, but the gate is locked at half past six.",
    "Every first Saturday of the month up to {} visitors may try the climbing wall with a trainer.",
    "Children need the written consent of a parent and must wear the helmet that the shop lends them.",
    "Members collect one point for each {} dollars that they spend in the shop or on the website.",
    "A hundred points are worth a voucher of five dollars, which can be used from the next day on.",
    "Points expire {} months after the last purchase, and they cannot be paid out in cash.",
    "Members also hear of the spring sale a week before it begins and may order in advance.",
];

const ANSWER: [&str; 5] = [
    "You have {} days after delivery to return something that you have not used.",
    "The restocking fee of 12 percent is charged for opened tents only.",
    "Once the parcel has come to Boise, it is checked within {} working days.",
    "After that it can take your card issuer up to a week to show the money.",
    "If you live in Hawaii, you pay the postage yourself, order number {}.",
];

/// Prints the CPU milliseconds of an answer, with new documents and with documents that were seen before.
pub fn print(seconds: f64) -> Result<(), Failed> {
    let registry = Registry::new(&Config::default(), std::thread::available_parallelism()?.get())?;
    let ids = ["groundedness", "hallucination"].map(str::to_owned);
    let evaluators = registry.select(&ids)?;
    println!("\n{:<52}{:>14}", "an answer of 5 sentences, 3 documents of 150 words", "CPU ms");
    for (name, new_documents) in [("new documents", true), ("documents that were judged before", false)] {
        let (start, mut done) = (Instant::now(), 0usize);
        let mut cpu = system::cpu_seconds(std::process::id());
        while start.elapsed() < Duration::from_secs_f64(seconds) {
            let input = input(done, if new_documents { done } else { 0 });
            for evaluator in &evaluators {
                for score in registry.evaluate(evaluator.as_ref(), &input) {
                    if score.status != ScoreStatus::Ok {
                        return Err(format!("no score: {score:?}").into());
                    }
                }
            }
            done += 1;
            if done == 1 {
                // The first opens the models.
                cpu = system::cpu_seconds(std::process::id());
            }
        }
        let cpu = system::cpu_seconds(std::process::id()) - cpu;
        println!("{name:<52}{:>14.0}", 1_000.0 * cpu / (done.max(2) - 1) as f64);
    }
    Ok(())
}

fn input(answer: usize, documents: usize) -> EvalInput {
    let text = |lines: &[&str], number: usize| {
        let lines: Vec<String> =
            lines.iter().map(|line| line.replace("{}", &(number + 14).to_string())).collect();
        lines.join(" ")
    };
    let document = |lines: &[&str]| Document { content: Some(text(lines, documents)), ..Document::default() };
    // Nine sentences have about 150 words.
    let (first, second) = SENTENCES.split_at(9);
    let third: Vec<String> = first.iter().map(|line| format!("In the other shop: {line}")).collect();
    let third: Vec<&str> = third.iter().map(String::as_str).collect();
    EvalInput {
        answer: Some(text(&ANSWER, answer)),
        contexts: [first, second, &third].map(document).to_vec(),
        ..EvalInput::default()
    }
}
