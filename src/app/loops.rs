//! The loops that tell how the numbers are, beside those that a span goes through.

use super::error::AppError;
use crate::config::Config;
use crate::drift::AnchorConfig;
use crate::eval::Registry;
use crate::sample::Prices;
use crate::sql::Sql;
use crate::watch::{AnchorLoop, Disk, Finality, Quality, Stages};
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What these loops read.
pub(super) struct Watching {
    pub stages: Stages,
    pub sql: Arc<Sql>,
    pub registry: Arc<Registry>,
    pub anchors: watch::Receiver<Vec<AnchorConfig>>,
    /// None without a budget in money.
    pub prices: Option<Prices>,
    pub disk: Disk,
}

impl Watching {
    /// Starts them; each runs until `stop`.
    pub(super) fn start(
        self,
        config: &Config,
        loops: &mut JoinSet<Result<(), AppError>>,
        stop: &CancellationToken,
    ) {
        let Self { stages, sql, registry, anchors, prices, disk } = self;
        if let Some(prices) = prices {
            let (sql, stop) = (sql.clone(), stop.clone());
            loops.spawn(async move {
                super::prices::learn(sql, prices, stop).await;
                Ok(())
            });
        }
        let (alerts, clock) = (stages.alerts.clone(), stages.clock.clone());
        let (scored, until) = (AnchorLoop { sets: anchors, registry, alerts, clock }, stop.clone());
        loops.spawn(async move {
            scored.run(until).await;
            Ok(())
        });
        let finality = Finality::new(stages, config.watch.lateness, sql.watermarks());
        let until = stop.clone();
        loops.spawn(async move {
            finality.run(until).await;
            Ok(())
        });
        let until = stop.clone();
        loops.spawn(async move {
            disk.watch(until).await;
            Ok(())
        });
        let (quality, stop) = (Quality::new(sql, config.watch.clone()), stop.clone());
        loops.spawn(async move {
            quality.run(stop).await;
            Ok(())
        });
    }
}
