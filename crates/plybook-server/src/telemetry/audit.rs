//! Administrative calls, a line each: who did what to which game, and what came of it.
//!
//! Lines have the target `plybook_audit`, and are there whatever logs are wanted, unless that target is turned off by name.
//!
//! Invariant: a call that was begun has its line, however it ends: where its caller goes away first, the outcome is `UNKNOWN`,
//! for it may have been done. No line has a secret: of a request it has the game's id and nothing else.

use tonic::{Request, Status};
use tonic_types::StatusExt as _;
use uuid::Uuid;

use crate::auth::{Caller, Rpc};
use crate::telemetry;

/// An administrative call that has begun.
#[derive(Debug)]
pub struct Audited {
    who: String,
    role: &'static str,
    tenant: i32,
    rpc: &'static str,
    game: Option<Uuid>,
    told: bool,
}

impl Audited {
    /// Somebody calls this, about this game if it is one.
    pub fn begin<T>(rpc: Rpc, request: &Request<T>, game: &str) -> Audited {
        let caller = request.extensions().get::<Caller>();
        Audited {
            who: caller.map(|caller| caller.principal.to_string()).unwrap_or_default(),
            role: caller.map_or("", |caller| caller.role.name()),
            tenant: caller.map_or(0, |caller| caller.tenant.0),
            rpc: rpc.name(),
            game: Uuid::try_parse(game).ok(),
            told: false,
        }
    }

    /// It came to this, and turned out to be about this game.
    pub fn ended_about<T>(mut self, answer: Result<T, Status>, game: impl FnOnce(&T) -> &str) -> Result<T, Status> {
        if let Ok(answer) = &answer {
            self.game = Uuid::try_parse(game(answer)).ok();
        }
        self.ended(answer)
    }

    /// It came to this.
    pub fn ended<T>(mut self, answer: Result<T, Status>) -> Result<T, Status> {
        match &answer {
            Ok(_) => self.tell("OK"),
            Err(status) => self.tell(&status.get_details_error_info().map(|info| info.reason).unwrap_or_default()),
        }
        answer
    }

    fn tell(&mut self, outcome: &str) {
        self.told = true;
        let Audited { who, role, tenant, rpc, game, .. } = self;
        let (game, trace_id) = (game.map(|game| game.to_string()).unwrap_or_default(), telemetry::current_trace().unwrap_or_default());
        tracing::info!(target: "plybook_audit", who, role, tenant, rpc, game, outcome, trace_id, "an administrative call");
    }
}

impl Drop for Audited {
    fn drop(&mut self) {
        if !self.told {
            self.tell("UNKNOWN");
        }
    }
}
