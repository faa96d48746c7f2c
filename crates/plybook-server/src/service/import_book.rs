//! ImportBook: a `.ply` file of another server, kept as evidence.
//!
//! Invariant: nothing is stored before the file has come whole and holds in form and digests; it is stored byte for
//! byte or not at all, whoever goes away meanwhile, and this node signs none of it. So many files are in memory at
//! once, and each has its limit.

use std::sync::Arc;

use plybook_core::game::State;
use plybook_core::receipt::Unproved;
use plybook_core::{Book, Seq, limits};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use plybook_store::{Foreign, ForeignBook, Import, Store, Wake};
use tokio::sync::OwnedSemaphorePermit;
use tonic::{Code, Request, Status, Streaming};
use tracing::Instrument as _;

use crate::auth::{Caller, Rpc, authenticate};
use crate::checking::{Finding, check_book};
use crate::refusal::Refusal;
use crate::requests;
use crate::service::{Service, verify_game};
use crate::signing::Keys;
use crate::streams::Ends;
use crate::telemetry;

pub(super) async fn answer(
    service: &Service,
    request: Request<Streaming<v1::ImportBookRequest>>,
) -> Result<v1::ImportBookResponse, Refusal> {
    let caller = authenticate(&request)?;
    // Before the file: nobody may send megabytes who may not import them.
    caller.may(Rpc::ImportBook)?;
    let ends = Ends::of(&request, &service.draining);
    ends.check()?;
    // Not waited for: what a waiting file has sent would keep the connection from the files before it.
    let slot = Arc::clone(&service.imports).try_acquire_owned();
    let slot = slot.map_err(|_| Refusal::Busy { limit: "imports", most: service.limits.imports as u64 })?;
    let file = receive(service, request.into_inner(), &ends).await?;
    let (registry, keys) = (service.games.registry_shared(), Arc::clone(&service.keys));
    let imported = service.clock.now();
    let foreign = Foreign { imported, by: caller.principal.to_string(), signature: None };
    let (store, wakes, hub) = (Arc::clone(service.games.store()), Arc::clone(service.games.wakes()), Arc::clone(&service.hub));
    let keep = async move {
        let keep = keep(store, registry, keys, &caller, foreign, file, slot).await?;
        if let (false, Ok(game)) = (keep.repeated, requests::game_id(&keep.game_id)) {
            let key = caller.game(game);
            hub.created(key);
            wakes.publish(Wake { key, seq: requests::seq(keep.entries) });
        }
        Ok(keep)
    };
    // In a task of its own, so that what a caller leaves behind still counts among those at work.
    let kept = tokio::spawn(keep.in_current_span()).await;
    kept.map_err(|error| Refusal::internal(format!("an import panicked: {error}")))?
}

/// The whole file. A transport may show a caller who went away as the end of the pieces: only the last one says that
/// it is the last.
async fn receive(service: &Service, mut pieces: Streaming<v1::ImportBookRequest>, ends: &Ends) -> Result<Vec<u8>, Refusal> {
    let (mut file, mut whole) = (Vec::new(), false);
    while let Some(piece) = ends.before(pieces.message()).await?.map_err(|status| broken_off(service, &status))? {
        if whole {
            return Err(Refusal::field("last", "was set in the piece before"));
        }
        whole = piece.last;
        if file.len() + piece.chunk.len() > service.limits.import_bytes {
            return Err(Refusal::Limit { limit: "import_bytes", most: service.limits.import_bytes as u64 });
        }
        file.extend_from_slice(&piece.chunk);
    }
    if whole { Ok(file) } else { Err(Refusal::field("last", "was set in no piece: the upload ended before the file did")) }
}

/// What the transport says of a piece that it refuses, or of a caller who went away.
fn broken_off(service: &Service, status: &Status) -> Refusal {
    match status.code() {
        Code::OutOfRange | Code::ResourceExhausted => Refusal::Limit { limit: "request_bytes", most: service.limits.request_bytes as u64 },
        Code::Cancelled | Code::Unknown => Refusal::field("last", "was set in no piece: the upload ended before the file did"),
        _ => Refusal::field("request", "is not a message of the contract"),
    }
}

/// What a file is found to be.
struct Read {
    book: Book,
    finding: Finding,
    signature_checked: bool,
}

async fn keep(
    store: Arc<dyn Store>,
    registry: Arc<Registry>,
    keys: Arc<Keys>,
    caller: &Caller,
    foreign: Foreign,
    file: Vec<u8>,
    _slot: OwnedSemaphorePermit,
) -> Result<v1::ImportBookResponse, Refusal> {
    let read = tokio::task::spawn_blocking(move || read(file, &registry, &keys)).await;
    let Read { book, finding, signature_checked } =
        read.map_err(|error| Refusal::internal(format!("reading a book panicked: {error}")))??;
    let (head, signature) = (book.head(), book.signature().copied());
    telemetry::record_entry(head.game, head.seq);
    let foreign = Foreign { signature: signature.map(|signature| signature.to_string()), ..foreign };
    let repeated = match store.import(row(caller, book, foreign)?).await? {
        Import::Imported => false,
        Import::Repeated => true,
        Import::Exists => return Err(Refusal::GameExists { game: head.game }),
    };
    let verification = match finding {
        Finding::Unsupported { .. } => None,
        finding => Some(verify_game::told(store.as_ref(), caller.game(head.game), finding).await?),
    };
    Ok(v1::ImportBookResponse {
        game_id: head.game.to_string(),
        entries: u64::from(head.seq.0),
        book_digest: head.digest.0.to_vec(),
        verification,
        key_id: signature.map_or_else(String::new, |signature| signature.key_id.to_string()),
        signature_checked,
        repeated,
    })
}

/// Reads a file and checks what can be checked of it.
fn read(file: Vec<u8>, registry: &Registry, keys: &Keys) -> Result<Read, Refusal> {
    let refuse = |line: usize, why: &str| Err(Refusal::field("chunk", format!("line {line}: {why}")));
    let text = match String::from_utf8(file) {
        Ok(text) => text,
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            return refuse(1 + good.iter().filter(|byte| **byte == b'\n').count(), "is not UTF-8");
        }
    };
    let book = Book::parse(&text).map_err(|error| Refusal::field("chunk", error.to_string()))?;
    let lines = text.lines().count();
    drop(text);
    // One more than a game plays: the closing entry may come after the last.
    if book.links().len() > limits::ENTRIES_MAX as usize + 1 {
        return Err(Refusal::Limit { limit: "entries_per_game", most: u64::from(limits::ENTRIES_MAX) });
    }
    let signature_checked = match book.signature().map(|signature| signature.check(&book.head(), keys.public())) {
        Some(Err(wrong @ Unproved::Wrong(_))) => return refuse(lines, &wrong.to_string()),
        Some(Ok(())) => true,
        Some(Err(Unproved::UnknownKey(_))) | None => false,
    };
    let finding = check_book(&book, registry);
    Ok(Read { book, finding, signature_checked })
}

fn row(caller: &Caller, book: Book, foreign: Foreign) -> Result<ForeignBook, Refusal> {
    let state = state(&book)?;
    let header = book.header();
    Ok(ForeignBook {
        key: caller.game(header.game),
        created: header.created,
        ruleset: header.ruleset.name.clone(),
        ruleset_version: header.ruleset.version,
        players: header.seats.iter().map(|place| place.player.clone()).collect(),
        state,
        foreign,
        links: book.into_links(),
    })
}

/// The state after the last line, which alone tells it.
fn state(book: &Book) -> Result<State, Refusal> {
    let Some(last) = book.lines().last() else { return Ok(State::Active) };
    let entry = book.header().read_entry(&last.text);
    let entry = entry.map_err(|error| Refusal::BookCorrupt { first_bad: Seq(book.links().len() as u32), why: error.why })?;
    Ok(match (entry.closes(), entry.outcome()) {
        (true, _) => State::Closed,
        (false, Some(_)) => State::Finished,
        (false, None) => State::Active,
    })
}
