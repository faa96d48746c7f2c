//! Whether this node should be given work.
//!
//! Invariant: it is ready exactly while its store answers, can be written and has this build's schema, and it is not going
//! away; where it is not, it says why, in words that tell nothing secret.

use std::sync::{Mutex, PoisonError};

use plybook_store::Error;

/// Why a node should not be given work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotReady {
    /// It is going away.
    Draining,
    /// The store cannot be used.
    Store(String),
}

impl std::fmt::Display for NotReady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotReady::Draining => f.write_str("this node is going away"),
            NotReady::Store(why) => f.write_str(why),
        }
    }
}

/// See the module. What was found at the last look.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<Option<NotReady>>);

impl Readiness {
    /// Why not, if it is not.
    pub fn why_not(&self) -> Option<NotReady> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is.
    pub fn is_ready(&self) -> bool {
        self.why_not().is_none()
    }

    /// The store was looked at. A node that goes away does not come back.
    pub(crate) fn store(&self, found: &Result<(), Error>) {
        let why = found.as_ref().err().map(|error| NotReady::Store(words(error)));
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != Some(NotReady::Draining) {
            *now = why;
        }
    }

    /// It is going away.
    pub(crate) fn drains(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(NotReady::Draining);
    }
}

/// What a database says of itself may name hosts and roles: that is for the log.
fn words(error: &Error) -> String {
    match error {
        Error::Config(why) if why.contains("schema") => why.clone(),
        Error::Unavailable(_) | Error::Busy { .. } => "the database does not answer, or not in time".to_owned(),
        _ => "the database cannot be used; the log says why".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_why_and_a_draining_node_stays_so() {
        let readiness = Readiness::default();
        assert!(readiness.is_ready());
        readiness.store(&Err(Error::Unavailable("10.0.0.7 refused role books".to_owned())));
        let said = readiness.why_not().map(|why| why.to_string()).unwrap_or_default();
        assert!(said.contains("does not answer") && !said.contains("10.0.0.7"), "{said}");
        readiness
            .store(&Err(Error::Config("the database's schema 9 is newer than schema 1 of this plybook: use a newer plybook".to_owned())));
        let said = readiness.why_not().map(|why| why.to_string()).unwrap_or_default();
        assert!(said.contains("schema 9 is newer"), "{said}");
        readiness.store(&Ok(()));
        assert!(readiness.is_ready());
        readiness.drains();
        readiness.store(&Ok(()));
        assert_eq!(readiness.why_not(), Some(NotReady::Draining));
    }
}
