//! Nobody is judged gone unless somebody said so: presence is what is reported and what a seat does, and nothing else.

use plybook_core::entry::{Act, Body, Entry, Incident};
use plybook_core::{Book, Time};
use plybook_proto::v1::{self, IfAway, event};
use plybook_tests::injected::{Local, Setup};
use plybook_tests::laid::live;
use plybook_tests::random::Random;
use plybook_tests::table::START;

use super::settling::{on_both, open};

on_both![
    scenario_61_no_stream_says_who_is_there,
    scenario_61_who_reads_is_away_once_that_is_reported_and_there_once_it_acts,
    scenario_61_every_forfeiture_has_its_report_before_it,
];

const GRACE: u64 = 60_000;

fn after(ms: u64) -> Time {
    Time::from_unix_ms(START.unix_ms() + ms)
}

/// Whatever was due by now is settled: a game whose time is over is, and it came last.
async fn sweeper_comes_by(local: &Local) {
    let store = local.store.inner();
    let witness = live().clock("per_move 1000 forfeit restore").created(START).laid_into(&*store).await;
    witness.until_closed(&*store).await;
}

fn away(game: &v1::Game) -> Vec<u32> {
    game.away_seats.iter().map(|away| away.seat).collect()
}

/// How many seats a book has leave for being away. The last that each is heard of is the report that says so, and that
/// is a grace ago.
fn forfeitures(file: &str) -> usize {
    let book = Book::parse(file).unwrap();
    let entries: Vec<Entry> = book.lines().iter().map(|link| book.header().read_entry(&link.text).unwrap()).collect();
    let mut count = 0;
    for (n, entry) in entries.iter().enumerate() {
        let Body::Incident(Incident { act: Act::Forfeit(seat), .. }) = &entry.body else { continue };
        let heard = entries[..n].iter().rfind(|before| before.actor.seat == Some(*seat)).unwrap_or_else(|| panic!("{entry} in\n{file}"));
        let reported = matches!(&heard.body, Body::Incident(Incident { act: Act::Away, .. }));
        assert!(reported && entry.time.unix_ms() >= heard.time.unix_ms() + GRACE, "{entry} after {heard}");
        count += 1;
    }
    count
}

async fn scenario_61_no_stream_says_who_is_there(setup: Setup) {
    let local = setup.sweeping().start().await;
    let (store, wire) = (local.store.inner(), local.wire().await);
    local.clock.set(START);
    let laid = live().at(|table| table.seats(3)).forfeits_after(GRACE).created(START).laid_into(&*store).await;
    let mut game = open(&local, &laid).await;
    // One reads, one has read and gone away, and the third has never asked for anything.
    let mut reading = wire.follow(&laid.id).open().await;
    let mut leaving = wire.follow(&laid.id).open().await;
    assert_eq!((reading.history().await, leaving.history().await), ((vec![1], 1), (vec![1], 1)));
    drop(leaving);
    local.clock.set(after(100 * GRACE));
    sweeper_comes_by(&local).await;
    let now = game.now().await;
    assert_eq!((away(&now), now.deadline, laid.rows(&*store).await), (vec![], None, vec![]), "nothing is due");
    assert_eq!(laid.lines(&*store).await, [""; 0], "and nothing was");
    game.play("a1 b1 c1").await;
    for seq in 2..=4 {
        assert_eq!(reading.event().await.seq, seq);
    }
}

async fn scenario_61_who_reads_is_away_once_that_is_reported_and_there_once_it_acts(setup: Setup) {
    let local = setup.start().await;
    let wire = local.wire().await;
    local.clock.set(START);
    let mut game = wire.game().mnk(6, 6, 6).seats(3).absence(GRACE as i64, IfAway::Forfeit).await;
    let mut reading = wire.follow(&game.id).open().await;
    reading.history().await;
    game.acts(game.reporting(1, false)).await;
    let told = reading.event().await;
    assert_eq!(told.body, Some(event::Body::PresenceChanged(v1::PresenceChanged { seat: 1, present: false })));
    // To go on reading, or to begin to, is not to be there: whoever reports knows who is.
    wire.follow(&game.id).open().await.history().await;
    assert_eq!(away(&game.now().await), [1]);
    game.play("a1").await;
    local.clock.set(after(GRACE));
    game.play("b1").await;
    assert_eq!(away(&game.now().await), [0; 0], "who moves in the last moment is there");
    local.clock.set(after(10 * GRACE));
    game.play("c1").await;
    game.acts(game.reporting(2, false)).await;
    local.clock.set(after(11 * GRACE));
    game.play("a2").await;
    local.clock.set(after(11 * GRACE + 1));
    game.refuses("b2").await.with("STALE_SEQ").meta("head_seq", 8);
    let book = wire.book(&game.id).await;
    assert!(forfeitures(&book) == 1 && book.contains("-:plybook forfeit 2 next=1"), "{book}");
    game.looks().await;
    assert_eq!(game.play("b2").await.seat_to_move, Some(0), "who was silent as long, and not reported, is still there");
    wire.proves(&game.id).await;
}

/// At random: moves, reports, streams that come and go, and time that passes.
async fn scenario_61_every_forfeiture_has_its_report_before_it(setup: Setup) {
    let local = setup.start().await;
    let wire = local.wire().await;
    let mut count = 0;
    for number in 0..10 {
        let (mut random, mut now, mut moves, mut streams) = (Random::new(number), 0, 0, Vec::new());
        local.clock.set(START);
        let mut game = wire.game().mnk(6, 6, 6).seats(4).absence(GRACE as i64, IfAway::Forfeit).await;
        for _ in 0..60 {
            now += random.below(GRACE / 2);
            local.clock.set(after(now));
            if game.looks().await.state() != v1::GameState::Active {
                break;
            }
            let seat = random.below(4) as u32;
            match random.below(4) {
                0 => streams.push(wire.follow(&game.id).open().await),
                1 => drop(streams.pop()),
                // Refused of whoever has left, and at the head that there is no more.
                2 => drop(wire.asks(game.reporting(seat, random.once_in(3))).await),
                _ => {
                    let cell = format!("{}{}", char::from(b'a' + moves % 6), 1 + moves / 6);
                    let request = game.asks(&cell);
                    moves += u8::from(game.sends(request).await.is_ok());
                }
            }
        }
        count += forfeitures(&wire.book(&game.id).await);
        wire.proves(&game.id).await;
    }
    assert!(count >= 10, "only {count} were away for too long");
}
