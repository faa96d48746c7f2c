//! What an operator sets of authentication.

use crate::config::ConfigError;

/// What an operator sets of authentication. By default it is off, and everybody may do everything.
#[derive(Clone, Debug, Default)]
pub struct AuthConfig {
    /// Whether every call needs a credential. API keys of the database are taken then, and what else is set here.
    pub required: bool,
}

impl AuthConfig {
    /// Whether every call needs a credential.
    pub const fn is_on(&self) -> bool {
        self.required
    }

    /// Checks what types cannot.
    pub fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}
