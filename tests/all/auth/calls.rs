//! Every call of the contract by its name, made about a game for a seat.

use plybook_proto::v1;
use plybook_tests::wire::{Wire, fresh, pieces};
use prost::Message as _;
use tonic::{Response, Status};

/// The names of every call of the contract.
pub(crate) fn names() -> Vec<String> {
    let set = prost_types::FileDescriptorSet::decode(plybook_proto::DESCRIPTOR_SET).unwrap();
    let files = set.file.into_iter().filter(|file| file.package() == "plybook.v1");
    files.flat_map(|file| file.service).flat_map(|service| service.method).map(|method| method.name().to_owned()).collect()
}

/// Makes a call; of a stream, its first frame.
pub(crate) async fn call(name: &str, wire: &Wire, game: &str, seat: u32) -> Result<(), Status> {
    let about = About { wire, game: game.to_owned(), seat: Some(seat), request_id: fresh() };
    match name {
        "GetGame" | "StreamEvents" | "ListLegalActions" | "ListGames" | "ListRulesets" | "ListStrategies" | "SuggestMove"
        | "AnalyzePosition" => about.reads(name).await,
        "GetBook" | "VerifyGame" | "ListRefusals" | "CompareBooks" | "StreamAllEvents" | "ImportBook" | "ListKeys" => {
            about.audits(name).await
        }
        "CreateGame" | "ForkGame" | "Rematch" | "MintSeatToken" | "CloseGame" | "RemoveSeat" | "AbortGame" => about.runs(name).await,
        _ => about.plays(name).await,
    }
}

struct About<'a> {
    wire: &'a Wire,
    game: String,
    seat: Option<u32>,
    request_id: String,
}

fn done<T>(answer: Result<Response<T>, Status>) -> Result<(), Status> {
    answer.map(drop)
}

async fn first<T>(answer: Result<Response<tonic::Streaming<T>>, Status>) -> Result<(), Status> {
    answer?.into_inner().message().await.map(drop)
}

impl About<'_> {
    async fn reads(self, name: &str) -> Result<(), Status> {
        let (mut games, game_id) = (self.wire.games(), self.game);
        match name {
            "GetGame" => done(games.get_game(v1::GetGameRequest { game_id, at_seq: None }).await),
            "StreamEvents" => {
                let request = v1::StreamEventsRequest { game_id, stop_at_head: true, ..Default::default() };
                first(games.stream_events(request).await).await
            }
            "ListLegalActions" => done(games.list_legal_actions(v1::ListLegalActionsRequest { game_id, ..Default::default() }).await),
            "ListGames" => done(games.list_games(v1::ListGamesRequest::default()).await),
            "ListRulesets" => done(games.list_rulesets(v1::ListRulesetsRequest::default()).await),
            "ListStrategies" => done(games.list_strategies(v1::ListStrategiesRequest::default()).await),
            "SuggestMove" => {
                let strategy = Some(v1::StrategySpec { id: "random".to_owned(), version: 0 });
                done(games.suggest_move(v1::SuggestMoveRequest { game_id, at_seq: None, strategy, nodes: 1 }).await)
            }
            "AnalyzePosition" => done(games.analyze_position(v1::AnalyzePositionRequest { game_id, nodes: 1, ..Default::default() }).await),
            other => panic!("{other} is read by nothing here"),
        }
    }

    async fn audits(self, name: &str) -> Result<(), Status> {
        let (mut audit, game_id) = (self.wire.audit(), self.game);
        let book = |id: &str| Some(v1::ComparedBook { book: Some(v1::compared_book::Book::GameId(id.to_owned())) });
        match name {
            "GetBook" => first(audit.get_book(v1::GetBookRequest { game_id }).await).await,
            "VerifyGame" => done(audit.verify_game(v1::VerifyGameRequest { game_id }).await),
            "ListRefusals" => done(audit.list_refusals(v1::ListRefusalsRequest { game_id, ..Default::default() }).await),
            "CompareBooks" => done(audit.compare_books(v1::CompareBooksRequest { left: book(&game_id), right: book(&game_id) }).await),
            "StreamAllEvents" => {
                first(audit.stream_all_events(v1::StreamAllEventsRequest { stop_at_head: true, ..Default::default() }).await).await
            }
            "ImportBook" => done(audit.import_book(futures::stream::iter(pieces(b"no book\n", 4))).await),
            "ListKeys" => done(audit.list_keys(v1::ListKeysRequest {}).await),
            other => panic!("{other} is audited by nothing here"),
        }
    }

    async fn runs(self, name: &str) -> Result<(), Status> {
        let About { wire, game: game_id, seat, request_id } = self;
        let mut games = wire.games();
        match name {
            "CreateGame" => {
                let ruleset = Some(v1::RulesetSpec { id: "mnk".to_owned(), ..Default::default() });
                let seats = vec![v1::Seat::default(); 2];
                done(games.create_game(v1::CreateGameRequest { request_id, ruleset, seats, ..Default::default() }).await)
            }
            "ForkGame" => done(games.fork_game(v1::ForkGameRequest { request_id, game_id, at_seq: Some(1), ..Default::default() }).await),
            "Rematch" => done(games.rematch(v1::RematchRequest { game_id, with_receipt: false }).await),
            "MintSeatToken" => {
                let holder = seat.map(v1::mint_seat_token_request::Holder::Seat);
                done(games.mint_seat_token(v1::MintSeatTokenRequest { game_id, holder, ttl: None }).await)
            }
            "CloseGame" => {
                let request = v1::CloseGameRequest { request_id, game_id, expected_seq: Some(1), with_receipt: false };
                done(games.close_game(request).await)
            }
            "RemoveSeat" => {
                // A seat that nobody has, so that the game goes on for the other calls.
                let request = v1::RemoveSeatRequest { request_id, game_id, seat: Some(9), with_receipt: false };
                done(games.remove_seat(request).await)
            }
            "AbortGame" => done(games.abort_game(v1::AbortGameRequest { request_id, game_id, seat: None, with_receipt: false }).await),
            other => panic!("{other} is run by nothing here"),
        }
    }

    async fn plays(self, name: &str) -> Result<(), Status> {
        let About { wire, game: game_id, seat, request_id } = self;
        let (mut games, expected_seq, with_receipt) = (wire.games(), Some(1), false);
        match name {
            "MakeMove" => {
                let shape = Some(v1::action::Shape::Notation("b2".to_owned()));
                let action = Some(v1::Action { shape });
                let request = v1::MakeMoveRequest { request_id, game_id, expected_seq, seat, action, ..Default::default() };
                done(games.make_move(request).await)
            }
            "Undo" => done(games.undo(v1::UndoRequest { request_id, game_id, expected_seq, seat, ..Default::default() }).await),
            "JoinGame" => {
                let step = Some(v1::join_game_request::Step::Reveal(vec![7; 32]));
                done(games.join_game(v1::JoinGameRequest { request_id, game_id, seat, step, with_receipt }).await)
            }
            // Once a seat has left, what else is asked for it passes all the same.
            "Resign" => done(games.resign(v1::ResignRequest { request_id, game_id, seat, with_receipt }).await),
            "OfferDraw" => done(games.offer_draw(v1::OfferDrawRequest { request_id, game_id, expected_seq, seat, with_receipt }).await),
            "AnswerDraw" => {
                let answer = v1::OfferAnswer::Accept.into();
                done(games.answer_draw(v1::AnswerDrawRequest { request_id, game_id, expected_seq, seat, answer, with_receipt }).await)
            }
            "OfferUndo" => {
                let target_seq = Some(2);
                done(games.offer_undo(v1::OfferUndoRequest { request_id, game_id, expected_seq, seat, target_seq, with_receipt }).await)
            }
            "AnswerUndo" => {
                let (answer, target_seq) = (v1::OfferAnswer::Accept.into(), Some(2));
                let request = v1::AnswerUndoRequest { request_id, game_id, expected_seq, seat, target_seq, answer, ..Default::default() };
                done(games.answer_undo(request).await)
            }
            "ReportPresence" => {
                let request = v1::ReportPresenceRequest { request_id, game_id, seat, present: true, with_receipt };
                done(games.report_presence(request).await)
            }
            "ClaimAbsence" => {
                let claim = v1::AbsenceClaim::Win.into();
                done(games.claim_absence(v1::ClaimAbsenceRequest { request_id, game_id, expected_seq, seat, claim, with_receipt }).await)
            }
            other => panic!("nobody has said who may call {other}: add it to access.txt and here"),
        }
    }
}
