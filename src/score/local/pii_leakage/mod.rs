//! Personal data in the answer and in what was retrieved.
//!
//! | file | what |
//! |---|---|
//! | `evaluator` | the evaluator `pii_leakage` |
//! | `find` | runs the rules over a text: shape, check, context words |
//! | `contact` | rules: e-mail, phone, IP and MAC address, date of birth |
//! | `finance` | rules: payment card, IBAN, wallet addresses |
//! | `national` | rules: numbers that states give to people |
//! | `documents` | rules: numbers known only by the words beside them (passport, licence, medical record ...) |
//! | `checksum` | Luhn, Verhoeff, ISO 7064 and the other check digits |
//! | `wallet` | checks of Bitcoin addresses |
//!
//! Published test numbers (the card 4111 1111 1111 1111, the SSN 078-05-1120) count: what leaks them leaks real ones
//! the same way. Private, loopback and documentation addresses and role mailboxes (`support@`) are found with a
//! confidence below the reporting line, for they belong to nobody.

mod checksum;
mod contact;
mod documents;
mod evaluator;
mod finance;
pub mod find;
mod national;
mod wallet;

pub use evaluator::PiiLeakage;
