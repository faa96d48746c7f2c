#!/usr/bin/env python3
"""A second verifier of Plybook's books. It knows what proto/book-format.md says and nothing else.

    python3 tests/verifier/verify.py FILE.ply ...                checks each file; exit code 1 if one of them is wrong
    python3 tests/verifier/verify.py --json FILE.ply ...         the same, one JSON object a line
    python3 tests/verifier/verify.py --public-key "ID HEX" ...   the same, and one of these keys must have signed each file
    python3 tests/verifier/verify.py --dice SEED SEATS DICE SIDES COUNT    the first throws of a seed, seats in turn

It needs Python 3.9 and its standard library. It shares no code with Plybook, so that the two check each other.
A wrong book is told by its first fault, `FILE: line L, entry N: why`; lines count from 1, the header is entry 1,
and the trailer belongs to no entry (`entry -`).

Checked: how every line is printed, numbering, times, the chain of digests and the trailer; that moves come from the
seat whose turn it is and undos from whom the header allows; that plies count up, that an undo names a standing move,
gives the turn back to its seat and changes the cells back; that cells held what a change says they held; that the book
ends when it closes, with the seed behind the commitment; and every die of every throw, also of moves taken back, but not
of moves that the game was given. Of nonces: their order, their times, each against its commitment, the signatures of seats;
of absences: when, who, and what becomes of the game.

Not checked, because it takes the rules of the game: whether a move was legal and changed the right cells, who is next,
whether a move had to throw, who has won and why, and the parameters. `plybook verify` knows the rules and checks them too.
The signature over the head is checked where its public key is given.
"""

import hashlib
import hmac
import json
import re
import sys
from datetime import datetime, timedelta

# --- section 1: characters -------------------------------------------------------------------------------------------

MOST = 2400  # bytes of a header, and of an entry
NUMBER = r"(?:0|[1-9][0-9]{0,9})"
INT = r"(?:0|-?[1-9][0-9]{0,18})"
HEX64 = r"[0-9a-f]{64}"
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"
QUOTED = rf'"(?:[^"\\{CONTROL}]|\\["\\])*"'
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
PRINCIPAL = r"[A-Za-z0-9._@/+-]{1,64}"
NAME = r"[a-z][a-z0-9_]{0,31}"

# --- section 2: the header's lines in their order; `param` and `seat` repeat -----------------------------------------

HEADER = [
    ("plybook", r"1"),
    ("game", UUID),
    ("created", rf"(?P<time>{TIME})"),
    ("by", rf"(?P<creator>{PRINCIPAL})"),
    ("ruleset", rf"{NAME}@(?P<version>[1-9][0-9]{{0,9}})"),
    ("param", rf"(?P<name>{NAME}) (?P<value>{INT}|true|false|{QUOTED}|\[(?:{INT}(?:,{INT})*)?\])"),
    ("seat", rf"(?P<seat>{NUMBER}) (?P<mark>{QUOTED}) (?P<player>{QUOTED})"),
    ("commitment", rf"(?P<commitment>{HEX64})"),
    ("seed-from", r"service|caller"),
    ("dice", r"hmac-sha256/1"),
    ("undo", r"(?P<by>none|own_last_move|free)"),
    ("undo-over-throw", r"(?P<throw>yes|no)"),
    ("undo-after-end", r"(?P<end>yes|no)"),
    ("origin", rf"{UUID} (?P<at>{NUMBER}) {HEX64} (?P<given>{NUMBER})"),
    ("entropy", rf"joint (?P<seconds>{NUMBER}) (?P<absent>abort|forfeit)"),
    ("receipts", r"always"),
]
REPEATED, OPTIONAL = ("param", "seat"), ("origin", "entropy", "receipts")

# --- section 3: an entry, and its facts in their order ---------------------------------------------------------------

ENTRY = re.compile(
    rf"(?P<seq>{NUMBER}) (?P<time>{TIME}) (?P<seat>{NUMBER}|-):(?P<by>{PRINCIPAL}) "
    rf"(?:(?P<close>close)|(?P<ask>[a-z]+) (?P<what>[^ {CONTROL}]+))(?P<facts>(?: .*)?)"
)
LIST = rf"{NUMBER}(?:,{NUMBER})*"
GROUP = rf"{NUMBER}>{NUMBER}:{LIST}"
RUN = rf"{NUMBER}\+{NUMBER}\*{NUMBER}"
NOTATION = rf"[^ {CONTROL}]+"
ASKS = {
    "given": NOTATION,
    "commit": HEX64,
    "reveal": r"(?:[0-9a-f]{2}){16,64}",
    "absent": LIST,
    "move": NOTATION,
    "undo": NUMBER,
}
FACTS = {
    "key": HEX64,
    "sig": HEX64 + HEX64,
    "ply": NUMBER,
    "throw": LIST,
    "cells": rf"{GROUP}(?:;{GROUP})*",
    "skip": LIST,
    "next": NUMBER,
    "win": LIST,
    "draw": r"yes",
    "void": r"yes",
    "reason": NAME,
    "line": rf"{RUN}(?:;{RUN})*",
    "seed": HEX64,
}


class Wrong(Exception):
    """Why a book is wrong; the line and the entry, where they are not the ones being read."""

    def __init__(self, why, line=None, entry=None):
        super().__init__(why)
        self.why, self.line, self.entry = why, line, entry


def check(condition, why):
    if not condition:
        raise Wrong(why)


def number(text):
    check(int(text) < 2**32, f"{text} is too large")
    return int(text)


def numbers(text):
    return [number(one) for one in text.split(",")]


def size(quoted):
    """Bytes of a quoted text, without quotation marks and escapes."""
    return len(re.sub(r"\\(.)", r"\1", quoted[1:-1]).encode())


def ascending(values):
    return all(one < two for one, two in zip(values, values[1:]))


# --- section 6: dice -------------------------------------------------------------------------------------------------


def commitment(seed):
    return hashlib.sha256(b"plybook-seed/1" + seed).hexdigest()


def throw(seed, nonces, draw, seat, dice, sides):
    nonces = hashlib.sha256(b"".join(len(nonce).to_bytes(2, "big") + nonce for nonce in nonces)).digest()
    limit = 2**64 // sides * sides
    faces = []
    for die in range(dice):
        value, retry = limit, 0
        while value >= limit:
            counted = draw.to_bytes(8, "big") + b"".join(number.to_bytes(2, "big") for number in (seat, die, retry))
            value = int.from_bytes(hmac.new(seed, b"plybook-dice/1" + counted + nonces, hashlib.sha256).digest()[:8], "big")
            retry += 1
        faces.append(value % sides + 1)
    return faces


# --- Ed25519, RFC 8032, points as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z ---------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(one, two):
    a, b = (one[1] - one[0]) * (two[1] - two[0]), (one[1] + one[0]) * (two[1] + two[0])
    c, d = 2 * one[3] * two[3] * D, 2 * one[2] * two[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(number, one):
    sum = (0, 1, 1, 0)
    while number:
        sum, one, number = add(sum, one) if number & 1 else sum, add(one, one), number >> 1
    return sum


def point(data):
    """The point behind 32 bytes, if it has one and its order is not small."""
    y = int.from_bytes(data, "little") & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    x = x if x & 1 == data[31] >> 7 else P - x
    found = (x, y, 1, x * y % P)
    return found if y < P and x * x % P == square and times(8, found)[0] else None


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def signed(key, message, signature):
    """Whether the signature is the key's, by section 5's strict reading."""
    a, r, s = point(key), point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = times(s, BASE), add(r, times(k, a))
    return all((left[at] * right[2] - right[at] * left[2]) % P == 0 for at in (0, 1))


# --- the book as it grows --------------------------------------------------------------------------------------------


class Book:
    """What stands after the entries read so far."""

    def __init__(self):
        self.params, self.marks, self.rule = {}, [], {}
        self.header_digest = b""
        self.time, self.now = "", 0  # the last entry's, as text and in milliseconds
        self.given = 0  # how many moves the game begins with
        self.due = None  # until when the seats may commit, then reveal; None where no nonces are asked for
        self.commits, self.nonces = {}, {}  # by seat
        self.standing = []  # the moves not taken back: (entry, seat, changes, whether it threw)
        self.throws = []  # every throw, also those taken back: (line, entry, draw, seat, faces)
        self.cells = {}  # what is known of the board: a cell is known from its first change on
        self.next = None  # the seat to move; None before the first move, and when nobody is
        self.finished = self.closed = False

    def at(self, time):
        try:
            since = datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ") - datetime(1970, 1, 1)
        except ValueError:
            raise Wrong(f"{time} is no time of the calendar") from None
        check(time >= "1970", f"{time} is before 1970")
        check(time[17:19] < "60", f"{time} has a second too many")
        check(time >= self.time, f"{time} is earlier than the time before it, {self.time}")
        self.time, self.now = time, since // timedelta(milliseconds=1)

    def seat(self, number):
        check(number < len(self.marks), f"nobody sits at {number}")
        return number

    def header(self, key, text):
        """One line of the header."""
        found = re.fullmatch(f"{key} (?:{dict(HEADER)[key]})", text)
        check(found, f"this is not printed as a line `{key}` of a header")
        fields = found.groupdict()
        if key == "created":
            self.at(fields["time"])
            self.created = fields["time"]
        elif key == "param":
            check(not self.params or max(self.params) < fields["name"], "parameters do not ascend by name")
            self.params[fields["name"]] = fields["value"]
            ints = [] if fields["value"].startswith('"') else re.findall(INT, fields["value"])
            check(all(-(2**63) <= int(one) < 2**63 for one in ints), "an int has more than 64 bits")
        elif key == "seat":
            check(int(fields["seat"]) == len(self.marks) < 8, f"this should be seat {len(self.marks)}, and there are at most 8")
            check(fields["mark"] not in self.marks, "marks are distinct")
            check(1 <= size(fields["mark"]) <= 16, "a mark has 1 to 16 bytes")
            check(not re.search(r"\s", fields["mark"]) and fields["mark"] != '"."', "a mark has no white space and is not the full stop")
            check(size(fields["player"]) <= 64, "a player has at most 64 bytes")
            self.marks.append(fields["mark"])
        elif key == "ruleset":
            number(fields["version"])
        elif key == "origin":
            self.given = number(fields["given"])
            check(self.given < number(fields["at"]), "fewer moves stand at an entry than its number")
            check(self.given <= 100000, "a fork begins with at most 100000 moves")
        elif key == "entropy":
            self.rule.update(fields)
            check(1 <= int(fields["seconds"]) <= 2592000, "a step of joining has 1 to 2592000 seconds")
            self.due = self.now + 1000 * int(fields["seconds"])
        else:
            self.rule.update(fields)
            contradicts = self.rule.get("by") == "none" and "yes" in (self.rule.get("throw"), self.rule.get("end"))
            check(not contradicts, "where nobody may undo, nothing is undone over a throw or after the end")

    def entry(self, seq, text, line):
        """One entry; `line` is where it stands in the file."""
        check(not self.closed, "nothing follows the entry that carries `seed`")
        found = ENTRY.fullmatch(text)
        ask = found and (found["close"] or found["ask"])
        check(found and (ask == "close" or re.fullmatch(ASKS.get(ask, "(?!)"), found["what"])), "this is not printed as an entry")
        check(len(text.encode()) <= MOST, f"an entry has at most {MOST} bytes")
        check(ask not in ("given", "move") or len(found["what"].encode()) <= 32, "a notation has at most 32 bytes")
        check(int(found["seq"]) == seq, f"this should be entry {seq}")
        check(seq <= 200000 or ask == "close", "a game has at most 200000 entries")
        self.at(found["time"])
        actor = None if found["seat"] == "-" else self.seat(number(found["seat"]))
        check((actor is None) == (ask in ("absent", "close")), "an absence and a close are nobody's at the table, all else is a seat's")
        check((ask == "given") == (len(self.standing) < self.given), f"the game begins with {self.given} given moves and has no others")
        facts = parse_facts(found["facts"])
        header = (self.created, self.rule["creator"])
        check(ask != "given" or (found["time"], found["by"]) == header, "a given move has the time and the principal of the header")
        if ask in ("given", "move"):
            self.move(ask, seq, actor, facts, line)
        elif ask == "undo":
            self.undo(actor, number(found["what"]), facts)
        elif ask == "close":
            check(self.finished, "only a finished game can be closed")
            check(set(facts) == {"seed"}, "`close` carries `seed` and nothing else")
        else:
            self.join(ask, actor, found["what"], facts)
        if "seed" in facts:
            self.close(bytes.fromhex(facts["seed"]))

    def joined(self):
        return self.due is None or len(self.nonces) == len(self.marks)

    def join(self, ask, seat, what, facts):
        """A commit, a reveal or an absence."""
        check(not self.joined(), "no nonces are asked for, or all are in")
        done = self.nonces if len(self.commits) == len(self.marks) else self.commits
        if ask == "absent":
            return self.absent(numbers(what), [seat for seat in range(len(self.marks)) if seat not in done], facts)
        check(done is (self.commits if ask == "commit" else self.nonces), "first every seat commits, then every seat reveals")
        check(seat not in done, f"seat {seat} has done so before")
        check(self.now <= self.due, "the time for this step was over")
        bytes_of_seat = self.header_digest + seat.to_bytes(2, "big")
        if ask == "commit":
            check(set(facts) in (set(), {"key", "sig"}), "a commit carries `key` and `sig`, or nothing")
            key, sig = (bytes.fromhex(facts.get(name, "")) for name in ("key", "sig"))
            signs = not key or signed(key, b"plybook-commit/1" + bytes_of_seat + bytes.fromhex(what), sig)
            check(signs, "the signature is not that of the seat's key over this commitment")
            done[seat] = what
            if len(done) == len(self.marks):
                self.due = self.now + 1000 * int(self.rule["seconds"])
        else:
            done[seat] = bytes.fromhex(what)
            promised = hashlib.sha256(b"plybook-nonce/1" + bytes_of_seat + done[seat]).hexdigest()
            check(promised == self.commits[seat], "the nonce is not the one that the seat has committed to")
            check(set(facts) == ({"next"} if self.joined() else set()), "the last reveal carries `next`, the others nothing")
            if self.joined():
                check(self.next in (None, int(facts["next"])), f"it is the turn of seat {self.next}")
                self.next = self.seat(int(facts["next"]))

    def absent(self, seats, missing, facts):
        check(seats == missing, f"absent are {missing}")
        check(self.now == self.due, "an absence is stamped with the end of the time for its step")
        present = [str(seat) for seat in range(len(self.marks)) if seat not in missing]
        ends = {"win": ",".join(present)} if present and self.rule["absent"] == "forfeit" else {"void": "yes"}
        seed = {"seed": facts.get("seed")}
        check(facts == {**ends, "reason": "absent", **seed}, f"an absence carries here {ends}, the reason `absent` and `seed`")

    def move(self, ask, seq, actor, facts, line):
        check(not self.finished, "a move after the end")
        check(ask == "given" or self.joined(), "a move before every nonce is in")
        check(not {"key", "sig", "void"} & set(facts), "a move carries no `key`, `sig` and `void`")
        check(ask == "move" or "next" in facts, "a given move does not end the game")
        check(self.next in (None, actor), f"it is the turn of seat {self.next}")
        check(sum(key in facts for key in ("next", "win", "draw")) == 1, "a move has one of `next`, `win`, `draw`")
        check(("reason" in facts) == ("next" not in facts), "`reason` goes with `win` or `draw`")
        check("line" not in facts or "reason" in facts, "`line` goes with `win` or `draw`")
        ends = "next" not in facts
        check(("seed" in facts) == (ends and self.rule["end"] == "no"), "a move carries `seed` when it closes the game, and only then")
        if "throw" in facts:
            self.throw(ask, seq, actor, numbers(facts["throw"]), line)
        if "skip" in facts:
            skipped = [self.seat(seat) for seat in numbers(facts["skip"])]
            check(ascending(skipped), "skipped seats do not ascend")
        if "win" in facts:
            winners = [self.seat(seat) for seat in numbers(facts["win"])]
            check(ascending(winners), "winning seats do not ascend")
        check_line(facts.get("line"))
        changes = self.change(facts)
        self.standing.append((seq, actor, changes, "throw" in facts))
        self.turn(facts)
        self.finished = ends

    def undo(self, actor, target, facts):
        check(set(facts) - {"cells"} == {"ply", "next"}, "an undo carries `ply`, `cells`, `next` and nothing else")
        kept = [move for move in self.standing if move[0] < target]
        taken = self.standing[len(kept) :]
        check(taken and taken[0][0] == target, f"{target} is no standing move")
        check(len(kept) >= self.given, "nobody takes given moves back")
        check(len(taken) <= 100, "one undo takes back at most 100 moves")
        check(self.rule["by"] != "none", "this book allows no undo")
        own = all(seat == actor for _, seat, _, _ in taken)
        check(own or self.rule["by"] == "free", "this book allows nobody to take back another seat's move")
        check(self.rule["throw"] == "yes" or not any(threw for *_, threw in taken), "this book allows no undo over a throw")
        before = dict(self.cells)
        for _, _, changes, _ in reversed(taken):
            before.update({cell: change[0] for cell, change in changes.items()})
        net = {cell: (now, before[cell]) for cell, now in self.cells.items() if before[cell] != now}
        check(self.change(facts) == net, "the cells do not change back to what they held before the move taken back")
        self.standing = kept
        self.turn(facts)
        check(self.next == taken[0][1], f"the turn goes back to seat {taken[0][1]}")
        self.finished = False

    def throw(self, ask, seq, actor, faces, line):
        dice, sides = (self.params.get(name, "") for name in ("dice", "sides"))
        check(dice.isdigit() and sides.isdigit() and int(sides) > 0, "a throw under a ruleset without `dice` and `sides`")
        check(len(faces) == int(dice), f"a throw has {dice} dice")
        check(all(1 <= face <= min(int(sides), 255) for face in faces), f"a die has {sides} sides")
        draw = sum(threw for *_, threw in self.standing)
        if ask == "move":
            self.throws.append((line, seq, draw, actor, faces))

    def change(self, facts):
        """Applies `cells`, and gives them as {cell: (before, after)}."""
        changes, groups = {}, []
        for group in facts["cells"].split(";") if "cells" in facts else []:
            contents, cells = group.split(":")
            before, after = map(number, contents.split(">"))
            groups.append((before, after))
            check(before != after, f"cells go from {before} to {after}")
            check(max(before, after) < 2 ** len(self.marks), f"{contents} is no content for these seats")
            check(ascending(numbers(cells)), "cells do not ascend")
            for cell in numbers(cells):
                check(cell not in changes, f"cell {cell} changes twice")
                check(self.cells.get(cell, before) == before, f"cell {cell} held {self.cells.get(cell)}, not {before}")
                changes[cell] = (before, after)
        check(ascending(groups), "groups of cells do not ascend")
        self.cells.update({cell: after for cell, (_, after) in changes.items()})
        return changes

    def turn(self, facts):
        check(int(facts.get("ply", -1)) == len(self.standing), f"`ply` should be {len(self.standing)}")
        self.next = self.seat(int(facts["next"])) if "next" in facts else None

    def close(self, seed):
        check(commitment(seed) == self.rule["commitment"], "the seed is not the one behind the commitment")
        nonces = [self.nonces.get(seat, b"") for seat in range(len(self.marks))]
        for line, entry, draw, seat, faces in self.throws:
            drawn = throw(seed, nonces, draw, seat, len(faces), int(self.params["sides"]))
            if drawn != faces:
                raise Wrong(f"the throw shows {faces}, but the seed gives {drawn}", line, entry)
        self.closed = True


def parse_facts(text):
    facts, order = {}, list(FACTS)
    for token in text.split(" ")[1:]:
        key, equals, value = token.partition("=")
        check(equals and key in order, f"{token!r} is no fact, or not in order")
        check(re.fullmatch(FACTS[key], value), f"`{key}` is not printed as it should be")
        facts[key] = value
        order = order[order.index(key) + 1 :]
    return facts


def check_line(line):
    for run in line.split(";") if line else []:
        first, step, count = map(number, re.split(r"[+*]", run))
        check(count > 0 and (step == 0) == (count == 1), f"{run} is no run of cells")
        check(first <= 1000000 and step <= 2000 and count <= 1000, f"{run} is too large a run of cells")


# --- section 5: the file ---------------------------------------------------------------------------------------------


class Lines:
    """A file line by line, so that bytes that are no text are told where they stand."""

    def __init__(self, data):
        self.rest, self.number = data.split(b"\n"), 0
        self.rest.reverse()

    def take(self):
        self.number += 1
        line = self.rest.pop()
        check(self.rest, "this line does not end" if line else "the file ends here")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            raise Wrong("this is not UTF-8") from None
        check(not re.search(f"[{CONTROL}]", text), "a control character")
        return text

    def begins(self, word):
        """Whether the next line is a whole one that begins so."""
        return len(self.rest) > 1 and self.rest[-1].startswith(word)


def read(lines, book, keys, at):
    """Reads a whole file into `book`; `at` is told the entry that is being read."""
    text = []
    for key, _ in HEADER:
        while key not in REPEATED + OPTIONAL or lines.begins(key.encode() + b" "):
            text.append(lines.take())
            book.header(key, text[-1])
            if key not in REPEATED:
                break
        check(key != "seat" or book.marks, "a header has at least one seat")
    header = "\n".join(text).encode()
    check(len(header) <= MOST, f"a header has at most {MOST} bytes")
    book.header_digest = digest = hashlib.sha256(header).digest()
    check(lines.take() == f"= {digest.hex()}", "this is not the digest of the header")
    while not lines.begins(b"end "):
        at[0] += 1
        line = lines.take()
        book.entry(at[0], line, lines.number)
        digest = hashlib.sha256(digest + line.encode()).digest()
        check(lines.take() == f"= {digest.hex()}", "this is not the digest of the entry")
    entries, at[0] = at[0], None
    check(lines.take() == f"end {entries} {digest.hex()}", "this is not the trailer of this book")
    head = b"plybook-head/1" + bytes.fromhex(text[1][5:].replace("-", "")) + entries.to_bytes(4, "big") + digest
    signature = read_signature(lines, head, keys)
    check(lines.rest == [b""], "something follows the trailer")
    if len(book.standing) < book.given:
        raise Wrong(f"the game begins with {book.given} given moves, and this one is missing", entry=entries + 1)
    state = "closed" if book.closed else "finished" if book.finished else "going on"
    dice = "no throws" if not book.throws else "every die checked" if book.closed else "dice not checked: no seed yet"
    found = {"verified": True, "entries": entries, "moves": len(book.standing), "state": state, "dice": dice, "digest": digest.hex()}
    return {**found, "signature": signature}


def read_signature(lines, head, keys):
    """The line below the trailer, if there is one, and who signed."""
    if not lines.begins(b"signed "):
        check(not keys, "none of the keys given has signed this book")
        return "not signed"
    found = re.fullmatch(rf"signed ([0-9a-f]{{16}}) ({HEX64}{HEX64})", lines.take())
    check(found, "this is not printed as a signature")
    check(not keys or found[1] in keys, "none of the keys given has signed this book")
    check(not keys or signed(keys[found[1]], head, bytes.fromhex(found[2])), f"this is not the signature of key {found[1]}")
    return f"signed by {found[1]}" if keys else "signature not checked: no public key given"


def verify(data, keys):
    """What a file's bytes say: a dictionary whose `verified` is True or False."""
    lines, at = Lines(data), [1]
    try:
        return read(lines, Book(), keys, at)
    except Wrong as wrong:
        return {"verified": False, "line": wrong.line or lines.number, "entry": wrong.entry or at[0], "why": wrong.why}


def verify_file(name, keys):
    try:
        with open(name, "rb") as file:
            return verify(file.read(), keys)
    except OSError as error:
        return {"verified": False, "line": None, "entry": None, "why": f"cannot be read: {error.strerror}"}


def public_key(text):
    """A public key by its id, as `plybook keys` prints it."""
    found = re.fullmatch(rf"([0-9a-f]{{16}}) ({HEX64})", text)
    key = bytes.fromhex(found[2]) if found else b""
    if not found or hashlib.sha256(key).hexdigest()[:16] != found[1] or point(key) is None:
        sys.exit(f"{text!r} is no public key")
    return found[1], key


def main(arguments):
    sys.stdout.reconfigure(errors="backslashreplace")
    asked = re.fullmatch(rf"--dice ({HEX64})((?: [1-9][0-9]{{0,3}}){{4}})", " ".join(arguments))
    if asked:
        seed, (seats, dice, sides, count) = bytes.fromhex(asked[1]), map(int, asked[2].split())
        print(commitment(seed))
        for draw in range(count):
            print(",".join(map(str, throw(seed, [b""] * seats, draw, draw % seats, dice, sides))))
        return 0
    files, keys, rest = [], {}, iter(arguments)
    for argument in rest:
        if argument == "--public-key":
            keys.update([public_key(next(rest, ""))])
        elif argument != "--json":
            files.append(argument)
    if not files:
        print(__doc__)
        return 2
    right = True
    for name in files:
        found = verify_file(name, keys)
        right &= found["verified"]
        if "--json" in arguments:
            print(json.dumps({"file": name, **found}))
        elif found["verified"]:
            print("{}: verified, {entries} entries, {moves} moves stand, {state}, {dice}, {signature}, digest {digest}".format(name, **found))
        else:
            print("{}: line {}, entry {}: {}".format(name, found["line"] or "-", found["entry"] or "-", found["why"]))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
