//! Who may do what: credentials, roles and tenants, over real connections.

mod api_keys;
pub(crate) mod calls;
mod keys_of_issuers;
mod matrix;
mod pages;
mod peers;
mod seats;
mod tenants;
mod tokens;
