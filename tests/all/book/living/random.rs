//! Live games at random: what was decided, settled and refused is what the book says, wherever one looks.

use std::sync::Arc;

use plybook_core::entry::{Act, Actor, Body, Entry, Incident};
use plybook_core::game::{Due, State};
use plybook_core::header::Principal;
use plybook_core::outcome::Reason;
use plybook_core::{Game, Outcome, Rejection, Rules, SeatSet, Seed, Time, Verdict};
use plybook_tests::lively::{happens, laid, moment, outages, request};
use plybook_tests::random::{Random, repeat};
use plybook_tests::table::{Table, fold};

/// Everything that anybody can ask of a live game.
#[track_caller]
fn same(one: &Game, other: &Game) {
    assert_eq!((one.head(), one.state(), one.outcome(), one.to_move()), (other.head(), other.state(), other.outcome(), other.to_move()));
    assert_eq!(one.position(), other.position());
    assert_eq!((one.standing(), one.play().standing()), (other.standing(), other.play().standing()));
    assert_eq!((one.live(), one.clock(), one.presence()), (other.live(), other.clock(), other.presence()));
    assert_eq!((one.offers(), one.undos(), one.waits_for_bot()), (other.offers(), other.undos(), other.waits_for_bot()));
    assert_eq!((one.due(), one.joining()), (other.due(), other.joining()));
    assert_eq!(one.play().legal(), other.play().legal());
}

fn later(time: Time, ms: u64) -> Time {
    Time::from_unix_ms(time.unix_ms() + ms)
}

/// What holds after every entry.
#[track_caller]
fn holds(before: &Game, after: &Game, entry: &Entry) {
    let left = |game: &Game| SeatSet::all(game.header().seat_count()).iter().filter(|seat| !game.live().contains(*seat)).count();
    assert!(after.live().iter().all(|seat| before.live().contains(seat)) && left(after) >= left(before), "seats only leave");
    assert_eq!(entry.next_seat(), after.to_move(), "the last line says whose turn it is: {entry}");
    assert!(after.to_move().is_none_or(|seat| after.live().contains(seat)), "who is to move has not left");
    assert!(after.due().is_none_or(|(deadline, _)| deadline >= after.head().time), "no deadline lies before the last entry");
    if let Some(clock) = after.clock() {
        let stands_in = after.waits_for_bot() == Some(plybook_core::game::Hand::Fallback);
        assert_eq!(clock.running(), after.to_move().filter(|_| !stands_in), "exactly the clock of the seat to move runs\n{entry}");
    }
    let winners = entry.outcome().map_or(SeatSet::EMPTY, |outcome| outcome.winning_seats());
    assert!(winners.iter().all(|seat| after.live().contains(seat)), "who has left does not win");
}

/// A deadline that has passed is settled in one way, whenever that is done, and before anything else.
#[track_caller]
fn settles_alike(game: &mut Game, seed: &Seed, random: &mut Random) {
    let Some((deadline, due)) = game.due() else { return };
    let outages = outages(game, random);
    assert_eq!(game.settle(deadline, &outages, seed), None, "the deadline itself is in time");
    let late = later(deadline, 1 + random.below(100_000));
    let (soon, then) = (game.settle(later(deadline, 1), &outages, seed), game.settle(late, &outages, seed));
    assert_eq!(soon, then);
    let settled = soon.unwrap();
    assert_eq!(settled.time, deadline);
    game.clone().apply(&settled).unwrap();
    let asked = request(game, random);
    let refused = game.decide(&asked, late, seed).unwrap_err();
    let expected = Rejection::Unsettled { deadline };
    assert!(refused == expected || due == Due::Joining || !is_reasonable(&refused), "{asked:?} at {late}: {refused}");
    // Whoever writes it nevertheless is refused by everybody who reads it.
    if let Ok(entry) = game.decide(&asked, deadline, seed) {
        game.clone().apply(&entry).unwrap();
        game.clone().apply(&Entry { time: later(deadline, 1), ..entry }).unwrap_err();
    }
}

/// Whether the request had come as far as to the deadline.
const fn is_reasonable(refused: &Rejection) -> bool {
    let early = matches!(refused, Rejection::NoSuchSeat { .. } | Rejection::InvalidAction { .. });
    !early && !matches!(refused, Rejection::Finished { .. } | Rejection::NotFinished)
}

/// What deciding refuses, folding refuses, whatever it claims to follow.
fn refused_alike(game: &mut Game, seed: &Seed, random: &mut Random) {
    let asked = request(game, random);
    let plybook_core::game::Ask::Act(act) = asked.ask else { return };
    let now = moment(game, random);
    let due = game.due().is_some_and(|(deadline, _)| deadline == now);
    let by_time = matches!(act, Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_));
    match game.decide(&asked, now, seed) {
        Ok(_) | Err(Rejection::Stale { .. } | Rejection::WayBack { .. }) => return,
        Err(_) if by_time && due => return,
        Err(_) => {}
    }
    let mut verdicts = vec![None];
    verdicts.extend((0..game.header().seat_count()).map(|seat| Some(Verdict::next(plybook_core::Seat(seat)))));
    for reason in ["agreement", "aborted", "resigned", "absent", "timeout", "removed", "abandoned"].map(Reason::new) {
        let ends = [Outcome::draw(reason.clone()), Outcome::void(reason.clone())];
        let wins = game.live().iter().map(|seat| Outcome::win(seat, reason.clone()));
        verdicts.extend(ends.into_iter().chain(wins).map(|outcome| Some(Verdict::Finished(outcome))));
    }
    for by in [asked.actor.by.clone(), Principal::service()] {
        for verdict in &verdicts {
            let seed = matches!(verdict, Some(Verdict::Finished(_))).then(|| seed.clone());
            let (actor, body) = (Actor { by: by.clone(), ..asked.actor }, Body::Incident(Incident { act, verdict: verdict.clone() }));
            let entry = Entry { seq: game.head().seq.next(), time: now.max(game.head().time), actor, body, seed };
            assert!(game.clone().apply(&entry).is_err(), "refused, but it folds: {entry}");
        }
    }
}

/// The book from its text, and from a snapshot somewhere on the way.
#[track_caller]
fn folds_to(table: &Table, random: &mut Random) {
    let (header, registry) = (table.header(), table.rulesets());
    let rules: Arc<dyn Rules> = registry.rules_of(&header).unwrap();
    let lines = table.book().lines();
    let at = random.below(lines.len() as u64 + 1) as usize;
    let mut restored = None;
    let folded = fold(registry, &table.book().print(), |seq, game| {
        if seq.0 as usize == at + 1 {
            let again = Game::restore(header.clone(), Arc::clone(&rules), &game.snapshot().unwrap()).unwrap();
            same(&again, game);
            restored = Some(again);
        }
    });
    same(&folded, table.game());
    let mut restored = restored.unwrap();
    for link in &lines[at..] {
        restored.apply_line(&link.text, link.digest).unwrap();
    }
    same(&restored, table.game());
    assert_eq!(restored.snapshot(), folded.snapshot());
}

#[test]
fn random_live_games_are_their_books() {
    let mut seen = std::collections::BTreeMap::<String, u32>::new();
    repeat(6_000, |random| {
        let mut table = laid(random);
        for _ in 0..10 + random.below(50) {
            if table.game().state() == State::Closed {
                break;
            }
            let seed = table.the_seed();
            let mut game = table.game().clone();
            if random.once_in(3) {
                settles_alike(&mut game, &seed, random);
                same(&game, table.game());
            }
            if random.once_in(3) {
                refused_alike(&mut game, &seed, random);
                same(&game, table.game());
            }
            happens(&mut table, random, |before, entry| {
                let mut after = before.clone();
                after.apply(entry).unwrap();
                holds(before, &after, entry);
                let word = entry.to_string().split(' ').nth(3).unwrap().to_owned();
                *seen.entry(word).or_default() += 1;
            });
        }
        folds_to(&table, random);
    });
    let words =
        ["resign", "abort", "remove", "timeout", "forfeit", "claim", "away", "back", "draw", "undo-offer", "undo-accept", "undo-decline"];
    for word in words.iter().chain(&["undo-withdraw", "credit", "close", "undo", "move"]) {
        assert!(seen.get(*word).is_some_and(|times| *times > 20), "{word} happens too seldom: {seen:?}");
    }
}
