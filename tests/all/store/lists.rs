//! Lists: filters, pages, and the state that entries move.

use plybook_core::{Seq, Uuid};
use plybook_store::{Append, Filter, GameKey, NewEntry, NewGame, State, Store, Summary, TenantId};

use super::{AnyStore, move_state, new_entry, new_game, new_key, on_both_stores, open_game, play_to, request, stored, stored_header};

on_both_stores![
    a_summary_has_the_first_and_the_last_entry,
    a_closed_games_summary_has_the_entry_before_the_last_too,
    each_filter_and_their_conjunction,
    a_player_with_two_seats_is_listed_once,
    pages_come_newest_first_and_meet,
    an_entry_moves_the_state,
    a_refused_entry_does_not_move_the_state,
];

const NONE: [Uuid; 0] = [];

async fn games(store: &dyn Store, filter: &Filter) -> Vec<Uuid> {
    let list = store.list(TenantId::DEFAULT, filter, None, 100).await.unwrap();
    list.into_iter().map(|summary| summary.game).collect()
}

async fn state_of(store: &dyn Store, key: GameKey) -> State {
    let list = store.list(key.tenant, &Filter::default(), None, 100).await.unwrap();
    list.into_iter().find(|summary| summary.game == key.game).unwrap().state
}

async fn a_summary_has_the_first_and_the_last_entry(store: AnyStore) {
    let (fresh, played) = (new_game(new_key(), request(1)), new_game(new_key(), request(1)));
    store.create(fresh.clone()).await.unwrap();
    store.create(played.clone()).await.unwrap();
    let entries = play_to(&*store, played.key, 12).await;
    let summary = |game: &NewGame, last| Summary {
        game: game.key.game,
        state: State::Active,
        header: Some(stored_header(game)),
        last: Some(last),
        before_last: None,
        foreign: None,
    };
    assert_eq!(
        store.list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap(),
        [summary(&played, stored(entries.last().unwrap())), summary(&fresh, stored_header(&fresh))]
    );
}

/// One page tells how each game ended, however it was closed.
async fn a_closed_games_summary_has_the_entry_before_the_last_too(store: AnyStore) {
    let closed_apart = open_game(&*store).await;
    let entries = play_to(&*store, closed_apart, 4).await;
    move_state(&*store, closed_apart, 5, State::Closed).await;
    let closed_at_once = new_game(new_key(), request(1));
    store.create(closed_at_once.clone()).await.unwrap();
    move_state(&*store, closed_at_once.key, 2, State::Closed).await;
    let finished = open_game(&*store).await;
    move_state(&*store, finished, 2, State::Finished).await;

    let list = store.list(TenantId::DEFAULT, &Filter::default(), None, 10).await.unwrap();
    let before_last: Vec<_> = list.iter().map(|summary| summary.before_last.clone()).collect();
    assert_eq!(before_last, [None, Some(stored_header(&closed_at_once)), Some(stored(entries.last().unwrap()))]);
    assert_eq!(list[2].last.as_ref().unwrap().seq, Seq(5));
}

async fn each_filter_and_their_conjunction(store: AnyStore) {
    let game = |ruleset: &str, players: &[&str]| NewGame {
        ruleset: ruleset.to_owned(),
        players: players.iter().map(|&player| player.to_owned()).collect(),
        ..new_game(new_key(), request(1))
    };
    let one = game("mnk", &["ann", "bob"]);
    let two = game("mnk", &["bob", ""]);
    let three = game("othello", &["ann", "cleo"]);
    for game in [&one, &two, &three] {
        store.create(game.clone()).await.unwrap();
    }
    move_state(&*store, three.key, 2, State::Closed).await;
    move_state(&*store, two.key, 2, State::Finished).await;
    let (one, two, three) = (one.key.game, two.key.game, three.key.game);

    let player = |id: &str| Filter { player: Some(id.to_owned()), ..Filter::default() };
    let ruleset = |id: &str| Filter { ruleset: Some(id.to_owned()), ..Filter::default() };
    let state = |state| Filter { state: Some(state), ..Filter::default() };
    assert_eq!(games(&*store, &Filter::default()).await, [three, two, one]);
    assert_eq!(games(&*store, &player("ann")).await, [three, one]);
    assert_eq!(games(&*store, &player("bob")).await, [two, one]);
    assert_eq!(games(&*store, &player("nobody")).await, NONE);
    assert_eq!(games(&*store, &player("")).await, NONE);
    assert_eq!(games(&*store, &ruleset("mnk")).await, [two, one]);
    assert_eq!(games(&*store, &state(State::Active)).await, [one]);
    assert_eq!(games(&*store, &state(State::Finished)).await, [two]);
    assert_eq!(games(&*store, &state(State::Closed)).await, [three]);
    assert_eq!(games(&*store, &Filter { ruleset: Some("mnk".to_owned()), ..player("ann") }).await, [one]);
    assert_eq!(games(&*store, &Filter { state: Some(State::Closed), ..player("ann") }).await, [three]);
    assert_eq!(games(&*store, &Filter { state: Some(State::Closed), ..ruleset("mnk") }).await, NONE);
    let all = Filter { player: Some("bob".to_owned()), ruleset: Some("mnk".to_owned()), state: Some(State::Finished) };
    assert_eq!(games(&*store, &all).await, [two]);
}

async fn a_player_with_two_seats_is_listed_once(store: AnyStore) {
    let players = ["ann", "ann", "", ""].map(str::to_owned).to_vec();
    let game = NewGame { players, ..new_game(new_key(), request(1)) };
    store.create(game.clone()).await.unwrap();
    assert_eq!(games(&*store, &Filter { player: Some("ann".to_owned()), ..Filter::default() }).await, [game.key.game]);
}

async fn pages_come_newest_first_and_meet(store: AnyStore) {
    let mut newest_first = Vec::new();
    for number in 0..7 {
        let ruleset = if number % 2 == 0 { "mnk" } else { "othello" }.to_owned();
        let game = NewGame { ruleset, ..new_game(new_key(), request(1)) };
        store.create(game.clone()).await.unwrap();
        newest_first.insert(0, game.key.game);
    }
    let every_other: Vec<Uuid> = newest_first.iter().copied().step_by(2).collect();
    let ann = Filter { player: Some("ann".to_owned()), ..Filter::default() };
    let mnk = Filter { ruleset: Some("mnk".to_owned()), ..Filter::default() };
    let active = Filter { state: Some(State::Active), ..Filter::default() };
    for (filter, expected) in [(Filter::default(), &newest_first), (ann, &newest_first), (active, &newest_first), (mnk, &every_other)] {
        let mut seen: Vec<Uuid> = Vec::new();
        loop {
            let page = store.list(TenantId::DEFAULT, &filter, seen.last().copied(), 2).await.unwrap();
            assert!(page.len() <= 2);
            if page.is_empty() {
                break;
            }
            seen.extend(page.iter().map(|summary| summary.game));
            assert!(seen.len() <= expected.len(), "pages overlap: {seen:?}");
        }
        assert_eq!(&seen, expected, "{filter:?}");
    }
}

async fn an_entry_moves_the_state(store: AnyStore) {
    let (key, other) = (open_game(&*store).await, open_game(&*store).await);
    for (seq, state) in [(2, State::Finished), (3, State::Active), (4, State::Finished), (5, State::Closed)] {
        move_state(&*store, key, seq, state).await;
        assert_eq!(state_of(&*store, key).await, state);
        assert_eq!(state_of(&*store, other).await, State::Active);
    }
}

async fn a_refused_entry_does_not_move_the_state(store: AnyStore) {
    let key = open_game(&*store).await;
    let finishing = NewEntry { state: Some(State::Finished), ..new_entry(key, 2, request(1)) };
    assert_eq!(store.append(finishing.clone()).await.unwrap(), Append::Stored);
    move_state(&*store, key, 3, State::Active).await;
    // The repeat finishes nothing a second time, and neither do a conflict and a gap.
    assert_eq!(store.append(finishing.clone()).await.unwrap(), Append::Repeated(stored(&finishing)));
    for seq in [3, 7] {
        let late = NewEntry { state: Some(State::Closed), ..new_entry(key, seq, request(1)) };
        assert_eq!(store.append(late).await.unwrap(), Append::Conflict);
    }
    assert_eq!(state_of(&*store, key).await, State::Active);
    assert_eq!(store.last(key).await.unwrap().unwrap().seq, Seq(3));
}
