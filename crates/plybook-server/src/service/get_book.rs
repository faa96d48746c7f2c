//! GetBook: the `.ply` file of a game, in pieces.
//!
//! Invariant: the file ends at the head that the game had when the call began, so that a live game's
//! export is a whole book. It is a stream like any other: it holds a slot, and ends with a reason when
//! its caller's time is over or this node goes away. Where the node has a key, the head is
//! signed; a book that was imported comes out byte for byte as it came in.

use std::sync::Arc;

use plybook_core::receipt::{Signature, SignedHead};
use plybook_core::{Digest, Seq, book};
use plybook_proto::v1;
use plybook_store::{GameKey, Store};
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::limits::STREAM_PAGE_ENTRIES;
use crate::refusal::Refusal;
use crate::requests;
use crate::service::{Frames, Service};
use crate::signing::Keys;
use crate::streams::{Asker, Ends, Slot};
use crate::telemetry;

/// An export under way.
struct Export {
    store: Arc<dyn Store>,
    key: GameKey,
    at: Seq,
    last: Seq,
    digest: Digest,
    signing: Signing,
    over: bool,
    ends: Ends,
    /// Held while the export lives.
    _slot: Slot,
}

/// What stands below the book.
enum Signing {
    /// What this node's key makes of the head.
    With(Arc<Keys>),
    /// What stood below a foreign book when it came: this node vouches for none.
    AsItCame(Option<Signature>),
}

fn signature(text: &str) -> Result<Signature, Refusal> {
    Signature::parse(text).ok_or_else(|| Refusal::internal("the stored signature of a foreign book is none"))
}

pub(super) async fn answer(service: &Service, request: Request<v1::GetBookRequest>) -> Result<Frames<v1::GetBookResponse>, Refusal> {
    let caller = authenticate(&request)?;
    let ends = Ends::of(&request, &service.draining);
    let asker = Asker::of(&caller, &request);
    let key = caller.may_see(Rpc::GetBook, requests::game_id(&request.into_inner().game_id)?)?;
    telemetry::record_game(key.game);
    ends.check()?;
    let slot = service.slots.take(&asker)?;
    let store = Arc::clone(service.games.store());
    let last = store.last(key).await?.ok_or(Refusal::GameNotFound)?;
    telemetry::record_entry(key.game, last.seq);
    let signing = match store.foreign(key).await? {
        None => Signing::With(Arc::clone(&service.keys)),
        Some(foreign) => Signing::AsItCame(foreign.signature.as_deref().map(signature).transpose()?),
    };
    let export = Export { store, key, at: Seq::ZERO, last: last.seq, digest: last.digest, signing, over: false, ends, _slot: slot };
    let pieces = futures::stream::unfold(export, |mut export| async move {
        let piece = export.next().await.transpose()?;
        let chunk = piece.map(|text| v1::GetBookResponse { chunk: text.into_bytes() }).map_err(tonic::Status::from);
        Some((chunk, export))
    });
    Ok(Box::pin(pieces))
}

impl Export {
    async fn next(&mut self) -> Result<Option<String>, Refusal> {
        if self.over {
            return Ok(None);
        }
        let piece = self.piece().await;
        self.over = self.over || piece.is_err();
        piece.map(Some)
    }

    async fn piece(&mut self) -> Result<String, Refusal> {
        self.ends.check()?;
        if self.at == self.last {
            self.over = true;
            let head = SignedHead { game: self.key.game, seq: self.last, digest: self.digest };
            let signature = match &self.signing {
                Signing::With(keys) => keys.active().map(|key| key.sign(&head)),
                Signing::AsItCame(signature) => *signature,
            };
            return Ok(book::print_trailer(self.last.0 as usize, self.digest, signature.as_ref()));
        }
        let (store, key, at, most) = (Arc::clone(&self.store), self.key, self.at, (self.last.0 - self.at.0).min(STREAM_PAGE_ENTRIES));
        // In a task of its own: who reads slowly must not hold a connection of the store.
        let read = self.ends.before(tokio::spawn(async move { store.history(key, at, most).await })).await?;
        let entries = read.map_err(|error| Refusal::internal(format!("an export's read panicked: {error}")))??;
        let mut text = String::new();
        for stored in entries {
            if stored.seq != self.at.next() {
                return Err(Refusal::BookCorrupt { first_bad: self.at.next(), why: "an entry is missing".to_owned() });
            }
            self.at = stored.seq;
            text.push_str(&book::print_link(&stored.line, stored.digest));
        }
        if text.is_empty() {
            return Err(Refusal::BookCorrupt { first_bad: self.at.next(), why: "the book ends before its last entry".to_owned() });
        }
        Ok(text)
    }
}
