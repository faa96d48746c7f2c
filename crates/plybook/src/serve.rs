//! `plybook serve`: one node, from its flags to its end.
//!
//! Invariant: what cannot work is said in one sentence before anything is opened; SIGTERM and Ctrl-C
//! let the node go without losing a move.

mod auth;
mod edge;
mod exposure;
mod rates;
mod telemetry;
mod tls;
mod web;

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plybook_server::limits::Limits;
use plybook_server::server::ServeError;
use plybook_server::telemetry::{PageAddress, Telemetry};
use plybook_server::{Config, Parts, Server};
use tokio::signal::unix::{SignalKind, signal};

use self::auth::AuthArgs;
use crate::database::{Database, DatabaseArgs};
use crate::exit::usage;
use crate::keys::SigningArgs;
use crate::screen::Screen;
use crate::serve::edge::EdgeArgs;
use crate::serve::exposure::{Exposure, ExposureArgs};
use crate::serve::rates::RateArgs;
use crate::serve::telemetry::TelemetryArgs;
use crate::serve::tls::TlsArgs;
use crate::serve::web::WebArgs;
use crate::wake::{WakeArgs, Waking};

const DAY_SECONDS: u64 = 24 * 3600;

const EXIT_CODES: &str = "Exit codes: 0 told to stop; 2 a flag, an address, a file or a schema that cannot work as it is; \
                          1 whatever another moment may cure, such as a database that does not answer.";

/// Flags of `plybook serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ServeArgs {
    /// Where to listen, host:port; port 0 takes a free one
    #[arg(long, env = "PLYBOOK_LISTEN", default_value = "127.0.0.1:50051", value_parser = address)]
    listen: SocketAddr,
    /// Threads that serve calls; 0 takes one for two cores, and at least one. Where nothing else runs, as many as there are cores
    #[arg(long, env = "PLYBOOK_WORKER_THREADS", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub(crate) worker_threads: u16,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wake: WakeArgs,
    #[command(flatten)]
    signing: SigningArgs,
    #[command(flatten)]
    auth: AuthArgs,
    #[command(flatten)]
    exposure: ExposureArgs,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    web: WebArgs,
    #[command(flatten)]
    rates: RateArgs,
    #[command(flatten)]
    edge: EdgeArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    telemetry: TelemetryArgs,
}

/// What a node accepts.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Largest request, in bytes
    #[arg(long, env = "PLYBOOK_REQUEST_BYTES", default_value_t = Limits::default().request_bytes)]
    request_bytes: usize,
    /// Largest file that is imported, in bytes
    #[arg(long, env = "PLYBOOK_IMPORT_BYTES", default_value_t = Limits::default().import_bytes)]
    import_bytes: usize,
    /// Files imported at once
    #[arg(long, env = "PLYBOOK_IMPORTS", default_value_t = Limits::default().imports)]
    imports: usize,
    /// Calls in flight on one connection
    #[arg(long, env = "PLYBOOK_CALLS_PER_CONNECTION", default_value_t = Limits::default().calls_per_connection)]
    calls_per_connection: u32,
    /// Streams open on this node
    #[arg(long, env = "PLYBOOK_STREAMS", default_value_t = Limits::default().streams)]
    streams: usize,
    /// Memory for remembered games, in MiB
    #[arg(long, env = "PLYBOOK_GAMES_CACHE_MIB", default_value_t = Limits::default().games_cache_bytes >> 20)]
    games_cache_mib: u64,
    /// Memory for remembered earlier positions, in MiB
    #[arg(long, env = "PLYBOOK_HISTORY_CACHE_MIB", default_value_t = Limits::default().history_cache_bytes >> 20)]
    history_cache_mib: u64,
    /// How long a call may take; a deadline of the caller's may end it sooner, in ms
    #[arg(long, env = "PLYBOOK_CALL_TIMEOUT_MS", default_value_t = Limits::default().call_timeout.as_millis() as u64)]
    call_timeout_ms: u64,
    /// How long draining may take, in ms
    #[arg(long, env = "PLYBOOK_DRAIN_TIMEOUT_MS", default_value_t = Limits::default().drain_timeout.as_millis() as u64)]
    drain_timeout_ms: u64,
    /// The longest that a stream waits before it looks into the book unasked, in ms
    #[arg(long, env = "PLYBOOK_POLL_FLOOR_MS", default_value_t = Limits::default().poll_floor.as_millis() as u64)]
    poll_floor_ms: u64,
    /// Refused requests remembered of one game; 0 remembers none
    #[arg(long, env = "PLYBOOK_REFUSALS_PER_GAME", default_value_t = Limits::default().refusals_per_game)]
    refusals_per_game: u32,
    /// How long a refused request is remembered, in days
    #[arg(long, env = "PLYBOOK_REFUSALS_KEEP_DAYS", default_value_t = Limits::default().refusals_keep.as_secs() / DAY_SECONDS)]
    refusals_keep_days: u64,
    /// Choices of bots thought about at once, each with some 64 MiB; 0 takes one less than there are cores, and at least one
    #[arg(long, env = "PLYBOOK_THINKERS", default_value_t = Limits::default().thinkers)]
    thinkers: usize,
    /// Nodes that one move of a bot may spend
    #[arg(long, env = "PLYBOOK_BOT_NODES_MAX", default_value_t = Limits::default().bot_nodes_max)]
    bot_nodes_max: u64,
    /// Nodes that one call for advice may spend
    #[arg(long, env = "PLYBOOK_ADVICE_NODES_MAX", default_value_t = Limits::default().advice_nodes_max)]
    advice_nodes_max: u64,
    /// How long a call for advice waits for a thinker, in ms
    #[arg(long, env = "PLYBOOK_ADVICE_WAIT_MS", default_value_t = Limits::default().advice_wait.as_millis() as u64)]
    advice_wait_ms: u64,
    /// Calls for advice that wait for a thinker; one more is sent away at once
    #[arg(long, env = "PLYBOOK_ADVICE_QUEUE", default_value_t = Limits::default().advice_queue)]
    advice_queue: usize,
    /// Due games looked after at once; 0 leaves them to other nodes
    #[arg(long, env = "PLYBOOK_SWEEPERS", default_value_t = Limits::default().sweepers)]
    sweepers: usize,
    /// The longest that a node waits before it looks for due games unasked, in ms
    #[arg(long, env = "PLYBOOK_DUE_POLL_MS", default_value_t = Limits::default().due_poll.as_millis() as u64)]
    due_poll_ms: u64,
    /// How long a due game is one node's alone, in ms
    #[arg(long, env = "PLYBOOK_DUE_LEASE_MS", default_value_t = Limits::default().due_lease.as_millis() as u64)]
    due_lease_ms: u64,
    /// How often a node says that it is there, in ms
    #[arg(long, env = "PLYBOOK_HEARTBEAT_MS", default_value_t = Limits::default().heartbeat.as_millis() as u64)]
    heartbeat_ms: u64,
    /// After so long without a word of any node there was none, in ms
    #[arg(long, env = "PLYBOOK_OUTAGE_AFTER_MS", default_value_t = Limits::default().outage_after.as_millis() as u64)]
    outage_after_ms: u64,
}

/// The first address of a host and port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let found = text.to_socket_addrs().map_err(|error| format!("{error}; host:port is wanted, such as 127.0.0.1:50051"))?;
    found.into_iter().next().ok_or_else(|| "the host has no address".to_owned())
}

/// All that can be known before anything is opened.
pub(crate) struct Ready {
    database: Database,
    waking: Waking,
    config: Config,
    telemetry: Telemetry,
    /// What has to be said aloud.
    warning: Option<&'static str>,
    metrics_listen: Option<SocketAddr>,
}

impl ServeArgs {
    /// Reads all of it, files of keys among it: what cannot work is told here, to `plybook config --check` as to `plybook serve`.
    pub(crate) fn ready(self) -> anyhow::Result<Ready> {
        let database = self.database.read()?;
        let waking = self.wake.read(&database)?;
        let config = self.config()?;
        config.check().map_err(|error| usage(error.to_string()))?;
        let exposure = Exposure { listen: config.listen, authenticates: config.auth.is_on(), tls: config.tls.is_some() };
        let warning = self.exposure.check(exposure)?;
        let metrics_listen = self.telemetry.metrics_listen();
        let telemetry = self.telemetry.read()?;
        telemetry.check().map_err(|error| usage(error.to_string()))?;
        Ok(Ready { database, waking, config, telemetry, metrics_listen, warning })
    }
}

/// Serves until told to stop.
pub(crate) async fn run(args: ServeArgs) -> anyhow::Result<()> {
    let Ready { database, waking, config, telemetry, metrics_listen, warning } = args.ready()?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let page = match metrics_listen {
        None => None,
        Some(at) => Some(PageAddress::bind(at).await.map_err(|why| usage(format!("--metrics-listen: cannot listen on {at}: {why}")))?),
    };
    let exporting = telemetry.start().map_err(|error| usage(error.to_string()))?;
    let mut stop = Stop::new()?;

    let store = database.open().await?;
    let wakes = waking.start().await?;
    let server = Server::start(config, Parts::system(store, wakes)).await.map_err(sentence)?;
    let shown_at = page.as_ref().map(PageAddress::address);
    let page = page.and_then(|page| exporting.show(page, Arc::clone(server.readiness())));
    announce(scheme, server.address(), shown_at, &database.tell(), waking.tell());
    if let Some(warning) = warning {
        tracing::warn!("{warning}");
        let _ = Screen::new().say(warning);
    }

    let since = stop.asked().await;
    tracing::info!("draining");
    tokio::select! {
        () = server.drain() => {}
        () = stop.asked_again(since) => tracing::warn!("stopped without draining"),
    }
    drop(page);
    exporting.finish().await;
    Ok(())
}

fn announce(scheme: &str, address: SocketAddr, shown_at: Option<SocketAddr>, database: &str, woken_by: &str) {
    let shown = shown_at.map_or_else(String::new, |at| format!("metrics are shown at http://{at}/metrics\n"));
    let told = format!(
        "plybook {} ({}) is listening on {address}\nbooks are kept in {database}\n{shown}\
         try: plybook play --server {scheme}://{address} --ruleset connect_four",
        env!("CARGO_PKG_VERSION"),
        crate::version::COMMIT,
    );
    // Whoever started the node may not listen to it.
    let _ = Screen::new().say(told);
    tracing::info!(%address, %database, %woken_by, "serving");
}

fn sentence(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Config(error) => usage(error.to_string()),
        ServeError::Store(plybook_store::Error::Config(why)) => usage(why),
        error @ (ServeError::Listen { .. } | ServeError::Tls(_)) => usage(error.to_string()),
        other => other.into(),
    }
}

impl ServeArgs {
    fn config(&self) -> anyhow::Result<Config> {
        Ok(Config {
            listen: self.listen,
            limits: self.edge.read(self.limits.read()),
            keys: self.signing.read()?,
            tls: self.tls.read()?,
            rates: self.rates.read()?,
            web: self.web.read()?,
            auth: self.auth.read()?,
        })
    }
}

impl LimitArgs {
    fn read(&self) -> Limits {
        Limits {
            request_bytes: self.request_bytes,
            import_bytes: self.import_bytes,
            imports: self.imports,
            calls_per_connection: self.calls_per_connection,
            streams: self.streams,
            games_cache_bytes: self.games_cache_mib << 20,
            history_cache_bytes: self.history_cache_mib << 20,
            call_timeout: Duration::from_millis(self.call_timeout_ms),
            drain_timeout: Duration::from_millis(self.drain_timeout_ms),
            poll_floor: Duration::from_millis(self.poll_floor_ms),
            refusals_per_game: self.refusals_per_game,
            refusals_keep: Duration::from_secs(self.refusals_keep_days.saturating_mul(DAY_SECONDS)),
            thinkers: self.thinkers,
            bot_nodes_max: self.bot_nodes_max,
            advice_nodes_max: self.advice_nodes_max,
            advice_wait: Duration::from_millis(self.advice_wait_ms),
            advice_queue: self.advice_queue,
            sweepers: self.sweepers,
            due_poll: Duration::from_millis(self.due_poll_ms),
            due_lease: Duration::from_millis(self.due_lease_ms),
            heartbeat: Duration::from_millis(self.heartbeat_ms),
            outage_after: Duration::from_millis(self.outage_after_ms),
            ..Limits::default()
        }
    }
}

/// Signals that come within this time are one: who sends one to a process and to its group, as `timeout` does, sends two.
const ONE_REQUEST: Duration = Duration::from_secs(1);

/// SIGTERM and Ctrl-C.
struct Stop {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Stop {
    fn new() -> anyhow::Result<Stop> {
        Ok(Stop { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for a signal; answers when it came.
    async fn asked(&mut self) -> Instant {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        Instant::now()
    }

    /// Waits for somebody who asked at this time to ask once more.
    async fn asked_again(&mut self, since: Instant) {
        while self.asked().await < since + ONE_REQUEST {}
    }
}
