//! A table to play at, for tests that read like prose.
//!
//! ```ignore
//! table().mnk(3, 3, 3).play("b2 a1").undo(1).board(".X. / ...").refuses("b2", "CELL_OCCUPIED");
//! ```
//!
//! Invariant: everything that a game takes from outside is fixed here. Where nothing else is said it is created at
//! [`START`], each entry comes a second later, and ids and seeds are the same in every run.

mod forks;
mod holds;
mod joining;
mod living;
mod terms;
mod value;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::dice::Face;
use plybook_core::entry::{Actor, Body, Move};
use plybook_core::game::{Ask, Request};
use plybook_core::header::{Entropy, Place, Principal, Receipts, SeedFrom, UndoBy, UndoPolicy};
use plybook_core::{
    Action, Book, Digest, Entry, Game, Header, Origin, ParamValue, Position, Rejection, Seat, Seed, Seq, Terms, Time, Uuid, diagram,
};
use plybook_rulesets::Registry;

pub use joining::nonce;
pub use terms::bot;
pub use value::Value;

/// When every game of the tests is created: 2026-01-01T00:00:00.000Z.
pub const START: Time = Time::from_unix_ms(1_767_225_600_000);

/// The seed of every game of the tests that names no other.
pub const SEED: [u8; 32] = [7; 32];

/// Marks of the seats, in turn order.
pub const MARKS: [&str; 8] = ["X", "O", "Y", "Z", "A", "B", "C", "D"];

/// A table with nothing on it: tic-tac-toe until told otherwise.
pub fn table() -> Table {
    Table {
        registry: Registry::standard(),
        ruleset: "mnk".to_owned(),
        version: None,
        given: BTreeMap::new(),
        seats: 2,
        marks: MARKS.iter().map(|mark| (*mark).to_owned()).collect(),
        players: (0..MARKS.len()).map(|seat| format!("player-{seat}")).collect(),
        undo: UndoPolicy { by: UndoBy::Free, over_throw: false, after_end: false },
        entropy: Entropy::Service,
        receipts: Receipts::OnRequest,
        terms: Terms::default(),
        rematch_of: None,
        origin: None,
        begins_with: Vec::new(),
        seed_from: SeedFrom::Caller,
        seed: Seed::new(SEED),
        game: Uuid::from_u128(0x1234_5678_9abc_4def_8123_4567_89ab_cdef),
        created: START,
        started: OnceCell::new(),
    }
}

/// A game being laid out, and after the first move a game being played.
pub struct Table {
    registry: Registry,
    ruleset: String,
    version: Option<u32>,
    given: BTreeMap<String, ParamValue>,
    seats: u8,
    marks: Vec<String>,
    players: Vec<String>,
    undo: UndoPolicy,
    entropy: Entropy,
    receipts: Receipts,
    terms: Terms,
    rematch_of: Option<Uuid>,
    origin: Option<Origin>,
    /// What a fork is given of its origin.
    begins_with: Vec<Move>,
    seed_from: SeedFrom,
    seed: Seed,
    game: Uuid,
    created: Time,
    started: OnceCell<Started>,
}

struct Started {
    game: Game,
    book: Book,
    seed: Seed,
    /// Where the clock was set; it stands a second after the last entry at least.
    now: Time,
    /// When the next request comes, where that is said to the millisecond.
    at: Option<Time>,
}

/// What is laid out before the first move.
impl Table {
    /// A game of `ruleset` with its default parameters.
    pub fn of(mut self, ruleset: &str) -> Table {
        self.laying_out();
        ruleset.clone_into(&mut self.ruleset);
        self.version = None;
        self.given.clear();
        self
    }

    /// The same by this version of its ruleset; the default one where none is named.
    pub fn version(mut self, version: u32) -> Table {
        self.laying_out();
        self.version = Some(version);
        self
    }

    /// The same with a parameter.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Table {
        self.laying_out();
        self.given.insert(name.to_owned(), value.into().into());
        self
    }

    /// `k` in a line on `rows` × `cols`.
    pub fn mnk(self, rows: i64, cols: i64, k: i64) -> Table {
        self.of("mnk").with("rows", rows).with("cols", cols).with("k", k)
    }

    /// Five in a line on `size` × `size`.
    pub fn gomoku(self, size: i64) -> Table {
        self.of("gomoku").with("size", size)
    }

    /// Discs falling down `cols` columns of `rows` cells, `k` in a line.
    pub fn connect_four(self, rows: i64, cols: i64, k: i64) -> Table {
        self.of("connect_four").with("rows", rows).with("cols", cols).with("k", k)
    }

    /// Discs turned over on `size` × `size`.
    pub fn othello(self, size: i64) -> Table {
        self.of("othello").with("size", size)
    }

    /// A track of `size` squares with jumps `[from, to, from, to, …]`.
    pub fn snakes(self, size: i64, jumps: &[i64]) -> Table {
        self.of("snakes_and_ladders").with("size", size).with("jumps", jumps)
    }

    /// A table for so many.
    pub fn seats(mut self, seats: u8) -> Table {
        self.laying_out();
        self.seats = seats;
        self
    }

    /// A table for these marks with these players.
    pub fn with_players(mut self, places: &[(&str, &str)]) -> Table {
        self.laying_out();
        self.seats = places.len() as u8;
        self.marks = places.iter().map(|(mark, _)| (*mark).to_owned()).collect();
        self.players = places.iter().map(|(_, player)| (*player).to_owned()).collect();
        self
    }

    /// Who may take moves back; anybody where nothing is said.
    pub fn undo_by(mut self, by: UndoBy) -> Table {
        self.laying_out();
        self.undo.by = by;
        self
    }

    /// Shown throws may be taken back.
    pub fn undo_over_throw(mut self) -> Table {
        self.laying_out();
        self.undo.over_throw = true;
        self
    }

    /// A finished game may be reopened until it is closed.
    pub fn undo_after_end(mut self) -> Table {
        self.laying_out();
        self.undo.after_end = true;
        self
    }

    /// Another seed.
    pub fn seed(mut self, seed: [u8; 32]) -> Table {
        self.laying_out();
        self.seed = Seed::new(seed);
        self
    }

    /// The seed counts as drawn by the service.
    pub fn seed_of_the_service(mut self) -> Table {
        self.laying_out();
        self.seed_from = SeedFrom::Service;
        self
    }

    /// Every answer carries a receipt.
    pub fn receipts_always(mut self) -> Table {
        self.laying_out();
        self.receipts = Receipts::Always;
        self
    }

    /// Played under these terms.
    pub fn terms(mut self, terms: Terms) -> Table {
        self.laying_out();
        self.terms = terms;
        self
    }

    /// Another id.
    pub fn id(mut self, id: u128) -> Table {
        self.laying_out();
        self.game = Uuid::from_u128(id);
        self
    }

    /// Another time of creation.
    pub fn created(mut self, time: Time) -> Table {
        self.laying_out();
        self.created = time;
        self
    }

    /// Other rulesets than those of the release.
    pub fn registry(mut self, registry: Registry) -> Table {
        self.laying_out();
        self.registry = registry;
        self
    }

    /// The game cannot begin because of parameter `name`, and the reason has the words `why`.
    #[track_caller]
    pub fn cannot_begin(self, name: &str, why: &str) {
        match self.registry.choose(&self.ruleset, self.version, self.given.clone(), self.seats) {
            Err(plybook_rulesets::RegistryError::Param(bad)) => {
                assert!(bad.name == name && bad.why.contains(why), "refused for {:?} {:?}, not {name:?} {why:?}", bad.name, bad.why);
            }
            Err(other) => panic!("refused, but not for a parameter: {other}"),
            Ok(_) => panic!("{} begins with {:?}", self.ruleset, self.given),
        }
    }

    /// The header that this table begins with.
    pub fn header(&self) -> Header {
        self.started().game.header().clone()
    }

    #[track_caller]
    fn laying_out(&self) {
        assert!(self.started.get().is_none(), "the table is laid before the first move");
    }

    #[track_caller]
    fn started(&self) -> &Started {
        self.started.get_or_init(|| {
            let chosen = self.registry.choose(&self.ruleset, self.version, self.given.clone(), self.seats);
            let (ruleset, params, rules) = chosen.unwrap_or_else(|why| panic!("no game of {}: {why}", self.ruleset));
            let place = |seat: usize| Place { mark: self.marks[seat].clone(), player: self.players[seat].clone() };
            let header = Header {
                game: self.game,
                created: self.created,
                by: tester(),
                ruleset,
                params,
                seats: (0..usize::from(self.seats)).map(place).collect(),
                commitment: self.seed.commitment(),
                seed_from: self.seed_from,
                undo: self.undo,
                origin: self.origin,
                entropy: self.entropy,
                receipts: self.receipts,
                terms: self.terms.clone(),
                rematch_of: self.rematch_of,
            };
            let book = Book::new(header.clone());
            let mut started = Started { book, game: Game::new(header, rules), seed: self.seed.clone(), now: START, at: None };
            self.begins_with.iter().for_each(|made| started.give(made));
            started
        })
    }

    #[track_caller]
    fn playing(&mut self) -> &mut Started {
        self.started();
        self.started.get_mut().unwrap()
    }
}

/// Who sends every request of the tests.
pub fn tester() -> Principal {
    Principal::parse("anonymous").unwrap()
}

impl Started {
    fn request(&self, seat: Option<Seat>, ask: Ask) -> Request {
        let moves = matches!(ask, Ask::Move(_) | Ask::MoveText(_));
        let by = if moves && seat == self.game.to_move() { self.mover() } else { tester() };
        Request { actor: Actor { seat, by }, expected: self.game.head().seq, ask }
    }

    fn now(&self) -> Time {
        self.at.unwrap_or_else(|| self.now.max(Time::from_unix_ms(self.game.head().time.unix_ms() + 1000)))
    }

    fn ask(&mut self, request: &Request) -> Result<Entry, Rejection> {
        let now = self.now();
        let entry = self.game.decide(request, now, &self.seed)?;
        self.append(&entry);
        Ok(entry)
    }

    #[track_caller]
    fn append(&mut self, entry: &Entry) {
        let head = self.game.apply(entry).unwrap_or_else(|why| panic!("decided, but it does not fold: {why}"));
        self.book.push(entry.to_string());
        self.at = None;
        assert_eq!(head.digest, self.book.digest(), "the game and its book have one head");
    }
}

/// What happens at the table.
impl Table {
    /// The seats play these moves in turn, separated by spaces.
    #[track_caller]
    pub fn play(mut self, moves: &str) -> Table {
        for notation in moves.split_whitespace() {
            let to_move = self.game().to_move();
            self.must(to_move, Ask::MoveText(notation.to_owned()));
        }
        self
    }

    /// The seat to move throws the dice of the game's seed, so many times in turn.
    #[track_caller]
    pub fn roll(mut self, times: usize) -> Table {
        for _ in 0..times {
            let to_move = self.game().to_move();
            self.must(to_move, Ask::Move(Action::Roll));
        }
        self
    }

    /// The seat to move throws, and the dice show `faces` whatever the seed says: the fold takes any
    /// faces, so that rules can be tested without searching for a seed.
    #[track_caller]
    pub fn throw(mut self, faces: &[Face]) -> Table {
        let started = self.playing();
        let mut trial = started.game.play().clone();
        let seat = trial.position().to_move();
        let changes = trial.resolve(Action::Roll, faces).unwrap_or_else(|why| panic!("a throw is refused: {why}"));
        let cells = plybook_core::entry::in_book_order(changes.cells().to_vec());
        let verdict = trial.step(changes, true);
        let closes = trial.position().outcome().is_some() && !started.game.header().undo.after_end;
        let made = Move { notation: "roll".to_owned(), ply: trial.position().ply(), faces: faces.to_vec(), cells, verdict };
        let entry = Entry {
            seq: started.game.head().seq.next(),
            time: started.now(),
            actor: Actor { seat, by: tester() },
            body: Body::Move(made),
            seed: closes.then(|| started.seed.clone()),
        };
        started.append(&entry);
        self
    }

    /// The last `plies` moves are taken back by one request, of the seat whose move is the first of them.
    #[track_caller]
    pub fn undo(mut self, plies: usize) -> Table {
        let (seat, target) = self.undo_of(plies);
        self.must(seat, Ask::Undo(Some(target)));
        self
    }

    /// The finished game is closed.
    #[track_caller]
    pub fn close(mut self) -> Table {
        self.must(None, Ask::Close);
        self
    }

    #[track_caller]
    fn undo_of(&self, plies: usize) -> (Option<Seat>, Seq) {
        let game = self.game();
        let at = game.standing().len().checked_sub(plies).unwrap_or_else(|| panic!("fewer than {plies} moves stand"));
        (Some(game.play().standing()[at].seat), game.standing()[at])
    }

    #[track_caller]
    fn must(&mut self, seat: Option<Seat>, ask: Ask) {
        let asked = format!("{ask:?}");
        let request = self.playing().request(seat, ask);
        if let Err(why) = self.playing().ask(&request) {
            panic!("{asked} is refused: {} ({why})\n{}", code(&why), self.drawn());
        }
    }
}

/// What is refused: each leaves the table as it was.
impl Table {
    /// The seat to move may not play this, for the reason with this code.
    #[track_caller]
    pub fn refuses(self, notation: &str, why: &str) -> Table {
        // A finished game has nobody to move; any seat is told that it is over.
        let seat = self.game().to_move().unwrap_or(Seat(0));
        self.refuses_ask(Some(seat), Ask::MoveText(notation.to_owned()), why)
    }

    /// This seat may not play this, for the reason with this code.
    #[track_caller]
    pub fn refuses_seat(self, seat: u8, notation: &str, why: &str) -> Table {
        self.refuses_ask(Some(Seat(seat)), Ask::MoveText(notation.to_owned()), why)
    }

    /// The last `plies` moves may not be taken back by the seat that made the first of them.
    #[track_caller]
    pub fn refuses_undo(self, plies: usize, why: &str) -> Table {
        let (seat, target) = self.undo_of(plies);
        self.refuses_ask(seat, Ask::Undo(Some(target)), why)
    }

    /// Whatever is asked, for the reason with this code.
    #[track_caller]
    pub fn refuses_ask(mut self, seat: Option<Seat>, ask: Ask, why: &str) -> Table {
        let request = self.playing().request(seat, ask);
        self.refuses_request(&request, why)
    }

    /// This seat may not play this, decided on after entry `expected`, for the reason with this code.
    #[track_caller]
    pub fn refuses_expecting(mut self, expected: u32, seat: u8, notation: &str, why: &str) -> Table {
        let request = self.playing().request(Some(Seat(seat)), Ask::MoveText(notation.to_owned()));
        self.refuses_request(&Request { expected: Seq(expected), ..request }, why)
    }

    #[track_caller]
    fn refuses_request(mut self, request: &Request, why: &str) -> Table {
        let (position, head) = (self.position().clone(), self.game().head());
        match self.playing().ask(request) {
            Err(rejection) => assert_eq!(code(&rejection), why, "{request:?}: {rejection}"),
            Ok(entry) => panic!("{request:?} is accepted: {entry}\n{}", self.drawn()),
        }
        assert_eq!((&position, head), (self.position(), self.game().head()), "a refusal changes nothing");
        self
    }
}

/// What a test takes away from the table.
impl Table {
    /// The game at its head.
    #[track_caller]
    pub fn game(&self) -> &Game {
        &self.started().game
    }

    /// The position at the head.
    #[track_caller]
    pub fn position(&self) -> &Position {
        self.game().position()
    }

    /// The position digest at the head.
    #[track_caller]
    pub fn digest(&self) -> Digest {
        self.game().position_digest()
    }

    /// The book so far.
    #[track_caller]
    pub fn book(&self) -> &Book {
        &self.started().book
    }

    /// The seed of its dice.
    pub fn the_seed(&self) -> Seed {
        self.seed.clone()
    }

    /// The registry that this table's rules come from.
    pub const fn rulesets(&self) -> &Registry {
        &self.registry
    }

    /// The last entry's line.
    pub fn last_line(&self) -> &str {
        self.book().links().last().map_or("", |link| &link.text)
    }

    /// The board as text.
    pub fn drawn(&self) -> String {
        let marks: Vec<&str> = self.game().header().seats.iter().map(|place| place.mark.as_str()).collect();
        diagram::draw(self.position().board(), &marks)
    }

    fn tokens(&self) -> Vec<u32> {
        tokens(self.position())
    }
}

/// The square of each seat's token on a track: a cell's content is a bit a seat; who stands on no
/// square is off the board, on 0.
pub fn tokens(position: &Position) -> Vec<u32> {
    let square = |seat: u8| position.board().occupied().find(|(_, content)| content.0 & (1 << seat) != 0).map_or(0, |(cell, _)| cell.0);
    (0..position.seats()).map(square).collect()
}

/// The word for a refusal, as callers of the service know it.
pub const fn code(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::NoSuchSeat { .. } => "NO_SUCH_SEAT",
        Rejection::InvalidAction { .. } => "INVALID_ACTION",
        Rejection::Finished { .. } => "GAME_FINISHED",
        Rejection::NotFinished => "NOT_FINISHED",
        Rejection::Stale { .. } => "STALE_SEQ",
        Rejection::NotJoined { .. } => "NOT_JOINED",
        Rejection::JoinNotAllowed(why) => why.code(),
        Rejection::Unsettled { .. } => "UNSETTLED",
        Rejection::SeatNeeded => "SEAT_NEEDED",
        Rejection::SeatLeft { .. } => "SEAT_LEFT",
        Rejection::BotSeat { .. } => "SEAT_IS_BOT",
        Rejection::OfferNotAllowed(why) => why.code(),
        Rejection::AbortNotAllowed { .. } => "ABORT_NOT_ALLOWED",
        Rejection::ClaimNotAllowed(why) => why.code(),
        Rejection::PresenceNotKept => "PRESENCE_NOT_KEPT",
        Rejection::PresenceUnchanged => "PRESENCE_UNCHANGED",
        Rejection::NotYourTurn { .. } => "NOT_YOUR_TURN",
        Rejection::Illegal(illegal) => illegal.rule,
        Rejection::NothingToUndo => "NOTHING_TO_UNDO",
        Rejection::UndoNotAllowed(why) => why.code(),
        Rejection::WayBack { .. } => "INTERNAL",
        Rejection::Limit { .. } => "LIMIT_EXCEEDED",
    }
}

/// Folds a book from its text alone; calls `at` with the game after every entry, the header first.
#[track_caller]
pub fn fold(registry: &Registry, file: &str, mut at: impl FnMut(Seq, &Game)) -> Game {
    let book = Book::parse(file).unwrap_or_else(|why| panic!("{why}"));
    let rules: Arc<dyn plybook_core::Rules> = registry.rules_of(book.header()).unwrap_or_else(|why| panic!("{why}"));
    let mut game = Game::new(book.header().clone(), rules);
    at(Seq::FIRST, &game);
    for link in book.lines() {
        game.apply_line(&link.text, link.digest).unwrap_or_else(|why| panic!("{why}"));
        at(game.head().seq, &game);
    }
    game
}
