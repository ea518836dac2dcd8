//! Starts the loops and the doors of a server.

use super::{App, Net, Rooms};
use crate::config::Config;
use crate::domain::time::Clock;
use crate::lake::Upkeep;
use crate::net::Limits;
use crate::queue::Lane;
use crate::score::SlowLane;
use crate::sql::Sql;
use crate::sql::pg::PgDoor;
use crate::watch::{AnchorLoop, Finality, Quality, Stages};
use std::sync::Arc;
use tokio::net::TcpListener;

impl App {
    pub(super) fn start_loops(&mut self, rooms: Rooms, config: &Config) {
        self.flush = tokio::spawn(rooms.flush.run(self.stop_flush.clone()));
        let (upkeep, stop) = (Upkeep::new(rooms.lake), self.stop_loops.clone());
        self.loops.spawn(async move {
            upkeep.run(stop).await;
            Ok(())
        });
        let stop = self.stop_loops.clone();
        self.loops.spawn(async move { Ok(rooms.sampler.run(stop).await?) });
        let scorer = rooms.scorer;
        for _ in 0..config.score.worker_count() {
            let (worker, stop) = (scorer.clone(), self.stop_loops.clone());
            self.loops.spawn(async move { Ok(worker.work(Lane::Fast, stop).await?) });
        }
        let threads = config.score.slow_workers;
        let at_once = threads.max(rooms.asked_at_once);
        let slow = Arc::new(SlowLane::new(scorer, at_once, threads, config.score.slow_timeout));
        let stop = self.stop_loops.clone();
        self.loops.spawn(async move { Ok(slow.work(stop).await?) });
        let (judges, stop) = (rooms.judges, self.stop_loops.clone());
        self.loops.spawn(async move {
            judges.watch(stop).await;
            Ok(())
        });
        let (follower, stop) = (rooms.follower, self.stop_loops.clone());
        self.loops.spawn(async move { Ok(follower.run(stop).await?) });
        let (watcher, stop) = (rooms.watcher, self.stop_loops.clone());
        self.loops.spawn(async move { Ok(watcher.run(stop).await?) });
        for emitter in rooms.emitters {
            let stop = self.stop_loops.clone();
            self.loops.spawn(async move { Ok(emitter.run(stop).await?) });
        }
        if let Some(prices) = rooms.prices {
            let (sql, stop) = (rooms.sql.clone(), self.stop_loops.clone());
            self.loops.spawn(async move {
                super::prices::learn(sql, prices, stop).await;
                Ok(())
            });
        }
        if !config.anchors.is_empty() {
            let anchors = AnchorLoop {
                sets: config.anchors.clone(),
                registry: rooms.registry,
                alerts: self.alerts.clone(),
                clock: rooms.clock.clone(),
            };
            let stop = self.stop_loops.clone();
            self.loops.spawn(async move {
                anchors.run(stop).await;
                Ok(())
            });
        }
        self.start_watching(rooms.sql, rooms.clock, config);
    }

    /// What tells how the numbers are.
    fn start_watching(&mut self, sql: Arc<Sql>, clock: Arc<dyn Clock>, config: &Config) {
        let finality = Finality::new(
            Stages {
                journal: self.health.journal.clone(),
                lake: self.health.lake.clone(),
                queue: self.queue.clone(),
                progress: self.progress.clone(),
                alerts: self.alerts.clone(),
                clock,
            },
            config.watch.lateness,
            self.sql.watermarks(),
        );
        let stop = self.stop_loops.clone();
        self.loops.spawn(async move {
            finality.run(stop).await;
            Ok(())
        });
        let (quality, stop) = (Quality::new(sql, config.watch.clone()), self.stop_loops.clone());
        self.loops.spawn(async move {
            quality.run(stop).await;
            Ok(())
        });
    }

    pub(super) fn start_doors(
        &mut self,
        doors: [(&'static str, TcpListener, axum::Router); 3],
        pg: TcpListener,
        net: Net,
        config: &Config,
    ) {
        let limits = Limits::of(&config.server);
        for (name, listener, router) in doors {
            let (tls, stop) = (net.tls.clone(), self.stop_doors.clone());
            self.doors.spawn(async move {
                crate::net::serve(name, listener, router, limits, tls, stop).await;
                Ok(())
            });
        }
        let door = PgDoor { access: net.access, tls: net.tls, allow_plain: config.server.allow_exposed };
        let (sql, stop) = (self.sql.clone(), self.stop_doors.clone());
        self.doors.spawn(async move {
            crate::sql::pg::serve(pg, sql, door, stop).await;
            Ok(())
        });
        let stop = self.stop_loops.clone();
        self.loops.spawn(async move {
            net.reloader.run(stop).await;
            Ok(())
        });
    }
}
