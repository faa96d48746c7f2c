//! VerifyGame: the check of `plybook verify`, over what the store has.
//!
//! Invariant: a wrong entry is an answer, not an error.

use plybook_core::Header;
use plybook_core::header::SeedFrom;
use plybook_core::verify::{Accepted, DiceClaim, Kind};
use plybook_proto::v1;
use plybook_store::{GameKey, Store};
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::checking::{Finding, OriginFinding, check, check_origin};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests;
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::VerifyGameRequest>) -> Result<v1::VerifyGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let key = caller.may_see(Rpc::VerifyGame, requests::game_id(&request.into_inner().game_id)?)?;
    telemetry::record_game(key.game);
    let store = service.games.store().as_ref();
    let found = told(store, key, check(store, service.games.registry(), key).await?).await?;
    if found.first_wrong_seq.is_none() {
        telemetry::record_entry(key.game, requests::seq(found.entries));
    }
    Ok(found)
}

/// What was found of this stored game, for whoever asked.
pub(super) async fn told(store: &dyn Store, key: GameKey, finding: Finding) -> Result<v1::VerifyGameResponse, Refusal> {
    count(&finding);
    match finding {
        Finding::Nothing => Err(Refusal::GameNotFound),
        Finding::Unsupported { error, .. } => Err(error.into()),
        Finding::Wrong { right: (seq, digest), wrong } => Ok(v1::VerifyGameResponse {
            entries: u64::from(seq.0),
            first_wrong_seq: wrong.seq.map(|seq| u64::from(seq.0)),
            book_digest: digest.map_or_else(Vec::new, |digest| digest.0.to_vec()),
            verdict: verdict(wrong.kind()).into(),
            rule: wrong.rule.unwrap_or_default().to_owned(),
            accepted: wrong.accepted.map(|then| accepted(&then)),
            why: wrong.why,
            ..v1::VerifyGameResponse::default()
        }),
        Finding::Verified(report) => {
            let (origin_claim, origin_why) = origin(store, key, &report.header).await?;
            Ok(v1::VerifyGameResponse {
                entries: u64::from(report.entries),
                book_digest: report.digest.0.to_vec(),
                dice_claim: claim(report.dice).into(),
                signed_seats: signed(report.dice),
                origin_claim: origin_claim.into(),
                origin_why,
                verdict: v1::BookVerdict::Verified.into(),
                ..v1::VerifyGameResponse::default()
            })
        }
    }
}

fn count(finding: &Finding) {
    match finding {
        Finding::Nothing => {}
        Finding::Verified(_) => telemetry::count_verdict("verified"),
        Finding::Unsupported { .. } => telemetry::count_verdict("unsupported"),
        Finding::Wrong { wrong, .. } => telemetry::count_verdict(match wrong.kind() {
            Kind::IllegalNow => "illegal_now",
            Kind::Broken | Kind::Unsupported => "broken",
        }),
    }
}

/// What is said of a fork's beginning.
async fn origin(store: &dyn Store, key: GameKey, header: &Header) -> Result<(v1::OriginClaim, String), Refusal> {
    let Some(origin) = &header.origin else { return Ok((v1::OriginClaim::Unspecified, String::new())) };
    Ok(match check_origin(store, key, header, origin).await? {
        OriginFinding::Holds => (v1::OriginClaim::Holds, String::new()),
        OriginFinding::NotHere => (v1::OriginClaim::NotHere, String::new()),
        OriginFinding::Differs(why) => (v1::OriginClaim::Differs, why),
    })
}

const fn verdict(kind: Kind) -> v1::BookVerdict {
    match kind {
        Kind::IllegalNow => v1::BookVerdict::IllegalNow,
        Kind::Broken => v1::BookVerdict::Broken,
        // A refusal, so never here.
        Kind::Unsupported => v1::BookVerdict::Unspecified,
    }
}

fn accepted(then: &Accepted) -> v1::Accepted {
    v1::Accepted { entries: u64::from(then.entries), book_digest: then.digest.0.to_vec(), ruleset: then.ruleset.to_string() }
}

const fn claim(claim: DiceClaim) -> v1::DiceClaim {
    match claim {
        DiceClaim::NoThrows => v1::DiceClaim::NoThrows,
        DiceClaim::NotRevealed => v1::DiceClaim::NotRevealed,
        DiceClaim::FixedByService => v1::DiceClaim::FixedByService,
        DiceClaim::FixedByCaller => v1::DiceClaim::FixedByCaller,
        DiceClaim::FixedJointly { seed_from: SeedFrom::Service, .. } => v1::DiceClaim::Joint,
        DiceClaim::FixedJointly { seed_from: SeedFrom::Caller, .. } => v1::DiceClaim::JointWithCallersSeed,
    }
}

fn signed(claim: DiceClaim) -> Vec<u32> {
    match claim {
        DiceClaim::FixedJointly { signed, .. } => replies::seats(signed),
        _ => Vec::new(),
    }
}
