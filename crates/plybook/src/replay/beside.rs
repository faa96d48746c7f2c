//! Refused requests, each beside the entry that was the head when it was refused.
//!
//! Invariant: a server that does not tell them, or cannot, keeps nobody from the book.

use std::collections::BTreeMap;

use plybook_client::Client;
use plybook_core::Seq;
use plybook_proto::v1;

use super::told::plain;
use crate::refusals::{reason, time};

/// Refusals fetched at once.
const PAGE: i32 = 500;

/// Refusals by the entry that they stand beside, oldest first, as lines.
#[derive(Debug, Default)]
pub(super) struct Beside(BTreeMap<Seq, Vec<String>>);

impl Beside {
    /// Those that the server remembers of a game; why there are none, where it does not say.
    pub(super) async fn fetch(client: &Client, game_id: &str) -> (Beside, Option<String>) {
        let mut beside = Beside::default();
        let mut request = v1::ListRefusalsRequest { game_id: game_id.to_owned(), page_size: PAGE, page_token: String::new() };
        loop {
            match client.list_refusals(request.clone()).await {
                Ok(page) => {
                    page.refusals.iter().for_each(|refused| beside.put(refused));
                    request.page_token = page.next_page_token;
                }
                Err(error) => return (beside, Some(format!("refused requests are not shown: {error}"))),
            }
            if request.page_token.is_empty() {
                return (beside, None);
            }
        }
    }

    fn put(&mut self, refused: &v1::RefusedRequest) {
        let seat = refused.seat.map_or_else(|| "nobody at the table".to_owned(), |seat| format!("seat {seat}"));
        let why = if refused.detail.is_empty() { String::new() } else { format!(", {}", plain(&refused.detail)) };
        let asked = plain(&refused.asked);
        let decided = format!("decided on entry {}", refused.expected_seq);
        let line = format!("refused here: {} {seat}, by {}: {asked}, {decided}: {}{why}", time(refused), refused.actor, reason(refused));
        let seq = Seq(u32::try_from(refused.head_seq).unwrap_or(u32::MAX));
        // They come newest first.
        self.0.entry(seq).or_default().insert(0, line);
    }

    /// Those beside an entry.
    pub(super) fn at(&self, seq: Seq) -> &[String] {
        self.0.get(&seq).map_or(&[], Vec::as_slice)
    }
}
