//! Books that bots played, made as the service makes them: chosen with the pinned strategy, decided by the core.
//!
//! Invariant: every move by a bot is what its bot chooses, but for the one that a test asks to be another.

use plybook_bots::{Bots, Budget, Chance, Meter, View};
use plybook_core::bot::Bot;
use plybook_core::entry::{Act, Actor};
use plybook_core::game::{Ask, Hand, Request};
use plybook_core::header::Principal;
use plybook_core::{Action, Book, Entry, Game, Header, Seat, Seed, Terms, Time};
use plybook_rulesets::Registry;

use crate::table::{SEED, tester};

/// A game with bots under way.
pub struct BotBook {
    /// The game.
    pub game: Game,
    /// Its book.
    pub book: Book,
    bots: Bots,
    seed: Seed,
}

/// A bot of a header, as it prints.
pub fn bot(text: &str) -> Bot {
    let (id, nodes) = text.split_once(' ').expect("a bot is a strategy and its nodes");
    let (strategy, version) = id.split_once('@').expect("a strategy has a version");
    Bot { strategy: strategy.to_owned(), version: version.parse().unwrap(), nodes: nodes.parse().unwrap() }
}

/// Terms under which these seats are these bots, beside a fallback.
pub fn bots(of: &[(u8, &str)], fallback: &str) -> Terms {
    let bots = of.iter().map(|(seat, text)| (Seat(*seat), bot(text))).collect();
    Terms { bots, fallback: Some(bot(fallback)), ..Terms::default() }
}

impl BotBook {
    /// Before the first move of a game with the seed of the tests.
    pub fn of(header: Header) -> BotBook {
        let rules = Registry::standard().rules_of(&header).unwrap();
        let book = Book::new(header.clone());
        BotBook { game: Game::new(header, rules), book, bots: Bots::standard(), seed: Seed::new(SEED) }
    }

    /// What this bot chooses for the seat to move.
    pub fn chosen(&self, bot: &Bot) -> Action {
        let view = View::of(&self.game);
        let mut chance = Chance::of_game(&self.seed, &view).expect("somebody is to move");
        let strategy = self.bots.find(&bot.strategy, Some(bot.version)).unwrap();
        strategy.choose(&view, &mut Meter::unstopped(Budget(bot.nodes)), &mut chance).unwrap().action
    }

    /// A second after the last entry.
    pub fn now(&self) -> Time {
        Time::from_unix_ms(self.game.head().time.unix_ms() + 1_000)
    }

    /// Whatever is asked, a second after the last entry.
    #[track_caller]
    pub fn ask(&mut self, by: Principal, seat: Option<Seat>, ask: Ask) {
        let request = Request { actor: Actor { seat, by }, expected: self.game.head().seq, ask };
        let now = self.now();
        let entry = self.game.decide(&request, now, &self.seed).unwrap_or_else(|why| panic!("{request:?}: {why}"));
        self.append(&entry);
    }

    /// A person plays this.
    #[track_caller]
    pub fn person(mut self, notation: &str) -> BotBook {
        let seat = self.game.to_move();
        self.ask(tester(), seat, Ask::MoveText(notation.to_owned()));
        self
    }

    /// A seat, or nobody at the table, does something that is no move.
    #[track_caller]
    pub fn does(mut self, seat: Option<u8>, act: Act) -> BotBook {
        self.ask(tester(), seat.map(Seat), Ask::Act(act));
        self
    }

    /// A seat takes back its last move.
    #[track_caller]
    pub fn undo(mut self, seat: u8) -> BotBook {
        self.ask(tester(), Some(Seat(seat)), Ask::Undo(None));
        self
    }

    /// This hand makes the move that its strategy chooses.
    #[track_caller]
    pub fn hand(mut self, hand: Hand) -> BotBook {
        let (action, by) = self.choice(hand);
        let seat = self.game.to_move();
        self.ask(by, seat, Ask::Move(action));
        self
    }

    /// The seat's bot makes a legal move that it does not choose.
    #[track_caller]
    pub fn another(mut self) -> BotBook {
        let (chosen, by) = self.choice(Hand::Bot);
        let other = self.game.play().legal().into_iter().find(|action| *action != chosen).expect("there is another");
        let seat = self.game.to_move();
        self.ask(by, seat, Ask::Move(other));
        self
    }

    fn choice(&self, hand: Hand) -> (Action, Principal) {
        let seat = self.game.to_move().expect("somebody is to move");
        let terms = &self.game.header().terms;
        match hand {
            Hand::Bot => (self.chosen(terms.bot(seat).expect("the seat is a bot")), Principal::bot()),
            Hand::Fallback => (self.chosen(terms.fallback.as_ref().expect("there is a fallback")), Principal::fallback()),
        }
    }

    /// Bots and stand-ins move until a person has to, or the game is over; so many moves at most.
    #[track_caller]
    pub fn goes_on(mut self, most: usize) -> BotBook {
        for _ in 0..most {
            let Some(hand) = self.game.waits_for_bot() else { break };
            self = self.hand(hand);
        }
        self
    }

    /// Time passes, and what is due by then happens.
    #[track_caller]
    pub fn waits_ms(self, ms: u64) -> BotBook {
        self.waits_out(ms, 0)
    }

    /// The same, where no node was there in the last so many milliseconds of it.
    #[track_caller]
    pub fn waits_out(mut self, ms: u64, outage_ms: u64) -> BotBook {
        let now = Time::from_unix_ms(self.game.head().time.unix_ms() + ms);
        let outages = [(Time::from_unix_ms(now.unix_ms() - outage_ms), now)];
        while let Some(entry) = self.game.settle(now, &outages, &self.seed) {
            self.append(&entry);
        }
        self
    }

    #[track_caller]
    fn append(&mut self, entry: &Entry) {
        let head = self.game.apply(entry).unwrap_or_else(|why| panic!("{entry}: {why}"));
        self.book.push(entry.to_string());
        assert_eq!(head.digest, self.book.digest(), "the game and its book have one head");
    }
}
