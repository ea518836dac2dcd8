//! Opens the rooms in the order of the floors, starts their loops, and stops them in the same order: first the endpoints,
//! then each loop behind them, the journal last.

mod alert_metrics;
mod askers;
mod endpoints;
mod error;
mod identity;
mod lab;
mod late;
mod loops;
mod prices;

use crate::config::Config;
use crate::console::Files;
use crate::detect::Policy;
use crate::domain::id::TraceId;
use crate::domain::time::{Clock, SystemClock};
use crate::drift::{Alerts, AnchorConfig, Watcher};
use crate::emit::Emitter;
use crate::eval::Registry;
use crate::ingest::{Receiver, grpc_router, http_router};
use crate::journal::{Journal, create_dirs};
use crate::lake::{FlushHandle, Lake, LakeError, Upkeep};
use crate::net::Limits;
use crate::queue::{Follower, Lane, Queue};
use crate::sample::{Prices, Progress, REMEMBERED, Sampler, SecondPhases, compile};
use crate::schema::batch::{QueueRow, queue_to_batch};
use crate::schema::columns::Table;
use crate::score::{Judges, Plugins, Scorer, SlowLane, in_lanes};
use crate::sql::{Sql, pg::PgEndpoint};
use crate::watch::{Disk, Facts, Health, Stages};
use endpoints::{Behind, http_routes};
use identity::Identity;
use loops::Watching;

pub use alert_metrics::{Findings, findings, plan};
pub use askers::{Askers, AskersError};
pub use error::AppError;
pub use lab::{Laboratory, lab_routes};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::{sync::Notify, sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

/// How long open requests may take to end at a stop.
const DRAIN: Duration = Duration::from_secs(10);

/// Where the endpoints are; ports are the real ones even if 0 was configured.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// OTLP/gRPC.
    pub grpc: SocketAddr,
    /// OTLP/HTTP.
    pub otlp_http: SocketAddr,
    /// SQL, metrics, health, console.
    pub http: SocketAddr,
    /// PostgreSQL wire protocol.
    pub pg: SocketAddr,
}

/// Every listener, bound before anything else is opened, so that a taken port costs nothing.
struct Listeners {
    grpc: TcpListener,
    otlp_http: TcpListener,
    http: TcpListener,
    pg: TcpListener,
}

/// A running server.
pub struct App {
    /// Where the endpoints are.
    pub addresses: Addresses,
    /// What queries go through.
    pub sql: Arc<Sql>,
    /// The queue, for those who wait until it is empty.
    pub queue: Arc<Queue>,
    /// What fires, and the plan of what is watched.
    pub alerts: Alerts,
    /// The sets of anchors; what is sent is scored at once.
    pub anchors: watch::Sender<Vec<AnchorConfig>>,
    /// Notified, certificates and tokens are looked at at once.
    pub reload: Arc<Notify>,
    progress: Arc<Progress>,
    plugins: Arc<Plugins>,
    health: Health,
    endpoints: JoinSet<Result<(), AppError>>,
    loops: JoinSet<Result<(), AppError>>,
    stop_endpoints: CancellationToken,
    stop_loops: CancellationToken,
    stop_flush: CancellationToken,
    flush: tokio::task::JoinHandle<Result<(), LakeError>>,
}

/// The rooms, open and caught up, before anything listens.
struct Rooms {
    journal: Journal,
    lake: Arc<Lake>,
    flush: FlushHandle,
    queue: Arc<Queue>,
    follower: Follower,
    sampler: Sampler,
    scorer: Arc<Scorer>,
    registry: Arc<Registry>,
    /// Items at once that wait for judges and plug-ins.
    asked_at_once: usize,
    judges: Judges,
    plugins: Arc<Plugins>,
    watcher: Watcher,
    emitters: [Emitter; 3],
    /// None without a budget in money.
    prices: Option<Prices>,
    sql: Arc<Sql>,
    clock: Arc<dyn Clock>,
}

impl App {
    /// Starts the server. When it returns, every endpoint answers and all that was acknowledged before is visible.
    pub async fn start(config: Config) -> Result<App, AppError> {
        Self::start_with(config, Files::embedded()).await
    }

    /// As [`App::start`], with the files of the console.
    pub async fn start_with(config: Config, files: Files) -> Result<App, AppError> {
        let exporter = crate::watch::install()?;
        let net = Identity::open(&config)?;
        let listeners = bind(&config).await?;
        // On the heap: all that opening needs would lie in every future that starts a server.
        let rooms = Box::pin(Rooms::open(&config)).await?;
        let health = Health {
            journal: rooms.journal.clone(),
            lake: rooms.lake.clone(),
            queue: rooms.queue.clone(),
            clock: rooms.clock.clone(),
            ready: Arc::new(AtomicBool::new(false)),
            disk: Disk::new(&config.server.data_dir, rooms.clock.clone()),
            tls: net.tls.clone(),
        };
        let mut app = App {
            addresses: listeners.addresses()?,
            sql: rooms.sql.clone(),
            queue: rooms.queue.clone(),
            alerts: rooms.watcher.alerts(),
            anchors: watch::Sender::new(config.anchors.clone()),
            reload: net.reloader.trigger(),
            progress: rooms.sampler.progress(),
            plugins: rooms.plugins.clone(),
            health: health.clone(),
            endpoints: JoinSet::new(),
            loops: JoinSet::new(),
            stop_endpoints: CancellationToken::new(),
            stop_loops: CancellationToken::new(),
            stop_flush: CancellationToken::new(),
            flush: tokio::spawn(std::future::pending()),
        };
        let receiver = Receiver::new(rooms.journal.clone(), rooms.clock.clone(), config.ingest.clone())
            .with_policy(Arc::new(Policy::new(&config.detect)));
        let access = net.access.clone();
        let (routes, spans) = http_routes(Behind {
            config: &config,
            access: &access,
            health: &health,
            sql: &app.sql,
            alerts: &app.alerts,
            receiver: &receiver,
            registry: &rooms.registry,
            desk: rooms.judges.desk(),
            exporter,
            facts: rooms.facts(&config, app.addresses),
            files,
            writer: rooms.judges.writer(),
        });
        let grpc = grpc_router(receiver.clone(), access.clone())
            .merge(crate::watch::grpc_routes(health, app.stop_endpoints.clone())?);
        let endpoints = [
            ("OTLP/gRPC", listeners.grpc, grpc),
            ("OTLP/HTTP", listeners.otlp_http, http_router(receiver, access)),
            ("HTTP", listeners.http, routes),
        ];
        app.start_loops(rooms, &config);
        let stop = app.stop_loops.clone();
        app.loops.spawn(async move {
            spans.run(stop).await;
            Ok(())
        });
        app.start_endpoints(endpoints, listeners.pg, net, &config);
        app.health.ready.store(true, Ordering::Release);
        Ok(app)
    }

    fn start_loops(&mut self, rooms: Rooms, config: &Config) {
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
        // Those of slow local evaluators have places of their own.
        let at_once = threads + rooms.asked_at_once;
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
        let stages = Stages {
            journal: self.health.journal.clone(),
            lake: self.health.lake.clone(),
            queue: self.queue.clone(),
            progress: self.progress.clone(),
            alerts: self.alerts.clone(),
            clock: rooms.clock,
        };
        let (registry, anchors, disk) = (rooms.registry, self.anchors.subscribe(), self.health.disk.clone());
        let watching = Watching { stages, sql: rooms.sql, registry, anchors, prices: rooms.prices, disk };
        watching.start(config, &mut self.loops, &self.stop_loops);
    }

    fn start_endpoints(
        &mut self,
        endpoints: [(&'static str, TcpListener, axum::Router); 3],
        pg: TcpListener,
        net: Identity,
        config: &Config,
    ) {
        let limits = Limits::of(&config.server);
        for (name, listener, router) in endpoints {
            let (tls, stop) = (net.tls.clone(), self.stop_endpoints.clone());
            self.endpoints.spawn(async move {
                crate::net::serve(name, listener, router, limits, tls, stop).await;
                Ok(())
            });
        }
        let endpoint =
            PgEndpoint { access: net.access, tls: net.tls, allow_plain: config.server.allow_exposed };
        let (sql, stop) = (self.sql.clone(), self.stop_endpoints.clone());
        self.endpoints.spawn(async move {
            crate::sql::pg::serve(pg, sql, endpoint, stop).await;
            Ok(())
        });
        let stop = self.stop_loops.clone();
        self.loops.spawn(async move {
            net.reloader.run(stop).await;
            Ok(())
        });
    }

    /// How much is still to be done with what was acknowledged until now: frames that are not visible or not read by
    /// sampling, open traces, and items that wait for their scores.
    pub fn unfinished(&self) -> (u64, usize, usize) {
        let (sampled, open) = self.progress.now();
        let items = self.queue.stats(self.health.clock.now()).items;
        let visible = self.health.lake.applied();
        // Last: what became durable while the rest was looked at is still to be done.
        let durable = self.health.journal.durable();
        (durable.saturating_sub(visible.min(sampled)), open, items)
    }

    /// Waits until an endpoint or loop fails. A server that runs well waits for ever.
    pub async fn failed(&mut self) -> AppError {
        let ended = |which: &'static str, result: Option<Result<Result<(), AppError>, _>>| match result {
            Some(Ok(Err(error))) => error,
            Some(Ok(Ok(()))) | None => AppError::Ended(which, "without a reason".to_owned()),
            Some(Err(join)) => {
                let join: tokio::task::JoinError = join;
                AppError::Ended(which, join.to_string())
            }
        };
        tokio::select! {
            result = self.endpoints.join_next() => ended("an endpoint", result),
            result = self.loops.join_next() => ended("a loop", result),
            result = &mut self.flush => {
                // A task that has ended must not be waited for again.
                self.flush = tokio::spawn(async { Ok(()) });
                match result {
                    Ok(Err(error)) => AppError::Lake(error),
                    Ok(Ok(())) => AppError::Ended("flush", "without a reason".to_owned()),
                    Err(join) => AppError::Ended("flush", join.to_string()),
                }
            }
        }
    }

    /// Stops: no new requests, open ones end, loops finish what they hold, hot rows go to files, the journal closes.
    pub async fn stop(mut self) -> Result<(), AppError> {
        self.health.ready.store(false, Ordering::Release);
        self.stop_endpoints.cancel();
        drain(&mut self.endpoints).await;
        self.stop_loops.cancel();
        drain(&mut self.loops).await;
        self.plugins.stop().await;
        self.stop_flush.cancel();
        let flushed = self.flush.await.map_err(|e| AppError::Ended("flush", e.to_string()))?;
        self.health.journal.close();
        Ok(flushed?)
    }
}

/// Waits for the tasks, but not for ever; what is left then is dropped.
async fn drain(tasks: &mut JoinSet<Result<(), AppError>>) {
    let all = async {
        while let Some(ended) = tasks.join_next().await {
            if let Ok(Err(error)) = ended {
                tracing::error!(%error, "while stopping");
            }
        }
    };
    if tokio::time::timeout(DRAIN, all).await.is_err() {
        tracing::warn!("some requests did not end in time and are cut off");
        tasks.shutdown().await;
    }
}

async fn bind(config: &Config) -> Result<Listeners, AppError> {
    let bind = async |key: &'static str, address: SocketAddr| {
        TcpListener::bind(address).await.map_err(|source| AppError::Bind { key, address, source })
    };
    Ok(Listeners {
        grpc: bind("ingest.grpc_listen", config.ingest.grpc_listen).await?,
        otlp_http: bind("ingest.http_listen", config.ingest.http_listen).await?,
        http: bind("server.http_listen", config.server.http_listen).await?,
        pg: bind("server.pg_listen", config.server.pg_listen).await?,
    })
}

impl Listeners {
    fn addresses(&self) -> Result<Addresses, AppError> {
        let local = |l: &TcpListener| l.local_addr().map_err(|e| AppError::Ended("listener", e.to_string()));
        Ok(Addresses {
            grpc: local(&self.grpc)?,
            otlp_http: local(&self.otlp_http)?,
            http: local(&self.http)?,
            pg: local(&self.pg)?,
        })
    }
}

impl Rooms {
    async fn open(config: &Config) -> Result<Self, AppError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (journal, lake, flush) = open_storage(config, clock.clone()).await?;
        let (queue, follower) = open_queue(config, &journal)?;
        let (eval, models, workers) =
            (config.eval.clone(), config.models.clone(), config.score.worker_count());
        let policy = Arc::new(Policy::new(&config.detect));
        let theirs = policy.clone();
        let open = move || Registry::with_models(&eval, &models, workers, &theirs);
        let registry = tokio::task::spawn_blocking(open)
            .await
            .map_err(|e| AppError::Ended("loading models", e.to_string()))??;
        let askers = Askers::open(config, &registry, &policy, &clock)?;
        let (asked_at_once, registry) = (askers.at_once(), registry.with(askers.evaluators(), &config.eval));
        let alerts = plan(config)?;
        alert_metrics::warn(config, &alerts, &registry);
        let rules = compile(&config.sample.rules).map_err(AppError::Rules)?;
        let rules = Arc::new(rules.into_iter().map(|rule| in_lanes(rule, &registry)).collect::<Vec<_>>());
        let known = lake.recent(Table::Decisions, "trace_id", REMEMBERED).await?;
        let known = known.iter().filter_map(|id| TraceId::from_hex(id).ok());
        let (to, on, now) = (journal.clone(), queue.clone(), clock.clone());
        let (priced, learned) = (prices::are_needed(&rules), Prices::default());
        let second = Arc::new(SecondPhases::new(rules.clone()).with_prices(learned.clone()));
        let sampler = Sampler::new(to, rules, on, now, config.sample.clone(), known)?;
        let mut sampler = sampler.with_prices(learned.clone());
        let sql = open_sql(lake.clone(), queue.clone(), config)?;
        sampler = sampler.with_tables(late::tables(sql.clone(), lake.clone()));
        if priced {
            prices::ask(&sql, &learned).await;
        }
        if let Some(past) = sampler.past() {
            let rows = sql.collect(past).await?.1;
            sampler.restore(&rows);
            second.restore(&rows, clock.now());
        }
        let Askers { judges, plugins } = askers;
        plugins.start(|id| config.eval.disabled.iter().any(|disabled| disabled == id));
        if judges.has_budget() {
            judges.count_spent(&sql.collect(Judges::SPENT).await?.1);
        }
        judges.read_sessions_with(askers::sessions_of(sql.clone()));
        let watcher = Watcher::open(journal.clone(), alerts, config.drift.clone(), clock.clone())?;
        let backends = [&config.emit, &config.forward, &config.forward_logs];
        let emitters = Emitter::all(&journal, backends, &clock)?;
        let (to, on, now, registry) = (journal.clone(), queue.clone(), clock.clone(), Arc::new(registry));
        let scorer =
            Arc::new(Scorer::new(to, on, registry.clone(), now, config.score.timeout).with_second(second));
        Ok(Self {
            journal,
            lake,
            flush,
            queue,
            follower,
            sampler,
            scorer,
            registry,
            asked_at_once,
            judges,
            plugins: Arc::new(plugins),
            watcher,
            emitters,
            prices: priced.then_some(learned),
            sql,
            clock,
        })
    }
}

impl Rooms {
    /// What the status tells that does not change.
    fn facts(&self, config: &Config, at: Addresses) -> Facts {
        let all = self.registry.select(&self.registry.ids()).unwrap_or_default();
        Facts {
            started: self.clock.now(),
            endpoints: vec![
                ("OTLP/gRPC", at.grpc),
                ("OTLP/HTTP", at.otlp_http),
                ("HTTP", at.http),
                ("PostgreSQL", at.pg),
            ],
            evaluators: all.iter().map(|e| (e.id().to_owned(), e.version().to_owned())).collect(),
            configuration: config.shown(),
        }
    }
}

/// Opens journal and lake, and makes every acknowledged row visible.
pub async fn open_storage(
    config: &Config,
    clock: Arc<dyn Clock>,
) -> Result<(Journal, Arc<Lake>, FlushHandle), AppError> {
    let data_dir = &config.server.data_dir;
    let wrong = |source: std::io::Error| AppError::DataDir { path: data_dir.clone(), source };
    create_dirs(data_dir).map_err(wrong)?;
    let journal_dir = data_dir.join("journal");
    create_dirs(&journal_dir).map_err(wrong)?;
    let journal = Journal::open(&journal_dir, config.journal.clone(), crate::schema::FORMAT)?;
    let (lake, manifests) = Lake::open(config.lake.clone(), data_dir, clock, journal.id()).await?;
    let flush = FlushHandle::catch_up(lake.clone(), journal.clone(), manifests).await?;
    Ok((journal, lake, flush))
}

/// Opens the queue. When it returns, it holds every item that waited.
pub fn open_queue(config: &Config, journal: &Journal) -> Result<(Arc<Queue>, Follower), AppError> {
    let queue = Arc::new(Queue::new(config.queue.clone()));
    let log = config.server.data_dir.join("queue");
    let follower = Follower::open(journal.clone(), &log, queue.clone(), &config.journal)?;
    Ok((queue, follower))
}

/// SQL over the lake and the queue.
pub fn open_sql(lake: Arc<Lake>, queue: Arc<Queue>, config: &Config) -> Result<Arc<Sql>, AppError> {
    let snapshots = Arc::new(move |table: Table| lake.snapshot(table));
    let waiting = Arc::new(move |tenant: Option<&str>| {
        let theirs = |row: &QueueRow| tenant.is_none_or(|tenant| row.tenant == tenant);
        queue_to_batch(&queue.rows().into_iter().filter(theirs).collect::<Vec<_>>())
    });
    let sql = Sql::new(snapshots, config.sql.clone())?.with_queue(waiting)?;
    Ok(Arc::new(sql.with_calibrations(config.labels.calibrated())))
}
