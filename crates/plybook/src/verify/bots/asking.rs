//! The asking: books of files and of a database, threads to choose on, and how far it is.
//!
//! Invariant: nothing is chosen on a thread of the runtime, and whoever is asked to stop does, however great a
//! bot's budget is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plybook_core::verify::Report;
use plybook_core::{Book, Header, Seed, Seq};
use plybook_rulesets::Registry;
use plybook_store::{Error, GameKey, Store, StoredEntry};

use super::Bots;
use super::following::{Ended, Following};
use crate::exit::{Interrupted, Interrupts};

/// Entries read from a store at once.
const PAGE: u32 = 1_000;
/// How often it is told how far it is.
const TOLD_EVERY_MS: u64 = 100;

/// Asks the strategies of this build.
pub(in super::super) struct Asking {
    bots: plybook_bots::Bots,
    progress: Arc<Progress>,
}

/// How far it is, and whether to go on.
pub(super) struct Progress {
    bar: ProgressBar,
    began: Instant,
    chosen: AtomicU64,
    told_ms: AtomicU64,
    stop: AtomicBool,
}

impl Progress {
    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn chose_one(&self) {
        let chosen = 1 + self.chosen.fetch_add(1, Ordering::Relaxed);
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let told = self.told_ms.load(Ordering::Relaxed);
        let mine = || self.told_ms.compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if now >= told.saturating_add(TOLD_EVERY_MS) && mine() {
            self.bar.set_prefix(format!("{chosen} moves by bots chosen again, {} a second, ", a_second(chosen, self.began.elapsed())));
        }
    }
}

impl Drop for Asking {
    /// Whoever still chooses for nobody stops.
    fn drop(&mut self) {
        self.progress.stop.store(true, Ordering::Relaxed);
    }
}

impl Asking {
    /// Beside the bar of a walk.
    pub(in super::super) fn beside(bar: ProgressBar) -> Asking {
        let progress =
            Progress { bar, began: Instant::now(), chosen: AtomicU64::new(0), told_ms: AtomicU64::new(0), stop: AtomicBool::new(false) };
        Asking { bots: plybook_bots::Bots::standard(), progress: Arc::new(progress) }
    }

    /// With a bar of its own, which is drawn to standard error, and only where that is a terminal.
    pub(in super::super) fn alone() -> Asking {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_millis(200));
        Asking::beside(match ProgressStyle::with_template("{spinner} {prefix}{elapsed} so far") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        })
    }

    /// Asks about a book that follows from itself.
    pub(in super::super) async fn of_book(&self, book: Book, interrupts: &mut Interrupts) -> anyhow::Result<Bots> {
        if book.header().terms.fallback.is_none() {
            return Ok(Bots::Same(Default::default()));
        }
        let (bots, progress) = (self.bots.clone(), Arc::clone(&self.progress));
        let mut asked = tokio::task::spawn_blocking(move || {
            let seed = book.lines().last().and_then(|link| seed(book.header(), &link.text));
            let mut following = Following::new(book.header().clone(), seed, &Registry::standard(), bots);
            let ended = following.follow(book.lines().iter().map(|link| (link.text.as_str(), link.digest)), &progress);
            ended.map(|()| following.found())
        });
        let ended = tokio::select! {
            ended = &mut asked => ended?,
            () = interrupts.next() => {
                self.progress.stop.store(true, Ordering::Relaxed);
                asked.await?
            }
        };
        match ended {
            Ok(_) | Err(Ended::Wrong(_)) if self.progress.stopped() => Err(self.interrupted()),
            Ok(found) => Ok(found),
            Err(Ended::Wrong(wrong)) => Ok(Bots::Wrong(wrong)),
            Err(Ended::Stopped) => Err(self.interrupted()),
        }
    }

    /// Asks about a stored game, as far as this report is of it.
    pub(in super::super) async fn of_stored(&self, store: &dyn Store, key: GameKey, report: &Report) -> Result<Bots, Error> {
        let header = &report.header;
        if header.terms.fallback.is_none() {
            return Ok(Bots::Same(Default::default()));
        }
        let last = store.last(key).await?.filter(|last| last.seq == Seq(report.entries));
        let seed = last.and_then(|last| seed(header, &last.line));
        let mut following = Following::new(header.clone(), seed, &Registry::standard(), self.bots.clone());
        let mut after = Seq::FIRST;
        while after < Seq(report.entries) {
            let limit = PAGE.min(report.entries - after.0);
            let page = store.entries(key, after, limit).await?;
            let Some(last) = page.last().map(|stored| stored.seq) else { break };
            after = last;
            let progress = Arc::clone(&self.progress);
            let asked = tokio::task::spawn_blocking(move || {
                let ended = following.follow(page.iter().map(line), &progress);
                (following, ended)
            });
            // Nobody waits for the answer any more where it does not come.
            let Ok((followed, ended)) = asked.await else { return Ok(Bots::NotAsked(true)) };
            following = followed;
            match ended {
                Ok(()) => {}
                Err(Ended::Wrong(wrong)) => return Ok(Bots::Wrong(wrong)),
                Err(Ended::Stopped) => return Ok(Bots::NotAsked(true)),
            }
        }
        Ok(following.found())
    }

    /// How many were chosen, and how fast.
    pub(in super::super) fn tell(&self) {
        self.progress.bar.finish_and_clear();
        let (chosen, took) = (self.progress.chosen.load(Ordering::Relaxed), self.progress.began.elapsed());
        if chosen > 0 {
            eprintln!("{chosen} moves by bots chosen again, {} a second", a_second(chosen, took));
        }
    }

    fn interrupted(&self) -> anyhow::Error {
        self.progress.bar.finish_and_clear();
        let chosen = self.progress.chosen.load(Ordering::Relaxed);
        Interrupted(format!("interrupted: {chosen} moves by bots were chosen again, and others were not")).into()
    }
}

fn line(stored: &StoredEntry) -> (&str, plybook_core::Digest) {
    (&stored.line, stored.digest)
}

/// The seed that the last line reveals, if it does.
fn seed(header: &Header, line: &str) -> Option<Seed> {
    header.read_entry(line).ok()?.seed
}

/// Whole ones, as many as were chosen in each second on average.
fn a_second(chosen: u64, took: Duration) -> u64 {
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    chosen.saturating_mul(1_000) / ms
}
