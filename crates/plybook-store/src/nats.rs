//! Where NATS servers are, and who goes to them.
//!
//! Invariant: user, password and token are apart from the address as soon as it is read, so that no log of it has them.

use std::fmt;
use std::str::FromStr as _;

use async_nats::{ConnectOptions, ServerAddr};

use crate::error::Error;

/// The servers of one cluster, and who goes to them.
#[derive(Clone)]
pub struct NatsAddress {
    servers: Vec<ServerAddr>,
    login: Login,
}

#[derive(Clone)]
enum Login {
    Nobody,
    Token(String),
    User(String, String),
}

impl NatsAddress {
    /// `nats://user:password@host:4222` or `nats://token@host`, `tls://` for a line that must be encrypted; several
    /// servers of a cluster with commas between them.
    pub fn read(addresses: &str) -> Result<NatsAddress, Error> {
        let (mut servers, mut login) = (Vec::new(), Login::Nobody);
        for address in addresses.split(',') {
            let (server, said) = server(address)?;
            servers.push(server);
            if !matches!(said, Login::Nobody) {
                login = said;
            }
        }
        Ok(NatsAddress { servers, login })
    }

    /// Where they are, without secrets.
    pub fn servers(&self) -> Vec<ServerAddr> {
        self.servers.clone()
    }

    /// How to go there.
    pub fn connect(&self) -> ConnectOptions {
        let options = ConnectOptions::new().name("plybook");
        match &self.login {
            Login::Nobody => options,
            Login::Token(token) => options.token(token.clone()),
            Login::User(user, password) => options.user_and_password(user.clone(), password.clone()),
        }
    }
}

impl fmt::Debug for NatsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsAddress").field("servers", &self.servers).finish_non_exhaustive()
    }
}

/// A server's address without what must not be logged, and that.
fn server(address: &str) -> Result<(ServerAddr, Login), Error> {
    if !(address.starts_with("nats://") || address.starts_with("tls://")) {
        return Err(Error::Config("a NATS address begins with nats:// or tls://".to_owned()));
    }
    let unread = |why: &dyn fmt::Display| Error::Config(format!("the NATS address cannot be read: {why}"));
    let mut url = ServerAddr::from_str(address).map_err(|error| unread(&error))?.into_inner();
    if url.host_str().is_none_or(str::is_empty) {
        return Err(unread(&"it names no host"));
    }
    let (user, password) = (decoded(url.username()), url.password().map(decoded));
    let login = match (user.is_empty(), password) {
        (true, None) => Login::Nobody,
        (_, Some(password)) => Login::User(user, password),
        (false, None) => Login::Token(user),
    };
    url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| unread(&"it names no host"))?;
    Ok((ServerAddr::from_url(url).map_err(|error| unread(&error))?, login))
}

/// An address has `%40` for `@`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let escaped = (first == b'%').then(|| behind.get(..2)).flatten();
        let byte = escaped.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_bad_address_is_a_sentence() {
        for address in ["", "nats", "http://host", "nats://", "nats://host:port", "nats://a,b", "nats://a,"] {
            let refused = NatsAddress::read(address);
            assert!(matches!(refused, Err(Error::Config(_))), "{address}: {refused:?}");
        }
    }

    #[test]
    fn no_secret_is_printed_and_each_is_kept() {
        let address = NatsAddress::read("nats://m%40e:se%3acret@one:4222,tls://two").unwrap();
        assert!(matches!(&address.login, Login::User(user, password) if user == "m@e" && password == "se:cret"));
        let told = format!("{address:?} {:?}", address.servers());
        assert!(!told.contains("cret") && !told.contains("m%40e"), "{told}");
        assert!(told.contains("one") && told.contains("two"), "{told}");
        let address = NatsAddress::read("nats://tok%25en@one").unwrap();
        assert!(matches!(&address.login, Login::Token(token) if token == "tok%en"));
        assert!(!format!("{address:?}").contains("tok"));
        assert!(matches!(NatsAddress::read("nats://[::1]:4222").unwrap().login, Login::Nobody));
    }
}
