//! Who is calling.
//!
//! Invariant: the principal is computed here, never taken from a request. Until there are
//! credentials, everybody is `anonymous` in the tenant `default`.

use plybook_core::header::Principal;
use plybook_store::{GameKey, TenantId};
use uuid::Uuid;

use crate::refusal::Refusal;

/// Who is calling, and for which tenant.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Whose games they see.
    pub tenant: TenantId,
    /// As it will stand in the book.
    pub principal: Principal,
}

impl Caller {
    /// The key of a game of this caller's tenant.
    pub const fn game(&self, game: Uuid) -> GameKey {
        GameKey { tenant: self.tenant, game }
    }
}

/// The caller of a request.
pub fn authenticate<T>(request: &tonic::Request<T>) -> Result<Caller, Refusal> {
    let _ = request;
    let principal = Principal::parse("anonymous").ok_or_else(|| Refusal::internal("the principal's name is not one"))?;
    principal_of_caller(principal)
}

/// What a node does by itself stands in books as `plybook` and `plybook/…`: whoever says so of themselves is refused.
fn principal_of_caller(principal: Principal) -> Result<Caller, Refusal> {
    if principal.is_service() {
        return Err(Refusal::internal("a caller has the name of the service"));
    }
    Ok(Caller { tenant: TenantId::DEFAULT, principal })
}

#[cfg(test)]
mod tests {
    use plybook_core::header::Principal;

    use super::principal_of_caller;

    #[test]
    fn no_caller_is_the_service() {
        for (name, accepted) in [
            ("plybook", false),
            ("plybook/bot", false),
            ("plybook/fallback", false),
            ("plybook/anything/else", false),
            ("plybooks", true),
            ("anonymous", true),
            ("svc/plybook", true),
        ] {
            let principal = Principal::parse(name);
            assert!(principal.is_some(), "{name}");
            let caller = principal.map(principal_of_caller);
            assert_eq!(caller.is_some_and(|caller| caller.is_ok()), accepted, "{name}");
        }
    }
}
