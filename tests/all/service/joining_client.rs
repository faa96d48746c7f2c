//! The Rust client joins: whole, again after a crash, and not where it should not.

use ed25519_dalek::{Signer as _, SigningKey};
use plybook_client::Client;
use plybook_client::joining::{JoinError, Joiner, Nonce};
use plybook_core::Time;
use plybook_core::entropy::{commitment, signed_bytes};
use plybook_core::{Digest, Seat};
use plybook_proto::v1::{self, DiceClaim, IfAbsent};
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::patience::{PATIENCE, until};
use plybook_tests::wire::PlayedGame;
use tokio::time::timeout;

fn client(local: &Local) -> Client {
    Client::connect(&format!("http://{}", local.address())).unwrap()
}

async fn asked(local: &Local, seats: usize) -> PlayedGame {
    local.wire().await.game().snakes(12, &[]).seats(seats).joint(3600, IfAbsent::Abort).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seats_join_by_themselves_and_again_after_a_crash() {
    let local = over_sqlite().await.start().await;
    let (client, mut game) = (client(&local), asked(&local, 3).await);
    let nonces = [Nonce::draw().unwrap(), Nonce::draw().unwrap(), Nonce::draw().unwrap()];
    assert!(nonces[0] != nonces[1] && nonces[1] != nonces[2]);
    let join = |joiner: Joiner| {
        let (client, id) = (client.clone(), game.id.clone());
        tokio::spawn(async move { joiner.join(&client, &id).await })
    };
    // A process that committed, and died while it waited.
    let crashed = join(Joiner::new(0, nonces[0].clone()));
    until("it has committed", || async { game.now().await.seq == 2 }).await;
    crashed.abort();
    assert!(crashed.await.unwrap_err().is_cancelled());

    let key = SigningKey::from_bytes(&[7; 32]);
    let signing = {
        let (public, key) = (key.verifying_key().to_bytes(), key.clone());
        Joiner::new(2, nonces[2].clone()).signing(public, move |bytes| key.sign(bytes).to_bytes())
    };
    let kept = Nonce::from_bytes(*nonces[0].reveal());
    let joining = [join(Joiner::new(0, kept)), join(Joiner::new(1, nonces[1].clone())), join(signing)];
    for joined in joining {
        let last = timeout(PATIENCE, joined).await.unwrap().unwrap().unwrap();
        assert_eq!(last.seq, 7, "the entry with the last nonce");
    }
    game.looks().await;
    while game.to_move.is_some() {
        game.play("roll").await;
    }
    let verified = game.wire.audit().verify_game(v1::VerifyGameRequest { game_id: game.id.clone() }).await.unwrap().into_inner();
    assert_eq!((verified.dice_claim(), verified.signed_seats, verified.why.as_str()), (DiceClaim::Joint, vec![2], ""));
    // Long after, it is still as it was.
    let again = Joiner::new(1, nonces[1].clone()).join(&client, &game.id).await.unwrap();
    assert_eq!(again.seq, 7);
}

#[tokio::test]
async fn a_seat_that_cannot_join_is_told_why() {
    let local = over_sqlite().await.start().await;
    local.clock.set(Time::parse("2026-11-30T12:00:00.000Z").unwrap());
    let client = client(&local);
    let joiner = |seat: u8| Joiner::new(seat, Nonce::from_bytes([seat; 32]));
    let plain = local.wire().await.game().of("snakes_and_ladders").await;
    assert_eq!(joiner(0).join(&client, &plain.id).await, Err(JoinError::NotAsked(0)));
    let mut game = asked(&local, 2).await;
    assert_eq!(joiner(2).join(&client, &game.id).await, Err(JoinError::NotAsked(2)));
    game.commit(0).await;
    assert_eq!(joiner(0).join(&client, &game.id).await, Err(JoinError::OtherNonce(0)));
    local.clock.set(Time::parse("2026-11-30T13:00:00.001Z").unwrap());
    let late = joiner(1).join(&client, &game.id).await.unwrap_err();
    assert!(matches!(&late, JoinError::Call(error) if error.to_string().contains("JOIN_NOT_ALLOWED")), "{late}");
    game.close().await;
    assert_eq!(joiner(1).join(&client, &game.id).await, Err(JoinError::Absent(vec![1])));
}

/// The client has a hash of its own: it is the core's.
#[test]
fn what_the_client_promises_and_signs_is_what_the_core_checks() {
    let (entry_1, nonce) = ([5; 32], Nonce::from_bytes([6; 32]));
    for seat in [0, 7] {
        let promised = commitment(&Digest(entry_1), Seat(seat), nonce.reveal());
        assert_eq!(nonce.commitment(&entry_1, seat), promised.0);
        let signed = plybook_client::joining::signed_bytes(&entry_1, seat, &promised.0);
        assert_eq!(signed, signed_bytes(&Digest(entry_1), Seat(seat), &promised));
    }
}

#[test]
fn nothing_shows_a_nonce_by_accident() {
    let joiner = Joiner::new(0, Nonce::from_bytes([0xab; 32]));
    let shown = format!("{joiner:?} {:?}", Nonce::from_bytes([0xab; 32]));
    assert!(!shown.contains("171") && !shown.to_lowercase().contains("abab"), "{shown}");
}
