//! Books of other servers, kept as evidence: byte for byte, read-only, told from the server's own games.

use std::sync::Arc;
use std::time::Instant;

use plybook_core::verify::{Signed, verify_signed};
use plybook_core::{Book, Uuid};
use plybook_proto::v1::stream_events_response::Frame;
use plybook_proto::v1::{self, BookVerdict, DiceClaim, GameState, UndoBy};
use plybook_server::signing::{Keys, SigningKey};
use plybook_store::{Filter, TenantId};
use plybook_tests::forgery::forged;
use plybook_tests::golden;
use plybook_tests::injected::{self, Call, Fault, Local, over_postgres, over_sqlite};
use plybook_tests::long;
use plybook_tests::patience::PATIENCE;
use plybook_tests::postgres;
use plybook_tests::refused::Refused;
use plybook_tests::table::table;
use plybook_tests::wire::{PlayedGame, Wire, pieces, seqs};

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&[number; 32]).unwrap()
}

fn signing(number: u8) -> Keys {
    Keys::new(Some(key(number)), [])
}

/// Signs with its own key, and knows the first server's.
fn knowing() -> Keys {
    Keys::new(Some(key(2)), [*key(1).public()])
}

/// A closed race with an undo, a finished game, one that goes on, and one that has not begun.
async fn played(wire: &Wire) -> Vec<String> {
    let mut race = wire.game().snakes(20, &[3, 11]).undo(UndoBy::Free).undo_over_throw().undo_after_end().players(&["ann", "bob"]).await;
    race.play("roll roll").await;
    race.undo(1).await;
    while race.to_move.is_some() {
        race.play("roll").await;
    }
    let mut finished = wire.game().undo_after_end().await;
    finished.play("b2 a1 b3 c1 b1").await;
    let mut open = wire.game().connect_four(6, 7, 4).await;
    open.play("4 4 3").await;
    race.close().await;
    vec![race.id, finished.id, open.id, wire.game().await.id]
}

/// Everything of one server into another that knows its key.
async fn goes_over(from: &Local, to: &Local) {
    let (from, to) = (from.wire().await, to.wire().await);
    for id in played(&from).await {
        let file = from.book(&id).await;
        let book = Book::parse(&file).unwrap();
        let reply = to.import(&file).await.unwrap();
        assert_eq!(
            (reply.game_id.as_str(), reply.entries, &reply.book_digest[..]),
            (&*id, book.links().len() as u64, &book.digest().0[..])
        );
        assert_eq!((reply.key_id, reply.signature_checked, reply.repeated), (key(1).public().id().to_string(), true, false));
        let there = from.verified(&id).await.unwrap();
        assert_eq!((&reply.verification, to.verified(&id).await.unwrap()), (&Some(there.clone()), there));

        let kept = to.book(&id).await;
        assert_eq!(kept, file, "byte for byte, signed by whoever signed it");
        let report = verify_signed(&kept, &golden::registry(), signing(1).public()).unwrap();
        assert_eq!(report.signed, Signed::By(key(1).public().id()));
        let (own, copy) = (from.get(&id).await, to.get(&id).await);
        let mark = copy.foreign.clone().unwrap();
        assert_eq!((mark.imported_by.as_str(), mark.key_id, own.foreign.is_none()), ("anonymous", key(1).public().id().to_string(), true));
        assert!(mark.import_time.is_some());
        assert_eq!(v1::Game { foreign: None, ..copy }, own, "the same game in every other respect, the revealed seed too");
        for at in 1..=own.seq {
            let (own, copy) = (from.try_get(&id, Some(at)).await.unwrap(), to.try_get(&id, Some(at)).await.unwrap());
            assert_eq!(v1::Game { foreign: None, ..copy }, own);
        }
        assert!(to.import(&file).await.unwrap().repeated);
    }
    let list = to.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    assert_eq!(list.len(), 4);
    assert!(list.iter().all(|game| game.foreign.is_some()));
    let ann = v1::ListGamesRequest { player_id: "ann".to_owned(), state: GameState::Closed.into(), ..Default::default() };
    assert_eq!(to.games().list_games(ann).await.unwrap().into_inner().games.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_goes_from_postgres_into_sqlite_byte_for_byte() {
    let database = postgres::database().await;
    let from = over_postgres(&database).await.keys(signing(1)).start().await;
    goes_over(&from, &over_sqlite().await.keys(knowing()).start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_goes_from_sqlite_into_postgres_byte_for_byte() {
    let database = postgres::database().await;
    let from = over_sqlite().await.keys(signing(1)).start().await;
    goes_over(&from, &over_postgres(&database).await.keys(knowing()).start().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unsigned_book_stays_unsigned_and_an_unknown_key_is_told() {
    let local = over_sqlite().await.keys(signing(2)).start().await;
    let wire = local.wire().await;
    let plain = table().id(1).play("b2 a1").book().clone();
    let reply = wire.import(plain.print()).await.unwrap();
    assert_eq!((reply.key_id.as_str(), reply.signature_checked), ("", false));
    assert_eq!(wire.book(&reply.game_id).await, plain.print(), "this node has a key, and vouches for none of it");

    let book = table().id(2).play("b2 a1").book().clone();
    let signature = key(3).sign(&book.head());
    let signed = book.signed(signature).print();
    let reply = wire.import(&signed).await.unwrap();
    assert_eq!((reply.key_id, reply.signature_checked), (key(3).public().id().to_string(), false));
    assert_eq!(wire.book(&reply.game_id).await, signed);
}

async fn reads_only(game: &PlayedGame) {
    game.refuses("a3").await.with("GAME_READ_ONLY").only(&["head_seq"]).meta("head_seq", game.head);
    game.refuses_undo(game.asks_undo(0, None)).await.with("GAME_READ_ONLY");
    game.refuses_close(game.asks_close()).await.with("GAME_READ_ONLY");
}

/// Also on a node that remembers nothing of the game, and on one that has just read it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_appended_to_a_foreign_game() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let file = table().play("b2 a1").book().print();
    let id = wire.import(&file).await.unwrap().game_id;
    let game = PlayedGame { wire: wire.clone(), id: id.clone(), head: 3, to_move: Some(0) };
    reads_only(&game).await;
    assert_eq!(wire.get(&id).await.seat_to_move, Some(0));
    reads_only(&game).await;
    // The stand-in for an entry's request is nobody's request.
    let entry = local.store.inner().last(plybook_store::GameKey { tenant: TenantId::DEFAULT, game: id.parse().unwrap() }).await;
    let stand_in = v1::MakeMoveRequest { request_id: entry.unwrap().unwrap().request_id.to_string(), ..game.asks("a3") };
    game.refuses_move(stand_in).await.with("GAME_READ_ONLY");
    let local = local.restarted().await;
    reads_only(&game.through(&local.wire().await)).await;
    assert_eq!(local.wire().await.book(&id).await, file);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_a_foreign_game_ends_after_its_last_entry() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let id = wire.import(table().play("b2 a1").book().print()).await.unwrap().game_id;
    let (frames, refused) = wire.follow(&id).open().await.rest().await;
    assert_eq!((seqs(&frames), refused), (vec![1, 2, 3], None));
    let (frames, refused) = wire.follow(&id).after(3).open().await.rest().await;
    assert!(matches!(frames[..], [Frame::CaughtUp(v1::CaughtUp { head_seq: 3 })]) && refused.is_none(), "{frames:?}");
    let (frames, refused) = wire.follow(&id).after(2).with_snapshot().open().await.rest().await;
    assert!(matches!(frames[..], [Frame::Snapshot(_), Frame::Event(_)]) && refused.is_none(), "{frames:?}");
    wire.follow(&id).after(4).refused().await.with("CURSOR_BEYOND_HEAD");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_rules_accept_is_kept_and_told() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let file = table().play("b2 a1 c3").book().print();
    let illegal = forged(&file, "move a1 ply=2 cells=0>2:6", "move b2 ply=2 cells=0>2:4");
    let reply = wire.import(&illegal).await.unwrap();
    let found = reply.verification.unwrap();
    assert_eq!((found.first_wrong_seq, found.entries, found.dice_claim()), (Some(3), 2, DiceClaim::Unspecified));
    assert!(found.why.contains("CELL_OCCUPIED"), "{found:?}");
    let then = found.accepted.as_ref().map(|accepted| (accepted.entries, accepted.ruleset.as_str()));
    assert_eq!((found.verdict(), then), (BookVerdict::IllegalNow, Some((4, "mnk@1"))));
    let id = reply.game_id;
    assert_eq!(wire.verified(&id).await.unwrap(), found);
    assert_eq!(wire.book(&id).await, illegal);
    assert_eq!(wire.try_get(&id, Some(2)).await.unwrap().seq, 2, "up to there it can be read");
    Refused::by(wire.try_get(&id, None).await).with("ENTRY_ILLEGAL_NOW").meta("first_bad_seq", 3);
    let game = PlayedGame { wire: wire.clone(), id: id.clone(), head: 4, to_move: Some(0) };
    reads_only(&game).await;
    let read = local.store.entries_read();
    reads_only(&game).await;
    assert_eq!(local.store.entries_read(), read, "no book is read to refuse that, however long it is");
    let (frames, refused) = wire.follow(&id).open().await.rest().await;
    assert_eq!((seqs(&frames), refused), (vec![1, 2, 3, 4], None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_under_rules_that_are_not_here_is_kept_listed_and_streamed() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let file = table().play("b2 a1").book().print();
    for (number, (ruleset, reason)) in [("mnk@9", "RULESET_VERSION_UNSUPPORTED"), ("chess@1", "UNKNOWN_RULESET")].into_iter().enumerate() {
        let id = Uuid::from_u128(number as u128 + 1);
        let unknown =
            forged(&forged(&file, "ruleset mnk@1", &format!("ruleset {ruleset}")), &table().header().game.to_string(), &id.to_string());
        let reply = wire.import(&unknown).await.unwrap();
        assert_eq!((reply.game_id, reply.entries, reply.verification), (id.to_string(), 3, None));
        let id = id.to_string();
        assert_eq!(wire.book(&id).await, unknown);
        Refused::by(wire.try_get(&id, None).await).with(reason);
        Refused::by(wire.verified(&id).await).with(reason);
        wire.follow(&id).with_snapshot().refused().await.with(reason);
        reads_only(&PlayedGame { wire: wire.clone(), id: id.clone(), head: 3, to_move: Some(0) }).await;
        let (frames, refused) = wire.follow(&id).open().await.rest().await;
        assert_eq!((seqs(&frames), refused), (vec![1, 2, 3], None));
        let Some(Frame::Event(v1::Event { body: Some(v1::event::Body::MoveMade(made)), line, .. })) = frames.last() else { panic!() };
        assert!(made.notation == "a1" && made.changes.is_empty() && line.contains("cells=0>2:6"), "{made:?}");
    }
    let list = wire.games().list_games(v1::ListGamesRequest::default()).await.unwrap().into_inner().games;
    let told: Vec<_> = list.iter().map(|game| (game.ruleset.as_ref().unwrap().id.as_str(), game.seq, game.foreign.is_some())).collect();
    assert_eq!(told, [("chess", 3, true), ("mnk", 3, true)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_book_is_refused_with_its_line() {
    let local = over_sqlite().await.keys(knowing()).start().await;
    let wire = local.wire().await;
    let book = table().play("b2 a1").book().clone();
    let file = book.print();
    let line = |begins: &str| 1 + file.lines().position(|line| line.starts_with(begins)).unwrap();
    let last = file.lines().count();
    let wrong = key(1).sign(&table().id(9).book().head());
    let mut binary = file.clone().into_bytes();
    binary[300] = 0xff;
    let upset = file[..300].lines().count();
    for (file, at, why) in [
        (Vec::new(), 1, "is not the field \"plybook\""),
        (b"GIF89a".to_vec(), 1, "LF"),
        (file.replace("move a1", "move c1").into_bytes(), line("3 ") + 1, "digest"),
        (file.replace("ply=2", "ply=x").into_bytes(), line("3 "), "not a number"),
        (file[..file.rfind("end ").unwrap()].into(), last, "too early"),
        (format!("{file}more\n").into_bytes(), last + 1, "follows the trailer"),
        (file.trim_end().into(), last, "LF"),
        (binary, upset, "UTF-8"),
        (book.clone().signed(wrong).print().into_bytes(), last + 1, "is not that of key"),
    ] {
        let refused = Refused::by(wire.import(&file).await);
        refused.with("INVALID_PARAMETER").field("chunk", &format!("line {at}")).field("chunk", why);
    }
    let filter = Filter::default();
    assert_eq!(local.store.inner().list(TenantId::DEFAULT, &filter, None, 10).await.unwrap(), [], "nothing is left of any");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_has_so_many_bytes_and_a_piece_too() {
    let file = table().play("b2 a1").book().print();
    let most = file.len();
    let local = over_sqlite().await.limits(|limits| (limits.import_bytes, limits.request_bytes) = (most, 4096)).start().await;
    let wire = local.wire().await;
    let refused = Refused::by(wire.import(format!("{file}\n")).await);
    refused.with("LIMIT_EXCEEDED").only(&["limit", "most"]).meta("limit", "import_bytes").meta("most", most);
    assert!(refused.retry.is_none(), "it will be too long tomorrow");
    let large = futures::stream::iter(pieces(&[b'x'; 8_000], 5_000));
    let refused = Refused::by(wire.audit().import_book(large).await);
    refused.with("LIMIT_EXCEEDED").meta("limit", "request_bytes").meta("most", 4096);
    assert_eq!(wire.import(&file).await.unwrap().entries, 3);
}

/// An upload that has not ended holds its place; whoever comes too many is told when to come back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_files_are_imported_at_once() {
    let local = over_sqlite().await.limits(|limits| limits.imports = 1).start().await;
    let wire = local.wire().await;
    let file = table().play("b2 a1").book().print();
    let other = table().id(1).book().print();
    let by = Instant::now() + PATIENCE;
    let (send, upload, rest, refused) = 'held: loop {
        let (send, held) = tokio::sync::mpsc::channel(4);
        let upload = tokio::spawn({
            let mut audit = wire.audit();
            async move { audit.import_book(tokio_stream::wrappers::ReceiverStream::new(held)).await }
        });
        let mut rest = pieces(file.as_bytes(), 400).into_iter();
        send.send(rest.next().unwrap()).await.unwrap();
        // The asker may have the only place just when the upload comes: then that begins anew.
        while !upload.is_finished() {
            assert!(Instant::now() < by, "the upload has its place");
            if let Err(status) = wire.import(&other).await {
                break 'held (send, upload, rest, Refused::of(&status));
            }
        }
    };
    refused.with("LIMIT_EXCEEDED").meta("limit", "imports").meta("most", 1).later();
    // Whoever waits a little is served, by itself.
    let client = plybook_client::Client::connect(&format!("http://{}", local.address())).unwrap();
    let patient = tokio::spawn(async move { client.import_book(table().id(2).book().print().into_bytes()).await });
    for piece in rest {
        send.send(piece).await.unwrap();
    }
    drop(send);
    assert_eq!(upload.await.unwrap().unwrap().into_inner().entries, 3);
    assert_eq!(patient.await.unwrap().unwrap().entries, 1);
}

/// Only the last piece says that it is the last, wherever the file could end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_without_a_last_piece_is_no_file() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let whole = pieces(table().play("b2 a1").book().print().as_bytes(), 400);
    let send = |pieces: Vec<v1::ImportBookRequest>| {
        let mut audit = wire.audit();
        async move { audit.import_book(futures::stream::iter(pieces)).await }
    };
    let without: Vec<_> = whole.iter().map(|piece| v1::ImportBookRequest { last: false, ..piece.clone() }).collect();
    Refused::by(send(without).await).with("INVALID_PARAMETER").field("last", "the upload ended before the file did");
    Refused::by(send(Vec::new()).await).with("INVALID_PARAMETER").field("last", "the upload ended before the file did");
    let twice = [&whole[..], &whole[..1]].concat();
    Refused::by(send(twice).await).with("INVALID_PARAMETER").field("last", "was set in the piece before");
    assert_eq!(local.store.count(Call::Import), 0);
    send(whole).await.unwrap();
}

/// Whether half of the file had come or all of it, but not its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_broken_off_leaves_nothing_and_its_place_is_free() {
    let file = table().play("b2 a1").book().print();
    for cut in [file.len() / 2, file.len()] {
        let local = over_sqlite().await.limits(|limits| limits.imports = 1).start().await;
        let (wire, other) = (local.wire().await, local.wire().await);
        let (send, held) = tokio::sync::mpsc::channel(1);
        let mut audit = wire.audit();
        let upload = tokio::spawn(async move { audit.import_book(tokio_stream::wrappers::ReceiverStream::new(held)).await });
        send.send(v1::ImportBookRequest { chunk: file.as_bytes()[..cut].to_vec(), last: false }).await.unwrap();
        // Once there is room for a second piece, the first is on its way.
        drop(send.reserve().await.unwrap());
        upload.abort();
        assert!(upload.await.unwrap_err().is_cancelled());
        let by = Instant::now() + PATIENCE;
        let kept = table().id(3).book().print();
        while let Err(status) = other.import(&kept).await {
            Refused::of(&status).with("LIMIT_EXCEEDED").later();
            assert!(Instant::now() < by, "its place is free again");
        }
        assert_eq!(local.store.count(Call::Import), 1, "that of the other file");
        Refused::by(other.try_get(&table().header().game.to_string(), None).await).with("GAME_NOT_FOUND");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_whose_answer_is_lost_is_there_once() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let file = table().play("b2 a1").book().print();
    local.store.breaks(Call::Import, Fault::LosesReply);
    Refused::by(wire.import(&file).await).with("STORE_UNAVAILABLE").later();
    local.store.mends();
    assert!(wire.import(&file).await.unwrap().repeated);
    local.store.breaks(Call::Import, Fault::Away);
    Refused::by(wire.import(table().id(5).book().print()).await).with("STORE_UNAVAILABLE").later();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_file_of_the_same_game_is_refused_on_any_node() {
    let database = postgres::database().await;
    let (one, two) = (over_postgres(&database).await.start().await, over_postgres(&database).await.start().await);
    let (one, two) = (one.wire().await, two.wire().await);
    let file = table().play("b2 a1").book().print();
    let (first, second) = tokio::join!(one.import(&file), two.import(&file));
    let repeated = [first.unwrap().repeated, second.unwrap().repeated];
    assert_eq!(repeated.iter().filter(|repeated| **repeated).count(), 1, "the same file at the same time is there once");
    for other in [table().play("b2 a1 c3").book().print(), forged(&file, "move a1 ply=2 cells=0>2:6", "move c1 ply=2 cells=0>2:8")] {
        Refused::by(two.import(other).await).with("GAME_EXISTS").meta("game_id", table().header().game);
    }
    assert_eq!(two.book(&table().header().game.to_string()).await, file);
    let mut own = one.game().await;
    let before = own.wire.book(&own.id).await;
    own.play("b2").await;
    Refused::by(two.import(before).await).with("GAME_EXISTS").meta("game_id", &own.id);
    assert!(own.now().await.foreign.is_none());
    own.play("a1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_book_of_twenty_thousand_entries_comes_over_while_games_go_on() {
    let folder = over_sqlite().await.start().await;
    let id = long::book(&folder.file(), 20_000).await;
    let file = folder.wire().await.book(&id).await;
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    let wire = local.wire().await;
    let importing = tokio::spawn({
        let (wire, file) = (local.wire().await, file.clone());
        async move { wire.import(file).await.unwrap() }
    });
    let mut own = wire.game().mnk(20, 20, 20).await;
    while !importing.is_finished() {
        own.play("a1").await;
        let request = own.asks_undo(1 - own.to_move.unwrap(), None);
        let undone = own.wire.games().undo(request).await.unwrap().into_inner().event.unwrap();
        own.sees(undone);
    }
    let reply = importing.await.unwrap();
    assert_eq!((reply.entries, reply.verification.unwrap().first_wrong_seq), (20_000, None));
    assert_eq!(wire.book(&id).await, file);
    assert_eq!(wire.try_get(&id, Some(10_000)).await.unwrap().seq, 10_000);
    assert!(
        injected::over(Arc::clone(&local.store) as Arc<dyn plybook_store::Store>)
            .start()
            .await
            .wire()
            .await
            .import(file)
            .await
            .unwrap()
            .repeated
    );
}
