//! A position in few bytes: for snapshots, never for digests.
//!
//! Invariant: what is unpacked with the same rules is equal to what was packed; whatever cannot have
//! been packed is refused. Pieces take a byte each while they stand close together, vacant cells none.

use std::collections::BTreeMap;

use crate::board::{Board, Cell, Content};
use crate::outcome::{CellRun, Outcome, Reason, Winners};
use crate::packing::{Damaged, Packer, Unpacker};
use crate::position::{Position, Status, Trail};
use crate::rules::Setup;
use crate::seat::{Seat, SeatSet};

/// What half a byte holds.
const NIBBLE: u32 = 15;

impl Position {
    pub(crate) fn pack(&self, out: &mut Packer) {
        out.number(self.ply);
        out.number(self.throws);
        pack_status(&self.status, out);
        pack_board(&self.board, out);
        let registers: Vec<(usize, u32)> = self.registers.iter().copied().enumerate().filter(|(_, value)| *value != 0).collect();
        out.count(registers.len());
        let mut next = 0;
        for (index, value) in registers {
            out.count(index - next);
            out.number(value);
            next = index + 1;
        }
        if let Some(trail) = &self.trail {
            out.raw(&trail.key.to_be_bytes());
            out.count(trail.seen.len());
            for ((key, mover), times) in &trail.seen {
                out.raw(&key.to_be_bytes());
                out.number(mover.0);
                out.number(*times);
            }
        }
    }

    /// `setup` says what rules and parameters fix: sides, registers, whether repetitions count.
    pub(crate) fn unpack(setup: &Setup, seats: u8, from: &mut Unpacker<'_>) -> Result<Position, Damaged> {
        let (ply, throws) = (from.number()?, from.long()?);
        let status = unpack_status(seats, from)?;
        let board = unpack_board(Board::new(setup.board.rows(), setup.board.cols()), from)?;
        let mut registers = vec![0; setup.registers.len()];
        let mut next = 0usize;
        for _ in 0..from.count()? {
            let index = next.checked_add(from.number()?).ok_or(Damaged)?;
            *registers.get_mut(index).ok_or(Damaged)? = from.number()?;
            next = index + 1;
        }
        let trail = setup.counts_repetition.then(|| unpack_trail(seats, from)).transpose()?;
        Ok(Position { board, registers, status, seats, ply, throws, trail })
    }
}

fn pack_status(status: &Status, out: &mut Packer) {
    match status {
        Status::InProgress { to_move } => {
            out.number(0u8);
            out.number(to_move.0);
        }
        Status::Finished(outcome) => pack_outcome(outcome, out),
    }
}

/// Never begins with a 0.
pub(crate) fn pack_outcome(outcome: &Outcome, out: &mut Packer) {
    match outcome.winners {
        Winners::Void => out.number(3u8),
        Winners::Draw => out.number(1u8),
        Winners::Seats(seats) => {
            out.number(2u8);
            out.count(seats.len());
            seats.iter().for_each(|seat| out.number(seat.0));
        }
    }
    out.text(outcome.reason.as_str());
    out.count(outcome.lines.len());
    for run in &outcome.lines {
        out.number(run.first.0);
        out.number(run.step);
        out.number(run.count);
    }
}

fn unpack_status(seats: u8, from: &mut Unpacker<'_>) -> Result<Status, Damaged> {
    match unpack_outcome(seats, from)? {
        Some(outcome) => Ok(Status::Finished(outcome)),
        None => Ok(Status::InProgress { to_move: unpack_seat(seats, from)? }),
    }
}

/// Nothing where a 0 stands in its place.
pub(crate) fn unpack_outcome(seats: u8, from: &mut Unpacker<'_>) -> Result<Option<Outcome>, Damaged> {
    let winners = match from.byte()? {
        0 => return Ok(None),
        1 => Winners::Draw,
        3 => Winners::Void,
        2 => {
            let count = from.count()?;
            let winners = (0..count).map(|_| unpack_seat(seats, from)).collect::<Result<SeatSet, _>>()?;
            if winners.is_empty() {
                return Err(Damaged);
            }
            Winners::Seats(winners)
        }
        _ => return Err(Damaged),
    };
    let reason = Reason::parse(from.text()?).ok_or(Damaged)?;
    let count = from.count()?;
    let run = |_| Ok(CellRun { first: Cell(from.number()?), step: from.number()?, count: from.number()? });
    let lines = (0..count).map(run).collect::<Result<_, _>>()?;
    Ok(Some(Outcome { winners, reason, lines }))
}

fn unpack_seat(seats: u8, from: &mut Unpacker<'_>) -> Result<Seat, Damaged> {
    from.number().ok().filter(|seat| *seat < seats).map(Seat).ok_or(Damaged)
}

/// A piece is a byte: the vacant cells before it and its content, half a byte each; where that is too
/// small, the number follows.
fn pack_board(board: &Board, out: &mut Packer) {
    out.count(board.occupied().count());
    let mut next = 0;
    for (cell, content) in board.occupied() {
        let (gap, code) = (cell.0 - next, u32::from(content.0));
        let far = gap >= NIBBLE;
        let wide = code > NIBBLE;
        out.bytes.push((gap.min(NIBBLE) << 4 | if wide { 0 } else { code }) as u8);
        if far {
            out.number(gap - NIBBLE);
        }
        if wide {
            out.bytes.push(content.0);
        }
        next = cell.0 + 1;
    }
}

fn unpack_board(mut board: Board, from: &mut Unpacker<'_>) -> Result<Board, Damaged> {
    let mut next = 0u32;
    for _ in 0..from.count()? {
        let byte = u32::from(from.byte()?);
        let (near, code) = (byte >> 4, (byte & NIBBLE) as u8);
        let further = if near == NIBBLE { from.number()? } else { 0u32 };
        let cell = near.checked_add(further).and_then(|gap| next.checked_add(gap)).map(Cell).ok_or(Damaged)?;
        let content = Content(if code == 0 { from.byte()? } else { code });
        if !board.has(cell) || content.is_nothing() {
            return Err(Damaged);
        }
        board.set(cell, content);
        next = cell.0 + 1;
    }
    Ok(board)
}

fn unpack_trail(seats: u8, from: &mut Unpacker<'_>) -> Result<Trail, Damaged> {
    let key = u128::from_be_bytes(from.raw()?);
    let mut seen = BTreeMap::new();
    for _ in 0..from.count()? {
        let at = (u128::from_be_bytes(from.raw()?), unpack_seat(seats, from)?);
        let times = from.number()?;
        let ascends = seen.last_key_value().is_none_or(|(last, _)| *last < at);
        if times == 0 || !ascends {
            return Err(Damaged);
        }
        seen.insert(at, times);
    }
    Ok(Trail { key, seen })
}
