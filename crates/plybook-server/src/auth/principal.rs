//! The names of callers, as they stand in books.
//!
//! Invariant: what a node does by itself, what nobody authenticated did and what a seat's own token did has a name that
//! no other credential can have.

use plybook_core::Seat;
use plybook_core::header::Principal;

/// Everybody's name where authentication is off.
pub const ANONYMOUS: &str = "anonymous";

/// First parts of names that no credential but the service's own gives.
const RESERVED: [&str; 4] = ["plybook", "seat", "spectator", ANONYMOUS];

/// The name that a credential gives its caller, or why it cannot be one.
pub fn of_caller(name: &str) -> Result<Principal, &'static str> {
    let principal = Principal::parse(name).ok_or("is no name of 1 to 64 of A-Z a-z 0-9 . _ @ / + -")?;
    match name.split('/').next() {
        Some(first) if RESERVED.contains(&first) => Err("is a name that no credential can give"),
        _ => Ok(principal),
    }
}

/// The name of whoever holds a token that was minted for a seat.
pub fn of_seat(seat: Seat) -> Option<Principal> {
    Principal::parse(&format!("seat/{}", seat.0))
}

/// The name of whoever holds a token that was minted for watching.
pub fn of_spectator() -> Option<Principal> {
    Principal::parse("spectator")
}

#[cfg(test)]
mod tests {
    use super::of_caller;

    #[test]
    fn no_credential_names_the_service_nobody_or_a_seat() {
        for (name, accepted) in [
            ("plybook", false),
            ("plybook/bot", false),
            ("plybook/anything/else", false),
            ("seat/0", false),
            ("spectator", false),
            ("anonymous", false),
            ("", false),
            ("two words", false),
            ("auth0|ann", false),
            ("plybooks", true),
            ("seats", true),
            ("svc/plybook", true),
            ("ann@example.org", true),
        ] {
            assert_eq!(of_caller(name).is_ok(), accepted, "{name}");
        }
    }
}
