//! The console: its pages, its login, and what feeds it.

mod client;
mod hosts;
mod pages;
mod params;
mod sessions;
mod statements;
mod status;
