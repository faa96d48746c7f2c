//! Games that come with lines: forks. All of their lines are there with them, or nothing is.

use plybook_core::book::Link;
use plybook_core::limits::LINE_BYTES_MAX;
use plybook_core::{Digest, Seq};
use plybook_store::{Append, Create, Error, GameKey, NewGame, RequestKey};

use super::{AnyStore, link, new_entry, new_game, new_key, on_both_stores, request, stored_header};

on_both_stores![
    given_lines_are_there_with_their_game,
    given_lines_that_do_not_fit_leave_nothing,
    a_repeated_fork_gets_the_first_game,
    copies_of_a_fork_at_once_make_one_game,
];

/// More than fit into two statements of either store.
const GIVEN: u32 = 1_234;

fn given(key: GameKey, lines: u32) -> Vec<Link> {
    (2..2 + lines).map(|seq| Link { text: format!("{seq} given"), digest: link(key, seq) }).collect()
}

fn fork(key: GameKey, request: RequestKey) -> NewGame {
    NewGame { given: given(key, GIVEN), ..new_game(key, request) }
}

async fn given_lines_are_there_with_their_game(store: AnyStore) {
    let key = new_key();
    let game = fork(key, request(1));
    assert_eq!(store.create(game.clone()).await.unwrap(), Create::Created);
    let book = store.entries(key, Seq::ZERO, 2 * GIVEN).await.unwrap();
    assert_eq!(book[0], stored_header(&game));
    for (at, entry) in book[1..].iter().enumerate() {
        assert_eq!((entry.seq, &entry.line, entry.digest), (Seq(at as u32 + 2), &game.given[at].text, game.given[at].digest));
        // No caller asked for it: what stands for the request is of version 8, and made of the digest.
        assert_eq!(entry.request_id.get_version_num(), 8);
    }
    assert_eq!(book.len() as u32, 1 + GIVEN);
    let some = &book[700];
    assert_eq!(store.find_request(key, some.request_id).await.unwrap(), Some((some.clone(), some.digest.0)));

    // It goes on like any other game.
    assert_eq!(store.append(new_entry(key, GIVEN + 1, request(2))).await.unwrap(), Append::Conflict);
    let next = new_entry(key, GIVEN + 2, request(2));
    assert_eq!(store.append(next.clone()).await.unwrap(), Append::Stored);
    assert_eq!(store.last(key).await.unwrap().unwrap().digest, next.digest);
}

async fn given_lines_that_do_not_fit_leave_nothing(store: AnyStore) {
    let key = new_key();
    for bad in [String::new(), Digest::of(b"x").to_string().repeat(LINE_BYTES_MAX / 64 + 1)] {
        let mut game = fork(key, request(1));
        game.given.push(Link { text: bad, digest: link(key, GIVEN + 2) });
        let answer = store.create(game).await;
        assert!(matches!(answer, Err(Error::Failed(_))), "{answer:?}");
        assert_eq!((store.last(key).await.unwrap(), store.seed(key).await.unwrap()), (None, None));
    }
    assert_eq!(store.create(fork(key, request(1))).await.unwrap(), Create::Created, "nothing stands in its way");
}

async fn a_repeated_fork_gets_the_first_game(store: AnyStore) {
    let (key, asked) = (new_key(), request(1));
    assert_eq!(store.create(fork(key, asked)).await.unwrap(), Create::Created);
    assert_eq!(store.create(fork(new_key(), asked)).await.unwrap(), Create::Repeated(key.game));
    let other = RequestKey { hash: [9; 32], ..asked };
    assert_eq!(store.create(fork(new_key(), other)).await.unwrap(), Create::Reused(key.game));
    let twice = store.create(fork(key, request(1))).await;
    assert!(matches!(twice, Err(Error::Failed(_))), "{twice:?}");
    assert_eq!(store.entries(key, Seq::ZERO, 2 * GIVEN).await.unwrap().len() as u32, 1 + GIVEN);
}

async fn copies_of_a_fork_at_once_make_one_game(store: AnyStore) {
    let asked = request(1);
    let copies: Vec<_> = (0..12)
        .map(|_| {
            let (store, key) = (store.clone(), new_key());
            tokio::spawn(async move { (key.game, store.create(fork(key, asked)).await.unwrap()) })
        })
        .collect();
    let mut answers = Vec::new();
    for copy in copies {
        answers.push(copy.await.unwrap());
    }
    let made: Vec<_> = answers.iter().filter(|(_, answer)| *answer == Create::Created).map(|(game, _)| *game).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    assert!(answers.iter().all(|(_, answer)| *answer == Create::Created || *answer == Create::Repeated(made[0])), "{answers:?}");
}
