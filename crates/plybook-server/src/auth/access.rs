//! The one list of what each role may call.
//!
//! Invariant: the match is exhaustive, and a test holds [`Rpc::ALL`] against the contract's description, so that no call
//! can be forgotten. Whether a game is there plays no part in it.

/// Makes [`Rpc`], with the contract's names.
macro_rules! rpcs {
    ($($rpc:ident),* $(,)?) => {
        /// A call of the contract.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is documented where it stands in the contract")]
        pub enum Rpc {
            $($rpc),*
        }

        impl Rpc {
            /// All of them.
            pub const ALL: &[Rpc] = &[$(Rpc::$rpc),*];

            /// As the contract names it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Rpc::$rpc => stringify!($rpc)),*
                }
            }
        }
    };
}

rpcs![
    CreateGame,
    ForkGame,
    Rematch,
    MakeMove,
    Undo,
    JoinGame,
    Resign,
    OfferDraw,
    AnswerDraw,
    OfferUndo,
    AnswerUndo,
    ReportPresence,
    ClaimAbsence,
    AbortGame,
    CloseGame,
    RemoveSeat,
    MintSeatToken,
    GetGame,
    StreamEvents,
    ListLegalActions,
    ListGames,
    ListRulesets,
    ListStrategies,
    SuggestMove,
    AnalyzePosition,
    GetBook,
    VerifyGame,
    ListRefusals,
    CompareBooks,
    StreamAllEvents,
    ImportBook,
    ListKeys,
];

/// How far a role reaches in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It may not call it.
    Nothing,
    /// For its own seat of its own game.
    OwnSeat,
    /// About the game that it is bound to; about any of its tenant's where it is bound to none.
    OwnGame,
    /// About its tenant's games, for nobody at the table.
    NoSeat,
    /// About everything of its tenant, for every seat.
    Tenant,
}

/// How far each role reaches in a call, in the order of [`ROLES`](super::role::ROLES).
pub const fn reaches(rpc: Rpc) -> [Reach; 5] {
    use Reach::{NoSeat, Nothing, OwnGame, OwnSeat, Tenant};
    match rpc {
        //                                              service seat     spectator auditor  operator
        Rpc::ListRulesets | Rpc::ListStrategies | Rpc::ListKeys => [Tenant, Tenant, Tenant, Tenant, Tenant],
        Rpc::GetGame | Rpc::StreamEvents | Rpc::ListLegalActions | Rpc::GetBook => [Tenant, OwnGame, OwnGame, Tenant, Tenant],
        // Work of a node's, lists, and what others asked in vain: not for players and watchers.
        Rpc::ListGames
        | Rpc::VerifyGame
        | Rpc::ListRefusals
        | Rpc::CompareBooks
        | Rpc::StreamAllEvents
        | Rpc::SuggestMove
        | Rpc::AnalyzePosition => [Tenant, Nothing, Nothing, Tenant, Tenant],
        Rpc::MakeMove
        | Rpc::Undo
        | Rpc::JoinGame
        | Rpc::Resign
        | Rpc::OfferDraw
        | Rpc::AnswerDraw
        | Rpc::OfferUndo
        | Rpc::AnswerUndo
        | Rpc::ReportPresence
        | Rpc::ClaimAbsence => [Tenant, OwnSeat, Nothing, Nothing, Nothing],
        Rpc::AbortGame => [Tenant, OwnSeat, Nothing, Nothing, NoSeat],
        Rpc::CloseGame | Rpc::RemoveSeat => [Tenant, Nothing, Nothing, Nothing, NoSeat],
        Rpc::ImportBook => [Tenant, Nothing, Nothing, Nothing, Tenant],
        // Who mints tokens for seats plays for them.
        Rpc::CreateGame | Rpc::ForkGame | Rpc::Rematch | Rpc::MintSeatToken => [Tenant, Nothing, Nothing, Nothing, Nothing],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use prost::Message as _;

    use super::Rpc;

    #[test]
    fn every_call_of_the_contract_is_listed_once() {
        let set = prost_types::FileDescriptorSet::decode(plybook_proto::DESCRIPTOR_SET).unwrap();
        let files = set.file.into_iter().filter(|file| file.package() == "plybook.v1");
        let methods: BTreeSet<String> =
            files.flat_map(|file| file.service).flat_map(|service| service.method).map(|method| method.name().to_owned()).collect();
        let listed: BTreeSet<String> = Rpc::ALL.iter().map(|rpc| rpc.name().to_owned()).collect();
        assert_eq!(listed, methods);
        assert_eq!(listed.len(), Rpc::ALL.len());
    }
}
