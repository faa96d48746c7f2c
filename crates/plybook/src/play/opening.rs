//! Which game to create, from the command line.

use clap::{Args, ValueEnum};
use plybook_client::Client;
use plybook_proto::v1;
use plybook_proto::v1::ErrorReason;

use super::lineup::{Lineup, Wish};
use super::place::Place;
use super::terms::TermArgs;
use crate::exit::usage;
use crate::typed;

/// Marks of seats for which none is given, as servers have them: the first that are free.
const MARKS: [&str; 8] = ["X", "O", "A", "B", "C", "D", "E", "F"];

/// Who may take a move back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Undo {
    /// Nobody.
    None,
    /// A seat its own last moves, until another seat has answered.
    Own,
    /// Any seat any move, once everybody else at the table agrees.
    Agreement,
    /// Any seat any move.
    Free,
}

/// What becomes of a game if a seat does not join in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IfAbsent {
    /// It has no result.
    Abort,
    /// The other seats win.
    Forfeit,
}

/// A game to create.
#[derive(Args, Clone, Debug)]
pub(crate) struct Opening {
    /// Rules to play by: mnk, gomoku, connect_four, othello, snakes_and_ladders …; connect_four@2 names a version
    #[arg(long, default_value = "mnk", value_name = "ID")]
    ruleset: String,
    /// A parameter of the rules, such as rows=4, rule=standard or jumps=4,14,16,6; may be repeated.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Number of seats; by default as many as there are players, or one more than bots; at least what the rules need.
    #[arg(long, value_name = "NUMBER")]
    seats: Option<u32>,
    /// Who sits there, in turn order; may be repeated. It stays in the book for ever.
    #[arg(long = "player", value_name = "ID")]
    players: Vec<String>,
    /// A seat's mark on the board, in turn order; may be repeated.
    #[arg(long = "mark", value_name = "TEXT")]
    marks: Vec<String>,
    /// Who may take a move back; by default anybody at one keyboard, oneself between two and against bots.
    #[arg(long, value_enum)]
    undo: Option<Undo>,
    /// A throw that was shown may be taken back too (it will show the same faces again).
    #[arg(long)]
    undo_over_throw: bool,
    /// A finished game may be reopened until it is closed.
    #[arg(long)]
    undo_after_end: bool,
    /// Every seat adds a nonce to the dice before the first throw, so that nobody can choose them; each of the two steps
    /// of that may take so many seconds, 300 if no number is given.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "300")]
    joint: Option<u32>,
    /// What becomes of the game if a seat does not do that in time; abort where nothing is said
    #[arg(long, value_enum, requires = "joint")]
    if_absent: Option<IfAbsent>,
    #[command(flatten)]
    terms: TermArgs,
}

/// Where whoever calls wants to sit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sitting<'a> {
    /// Wherever no bot does.
    Anywhere,
    /// In the seat with this number.
    Numbered(u32),
    /// In the seat with this mark.
    Marked(&'a str),
}

impl Opening {
    /// Creates the game; answers where whoever calls sits in it, and its receipt too, if one is asked for.
    pub(crate) async fn create(
        &self,
        client: &Client,
        sitting: Sitting<'_>,
        with_receipt: bool,
    ) -> anyhow::Result<(v1::CreateGameResponse, Place)> {
        let wanted = match sitting {
            Sitting::Anywhere => Place::default(),
            Sitting::Numbered(seat) => Place::numbered(seat),
            Sitting::Marked(mark) => Place::named(mark, &self.all_marks()).map_err(usage)?,
        };
        let bots = self.terms.bots().map_err(usage)?;
        let terms = self.terms.terms().map_err(usage)?;
        let rulesets = client.rulesets().await?;
        let Some(ruleset) = rulesets.iter().find(|ruleset| self.means(ruleset)) else {
            let mut known: Vec<&str> = rulesets.iter().map(|ruleset| ruleset.id.as_str()).collect();
            // Each of its versions has a place of its own.
            known.dedup();
            return Err(usage(format!("--ruleset: there is no {:?}; known are {}", self.ruleset, known.join(", "))));
        };
        let lineup = Lineup::of(Wish {
            seats: self.seats,
            named: self.players.len().max(self.marks.len()) as u32,
            allowed: (ruleset.seats_min, ruleset.seats_max),
            seat: wanted.seat,
            bots: bots.len(),
        });
        let lineup = lineup.map_err(usage)?;
        self.check_places(lineup.bots.len(), wanted.seat).map_err(usage)?;
        // Against bots one's own seat is known by itself.
        let alone = lineup.people().next().filter(|_| !bots.is_empty() && lineup.people().count() == 1);
        let place = if wanted.seat.is_none() { alone.map_or(wanted, Place::marked) } else { wanted };
        let one_keyboard = place.seat.is_none() && bots.len() < lineup.bots.len();
        let request = self.request(ruleset, &lineup, &bots, one_keyboard).map_err(|why| usage(format!("--param: {why}")))?;
        let request = v1::CreateGameRequest { with_receipt, terms, ..request };
        let created = client.create_game_answer(request).await.map_err(|error| match error.refused() {
            // More than this server has or allows is an argument that it refuses, like any other.
            Some(refused) if refused.is(ErrorReason::LimitExceeded) || refused.is(ErrorReason::UnknownStrategy) => usage(error.to_string()),
            _ => error.into(),
        })?;
        Ok((created, place))
    }

    /// The marks of as many seats as a table can have.
    fn all_marks(&self) -> Vec<String> {
        let mut free = MARKS.iter().filter(|mark| self.marks.iter().all(|taken| taken != *mark));
        let mut mark = |given: Option<&String>| match given {
            Some(given) if !given.is_empty() => given.clone(),
            _ => free.next().map_or_else(String::new, |mark| (*mark).to_owned()),
        };
        (0..MARKS.len()).map(|seat| mark(self.marks.get(seat))).collect()
    }

    /// Whether this is the ruleset asked for: of its versions the one named, or else the default one.
    fn means(&self, ruleset: &v1::Ruleset) -> bool {
        match self.ruleset.split_once('@') {
            Some((id, version)) => ruleset.id == id && ruleset.version.to_string() == version,
            None => ruleset.id == self.ruleset && ruleset.is_default,
        }
    }

    /// Whoever is named has a seat.
    fn check_places(&self, seats: usize, seat: Option<u32>) -> Result<(), String> {
        let table = format!("the table has {seats} {}", if seats == 1 { "seat" } else { "seats" });
        match seat {
            _ if self.players.len() > seats => Err(format!("--player: {table}, but {} players are named", self.players.len())),
            _ if self.marks.len() > seats => Err(format!("--mark: {table}, but {} marks are given", self.marks.len())),
            Some(seat) if seat as usize >= seats => Err(format!("--seat: {table}; there is no seat {seat}")),
            _ => Ok(()),
        }
    }

    fn request(
        &self,
        ruleset: &v1::Ruleset,
        lineup: &Lineup,
        bots: &[v1::Bot],
        one_keyboard: bool,
    ) -> Result<v1::CreateGameRequest, String> {
        let params = typed::for_ruleset(ruleset, &self.params)?;
        let nth = |list: &[String], seat: usize| list.get(seat).cloned().unwrap_or_default();
        let seat = |(seat, bot): (usize, &Option<usize>)| v1::Seat {
            player_id: nth(&self.players, seat),
            mark: nth(&self.marks, seat),
            bot: bot.and_then(|bot| bots.get(bot).cloned()),
        };
        let by = match self.undo.unwrap_or(if one_keyboard { Undo::Free } else { Undo::Own }) {
            Undo::None => v1::UndoBy::None,
            Undo::Own => v1::UndoBy::OwnLastMove,
            Undo::Agreement => v1::UndoBy::Agreement,
            Undo::Free => v1::UndoBy::Free,
        };
        Ok(v1::CreateGameRequest {
            ruleset: Some(v1::RulesetSpec { id: ruleset.id.clone(), version: ruleset.version, params }),
            seats: lineup.bots.iter().enumerate().map(seat).collect(),
            undo_policy: Some(v1::UndoPolicy { by: by.into(), over_throw: self.undo_over_throw, after_end: self.undo_after_end }),
            joint_entropy: self.joint_entropy(),
            ..Default::default()
        })
    }

    fn joint_entropy(&self) -> Option<v1::JointEntropy> {
        let if_absent = match self.if_absent.unwrap_or(IfAbsent::Abort) {
            IfAbsent::Abort => v1::IfAbsent::Abort,
            IfAbsent::Forfeit => v1::IfAbsent::Forfeit,
        };
        let time = |seconds: u32| std::time::Duration::from_secs(seconds.into()).try_into().ok();
        self.joint.map(|seconds| v1::JointEntropy { step_time: time(seconds), if_absent: if_absent.into() })
    }
}
