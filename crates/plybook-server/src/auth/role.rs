//! As what a caller calls.

use plybook_core::Seat;
use uuid::Uuid;

/// As what a caller calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A backend that runs its tenant's games, and acts for every seat.
    Service,
    /// A player at one seat of one game.
    Seat {
        /// The game.
        game: Uuid,
        /// The seat.
        seat: Seat,
    },
    /// Somebody who watches: one game, or any of the tenant's whose id they have.
    Spectator {
        /// The only game, where it is one.
        game: Option<Uuid>,
    },
    /// Somebody who reads everything and appends nothing.
    Auditor,
    /// Somebody who reads everything and administers games, and plays for nobody.
    Operator,
}

/// The names of the roles, in the order of the table of access.
pub const ROLES: [&str; 5] = ["service", "seat", "spectator", "auditor", "operator"];

impl Role {
    /// The role with this name. A seat's needs its game and its seat, a spectator's may have a game, and no other has either.
    pub fn read(name: &str, game: Option<Uuid>, seat: Option<Seat>) -> Result<Role, &'static str> {
        match (name, game, seat) {
            ("seat", Some(game), Some(seat)) => Ok(Role::Seat { game, seat }),
            ("seat", ..) => Err("the role seat needs a game and a seat"),
            ("spectator", game, None) => Ok(Role::Spectator { game }),
            ("service", None, None) => Ok(Role::Service),
            ("auditor", None, None) => Ok(Role::Auditor),
            ("operator", None, None) => Ok(Role::Operator),
            (name, ..) if ROLES.contains(&name) => Err("the role reaches farther than one game or seat, and one is named"),
            _ => Err("the role is none of service, seat, spectator, auditor, operator"),
        }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        ROLES[self.column()]
    }

    /// Its column in the table of access.
    pub(super) const fn column(&self) -> usize {
        match self {
            Role::Service => 0,
            Role::Seat { .. } => 1,
            Role::Spectator { .. } => 2,
            Role::Auditor => 3,
            Role::Operator => 4,
        }
    }

    /// The one game that it is bound to, where it is.
    pub const fn game(&self) -> Option<Uuid> {
        match self {
            Role::Seat { game, .. } => Some(*game),
            Role::Spectator { game } => *game,
            Role::Service | Role::Auditor | Role::Operator => None,
        }
    }

    /// The one seat that it acts for, where it is one.
    pub const fn seat(&self) -> Option<Seat> {
        match self {
            Role::Seat { seat, .. } => Some(*seat),
            Role::Service | Role::Spectator { .. } | Role::Auditor | Role::Operator => None,
        }
    }
}
