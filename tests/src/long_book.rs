//! Games over Postgres that grow by thousands of entries while servers read them: what it costs to
//! read them is the question, not what it costs to play them. (Whole books in a file: `long`.)
//!
//! Invariant: they are books like any other: decided by the core, with every digest, and inserted in
//! the order of their numbers.

use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Request};
use plybook_core::{Digest, Game, Header, Seat, Seed, Seq, Uuid};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use plybook_store::{DueChange, GameKey, NewEntry, RequestKey, TenantId};
use sha2::Digest as _;

use crate::postgres::TestDatabase;
use crate::table::tester;

/// A live game, and lines to go on with.
pub struct LongBook {
    game: Game,
    seed: Seed,
    /// Of every entry, the first first.
    digests: Vec<Digest>,
}

impl LongBook {
    /// Goes on from the header of a game that a server created, a game on a board with room enough.
    pub fn of(file: &str, seed: [u8; 32]) -> LongBook {
        let header: Header = plybook_core::Book::parse(file).unwrap().header().clone();
        let rules = Registry::standard().rules_of(&header).unwrap();
        let game = Game::new(header, rules);
        let digests = vec![game.head().digest];
        LongBook { game, seed: Seed::new(seed), digests }
    }

    /// The next entry: the seat to move takes the first cell that is free, row by row.
    fn next(&mut self) -> NewEntry {
        let (head, seat) = (self.game.head(), self.game.to_move());
        let cell = plybook_core::Cell(head.seq.0 - 1);
        let ask = Ask::Move(plybook_core::Action::Place(cell));
        let request = Request { actor: Actor { seat: seat.or(Some(Seat(0))), by: tester() }, expected: head.seq, ask };
        let entry = self.game.decide(&request, head.time, &self.seed).unwrap();
        let applied = self.game.apply(&entry).unwrap();
        self.digests.push(applied.digest);
        NewEntry {
            key: GameKey { tenant: TenantId::DEFAULT, game: self.game.header().game },
            seq: entry.seq,
            previous: head.digest,
            request: RequestKey { id: Uuid::from_u128(u128::from(entry.seq.0)), hash: sha2::Sha256::digest(b"").into() },
            line: entry.to_string(),
            digest: applied.digest,
            state: None,
            due: DueChange::Keep,
            notary: None,
        }
    }

    /// Entries up to this one, in one transaction.
    pub async fn write_until(&mut self, database: &TestDatabase, last: u32) {
        let mut entries = Vec::new();
        while self.game.head().seq < Seq(last) {
            entries.push(self.next());
        }
        let column = |of: &dyn Fn(&NewEntry) -> String| entries.iter().map(of).collect::<Vec<_>>();
        let mut connection = database.connect().await;
        sqlx::query(
            "INSERT INTO book_entry (tenant_id, game_id, seq, request_id, request_hash, digest, line)
             SELECT 1, $1, e.seq, e.request_id::uuid, sha256(''), decode(e.digest, 'hex'), e.line
             FROM unnest($2::int[], $3::text[], $4::text[], $5::text[]) AS e (seq, request_id, digest, line)
             ORDER BY e.seq",
        )
        .bind(self.game.header().game)
        .bind(entries.iter().map(|entry| entry.seq.0 as i32).collect::<Vec<_>>())
        .bind(column(&|entry| entry.request.id.to_string()))
        .bind(column(&|entry| entry.digest.to_string()))
        .bind(column(&|entry| entry.line.clone()))
        .execute(&mut connection)
        .await
        .unwrap();
    }

    /// Goes on past entries that a server appended.
    pub fn follow(&mut self, events: &[v1::Event]) {
        for event in events {
            let digest: [u8; 32] = event.book_digest.as_slice().try_into().unwrap();
            self.game.apply_line(&event.line, Digest(digest)).unwrap();
            self.digests.push(Digest(digest));
        }
    }

    /// The book's digest at an entry.
    pub fn digest_at(&self, seq: usize) -> [u8; 32] {
        self.digests[seq - 1].0
    }

    /// The game as the core has it.
    pub const fn game(&self) -> &Game {
        &self.game
    }
}
