//! Closed loop: so many connections, each always busy. Open loop: a fixed rate, whatever the answers take.

use crate::args::Mix;
use crate::client::{Answer, Client, Target};
use crate::common::models::Models;
use crate::common::services::Services;
use crate::common::system;
use crate::server::Failed;
use bytes::Bytes;
use hdrhistogram::Histogram;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// The wait of a client that is told to come back later.
const LATER: Duration = Duration::from_millis(100);

/// Requests of an open loop that may be under way at once; the rest wait, and their waiting counts as latency.
const UNDER_WAY: usize = 512;

/// Connections of an open loop.
const OPEN_CONNECTIONS: usize = 16;

/// Requests that are encoded before the clock starts.
pub struct Input {
    /// The mix.
    pub mix: Mix,
    /// The requests.
    pub requests: Vec<Bytes>,
}

impl Input {
    /// Encodes `spans` spans of `mix`, rounded down to whole requests, the same for the same `seed` but for their times.
    pub fn new(mix: Mix, seed: u64, spans: usize) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let start = u64::try_from(now.as_nanos()).unwrap_or(0);
        let count = (spans / mix.batch()).max(1);
        let requests = match mix {
            Mix::Services => {
                let mut from = Services::new(seed, start);
                (0..count).map(|_| Bytes::from(from.request(mix.batch()).encode_to_vec())).collect()
            }
            Mix::Models => {
                let mut from = Models::new(seed, start);
                (0..count).map(|_| Bytes::from(from.request(mix.batch()).encode_to_vec())).collect()
            }
        };
        Self { mix, requests }
    }

    /// Bytes of all requests.
    pub fn bytes(&self) -> u64 {
        self.requests.iter().map(|r| r.len() as u64).sum()
    }

    /// Spans of all requests.
    pub fn spans(&self) -> u64 {
        (self.requests.len() * self.mix.batch()) as u64
    }
}

/// What a loop saw.
pub struct Seen {
    /// Spans that were acknowledged and not refused.
    pub acknowledged: u64,
    /// Bytes of the requests that were acknowledged.
    pub bytes: u64,
    /// From the first request to the last answer.
    pub wall: Duration,
    /// Latencies, microseconds.
    pub latency: Histogram<u64>,
    /// How often the server said "come back later".
    pub later: u64,
    /// CPU seconds of this process meanwhile.
    pub client_cpu: f64,
}

impl Seen {
    fn new() -> Result<Self, Failed> {
        let latency = Histogram::new(3)?;
        Ok(Self { acknowledged: 0, bytes: 0, wall: Duration::ZERO, latency, later: 0, client_cpu: 0.0 })
    }

    fn add(&mut self, other: &Seen) -> Result<(), Failed> {
        self.acknowledged += other.acknowledged;
        self.bytes += other.bytes;
        self.later += other.later;
        Ok(self.latency.add(&other.latency)?)
    }

    /// A quantile of the latency, milliseconds.
    pub fn quantile_ms(&self, q: f64) -> f64 {
        self.latency.value_at_quantile(q) as f64 / 1_000.0
    }

    /// Sends one request until it is taken. `intended` is when it should have been sent: a server that is late makes the
    /// next requests late, and that is its latency, not the generator's.
    async fn send(
        &mut self,
        to: &mut Client,
        body: &Bytes,
        spans: usize,
        intended: Instant,
    ) -> Result<(), Failed> {
        loop {
            match to.send(body.clone()).await? {
                Answer::Later => {
                    self.later += 1;
                    sleep(LATER).await;
                }
                Answer::Taken(refused) => {
                    self.acknowledged += (spans as u64).saturating_sub(refused);
                    self.bytes += body.len() as u64;
                    self.latency.record(u64::try_from(intended.elapsed().as_micros())?.max(1))?;
                    return Ok(());
                }
            }
        }
    }
}

/// Sends all of `input` over `connections` connections, each with one request under way.
pub async fn closed(target: &Target, input: &Arc<Input>, connections: usize) -> Result<Seen, Failed> {
    let mut clients = Vec::new();
    for _ in 0..connections {
        clients.push(Client::connect(target).await?);
    }
    let next = Arc::new(AtomicUsize::new(0));
    let (cpu, started) = (system::cpu_seconds(std::process::id()), Instant::now());
    let mut workers: JoinSet<Result<Seen, Failed>> = JoinSet::new();
    for mut client in clients {
        let (next, input) = (next.clone(), input.clone());
        workers.spawn(async move {
            let mut seen = Seen::new()?;
            while let Some(body) = input.requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                seen.send(&mut client, body, input.mix.batch(), Instant::now()).await?;
            }
            Ok(seen)
        });
    }
    gathered(workers, cpu, started).await
}

/// Sends all of `input` at `rate` spans a second.
pub async fn open(target: &Target, input: &Arc<Input>, rate: f64) -> Result<Seen, Failed> {
    let mut clients = Vec::new();
    for _ in 0..OPEN_CONNECTIONS {
        clients.push(Client::connect(target).await?);
    }
    let room = Arc::new(Semaphore::new(UNDER_WAY));
    let between = Duration::from_secs_f64(input.mix.batch() as f64 / rate);
    let (cpu, started) = (system::cpu_seconds(std::process::id()), Instant::now());
    let mut workers: JoinSet<Result<Seen, Failed>> = JoinSet::new();
    for at in 0..input.requests.len() {
        let intended = started + between.mul_f64(at as f64);
        sleep_until(intended).await;
        let (mut client, room, input) = (clients[at % clients.len()].clone(), room.clone(), input.clone());
        workers.spawn(async move {
            let _place = room.acquire().await?;
            let mut seen = Seen::new()?;
            seen.send(&mut client, &input.requests[at], input.mix.batch(), intended).await?;
            Ok(seen)
        });
    }
    gathered(workers, cpu, started).await
}

async fn gathered(
    mut workers: JoinSet<Result<Seen, Failed>>,
    cpu: f64,
    started: Instant,
) -> Result<Seen, Failed> {
    let mut all = Seen::new()?;
    while let Some(seen) = workers.join_next().await {
        all.add(&seen??)?;
    }
    all.wall = started.elapsed();
    all.client_cpu = system::cpu_seconds(std::process::id()) - cpu;
    Ok(all)
}
