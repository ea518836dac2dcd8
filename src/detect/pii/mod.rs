//! Personal data: shapes, checks, context words.
//!
//! | file | what |
//! |---|---|
//! | `find` | runs the rules over a text: shape, check, context words |
//! | `rule` | one kind of value in one shape |
//! | `window` | the parts of a text that can hold a number |
//! | `words` | where context words stand, and how far from a candidate |
//! | `fold` | digits of other scripts, read as ours |
//! | `address` | e-mail addresses and addresses of sites |
//! | `contact` | rules: IP and MAC address, date of birth |
//! | `phone` | rules: phone numbers |
//! | `finance` | rules: payment card, IBAN, wallet addresses |
//! | `national` | rules: numbers that states give to people |
//! | `national_more` | the same: more of Europe, and what a reader has garbled |
//! | `national_world` | the same: America, Asia, Africa |
//! | `documents` | rules: numbers known only by the words beside them (passport, licence, medical record ...) |
//! | `checksum` | Luhn, Verhoeff, ISO 7064 and the other check digits |
//! | `wallet` | checks of Bitcoin addresses |
//!
//! Published test numbers (the card 4111 1111 1111 1111, the SSN 078-05-1120) count: what leaks them leaks real ones
//! the same way. Private, loopback and documentation addresses and role mailboxes (`support@`) are found with a
//! confidence below the reporting line, for they belong to nobody; so are addresses of sites (`url`).
//!
//! A text is walked once for digits that stand close together and for `@`. Only there one automaton of all shapes says
//! which rules have a candidate, and one of all context words says which words are near.

mod address;
mod checksum;
mod contact;
mod documents;
mod finance;
mod find;
mod fold;
mod national;
mod national_more;
mod national_world;
mod phone;
mod rule;
mod wallet;
mod window;
mod words;

pub use find::{find as findings, kinds};
