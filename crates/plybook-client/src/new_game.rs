//! A game that is about to be created.
//!
//! Invariant: nothing is sent before it is awaited, and then one request, however often it has to be sent.

use std::future::IntoFuture;
use std::pin::Pin;

use plybook_proto::v1;
use plybook_proto::v1::param_value::Value;

use crate::client::Client;
use crate::error::Error;
use crate::table::Table;

/// What is wished of a new game; await it to have it created.
#[derive(Clone, Debug)]
#[must_use = "nothing is asked before it is awaited"]
pub struct NewGame {
    client: Client,
    request: v1::CreateGameRequest,
}

/// A game that was created.
#[derive(Clone, Debug)]
pub struct Created {
    /// The way to play it.
    pub table: Table,
    /// The game before its first move.
    pub game: v1::Game,
    /// Signed, if it was asked for or is the game's policy.
    pub receipt: Option<v1::Receipt>,
}

impl Client {
    /// A game of a ruleset, to be created. What is not said is the server's default.
    ///
    /// ```no_run
    /// # async fn create(client: plybook_client::Client) -> Result<(), plybook_client::Error> {
    /// let created = client.new_game("mnk").param("rows", 15).param("cols", 15).param("k", 5).player("ann").player("bob").await?;
    /// println!("game {}", created.game.game_id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new_game(&self, ruleset: &str) -> NewGame {
        let spec = v1::RulesetSpec { id: ruleset.to_owned(), ..Default::default() };
        NewGame { client: self.clone(), request: v1::CreateGameRequest { ruleset: Some(spec), ..Default::default() } }
    }
}

impl NewGame {
    /// Under this version of the ruleset.
    pub fn version(self, version: u32) -> NewGame {
        self.ruled(|spec| spec.version = version)
    }

    /// With this parameter: a number, a flag, a word, or numbers.
    pub fn param(self, name: &str, value: impl Into<Param>) -> NewGame {
        let Param(value) = value.into();
        self.ruled(|spec| {
            spec.params.insert(name.to_owned(), v1::ParamValue { value: Some(value) });
        })
    }

    /// With a player at the next seat. The id stays in the book for ever: a pseudonym, never a name.
    pub fn player(self, id: &str) -> NewGame {
        self.seat(v1::Seat { player_id: id.to_owned(), ..Default::default() })
    }

    /// With a bot at the next seat; 0 nodes are the strategy's default.
    pub fn bot(self, strategy: &str, nodes: u64) -> NewGame {
        let strategy = v1::StrategySpec { id: strategy.to_owned(), ..Default::default() };
        self.seat(v1::Seat { bot: Some(v1::Bot { strategy: Some(strategy), nodes }), ..Default::default() })
    }

    /// With this next seat.
    pub fn seat(mut self, seat: v1::Seat) -> NewGame {
        self.request.seats.push(seat);
        self
    }

    /// With this policy of taking back.
    pub fn undo(mut self, policy: v1::UndoPolicy) -> NewGame {
        self.request.undo_policy = Some(policy);
        self
    }

    /// With clocks, a policy of absence, and whatever else a game has besides its rules.
    pub fn terms(mut self, terms: v1::Terms) -> NewGame {
        self.request.terms = Some(terms);
        self
    }

    /// With a nonce of every seat in its dice.
    pub fn joint_entropy(mut self, joint: v1::JointEntropy) -> NewGame {
        self.request.joint_entropy = Some(joint);
        self
    }

    /// From this seed, for tests and replays: its dice are then not unpredictable to whoever calls.
    pub fn seed(mut self, seed: [u8; 32]) -> NewGame {
        self.request.seed = seed.to_vec();
        self
    }

    /// With receipts for these answers of the game.
    pub fn receipts(mut self, policy: v1::ReceiptPolicy) -> NewGame {
        self.request.receipt_policy = policy.into();
        self
    }

    /// And a receipt for this answer.
    pub fn with_receipt(mut self) -> NewGame {
        self.request.with_receipt = true;
        self
    }

    /// Under this id, such as that of an earlier process which did not learn what came of it.
    pub fn request_id(mut self, id: &str) -> NewGame {
        self.request.request_id = id.to_owned();
        self
    }

    /// The request as it will be sent; an empty id is filled in then.
    pub const fn request(&self) -> &v1::CreateGameRequest {
        &self.request
    }

    fn ruled(mut self, change: impl FnOnce(&mut v1::RulesetSpec)) -> NewGame {
        change(self.request.ruleset.get_or_insert_default());
        self
    }
}

impl IntoFuture for NewGame {
    type Output = Result<Created, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Created, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let answer = self.client.create_game_answer(self.request).await?;
            let game = *answer.game.unwrap_or_default();
            Ok(Created { table: self.client.table(&game.game_id), game, receipt: answer.receipt.map(|boxed| *boxed) })
        })
    }
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Param(Value);

impl From<i64> for Param {
    fn from(number: i64) -> Param {
        Param(Value::IntValue(number))
    }
}

impl From<i32> for Param {
    fn from(number: i32) -> Param {
        Param(Value::IntValue(number.into()))
    }
}

impl From<bool> for Param {
    fn from(flag: bool) -> Param {
        Param(Value::BoolValue(flag))
    }
}

impl From<&str> for Param {
    fn from(word: &str) -> Param {
        Param(Value::StringValue(word.to_owned()))
    }
}

impl From<&[i64]> for Param {
    fn from(numbers: &[i64]) -> Param {
        Param(Value::IntList(v1::IntList { values: numbers.to_vec() }))
    }
}

impl<const N: usize> From<[i64; N]> for Param {
    fn from(numbers: [i64; N]) -> Param {
        Param::from(numbers.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_is_in_the_request() {
        let Ok(client) = Client::connect("http://127.0.0.1:1") else { panic!("it is an address") };
        let new = client.new_game("snakes_and_ladders").version(1).param("size", 30).param("jumps", [3, 22]).param("finish", "bounce");
        let new = new.param("extra_turn", true).player("ann").bot("mcts", 500).seed([7; 32]).with_receipt().request_id("x");
        let request = new.request();
        let spec = request.ruleset.clone().unwrap_or_default();
        let value = |name: &str| spec.params[name].value.clone();
        assert_eq!((spec.id.as_str(), spec.version, spec.params.len()), ("snakes_and_ladders", 1, 4));
        assert_eq!(value("size"), Some(Value::IntValue(30)));
        assert_eq!(value("jumps"), Some(Value::IntList(v1::IntList { values: vec![3, 22] })));
        assert_eq!((value("finish"), value("extra_turn")), (Some(Value::StringValue("bounce".into())), Some(Value::BoolValue(true))));
        assert_eq!(request.seats[0].player_id, "ann");
        assert_eq!(request.seats[1].bot.as_ref().map(|bot| bot.nodes), Some(500));
        assert_eq!((request.seed.len(), request.with_receipt, request.request_id.as_str()), (32, true, "x"));
    }
}
