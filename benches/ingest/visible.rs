//! How long until SQL sees a span that was acknowledged.

use crate::args::Door;
use crate::client::{Answer, Client, Target};
use crate::common::random::Random;
use crate::common::services::Services;
use crate::server::{Failed, Server};
use bytes::Bytes;
use hdrhistogram::Histogram;
use prost::Message;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Between two looks, so that the looking itself does not fill the machine.
const LOOK: Duration = Duration::from_millis(2);

/// A span that is not seen for so long fails the run.
const NEVER: Duration = Duration::from_secs(30);

/// What the canaries saw.
pub struct Canaries {
    /// From the answer of the door to the answer of SQL that counts the span, microseconds.
    pub delay: Histogram<u64>,
    /// How many spans they were.
    pub spans: u64,
}

/// Sends one canary span after the other, until `enough` is reached or `until` has passed.
pub async fn canaries(server: &Server, enough: u64, until: Instant) -> Result<Canaries, Failed> {
    let mut client = Client::connect(&Target::new(Door::Grpc, server.grpc.clone())).await?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut from = Services::new(0xca9a_71e5, u64::try_from(now.as_nanos())?);
    // Another seed each time: a canary with the ids of an earlier one would be stored once, as it should.
    let mut random = Random::new(u64::try_from(now.as_nanos())?);
    let mut seen = Canaries { delay: Histogram::new(3)?, spans: 0 };
    while seen.spans < enough && (Instant::now() < until || seen.spans == 0) {
        let mut request = from.request(1);
        let trace = random.id::<16>();
        request.resource_spans[0].scope_spans[0].spans[0].trace_id = trace.clone();
        let body = Bytes::from(request.encode_to_vec());
        while client.send(body.clone()).await? == Answer::Later {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let acknowledged = Instant::now();
        let sql = format!("SELECT count(*) AS n FROM spans WHERE trace_id = '{}'", hex::encode(trace));
        while server.number(&sql).await? == 0 {
            if acknowledged.elapsed() > NEVER {
                return Err(format!("SQL did not see an acknowledged span within {NEVER:?}").into());
            }
            tokio::time::sleep(LOOK).await;
        }
        seen.delay.record(u64::try_from(acknowledged.elapsed().as_micros())?.max(1))?;
        seen.spans += 1;
    }
    Ok(seen)
}
