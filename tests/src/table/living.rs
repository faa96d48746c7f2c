//! What happens at a live table besides moves: time, leaving, offers, presence, bots.
//!
//! Invariant: whoever is not named is who the game waits for: the seat to move, its bot, the fallback.

use plybook_bots::meter::{Budget, Meter};
use plybook_bots::{Bots, Chance, View};
use plybook_core::bot::Bot;
use plybook_core::entry::{Act, Actor, Claim, Entry, Step};
use plybook_core::game::{Ask, Due, Hand, Request};
use plybook_core::header::Principal;
use plybook_core::{Rejection, Seat, SeatSet, Seq, Time};

use super::{Started, Table, tester};

impl Started {
    /// Whoever moves now.
    pub(super) fn mover(&self) -> Principal {
        match self.game.waits_for_bot() {
            Some(Hand::Bot) => Principal::bot(),
            Some(Hand::Fallback) => Principal::fallback(),
            None => tester(),
        }
    }

    /// The next request comes at this time, if it is not before the last entry.
    const fn comes_at(&mut self, time: Time) {
        self.at = Some(time);
    }

    /// What the deadline that there is comes to, with these outages.
    #[track_caller]
    fn settle(&mut self, outages: &[(Time, Time)]) -> Entry {
        let (deadline, _) = self.game.due().unwrap_or_else(|| panic!("no time runs\n{}", self.book.print()));
        let later = Time::from_unix_ms(deadline.unix_ms() + 1);
        let entry = self.game.settle(later, outages, &self.seed).unwrap_or_else(|| panic!("nothing is settled at {later}"));
        self.append(&entry);
        entry
    }
}

/// Time.
impl Table {
    /// The next request comes so many milliseconds after the last entry.
    #[track_caller]
    pub fn after(mut self, ms: u64) -> Table {
        let started = self.playing();
        started.comes_at(Time::from_unix_ms(started.game.head().time.unix_ms() + ms));
        self
    }

    /// The time of this seat, whose turn it is, is over.
    #[track_caller]
    pub fn times_out(mut self, seat: u8) -> Table {
        assert_eq!(self.game().due().map(|(_, due)| due), Some(Due::Turn(Seat(seat))));
        self.playing().settle(&[]);
        self
    }

    /// This seat was away for too long.
    #[track_caller]
    pub fn is_forfeited(mut self, seat: u8) -> Table {
        assert_eq!(self.game().due().map(|(_, due)| due), Some(Due::Presence(Seat(seat))));
        self.playing().settle(&[]);
        self
    }

    /// A finished game closes itself.
    #[track_caller]
    pub fn closes_itself(mut self) -> Table {
        assert_eq!(self.game().due().map(|(_, due)| due), Some(Due::Reopening));
        self.playing().settle(&[]);
        self
    }

    /// The deadline passes while no server was there for so many milliseconds, and the turn is credited with them.
    #[track_caller]
    pub fn credits(mut self, ms: u64) -> Table {
        let since = self.game().clock().map(|clock| clock.since()).unwrap();
        self.playing().settle(&[(since, Time::from_unix_ms(since.unix_ms() + ms))]);
        assert!(self.last_line().contains(" credit "), "{}", self.last_line());
        self
    }

    /// What is due is settled, whatever it is.
    #[track_caller]
    pub fn settles(mut self) -> Table {
        self.playing().settle(&[]);
        self
    }

    /// The seats have so many milliseconds at the head, and this one's run, or nobody's.
    #[track_caller]
    pub fn times(self, left: &[u64], running: Option<u8>) -> Table {
        let (clock, now) = (self.game().clock().unwrap(), self.game().head().time);
        let have: Vec<u64> = (0..self.game().header().seat_count()).map(|seat| clock.remaining_ms(Seat(seat), now)).collect();
        assert_eq!(have, left, "milliseconds left\n{}", self.book().print());
        assert_eq!(clock.running(), running.map(Seat), "whose time runs");
        self
    }
}

/// Leaving.
impl Table {
    /// This seat resigns.
    #[track_caller]
    pub fn resigns(self, seat: u8) -> Table {
        self.acts(seat, Act::Resign)
    }

    /// This seat aborts the game.
    #[track_caller]
    pub fn aborts(self, seat: u8) -> Table {
        self.acts(seat, Act::Abort)
    }

    /// The service aborts the game.
    #[track_caller]
    pub fn aborted(mut self) -> Table {
        self.must(None, Ask::Act(Act::Abort));
        self
    }

    /// The service takes this seat out of the game.
    #[track_caller]
    pub fn removes(mut self, seat: u8) -> Table {
        self.must(None, Ask::Act(Act::Remove(Seat(seat))));
        self
    }

    /// The last `plies` moves are taken back for this seat, which need not have made any of them.
    #[track_caller]
    pub fn undo_by_seat(mut self, seat: u8, plies: usize) -> Table {
        let (_, target) = self.undo_of(plies);
        self.must(Some(Seat(seat)), Ask::Undo(Some(target)));
        self
    }

    /// These seats have not left.
    #[track_caller]
    pub fn live(self, seats: &[u8]) -> Table {
        assert_eq!(self.game().live(), seats.iter().copied().map(Seat).collect::<SeatSet>(), "have not left");
        self
    }
}

/// Offers.
impl Table {
    /// This seat offers a draw.
    #[track_caller]
    pub fn offers_draw(self, seat: u8) -> Table {
        self.acts(seat, Act::Draw(Step::Offer))
    }

    /// This seat accepts the draw.
    #[track_caller]
    pub fn accepts_draw(self, seat: u8) -> Table {
        self.acts(seat, Act::Draw(Step::Accept))
    }

    /// This seat declines the draw.
    #[track_caller]
    pub fn declines_draw(self, seat: u8) -> Table {
        self.acts(seat, Act::Draw(Step::Decline))
    }

    /// This seat takes its offer of a draw away.
    #[track_caller]
    pub fn withdraws_draw(self, seat: u8) -> Table {
        self.acts(seat, Act::Draw(Step::Withdraw))
    }

    /// This seat offers to take the last `plies` moves back.
    #[track_caller]
    pub fn offers_undo(self, seat: u8, plies: usize) -> Table {
        let (_, target) = self.undo_of(plies);
        self.acts(seat, Act::Undo(Step::Offer, target))
    }

    /// This seat accepts that.
    #[track_caller]
    pub fn accepts_undo(self, seat: u8) -> Table {
        let target = self.offered();
        self.acts(seat, Act::Undo(Step::Accept, target))
    }

    /// This seat declines that.
    #[track_caller]
    pub fn declines_undo(self, seat: u8) -> Table {
        let target = self.offered();
        self.acts(seat, Act::Undo(Step::Decline, target))
    }

    /// This seat takes that offer away.
    #[track_caller]
    pub fn withdraws_undo(self, seat: u8) -> Table {
        let target = self.offered();
        self.acts(seat, Act::Undo(Step::Withdraw, target))
    }

    #[track_caller]
    fn offered(&self) -> Seq {
        match self.game().offers().undo().map(|offer| offer.kind) {
            Some(plybook_core::offers::Kind::Undo(target)) => target,
            _ => panic!("no undo is offered"),
        }
    }

    /// A draw is offered by this seat, or by nobody; and so is an undo.
    #[track_caller]
    pub fn open(self, draw: Option<u8>, undo: Option<u8>) -> Table {
        let offers = self.game().offers();
        let by = (offers.draw().map(|offer| offer.by.0), offers.undo().map(|offer| offer.by.0));
        assert_eq!(by, (draw, undo), "open offers: of a draw, of an undo");
        self
    }
}

/// Presence.
impl Table {
    /// This seat is reported away.
    #[track_caller]
    pub fn away(self, seat: u8) -> Table {
        self.acts(seat, Act::Away)
    }

    /// This seat is reported back.
    #[track_caller]
    pub fn back(self, seat: u8) -> Table {
        self.acts(seat, Act::Back)
    }

    /// This seat claims that those who are away leave.
    #[track_caller]
    pub fn claims_win(self, seat: u8) -> Table {
        self.acts(seat, Act::Claim(Claim::Win))
    }

    /// This seat claims a draw.
    #[track_caller]
    pub fn claims_draw(self, seat: u8) -> Table {
        self.acts(seat, Act::Claim(Claim::Draw))
    }
}

/// Bots, and whatever else.
impl Table {
    /// Whom the game waits for chooses as its header says, so many times; a bot, or the fallback.
    #[track_caller]
    pub fn bots_move(mut self, times: usize) -> Table {
        for _ in 0..times {
            let game = self.game();
            let (hand, seat) = (game.waits_for_bot().expect("a bot is to move"), game.to_move().unwrap());
            let terms = &game.header().terms;
            let bot = if hand == Hand::Bot { terms.bot(seat) } else { terms.fallback.as_ref() };
            let notation = self.choice(bot.unwrap());
            self = self.play(&notation);
        }
        self
    }

    fn choice(&self, bot: &Bot) -> String {
        let game = self.game();
        let view = View::new(game.play(), &game.header().ruleset, &game.header().params);
        let mut chance = Chance::of_game(&self.seed, &view).unwrap();
        let strategy = Bots::standard().find(&bot.strategy, Some(bot.version)).unwrap().clone();
        let choice = strategy.choose(&view, &mut Meter::unstopped(Budget(bot.nodes)), &mut chance).unwrap();
        game.rules().write_action(choice.action)
    }

    /// What a seat asks now, who has seen everything.
    #[track_caller]
    pub fn requested(&self, seat: Option<Seat>, ask: Ask) -> Request {
        self.started().request(seat, ask)
    }

    /// This is asked at this time; what is refused changes nothing.
    pub fn tries(&mut self, request: &Request, at: Time) -> Result<Entry, Rejection> {
        let started = self.playing();
        started.comes_at(at);
        let asked = started.ask(request);
        started.at = None;
        asked
    }

    /// What has to be settled at this time, with these outages, if anything has to.
    pub fn settle_at(&mut self, now: Time, outages: &[(Time, Time)]) -> Option<Entry> {
        let started = self.playing();
        let entry = started.game.settle(now, outages, &started.seed)?;
        started.append(&entry);
        Some(entry)
    }

    /// This seat does this.
    #[track_caller]
    pub fn acts(mut self, seat: u8, act: Act) -> Table {
        self.must(Some(Seat(seat)), Ask::Act(act));
        self
    }

    /// This seat may not do this, for the reason with this code.
    #[track_caller]
    pub fn refuses_act(self, seat: u8, act: Act, why: &str) -> Table {
        self.refuses_ask(Some(Seat(seat)), Ask::Act(act), why)
    }

    /// `by` may not ask this for this seat, for the reason with this code.
    #[track_caller]
    pub fn refuses_by(mut self, by: Principal, seat: u8, ask: Ask, why: &str) -> Table {
        let expected = self.playing().game.head().seq;
        let request = Request { actor: Actor { seat: Some(Seat(seat)), by }, expected, ask };
        self.refuses_request(&request, why)
    }
}
