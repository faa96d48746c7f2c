//! VerifyGame: the check of `plybook verify`, over what the store has.
//!
//! Invariant: it reads the book itself and trusts no cache; a wrong entry is an answer, not an error.

use plybook_core::verify::{DiceClaim, Verifier, Wrong};
use plybook_core::{Digest, Header, Seq};
use plybook_proto::v1;
use plybook_store::{Error, GameKey, Store, StoredEntry};
use tonic::Request;

use crate::auth::authenticate;
use crate::limits::PAGE_ENTRIES;
use crate::refusal::Refusal;
use crate::requests;
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(service: &Service, request: Request<v1::VerifyGameRequest>) -> Result<v1::VerifyGameResponse, Refusal> {
    let caller = authenticate(&request)?;
    let key = caller.game(requests::game_id(&request.into_inner().game_id)?);
    telemetry::record_game(key.game);
    let store = service.games.store();
    let seed = store.seed(key).await?;
    let (first, _) = page(store.as_ref(), key, Seq::ZERO, 1).await?;
    let first = match first.into_iter().next() {
        Some(first) => first,
        // Its seed tells that there was one.
        None if seed.is_some() => return Ok(found(0, None, &wrong("it is missing"))),
        None => return Err(Refusal::GameNotFound),
    };
    let header = match header(key, &first) {
        Ok(header) if seed.is_some_and(|seed| seed.commitment() == header.commitment) => header,
        Ok(_) => return Ok(found(0, None, &wrong("the stored seed is not the one committed to"))),
        Err(wrong) => return Ok(found(0, None, &wrong)),
    };
    // A ruleset that this build does not have is no fault of the book.
    service.games.registry().rules_of(&header)?;
    let verifier = match Verifier::new(header, service.games.registry()) {
        Ok(verifier) => verifier,
        Err(wrong) => return Ok(found(0, None, &wrong)),
    };
    follow(service, key, verifier).await
}

async fn follow(service: &Service, key: GameKey, mut verifier: Verifier) -> Result<v1::VerifyGameResponse, Refusal> {
    loop {
        let (entries, missing) = page(service.games.store().as_ref(), key, verifier.head().seq, PAGE_ENTRIES).await?;
        let whole = entries.len() == PAGE_ENTRIES as usize;
        for stored in entries {
            if let Err(wrong) = verifier.follow(&stored.line, stored.digest) {
                return Ok(found(verifier.head().seq.0, Some(verifier.head().digest), &wrong));
            }
        }
        if let Some(seq) = missing {
            let wrong = Wrong { line: None, seq: Some(seq), why: "it is missing".to_owned() };
            return Ok(found(verifier.head().seq.0, Some(verifier.head().digest), &wrong));
        }
        if !whole {
            break;
        }
    }
    let head = verifier.head();
    telemetry::record_entry(key.game, head.seq);
    Ok(match verifier.finish() {
        Ok(report) => v1::VerifyGameResponse {
            entries: u64::from(report.entries),
            book_digest: report.digest.0.to_vec(),
            dice_claim: claim(report.dice).into(),
            ..v1::VerifyGameResponse::default()
        },
        Err(wrong) => found(wrong.seq.map_or(0, |seq| seq.0.saturating_sub(1)), None, &wrong),
    })
}

/// Entries after `after`: up to the first that is missing, which is answered too.
async fn page(store: &dyn Store, key: GameKey, after: Seq, limit: u32) -> Result<(Vec<StoredEntry>, Option<Seq>), Error> {
    match store.entries(key, after, limit).await {
        Err(Error::Missing { seq, .. }) => {
            let before = seq.0.saturating_sub(after.0).saturating_sub(1);
            Ok((store.entries(key, after, before).await?, Some(seq)))
        }
        entries => Ok((entries?, None)),
    }
}

fn header(key: GameKey, first: &StoredEntry) -> Result<Header, Wrong> {
    let header = Header::parse(&first.line).map_err(|error| wrong(error.to_string()))?;
    if header.digest() != first.digest {
        return Err(wrong(format!("its digest is {}, not {}", header.digest(), first.digest)));
    }
    if header.game != key.game {
        return Err(wrong(format!("it is the header of game {}", header.game)));
    }
    Ok(header)
}

fn wrong(why: impl Into<String>) -> Wrong {
    Wrong { line: None, seq: Some(Seq::FIRST), why: why.into() }
}

fn found(right: u32, digest: Option<Digest>, wrong: &Wrong) -> v1::VerifyGameResponse {
    v1::VerifyGameResponse {
        entries: u64::from(right),
        first_wrong_seq: wrong.seq.map(|seq| u64::from(seq.0)),
        why: wrong.why.clone(),
        book_digest: digest.map_or_else(Vec::new, |digest| digest.0.to_vec()),
        dice_claim: v1::DiceClaim::Unspecified.into(),
    }
}

const fn claim(claim: DiceClaim) -> v1::DiceClaim {
    match claim {
        DiceClaim::NoThrows => v1::DiceClaim::NoThrows,
        DiceClaim::NotRevealed => v1::DiceClaim::NotRevealed,
        DiceClaim::FixedByService => v1::DiceClaim::FixedByService,
        DiceClaim::FixedByCaller => v1::DiceClaim::FixedByCaller,
    }
}
