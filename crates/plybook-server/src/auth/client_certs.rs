//! Whom client certificates stand for.
//!
//! Invariant: a certificate that was verified and is not in the list stands for nobody.

use std::collections::HashMap;
use std::sync::Arc;

use plybook_core::header::Principal;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{PeerIdentity, Role, principal};
use crate::config::ConfigError;

/// What a certificate's name gives its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The tenant's name.
    pub tenant: String,
    /// The name that will stand in books.
    pub principal: Principal,
    /// As what they call.
    pub role: Role,
}

/// Whom client certificates stand for, by their names.
#[derive(Clone, Debug, Default)]
pub struct ClientCerts(HashMap<String, Known>);

/// A holder, and what is cancelled once the name stands for them no longer.
type Known = (Holder, Arc<CancellationToken>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: String,
    tenant: String,
    principal: String,
    role: String,
    game: Option<Uuid>,
}

impl ClientCerts {
    /// Reads a list, a JSON object a line: `{"name": "uri:spiffe://shop/rooms", "tenant": "shop", "principal": "svc/rooms",
    /// "role": "service"}`.
    pub fn read(text: &str) -> Result<ClientCerts, ConfigError> {
        let mut known = HashMap::new();
        for (at, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let refuse = |why: String| ConfigError(format!("the list of client certificates, line {at}: {why}"));
            let line: Line = serde_json::from_str(line).map_err(|error| refuse(error.to_string()))?;
            let principal = principal::of_caller(&line.principal).map_err(|why| refuse(format!("principal {why}")))?;
            let role = Role::read(&line.role, line.game, None).map_err(|why| refuse(why.to_owned()))?;
            let holder = Holder { tenant: line.tenant, principal, role };
            if known.insert(line.name, (holder, Arc::default())).is_some() {
                return Err(refuse("this name stands in a line before".to_owned()));
            }
        }
        Ok(ClientCerts(known))
    }

    /// Whom a certificate stands for: by the first of its names that is in the list.
    pub(super) fn holder(&self, peer: &PeerIdentity) -> Option<&Known> {
        peer.names.iter().find_map(|name| self.0.get(name))
    }

    /// How many names are in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives way to the next list: who stays who they were goes on as they are, and the others are told.
    pub(super) fn give_way(&mut self, mut next: ClientCerts) {
        for (name, (holder, revoked)) in self.0.drain() {
            match next.0.get_mut(&name) {
                Some(known) if known.0 == holder => known.1 = revoked,
                _ => revoked.cancel(),
            }
        }
        *self = next;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_certificate_stands_for_the_first_of_its_names_that_is_known() {
        let certs = ClientCerts::read(
            r#"{"name": "uri:spiffe://shop/rooms", "tenant": "shop", "principal": "svc/rooms", "role": "service"}

               {"name": "dns:audit.shop", "tenant": "shop", "principal": "audit", "role": "auditor"}"#,
        );
        let certs = certs.unwrap();
        let peer = |names: &[&str]| PeerIdentity { names: names.iter().map(|name| (*name).to_owned()).collect() };
        assert_eq!(certs.holder(&peer(&["cn:x", "dns:audit.shop"])).unwrap().0.role, Role::Auditor);
        assert_eq!(certs.holder(&peer(&["uri:spiffe://shop/rooms", "dns:audit.shop"])).unwrap().0.role, Role::Service);
        assert!(certs.holder(&peer(&["dns:rooms"])).is_none());
    }

    #[test]
    fn a_list_that_says_something_else_is_refused_by_its_line() {
        for (text, said) in [
            ("{}", "line 1"),
            (r#"{"name": "cn:a", "tenant": "t", "principal": "plybook", "role": "service"}"#, "principal"),
            (r#"{"name": "cn:a", "tenant": "t", "principal": "a", "role": "root"}"#, "role"),
            (r#"{"name": "cn:a", "tenant": "t", "principal": "a", "role": "service", "rolle": 1}"#, "rolle"),
        ] {
            let why = ClientCerts::read(text).unwrap_err().to_string();
            assert!(why.contains(said), "{why}");
        }
        let twice = r#"{"name": "cn:a", "tenant": "t", "principal": "a", "role": "service"}"#;
        assert!(ClientCerts::read(&format!("{twice}\n{twice}")).unwrap_err().to_string().contains("line 2"));
    }
}
