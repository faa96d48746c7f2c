//! Appends that are signed where they are stored.

use std::sync::{Arc, Mutex};

use futures::future::join_all;
use plybook_core::Receipt;
use plybook_core::receipt::{PublicKeys, SignedHead};
use plybook_server::signing::SigningKey;
use plybook_store::{Append, GameKey, NewEntry, Notary, RequestKey, Store};
use plybook_tests::postgres::database;

use super::{new_entry, open_game, request, sqlite_in, stored};

/// Signs, and remembers what was shown to it together.
#[derive(Debug)]
struct Pen {
    key: SigningKey,
    shown: Mutex<Vec<Vec<SignedHead>>>,
}

impl Pen {
    fn new(number: u8) -> Arc<Pen> {
        Arc::new(Pen { key: SigningKey::from_seed(&[number; 32]).unwrap(), shown: Mutex::default() })
    }

    fn signs(self: &Arc<Pen>, entry: NewEntry) -> NewEntry {
        NewEntry { notary: Some(self.clone()), ..entry }
    }

    /// How many heads were signed with this one, by this pen.
    #[track_caller]
    fn together(&self, receipt: &Receipt) -> u32 {
        assert_eq!(receipt.check(&PublicKeys::from_iter([*self.key.public()])), Ok(()), "{receipt}");
        receipt.inclusion.as_ref().map_or(1, |inclusion| inclusion.size())
    }
}

impl Notary for Pen {
    fn receipts(&self, heads: &[SignedHead]) -> Vec<Receipt> {
        self.shown.lock().unwrap().push(heads.to_vec());
        self.key.receipts(heads)
    }
}

fn receipt(answer: Append) -> Receipt {
    match answer {
        Append::Signed(receipt) => *receipt,
        other => panic!("not signed: {other:?}"),
    }
}

async fn games(store: &dyn Store, many: usize) -> Vec<GameKey> {
    join_all((0..many).map(|_| open_game(store))).await
}

/// On one thread all have entered before the first is written.
async fn at_once(store: &dyn Store, entries: &[NewEntry]) -> Vec<Append> {
    join_all(entries.iter().map(|entry| store.append(entry.clone()))).await.into_iter().map(Result::unwrap).collect()
}

#[tokio::test]
async fn what_a_batch_stores_is_signed_together_and_nothing_else() {
    let (database, pen) = (database().await, Pen::new(1));
    let store = database.store().await;
    let keys = games(&store, 50).await;
    let firsts: Vec<_> = keys.iter().map(|key| new_entry(*key, 2, request(1))).collect();
    at_once(&store, &firsts).await;
    let entries = keys.iter().zip(&firsts).enumerate().map(|(at, (key, first))| match at % 5 {
        0 => pen.signs(new_entry(*key, 3, request(1))),
        1 => new_entry(*key, 3, request(1)),
        2 => pen.signs(new_entry(*key, 2, request(1))),
        3 => pen.signs(first.clone()),
        _ => pen.signs(NewEntry { request: RequestKey { hash: [9; 32], ..first.request }, ..first.clone() }),
    });
    let entries: Vec<_> = entries.collect();
    for (at, answer) in at_once(&store, &entries).await.into_iter().enumerate() {
        let first = stored(&firsts[at]);
        match at % 5 {
            0 => {
                let receipt = receipt(answer);
                assert_eq!((receipt.head(), pen.together(&receipt)), (entries[at].head(), 10));
            }
            1 => assert_eq!(answer, Append::Stored),
            2 => assert_eq!(answer, Append::Conflict),
            3 => assert_eq!(answer, Append::Repeated(first)),
            _ => assert_eq!(answer, Append::Reused(first)),
        }
    }
    let signed: Vec<_> = entries.iter().step_by(5).map(NewEntry::head).collect();
    assert_eq!(*pen.shown.lock().unwrap(), [signed], "whose place another one's receipt shows was stored");
}

#[tokio::test]
async fn each_is_signed_by_its_own_notary() {
    let (database, pens) = (database().await, [Pen::new(1), Pen::new(2), Pen::new(3)]);
    let store = database.store().await;
    let entries: Vec<_> = games(&store, 30).await.into_iter().map(|key| new_entry(key, 2, request(1))).collect();
    // Of the third there is one.
    let of = |at: usize| if at == 7 { &pens[2] } else { &pens[at % 2] };
    let entries: Vec<_> = entries.into_iter().enumerate().map(|(at, entry)| of(at).signs(entry)).collect();
    for (at, answer) in at_once(&store, &entries).await.into_iter().enumerate() {
        let receipt = receipt(answer);
        let size = if at == 7 { 1 } else { [15, 14][at % 2] };
        assert_eq!((receipt.head(), of(at).together(&receipt)), (entries[at].head(), size), "{at}");
    }
}

/// Loses its head.
#[derive(Debug)]
struct Panics;

impl Notary for Panics {
    fn receipts(&self, _: &[SignedHead]) -> Vec<Receipt> {
        panic!("a notary of a test");
    }
}

#[tokio::test]
async fn whatever_a_notary_does_everybody_is_told() {
    let (database, pen) = (database().await, Pen::new(1));
    let store = database.store().await;
    let entries = games(&store, 30).await.into_iter().map(|key| new_entry(key, 2, request(1)));
    let entries = entries.enumerate().map(|(at, entry)| match at % 3 {
        0 => NewEntry { notary: Some(Arc::new(Panics)), ..entry },
        1 => pen.signs(entry),
        _ => entry,
    });
    let entries: Vec<_> = entries.collect();
    for (at, answer) in at_once(&store, &entries).await.into_iter().enumerate() {
        if at % 3 == 1 {
            assert_eq!(pen.together(&receipt(answer)), 10);
        } else {
            assert_eq!(answer, Append::Stored, "{at}");
        }
    }
}

#[tokio::test]
async fn whoever_is_alone_is_signed_alone() {
    let (database, pen) = (database().await, Pen::new(1));
    let store = database.store().await;
    let key = open_game(&store).await;
    for seq in 2..5 {
        let entry = pen.signs(new_entry(key, seq, request(1)));
        let receipt = receipt(store.append(entry.clone()).await.unwrap());
        assert_eq!((receipt.head(), pen.together(&receipt)), (entry.head(), 1));
    }
}

/// It appends one by one: its callers ask the notary themselves, and may ask together.
#[tokio::test]
async fn a_file_leaves_it_to_its_callers() {
    let folder = tempfile::tempdir().unwrap();
    let (store, pen) = (sqlite_in(folder.path()).await, Pen::new(1));
    let key = open_game(store.as_ref()).await;
    assert_eq!(store.append(pen.signs(new_entry(key, 2, request(1)))).await.unwrap(), Append::Stored);
    assert!(pen.shown.lock().unwrap().is_empty());
}
