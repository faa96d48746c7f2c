//! What a bot may see of a game.
//!
//! Invariants: a view is borrowed and lends nothing that could be changed; whoever looks ahead does so
//! on a copy ([`View::to_trial`]). It shows the position and not the moves that led there, of which one
//! node may remember more than another. There is no seed in it, and no die that was not thrown yet.

use plybook_core::rules::Topology;
use plybook_core::{Action, Game, Params, Play, Position, Rules, RulesetId, Seat, SeatSet, diagram};

/// A game at one position, to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    play: &'a Play,
    ruleset: &'a RulesetId,
    params: &'a Params,
    live: SeatSet,
}

impl<'a> View<'a> {
    /// A view of `play`, whose rules are `ruleset` with `params`, at a full table.
    pub const fn new(play: &'a Play, ruleset: &'a RulesetId, params: &'a Params) -> View<'a> {
        View { play, ruleset, params, live: SeatSet::all(play.position().seats()) }
    }

    /// A view of a game.
    pub fn of(game: &'a Game) -> View<'a> {
        let header = game.header();
        View::new(game.play(), &header.ruleset, &header.params).among(game.live())
    }

    /// The same where only these seats have not left.
    #[must_use]
    pub const fn among(self, live: SeatSet) -> View<'a> {
        View { live, ..self }
    }

    /// The seats that have not left.
    pub const fn live(&self) -> SeatSet {
        self.live
    }

    /// The kind of game.
    pub const fn ruleset(&self) -> &'a RulesetId {
        self.ruleset
    }

    /// Its parameters.
    pub const fn params(&self) -> &'a Params {
        self.params
    }

    /// Its rules.
    pub fn rules(&self) -> &'a dyn Rules {
        self.play.rules()
    }

    /// The position.
    pub const fn position(&self) -> &'a Position {
        self.play.position()
    }

    /// The seat to move; nobody once the game is over.
    pub const fn seat(&self) -> Option<Seat> {
        self.play.position().to_move()
    }

    /// Every legal action of the seat to move, in a fixed order.
    pub fn legal(&self) -> Vec<Action> {
        self.play.legal()
    }

    /// A game of the bot's own, which begins here.
    pub fn to_trial(&self) -> Play {
        self.play.shortened(0)
    }

    /// The board as text, one mark a seat; nothing for a track.
    pub fn diagram(&self, marks: &[&str]) -> Option<String> {
        let grid = matches!(self.rules().topology(), Topology::Grid { .. });
        grid.then(|| diagram::draw(self.position().board(), marks))
    }
}
