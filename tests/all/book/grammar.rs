//! One way to print, the same back: headers, entries and whole files.

use std::collections::BTreeMap;

use plybook_core::entropy::{Commit, IfAbsent, Joint, SeatSignature};
use plybook_core::entry::{Absent, Act, Actor, Body, Claim, Incident, Move, Reveal, Step, Undo, in_book_order, read_format_1};
use plybook_core::header::{Entropy, Place, Principal, Receipts, SeedFrom, UndoBy, UndoPolicy, check_place};
use plybook_core::outcome::{CellRun, Reason, Winners};
use plybook_core::{
    Book, Cell, CellChange, Content, Digest, Entry, Header, Origin, Outcome, ParamValue, Params, RulesetId, Seat, SeatSet, Seed, Seq,
    Terms, Time, Uuid, Verdict, limits,
};
use plybook_tests::lively;
use plybook_tests::random::{Random, repeat};

/// Characters that are easy to get wrong: quotation marks, escapes, wide ones, a combining accent.
const CHARS: [char; 16] = ['"', '\\', 'a', 'Z', '0', '=', ',', ';', '[', '/', 'é', '\u{301}', '龍', '🎲', '\u{10ffff}', '-'];

fn text(random: &mut Random, most_bytes: usize, extra: &[char]) -> String {
    let mut text = String::new();
    for _ in 0..random.below(most_bytes as u64 + 1) {
        let c = if !extra.is_empty() && random.once_in(6) { *random.pick(extra) } else { *random.pick(&CHARS) };
        if text.len() + c.len_utf8() <= most_bytes {
            text.push(c);
        }
    }
    text
}

fn principal(random: &mut Random) -> Principal {
    const ALLOWED: &[u8] = b"ABCXYZabcxyz0189._@/+-";
    let chars = (0..=random.below(64)).map(|_| char::from(*random.pick(ALLOWED)));
    Principal::parse(&chars.collect::<String>()).unwrap()
}

fn time(random: &mut Random) -> Time {
    Time::from_unix_ms(random.below(253_402_300_800_000))
}

fn digest(random: &mut Random) -> Digest {
    Digest(random.bytes())
}

fn value(random: &mut Random) -> ParamValue {
    match random.below(4) {
        0 => ParamValue::Int(*random.pick(&[0, -1, 7, i64::MIN, i64::MAX])),
        1 => ParamValue::Bool(random.once_in(2)),
        2 => ParamValue::Text(text(random, 20, &[' '])),
        _ => ParamValue::IntList((0..random.below(5)).map(|_| random.bits() as i64).collect()),
    }
}

fn places(random: &mut Random) -> Vec<Place> {
    let wanted = 1 + random.below(8) as usize;
    let mut places: Vec<Place> = Vec::new();
    while places.len() < wanted {
        let place = Place { mark: text(random, 16, &[]), player: text(random, 64, &[' ', '\u{a0}']) };
        if check_place(&place, &places).is_ok() {
            places.push(place);
        }
    }
    places
}

fn header(random: &mut Random) -> Header {
    let params: BTreeMap<String, ParamValue> = (0..random.below(6)).map(|_| (format!("p{}_x", random.below(9)), value(random))).collect();
    let (seats, undo) = (places(random), undo(random));
    Header {
        game: Uuid::from_bytes(random.bytes()),
        created: time(random),
        by: principal(random),
        ruleset: RulesetId::new("some_game2", 1 + random.below(u64::from(u32::MAX)) as u32),
        params: Params::unchecked(params),
        terms: if random.once_in(2) { Terms::default() } else { lively::terms(random, seats.len() as u8, undo.by, undo.after_end) },
        seats,
        commitment: digest(random),
        seed_from: *random.pick(&[SeedFrom::Service, SeedFrom::Caller]),
        undo,
        origin: random.once_in(3).then(|| origin(random)),
        entropy: if random.once_in(2) { Entropy::Service } else { joint(random) },
        receipts: *random.pick(&[Receipts::OnRequest, Receipts::Always]),
        rematch_of: random.once_in(3).then(|| Uuid::from_bytes(random.bytes())),
    }
}

fn origin(random: &mut Random) -> Origin {
    let given = random.below(u64::from(limits::GIVEN_MAX)) as u32;
    Origin { game: Uuid::from_bytes(random.bytes()), seq: Seq(given + 1 + random.below(1000) as u32), digest: digest(random), given }
}

fn joint(random: &mut Random) -> Entropy {
    let seconds = 1 + random.below(u64::from(limits::JOIN_SECONDS_MAX)) as u32;
    Entropy::Joint(Joint { seconds, if_absent: *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]) })
}

fn undo(random: &mut Random) -> UndoPolicy {
    let by = *random.pick(&[UndoBy::None, UndoBy::OwnLastMove, UndoBy::Agreement, UndoBy::Free]);
    let anybody = by != UndoBy::None;
    UndoPolicy { by, over_throw: anybody && random.once_in(2), after_end: anybody && random.once_in(2) }
}

fn seat(random: &mut Random) -> Seat {
    Seat(random.below(8) as u8)
}

fn seats(random: &mut Random) -> SeatSet {
    (0..random.below(4)).map(|_| seat(random)).collect()
}

fn cells(random: &mut Random) -> Vec<CellChange> {
    let cells: BTreeMap<u32, (u8, u8)> =
        (0..random.below(12)).map(|_| (random.below(1_000_000) as u32, (random.below(4) as u8, 4 + random.below(252) as u8))).collect();
    let change = |(cell, (before, after)): (u32, (u8, u8))| CellChange { cell: Cell(cell), before: Content(before), after: Content(after) };
    in_book_order(cells.into_iter().map(change).collect())
}

fn run(random: &mut Random) -> CellRun {
    let count = 1 + random.below(1000) as u32;
    let step = if count == 1 { 0 } else { 1 + random.below(2000) as u32 };
    CellRun { first: Cell(random.below(1_000_001) as u32), step, count }
}

fn verdict(random: &mut Random) -> Verdict {
    if random.once_in(2) {
        return Verdict::Next { seat: seat(random), skipped: seats(random) };
    }
    Verdict::Finished(outcome(random))
}

fn outcome(random: &mut Random) -> Outcome {
    let winners = seats(random);
    let nobody = *random.pick(&[Winners::Draw, Winners::Void]);
    let winners = if winners.is_empty() { nobody } else { Winners::Seats(winners) };
    let lines = (0..random.below(4)).map(|_| run(random)).collect();
    Outcome { winners, reason: Reason::parse("a_reason2").unwrap(), lines }
}

fn made(random: &mut Random) -> Move {
    Move {
        notation: format!("m{}", text(random, 31, &['^'])),
        ply: random.bits() as u32,
        faces: (0..random.below(5)).map(|_| random.bits() as u8).collect(),
        cells: cells(random),
        verdict: verdict(random),
    }
}

fn commit(random: &mut Random) -> Commit {
    let (low, high): ([u8; 32], [u8; 32]) = (random.bytes(), random.bytes());
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&low);
    signature[32..].copy_from_slice(&high);
    Commit { commitment: digest(random), signed: random.once_in(2).then(|| SeatSignature { key: random.bytes(), signature }) }
}

fn reveal(random: &mut Random) -> Reveal {
    let nonce = (0..random.from_to(16, 64)).map(|_| random.bits() as u8).collect();
    Reveal { nonce, next: random.once_in(2).then(|| seat(random)) }
}

fn body(random: &mut Random) -> Body {
    match random.below(10) {
        0 => Body::Close,
        8 | 9 => Body::Incident(incident(random)),
        2 => Body::Given(made(random)),
        3 => Body::Commit(commit(random)),
        4 => Body::Reveal(reveal(random)),
        5 => Body::Absent(Absent { seats: SeatSet::only(seat(random)).with(seat(random)), outcome: outcome(random) }),
        1 => Body::Undo(Undo {
            target: Seq(random.bits() as u32),
            ply: random.bits() as u32,
            cells: cells(random),
            next: seat(random),
            agreed: random.once_in(2),
            reopens: random.once_in(2),
        }),
        _ => Body::Move(made(random)),
    }
}

fn incident(random: &mut Random) -> Incident {
    let step = *random.pick(&[Step::Offer, Step::Accept, Step::Decline, Step::Withdraw]);
    let act = match random.below(11) {
        0 => Act::Resign,
        1 => Act::Abort,
        2 => Act::Remove(seat(random)),
        3 => Act::Timeout(seat(random)),
        4 => Act::Forfeit(seat(random)),
        5 => Act::Claim(*random.pick(&[Claim::Win, Claim::Draw])),
        6 => *random.pick(&[Act::Away, Act::Back]),
        7 => Act::Draw(step),
        8 => Act::Credit(random.bits()),
        // Of a game that is over, and of one that goes on.
        9 => return Incident { act: Act::Undo(step, Seq(random.bits() as u32)), verdict: None },
        _ => return Incident { act: Act::Undo(step, Seq(random.bits() as u32)), verdict: Some(Verdict::next(seat(random))) },
    };
    Incident { act, verdict: Some(verdict(random)) }
}

fn entry(random: &mut Random) -> Entry {
    Entry {
        seq: Seq(2 + random.below(u64::from(u32::MAX) - 2) as u32),
        time: time(random),
        actor: Actor { seat: (!random.once_in(4)).then(|| seat(random)), by: principal(random) },
        body: body(random),
        seed: random.once_in(3).then(|| Seed::new(random.bytes())),
    }
}

#[test]
fn headers_print_and_parse() {
    repeat(2000, |random| {
        let header = header(random);
        let printed = header.to_string();
        assert_eq!(Header::parse(&printed).as_ref(), Ok(&header), "{printed}");
        assert_eq!(Digest::of(printed.as_bytes()), header.digest());
        // A file has the moves that its header promises, and these are no moves of any game.
        let mut book = Book::new(Header { origin: None, ..header });
        assert_eq!(Book::parse(&book.print()).as_ref(), Ok(&book));
        for seq in 2..=2 + random.below(5) as u32 {
            let mut entry = entry(random);
            entry.seq = Seq(seq);
            book.push(entry.to_string());
        }
        let file = book.print();
        let read = Book::parse(&file).unwrap();
        assert_eq!(read, book);
        assert_eq!(read.print(), file, "one way to print");
    });
}

#[test]
fn entries_print_and_parse() {
    repeat(10_000, |random| {
        let entry = entry(random);
        let line = entry.to_string();
        assert_eq!(read_format_1(&line).as_ref(), Ok(&entry), "{line}");
    });
}

#[track_caller]
fn refused(line: &str, why: &str) {
    let error = read_format_1(line).expect_err(line);
    assert!(error.why.contains(why), "{line}: {} does not contain {why:?}", error.why);
}

#[test]
fn a_line_of_joining_has_one_form() {
    const T: &str = "2026-11-29T21:52:03.456Z";
    refused(&format!("2 {T} 0:a commit 0f"), "is not a digest");
    refused(&format!("2 {T} 0:a commit {0} key={0}", "0f".repeat(32)), "stand together");
    refused(&format!("2 {T} 0:a commit {0} key={0} sig={0}", "0f".repeat(32)), "is not a signature");
    refused(&format!("2 {T} 0:a reveal {}", "0f".repeat(15)), "16 to 64 bytes");
    refused(&format!("2 {T} 0:a reveal {}", "0F".repeat(16)), "canonical");
    refused(&format!("2 {T} 0:a reveal 0"), "is not a nonce");
    refused(&format!("2 {T} -:a absent 1,0 void=yes reason=absent"), "ascending");
    refused(&format!("2 {T} -:a absent 1 void=no reason=absent"), "one of next, win, draw=yes and void");
}

#[test]
fn a_line_of_a_live_game_has_one_form() {
    const T: &str = "2026-11-29T21:52:03.456Z";
    refused(&format!("2 {T} 0:a resign"), "one of next, win, draw=yes and void");
    refused(&format!("2 {T} 0:a resign 1 next=0"), "is not a fact");
    refused(&format!("2 {T} -:a remove 8 next=0"), "no seat 8");
    refused(&format!("2 {T} -:a timeout 01 next=0"), "is not a number");
    refused(&format!("2 {T} -:a credit -1 next=0"), "is not a number");
    refused(&format!("2 {T} 0:a draw maybe next=0"), "is no step of an offer");
    refused(&format!("2 {T} 0:a draw offer"), "one of next, win, draw=yes and void");
    refused(&format!("2 {T} 0:a claim loss next=0"), "is no request");
    refused(&format!("2 {T} 0:a undo-offer next=0"), "is not a number");
    refused(&format!("2 {T} 0:a undo-ask 2 next=0"), "is no step of an offer");
    refused(&format!("2 {T} 0:a undo-offer 2 ply=0 next=0"), "does not belong");
    refused(&format!("2 {T} 0:a undo-accept 2 ply=0 win=0 reason=line"), "\"next\" is missing");
    refused(&format!("2 {T} 0:a undo 2 ply=0 next=0 reopens=no"), "is no value of the fact");
    refused(&format!("2 {T} 0:a undo 2 ply=0 reopens=yes next=0"), "canonical");
    refused(&format!("2 {T} 0:a away next=0 skip=1"), "canonical");
    refused(&format!("2 {T} 0:a away next=0 ply=1"), "does not belong");
}

/// The terms of a header, each with what is wrong with it. The line is the first after `undo-after-end`.
#[test]
fn terms_have_one_form_and_their_bounds() {
    let wrong = |terms: &str, why: &str| {
        let text = format!("{}\n{terms}", plybook_tests::table::table().undo_after_end().header());
        let error = Header::parse(&text).expect_err(terms);
        assert!(error.why.contains(why), "{terms:?}: {error}, not {why:?}");
    };
    wrong("bot 2 random@1 1\nfallback random@1 1", "bots: stand by seat");
    wrong("bot 1 random@1 1\nbot 0 random@1 1\nfallback random@1 1", "bots: stand by seat");
    wrong("bot 0 random@1 1\nbot 0 random@1 1\nfallback random@1 1", "bots: stand by seat");
    wrong("bot 0 random@1 1", "fallback: is there exactly");
    wrong("fallback random@1 1", "fallback: is there exactly");
    wrong("clock per_move 5 bot keep", "fallback: is there exactly");
    wrong("bot 0 random@0 1\nfallback random@1 1", "version is a number from 1");
    wrong("bot 0 random@1 0\nfallback random@1 1", "1 to 1000000000 nodes");
    wrong("bot 0 random@1 1000000001\nfallback random@1 1", "1 to 1000000000 nodes");
    wrong("bot 0 Random@1 1\nfallback random@1 1", "is not a name");
    wrong("clock per_move 0 forfeit keep", "the time for a move is 1 to");
    wrong("clock per_move 31622400001 forfeit keep", "the time for a move is 1 to");
    wrong("clock fischer 5 0 skip keep", "time of their own");
    wrong("clock hourglass 5 skip keep", "is none of per_move");
    wrong("clock per_move 5 forfeit keep credit 0", "the credit is 1 to");
    wrong("absence 0 forfeit", "1 to 2592000000 milliseconds");
    wrong("absence 2592000001 forfeit", "1 to 2592000000 milliseconds");
    wrong("absence 5 vanish", "does not become of a seat");
    wrong("undo-limit 0", "undo_limit: is 1 to 200000");
    wrong("undo-limit 200001", "undo_limit: is 1 to 200000");
    wrong("abort-before 200001", "abort_before_plies: is 0 to 200000");
    wrong("close-after 0", "1 to 31622400000 milliseconds");
    wrong("close-after 31622400001", "1 to 31622400000 milliseconds");
    wrong("rematch 1234", "is not a UUID");
    wrong("undo-limit 1\nclock per_move 5 forfeit keep", "follows the header's last line");
    let nobody = plybook_tests::table::table().undo_by(UndoBy::None).header().to_string();
    assert!(Header::parse(&format!("{nobody}\nundo-limit 1")).unwrap_err().why.contains("in which somebody may undo"));
    assert!(Header::parse(&format!("{nobody}\nclose-after 5")).unwrap_err().why.contains("that may be reopened"));
}

#[test]
fn a_line_has_one_form() {
    const T: &str = "2026-11-29T21:52:03.456Z";
    let good = [
        format!("2 {T} 0:anonymous move b2 ply=1 cells=0>1:4 next=1"),
        format!("3 {T} 1:anonymous undo 2 ply=0 cells=1>0:4 next=0"),
        format!("9 {T} 0:a move c1 ply=5 cells=0>1:8 win=0 reason=line line=6+1*3;2+0*1"),
        format!("9 {T} 0:a move roll ply=5 throw=6,2 cells=0>1:4,5;2>1:7 skip=1,2 next=1"),
        format!("9 {T} 0:a move c1 ply=5 draw=yes reason=board_full seed={}", "0f".repeat(32)),
        format!("9 {T} -:a close seed={}", "0f".repeat(32)),
        format!("2 {T} 0:a given b2 ply=1 cells=0>1:4 next=1"),
        format!("2 {T} 0:a commit {}", "0f".repeat(32)),
        format!("2 {T} 0:a commit {0} key={0} sig={0}{0}", "0f".repeat(32)),
        format!("4 {T} 1:a reveal {}", "0f".repeat(16)),
        format!("5 {T} 0:a reveal {} next=0", "0f".repeat(64)),
        format!("3 {T} -:a absent 0,1 void=yes reason=absent seed={}", "0f".repeat(32)),
    ];
    for line in &good {
        assert_eq!(read_format_1(line).unwrap().to_string(), *line);
    }
    refused("", "is not a number");
    refused(&format!("1 {T} 0:a close"), "numbered from 2");
    refused(&format!("02 {T} 0:a close"), "is not a number");
    refused(&format!("+2 {T} 0:a close"), "is not a number");
    refused(&format!("4294967296 {T} 0:a close"), "too large");
    refused("2 2026-02-30T00:00:00.000Z 0:a close", "is not a time");
    refused(&format!("2 {T} 8:a close"), "no seat 8");
    refused(&format!("2 {T} 0 close"), "is not an actor");
    refused(&format!("2 {T} 0:ä close"), "is not a principal");
    refused(&format!("2 {T} 0: close"), "is not a principal");
    refused(&format!("2 {T} 0:a vanish"), "argument is missing");
    refused(&format!("2 {T} 0:a vanish now"), "is no request");
    refused(&format!("2 {T} 0:a close now"), "is not a fact");
    refused(&format!("2 {T} 0:a close "), "is not a fact");
    refused(&format!("2 {T} 0:a move b2"), "\"ply\" is missing");
    refused(&format!("2 {T} 0:a move b2 ply=1"), "one of next, win, draw=yes and void");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 draw=yes reason=line"), "one of next, win, draw=yes and void");
    refused(&format!("2 {T} 0:a move b2 ply=1 draw=no reason=line"), "one of next, win, draw=yes and void");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0"), "\"reason\" is missing");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 reason=Line"), "is not a reason");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=1,0 reason=line"), "ascending");
    refused(&format!("2 {T} 0:a move b2 ply=1 win= reason=line"), "is not a number");
    refused(&format!("2 {T} 0:a move b2 ply=1 next=1 next=0"), "does not belong");
    refused(&format!("2 {T} 0:a move b2 ply=1 next=1 reason=line"), "does not belong");
    refused(&format!("2 {T} 0:a move b2 next=1 ply=1"), "canonical");
    refused(&format!("2 {T} 0:a move b2 ply=1 throw= next=1"), "is not a number");
    refused(&format!("2 {T} 0:a move b2 ply=1 throw=256 next=1"), "too large");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>0:4 next=1"), "changes nothing");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>1:4,4 next=1"), "not in order");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>1:5,4 next=1"), "not in order");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=1>2:3;0>1:4 next=1"), "not in order");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>1:3;0>1:4 next=1"), "canonical");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>1:3;1>2:3 next=1"), "not in order");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells= next=1"), "is not a group of cells");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 reason=line line=6+0*3"), "is not a run");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 reason=line line=6+1*0"), "is not a run");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 reason=line line=6+1*4000000000"), "is not a run");
    refused(&format!("2 {T} 0:a move b2 ply=1 win=0 reason=line line="), "is not a run");
    refused(&format!("2 {T} 0:a close seed={}", "0F".repeat(32)), "is not a seed");
    refused(&format!("2 {T} 0:a close seed=00"), "is not a seed");
    refused(&format!("2 {T} 0:a undo 02 ply=0 next=0"), "is not a number");
    refused(&format!("2 {T} 0:a move {} ply=1 next=1", "m".repeat(33)), "1 to 32 bytes");
    refused(&format!("2 {T} 0:a move  ply=1 next=1"), "1 to 32 bytes");
    refused(&format!("2 {T} 0:a move b\u{2028} ply=1 next=1"), "1 to 32 bytes");
    refused(&format!("2 {T} 0:a move b2 ply=1 cells=0>1:{} next=1", "1,".repeat(1500)), "longer than 2400 bytes");
}

#[test]
fn printed_forms_differ_where_entries_differ() {
    repeat(2000, |random| {
        let (a, b) = (entry(random), entry(random));
        assert_eq!(a == b, a.to_string() == b.to_string());
    });
}

#[track_caller]
fn header_refused(line: usize, from: &str, to: &str, why: &str) {
    let text = plybook_tests::table::table().header().to_string().replacen(from, to, 1);
    let error = Header::parse(&text).expect_err(to);
    assert!(error.why.contains(why) && error.line == line, "{error}, not line {line} {why:?}");
}

#[test]
fn a_header_has_one_form() {
    header_refused(1, "plybook 1", "plybook 2", "says that the book is of format 2; this build reads format 1");
    header_refused(1, "plybook 1", "plybook 01", "is not a number");
    header_refused(1, "plybook 1", "plybok 1", "is not the field \"plybook\"");
    header_refused(2, "game 1", "game 9g", "is not a UUID");
    header_refused(2, "9abc-4def", "9ABC-4DEF", "canonical");
    header_refused(3, "created 2026-01-01T", "created 2026-01-01t", "is not a time");
    header_refused(4, "by anonymous", "by nobody at all", "is not a principal");
    header_refused(4, "by anonymous", "for anonymous", "is not the field \"by\"");
    header_refused(5, "mnk@1", "mnk@0", "versions begin with 1");
    header_refused(5, "mnk@1", "mnk", "version is missing");
    header_refused(5, "mnk@1", "Mnk@1", "is not a name");
    header_refused(6, "param cols 3", "param cols 03", "is not an integer");
    header_refused(6, "param cols 3", "param cols -0", "is not an integer");
    header_refused(6, "param cols 3", "param cols 9223372036854775808", "is not an integer");
    header_refused(6, "param cols 3", "param cols [1,,2]", "is not an integer");
    header_refused(6, "param cols 3", "param cols yes", "is not an integer");
    header_refused(6, "param cols 3", "param cols", "the value is missing");
    header_refused(6, "param cols 3", "param cols ", "is not an integer");
    header_refused(6, "param cols 3", "param cols \"x", "closing quotation mark");
    header_refused(6, "param cols 3", "param cols \"x\" y", "follows the value");
    header_refused(6, "param cols 3", "param cols \"\\x\"", "neither");
    header_refused(6, "param cols 3", "param cols \"\t\"", "control character");
    header_refused(7, "param early_draw", "param cols", "occurs twice");
    header_refused(6, "param cols", "param zols", "canonical");
    header_refused(12, "seat 0", "seat 1", "seat 0 is expected");
    header_refused(13, "seat 1", "seat 8", "no seat 8");
    header_refused(13, "\"O\"", "\"X\"", "is taken");
    header_refused(13, "\"O\" \"player-1\"", "\"O\"", "player is missing");
    header_refused(13, "\"player-1\"", "\"player-1\" ", "follows the player");
    header_refused(14, "commitment ", "commitment 0", "is not a digest");
    header_refused(15, "seed-from caller", "seed-from heaven", "is not a value");
    header_refused(16, "hmac-sha256/1", "hmac-sha256/2", "is not \"dice");
    header_refused(17, "undo free", "undo anyone", "is not a value");
    header_refused(18, "undo-over-throw no", "undo-over-throw maybe", "is not a value");
    header_refused(20, "undo-after-end no", "undo-after-end no\nmore", "follows the header's last line");
    header_refused(20, "undo-after-end no", "undo-after-end no\n", "follows the header's last line");
}
