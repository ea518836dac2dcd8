//! The command line.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Drives a Groundline server over loopback and prints what it costs.
#[derive(Debug, Parser)]
#[command(name = "ingest")]
pub struct Args {
    /// A fifth of the load, for a first look.
    #[arg(long)]
    pub quick: bool,
    /// The program to measure; the one that cargo built beside this harness if it is not given.
    #[arg(long, default_value = env!("CARGO_BIN_EXE_groundline"))]
    pub server: PathBuf,
    /// Spans of 447 bytes that the closed loop sends; model calls are a fiftieth of it.
    #[arg(long)]
    pub spans: Option<usize>,
    /// Connections of the closed loop, each with one request under way.
    #[arg(long, default_value_t = 16)]
    pub connections: usize,
    /// Seconds of each open loop.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Only this mix.
    #[arg(long)]
    pub mix: Option<Mix>,
    /// Only this door.
    #[arg(long)]
    pub door: Option<Door>,
    /// Leave the open loops out.
    #[arg(long)]
    pub closed_only: bool,
    /// Run the same load against other servers too; they are installed from PyPI into ~/.cache/groundline-bench-peers.
    #[arg(long)]
    pub peers: bool,
    /// Where the server keeps its data; the disk under it is part of the measurement.
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    pub folder: PathBuf,
    /// Write the figures there as JSON.
    #[arg(long)]
    pub json: Option<PathBuf>,
    /// Cargo passes it; it says nothing.
    #[arg(long, hide = true)]
    pub bench: bool,
}

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mix {
    /// Spans of services, about 447 bytes each, 500 a request.
    Services,
    /// Model calls, about 24 KB each, 50 a request.
    Models,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Door {
    /// OTLP/gRPC.
    Grpc,
    /// OTLP/HTTP with protobuf.
    Http,
}

impl Mix {
    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Services => "services",
            Mix::Models => "models",
        }
    }

    /// Spans of one request.
    pub fn batch(self) -> usize {
        match self {
            Mix::Services => 500,
            Mix::Models => 50,
        }
    }
}

impl Door {
    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Door::Grpc => "grpc",
            Door::Http => "http",
        }
    }
}

impl Args {
    /// Spans of the closed loop.
    pub fn closed_spans(&self, mix: Mix) -> usize {
        let services = self.spans.unwrap_or(if self.quick { 200_000 } else { 1_000_000 });
        match mix {
            Mix::Services => services,
            Mix::Models => (services / 50).max(mix.batch()),
        }
    }

    /// Seconds of each open loop.
    pub fn open_seconds(&self) -> u64 {
        self.seconds.unwrap_or(if self.quick { 4 } else { 15 })
    }

    /// The mixes to run.
    pub fn mixes(&self) -> Vec<Mix> {
        self.mix.map_or_else(|| vec![Mix::Services, Mix::Models], |mix| vec![mix])
    }

    /// The doors to run.
    pub fn doors(&self) -> Vec<Door> {
        self.door.map_or_else(|| vec![Door::Grpc, Door::Http], |door| vec![door])
    }
}
