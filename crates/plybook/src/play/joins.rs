//! The seats played here join by themselves before the first move, where their game asks them to.
//!
//! Invariant: a nonce is drawn here and known here alone until every seat has committed; whoever leaves
//! before that is told it, to come back with.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use plybook_client::Client;
use plybook_client::joining::{JoinError, Joiner, Nonce};
use plybook_proto::v1;
use tokio::task::JoinSet;

use super::receipts::Receipts;
use crate::exit::usage;

/// The nonces of seats that have yet to join. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nonces(Arc<Mutex<BTreeMap<u8, Nonce>>>);

impl Nonces {
    /// Those that were given as `SEAT:HEX`.
    pub(crate) fn kept(given: &[String]) -> anyhow::Result<Nonces> {
        let read = |text: &String| {
            let (seat, hex) = text.split_once(':')?;
            Some((seat.parse().ok()?, Nonce::from_bytes(plybook_core::Digest::parse(hex)?.0)))
        };
        let all = given.iter().map(|text| read(text).ok_or_else(|| usage("--nonce: it is SEAT:HEX, as play printed it")));
        Ok(Nonces(Arc::new(Mutex::new(all.collect::<anyhow::Result<_>>()?))))
    }

    /// What another command needs to go on with them.
    pub(crate) fn flags(&self) -> String {
        let hex = |nonce: &Nonce| nonce.reveal().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        self.with(|all| all.iter().map(|(seat, nonce)| format!(" --nonce {seat}:{}", hex(nonce))).collect())
    }

    fn of(&self, seat: u8) -> anyhow::Result<Nonce> {
        let drawn = Nonce::draw()?;
        Ok(self.with(|all| all.entry(seat).or_insert(drawn).clone()))
    }

    fn with<T>(&self, look: impl FnOnce(&mut BTreeMap<u8, Nonce>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Seats that are joining.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    tasks: JoinSet<(u8, Result<v1::Event, JoinError>)>,
    nonces: Nonces,
}

impl Joins {
    /// Begins for the seats played here: one, or all; nothing where the game waits for nobody.
    pub(crate) fn begin(
        client: &Client,
        game: &v1::Game,
        seat: Option<u32>,
        nonces: Nonces,
        receipts: Option<&Receipts>,
    ) -> anyhow::Result<Joins> {
        let mut joins = Joins { tasks: JoinSet::new(), nonces };
        if game.joining.is_none() {
            joins.nonces.with(BTreeMap::clear);
            return Ok(joins);
        }
        for seat in (0..game.seats.len() as u8).filter(|here| seat.is_none_or(|seat| seat == u32::from(*here))) {
            let (client, game_id, nonce) = (client.clone(), game.game_id.clone(), joins.nonces.of(seat)?);
            let joiner = match receipts.cloned() {
                Some(receipts) => {
                    Joiner::new(seat, nonce).keeping(move |receipt| receipts.keep(receipt).map_err(|error| format!("{error:#}")))
                }
                None => Joiner::new(seat, nonce),
            };
            joins.tasks.spawn(async move { (seat, joiner.join(&client, &game_id).await) });
        }
        Ok(joins)
    }

    /// Waits for a seat that cannot join; answers why. Whoever has joined is no more spoken of.
    pub(crate) async fn trouble(&mut self) -> String {
        while let Some(joined) = self.tasks.join_next().await {
            match joined {
                Ok((seat, Ok(_) | Err(JoinError::Absent(_)))) => self.nonces.with(|all| all.remove(&seat)),
                Ok((seat, Err(JoinError::OtherNonce(_)))) => {
                    self.nonces.with(|all| all.remove(&seat));
                    return format!("Seat {seat} has committed to a nonce that is not known here: it joins where that is known.");
                }
                Ok((seat, Err(error))) => return format!("Seat {seat} cannot join: {error}"),
                Err(error) => return format!("A seat cannot join: {error}"),
            };
        }
        std::future::pending().await
    }
}
