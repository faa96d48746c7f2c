//! Reads one line of a book, by format 1.
//!
//! Invariant: whatever is read here is held against what the entry prints (see
//! [`super::read_format_1`]), so that two lines never give one entry.

use super::{Absent, Act, Actor, Body, Entry, Incident, Move, Reveal, Step, Undo, in_book_order};
use crate::board::{Cell, Content};
use crate::change::CellChange;
use crate::dice::Seed;
use crate::digest::{Digest, parse_hex32};
use crate::entropy::{Commit, SeatSignature};
use crate::header::Principal;
use crate::outcome::{CellRun, Outcome, Reason, Winners};
use crate::receipt::hex_array;
use crate::rules::Verdict;
use crate::seat::SeatSet;
use crate::seq::Seq;
use crate::time::Time;
use crate::{limits, scan};

pub(super) fn read(line: &str) -> Result<Entry, scan::Why> {
    if line.len() > limits::LINE_BYTES_MAX {
        return Err(format!("is longer than {} bytes", limits::LINE_BYTES_MAX));
    }
    let mut tokens = line.split(' ');
    let mut token = |what: &str| tokens.next().ok_or_else(|| format!("the {what} is missing"));
    let seq = Seq(scan::number(token("number")?)?);
    if seq <= Seq::FIRST {
        return Err("entries after the header are numbered from 2".to_owned());
    }
    let time = token("time")?;
    let time = Time::parse(time).ok_or_else(|| format!("{time:?} is not a time"))?;
    let actor = read_actor(token("actor")?)?;
    let ask = token("request")?;
    let bare = ask == "close" || Act::BARE.contains(&ask);
    let argument = if bare { "" } else { token("request's argument")? };
    let mut facts = Facts {
        pairs: tokens.map(|pair| pair.split_once('=').ok_or_else(|| format!("{pair:?} is not a fact"))).collect::<Result<_, _>>()?,
    };
    let body = match ask {
        "given" => Body::Given(read_move(argument, &mut facts)?),
        "commit" => Body::Commit(read_commit(argument, &mut facts)?),
        "reveal" => Body::Reveal(Reveal { nonce: read_nonce(argument)?, next: facts.take("next").map(scan::seat).transpose()? }),
        "absent" => Body::Absent(Absent { seats: scan::seats(argument)?, outcome: read_outcome(&mut facts)? }),
        "move" => Body::Move(read_move(argument, &mut facts)?),
        "undo" => Body::Undo(read_undo(argument, &mut facts, false)?),
        "close" => Body::Close,
        other => read_incident(other, argument, &mut facts)?,
    };
    let seed =
        facts.take("seed").map(|text| parse_hex32(text).map(Seed::new).ok_or_else(|| format!("{text:?} is not a seed"))).transpose()?;
    match facts.pairs.first() {
        Some((key, _)) => Err(format!("the fact {key:?} does not belong here")),
        None => Ok(Entry { seq, time, actor, body, seed }),
    }
}

/// The facts not yet read, in their order on the line.
struct Facts<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Facts<'a> {
    fn take(&mut self, key: &str) -> Option<&'a str> {
        let at = self.pairs.iter().position(|(have, _)| *have == key)?;
        Some(self.pairs.remove(at).1)
    }

    fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(have, _)| *have == key)
    }

    fn need(&mut self, key: &str) -> Result<&'a str, scan::Why> {
        self.take(key).ok_or_else(|| format!("the fact {key:?} is missing"))
    }
}

fn read_actor(text: &str) -> Result<Actor, scan::Why> {
    let (seat, by) = text.split_once(':').ok_or_else(|| format!("{text:?} is not an actor"))?;
    let seat = if seat == "-" { None } else { Some(scan::seat(seat)?) };
    let by = Principal::parse(by).ok_or_else(|| format!("{by:?} is not a principal"))?;
    Ok(Actor { seat, by })
}

fn read_move(notation: &str, facts: &mut Facts<'_>) -> Result<Move, scan::Why> {
    if notation.is_empty() || notation.len() > limits::NOTATION_BYTES_MAX || notation.chars().any(scan::is_control) {
        return Err(format!("a notation has 1 to {} bytes", limits::NOTATION_BYTES_MAX));
    }
    let ply = scan::number(facts.need("ply")?)?;
    let faces = facts.take("throw").map_or(Ok(Vec::new()), |text| text.split(',').map(scan::number).collect())?;
    let cells = facts.take("cells").map_or(Ok(Vec::new()), read_cells)?;
    let verdict = read_verdict(facts)?;
    Ok(Move { notation: notation.to_owned(), ply, faces, cells, verdict })
}

fn read_undo(target: &str, facts: &mut Facts<'_>, agreed: bool) -> Result<Undo, scan::Why> {
    Ok(Undo {
        target: Seq(scan::number(target)?),
        ply: scan::number(facts.need("ply")?)?,
        cells: facts.take("cells").map_or(Ok(Vec::new()), read_cells)?,
        next: scan::seat(facts.need("next")?)?,
        agreed,
        reopens: match facts.take("reopens") {
            None => false,
            Some("yes") => true,
            Some(other) => return Err(format!("{other:?} is no value of the fact \"reopens\"")),
        },
    })
}

fn read_incident(ask: &str, argument: &str, facts: &mut Facts<'_>) -> Result<Body, scan::Why> {
    let act = Act::parse(ask, argument)?.ok_or_else(|| format!("{ask:?} is no request"))?;
    if matches!(act, Act::Undo(Step::Accept, _)) && facts.has("ply") {
        return Ok(Body::Undo(read_undo(argument, facts, true)?));
    }
    let open = act.concerns_the_end() && !facts.has("next");
    let verdict = if open { None } else { Some(read_verdict(facts)?) };
    Ok(Body::Incident(Incident { act, verdict }))
}

fn read_commit(commitment: &str, facts: &mut Facts<'_>) -> Result<Commit, scan::Why> {
    let commitment = Digest::parse(commitment).ok_or_else(|| format!("{commitment:?} is not a digest"))?;
    let signed = match (facts.take("key"), facts.take("sig")) {
        (None, None) => None,
        (Some(key), Some(signature)) => Some(SeatSignature {
            key: parse_hex32(key).ok_or_else(|| format!("{key:?} is not a key"))?,
            signature: hex_array(signature).ok_or_else(|| format!("{signature:?} is not a signature"))?,
        }),
        _ => return Err("a key and a signature stand together".to_owned()),
    };
    Ok(Commit { commitment, signed })
}

fn read_nonce(text: &str) -> Result<Vec<u8>, scan::Why> {
    let nonce = hex::decode(text).map_err(|_| format!("{text:?} is not a nonce"))?;
    let sizes = limits::NONCE_BYTES_MIN..=limits::NONCE_BYTES_MAX;
    if sizes.contains(&nonce.len()) { Ok(nonce) } else { Err(format!("a nonce has {} to {} bytes", sizes.start(), sizes.end())) }
}

fn read_verdict(facts: &mut Facts<'_>) -> Result<Verdict, scan::Why> {
    Ok(match facts.take("next") {
        Some(next) => Verdict::Next { seat: scan::seat(next)?, skipped: facts.take("skip").map_or(Ok(SeatSet::EMPTY), scan::seats)? },
        None => Verdict::Finished(read_outcome(facts)?),
    })
}

fn read_outcome(facts: &mut Facts<'_>) -> Result<Outcome, scan::Why> {
    let winners = match (facts.take("win"), facts.take("draw"), facts.take("void")) {
        (Some(seats), None, None) => Winners::Seats(scan::seats(seats)?),
        (None, Some("yes"), None) => Winners::Draw,
        (None, None, Some("yes")) => Winners::Void,
        _ => return Err("there is not one of next, win, draw=yes and void=yes".to_owned()),
    };
    let reason = facts.need("reason")?;
    let reason = Reason::parse(reason).ok_or_else(|| format!("{reason:?} is not a reason"))?;
    let lines = facts.take("line").map_or(Ok(Vec::new()), |text| text.split(';').map(read_run).collect())?;
    Ok(Outcome { winners, reason, lines })
}

fn read_run(text: &str) -> Result<CellRun, scan::Why> {
    let parts = text.split_once('+').and_then(|(first, rest)| rest.split_once('*').map(|(step, count)| (first, step, count)));
    let (first, step, count) = parts.ok_or_else(|| format!("{text:?} is not a run of cells"))?;
    let run = CellRun { first: Cell(scan::number(first)?), step: scan::number(step)?, count: scan::number(count)? };
    let sides = u32::from(limits::SIDE_MAX);
    let fits =
        (1..=sides).contains(&run.count) && run.step <= 2 * sides && run.first.0 <= sides * sides && (run.step == 0) == (run.count == 1);
    if fits { Ok(run) } else { Err(format!("{text:?} is not a run of cells")) }
}

fn read_cells(text: &str) -> Result<Vec<CellChange>, scan::Why> {
    let mut cells: Vec<CellChange> = Vec::new();
    for group in text.split(';') {
        let parts = group.split_once(':').and_then(|(change, list)| change.split_once('>').map(|(before, after)| (before, after, list)));
        let (before, after, list) = parts.ok_or_else(|| format!("{group:?} is not a group of cells"))?;
        let (before, after) = (Content(scan::number(before)?), Content(scan::number(after)?));
        if before == after {
            return Err(format!("{group:?} changes nothing"));
        }
        for cell in list.split(',') {
            cells.push(CellChange { cell: Cell(scan::number(cell)?), before, after });
        }
    }
    let mut seen: Vec<Cell> = cells.iter().map(|change| change.cell).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) || in_book_order(cells.clone()) != cells {
        return Err("cells are not in order".to_owned());
    }
    Ok(cells)
}
