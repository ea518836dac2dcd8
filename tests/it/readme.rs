//! What the README and the documents tell a user is true: what is to be typed works, what is named exists.

mod helps;
mod links;
pub mod pages;
mod programs;
mod reference;
mod routes;
mod typed;
