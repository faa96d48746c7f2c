//! Where callers come in: TLS, who is let in, what each may cost, and whoever does with HTTP what no good client does.
//!
//! Invariant: beside every caller who floods, another one plays a game.

mod answers;
mod bodies;
mod connections;
mod credentials;
mod exposure;
mod identity;
mod leaving;
mod rates;
mod slow;
mod streams;
mod tls;
mod web;

use plybook_tests::injected::Local;
use plybook_tests::wire::Wire;

/// Somebody who does nothing wrong plays a game over a connection of their own.
async fn others_go_on(local: &Local) {
    plays(&local.wire().await).await;
}

/// Plays a game.
async fn plays(wire: &Wire) {
    let mut game = wire.game().await;
    game.play("a1 b1 a2 b2 a3").await;
}
