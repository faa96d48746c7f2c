#!/usr/bin/env python3
"""A second verifier of Plybook's books. It knows what proto/book-format.md says and nothing else.

    python3 tests/verifier/verify.py FILE.ply ...                checks each file; exit code 1 if one of them is wrong
    python3 tests/verifier/verify.py --json FILE.ply ...         the same, one JSON object a line
    python3 tests/verifier/verify.py --dice SEED SEATS DICE SIDES COUNT    the first throws of a seed, seats in turn

It needs Python 3.9 and its standard library. It shares no code with Plybook, so that the two check each other.
A wrong book is told by its first fault, `FILE: line L, entry N: why`; lines count from 1, the header is entry 1,
and the trailer belongs to no entry (`entry -`).

Checked: how every line is printed, numbering, times, the chain of digests and the trailer; that moves come from the
seat whose turn it is and undos from whom the header allows; that plies count up, that an undo names a standing move,
gives the turn back to its seat and changes the cells back; that cells held what a change says they held; that the book
ends when it closes, with the seed behind the commitment; and every die of every throw, also of moves taken back.

Not checked, because it takes the rules of the game: whether a move was legal and changed the right cells, who is next,
whether a move had to throw, who has won and why, and the parameters. `plybook verify` knows the rules and checks them too.
Nor is a signature checked, which takes Ed25519: only how its line is printed.
"""

import hashlib
import hmac
import json
import re
import sys
from datetime import datetime

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
    ("by", PRINCIPAL),
    ("ruleset", rf"{NAME}@(?P<version>[1-9][0-9]{{0,9}})"),
    ("param", rf"(?P<name>{NAME}) (?P<value>{INT}|true|false|{QUOTED}|\[(?:{INT}(?:,{INT})*)?\])"),
    ("seat", rf"(?P<seat>{NUMBER}) (?P<mark>{QUOTED}) (?P<player>{QUOTED})"),
    ("commitment", rf"(?P<commitment>{HEX64})"),
    ("seed-from", r"service|caller"),
    ("dice", r"hmac-sha256/1"),
    ("undo", r"(?P<by>none|own_last_move|free)"),
    ("undo-over-throw", r"(?P<throw>yes|no)"),
    ("undo-after-end", r"(?P<end>yes|no)"),
]

# --- section 3: an entry, and its facts in their order ---------------------------------------------------------------

ENTRY = re.compile(
    rf"(?P<seq>{NUMBER}) (?P<time>{TIME}) (?P<seat>{NUMBER}|-):{PRINCIPAL} "
    rf"(?:(?P<move>move) (?P<notation>[^ {CONTROL}]+)|(?P<undo>undo) (?P<target>{NUMBER})|(?P<close>close))(?P<facts>(?: .*)?)"
)
LIST = rf"{NUMBER}(?:,{NUMBER})*"
GROUP = rf"{NUMBER}>{NUMBER}:{LIST}"
RUN = rf"{NUMBER}\+{NUMBER}\*{NUMBER}"
FACTS = {
    "ply": NUMBER,
    "throw": LIST,
    "cells": rf"{GROUP}(?:;{GROUP})*",
    "skip": LIST,
    "next": NUMBER,
    "win": LIST,
    "draw": r"yes",
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


def throw(seed, seats, draw, seat, dice, sides):
    nonces = hashlib.sha256(b"\0\0" * seats).digest()
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


# --- the book as it grows --------------------------------------------------------------------------------------------


class Book:
    """What stands after the entries read so far."""

    def __init__(self):
        self.params, self.marks, self.rule = {}, [], {}
        self.time = ""
        self.standing = []  # the moves not taken back: (entry, seat, changes, whether it threw)
        self.throws = []  # every throw, also those taken back: (line, entry, draw, seat, faces)
        self.cells = {}  # what is known of the board: a cell is known from its first change on
        self.next = None  # the seat to move; None before the first move, and when nobody is
        self.finished = self.closed = False

    def at(self, time):
        try:
            datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ")
        except ValueError:
            raise Wrong(f"{time} is no time of the calendar") from None
        check(time >= "1970", f"{time} is before 1970")
        check(time[17:19] < "60", f"{time} has a second too many")
        check(time >= self.time, f"{time} is earlier than the time before it, {self.time}")
        self.time = time

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
        elif key == "param":
            check(not self.params or max(self.params) < fields["name"], "parameters do not ascend by name")
            self.params[fields["name"]] = fields["value"]
            ints = [] if fields["value"].startswith('"') else re.findall(INT, fields["value"])
            check(all(-(2**63) <= int(one) < 2**63 for one in ints), "an int has more than 64 bits")
        elif key == "seat":
            check(int(fields["seat"]) == len(self.marks) < 8, f"this should be seat {len(self.marks)}, and there are at most 8")
            check(fields["mark"] not in self.marks, "marks are distinct")
            check(1 <= size(fields["mark"]) <= 16, "a mark has 1 to 16 bytes")
            check(size(fields["player"]) <= 64, "a player has at most 64 bytes")
            self.marks.append(fields["mark"])
        elif key == "ruleset":
            number(fields["version"])
        else:
            self.rule.update(fields)
            contradicts = self.rule.get("by") == "none" and "yes" in (self.rule.get("throw"), self.rule.get("end"))
            check(not contradicts, "where nobody may undo, nothing is undone over a throw or after the end")

    def entry(self, seq, text, line):
        """One entry; `line` is where it stands in the file."""
        check(not self.closed, "nothing follows the entry that carries `seed`")
        found = ENTRY.fullmatch(text)
        check(found, "this is not printed as an entry")
        check(len(text.encode()) <= MOST, f"an entry has at most {MOST} bytes")
        check(len((found["notation"] or "").encode()) <= 32, "a notation has at most 32 bytes")
        check(int(found["seq"]) == seq, f"this should be entry {seq}")
        check(seq <= 200000 or found["close"], "a game has at most 200000 entries")
        self.at(found["time"])
        actor = None if found["seat"] == "-" else self.seat(number(found["seat"]))
        facts = parse_facts(found["facts"])
        if found["move"]:
            self.move(seq, actor, facts, line)
        elif found["undo"]:
            self.undo(actor, number(found["target"]), facts)
        else:
            check(actor is None, "a game is closed by nobody at the table")
            check(self.finished, "only a finished game can be closed")
            check(set(facts) == {"seed"}, "`close` carries `seed` and nothing else")
        if "seed" in facts:
            self.close(bytes.fromhex(facts["seed"]))

    def move(self, seq, actor, facts, line):
        check(not self.finished, "a move after the end")
        check(actor is not None, "a move by nobody at the table")
        check(self.next in (None, actor), f"it is the turn of seat {self.next}")
        check(sum(key in facts for key in ("next", "win", "draw")) == 1, "a move has one of `next`, `win`, `draw`")
        check(("reason" in facts) == ("next" not in facts), "`reason` goes with `win` or `draw`")
        check("line" not in facts or "reason" in facts, "`line` goes with `win` or `draw`")
        ends = "next" not in facts
        check(("seed" in facts) == (ends and self.rule["end"] == "no"), "a move carries `seed` when it closes the game, and only then")
        if "throw" in facts:
            self.throw(seq, actor, numbers(facts["throw"]), line)
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
        check(actor is not None, "an undo by nobody at the table")
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

    def throw(self, seq, actor, faces, line):
        dice, sides = (self.params.get(name, "") for name in ("dice", "sides"))
        check(dice.isdigit() and sides.isdigit() and int(sides) > 0, "a throw under a ruleset without `dice` and `sides`")
        check(len(faces) == int(dice), f"a throw has {dice} dice")
        check(all(1 <= face <= min(int(sides), 255) for face in faces), f"a die has {sides} sides")
        draw = sum(threw for *_, threw in self.standing)
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
        for line, entry, draw, seat, faces in self.throws:
            given = throw(seed, len(self.marks), draw, seat, len(faces), int(self.params["sides"]))
            if given != faces:
                raise Wrong(f"the throw shows {faces}, but the seed gives {given}", line, entry)
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


def read(lines, book, at):
    """Reads a whole file into `book`; `at` is told the entry that is being read."""
    text = []
    for key, _ in HEADER:
        repeated = key in ("param", "seat")
        while not repeated or lines.begins(key.encode() + b" "):
            text.append(lines.take())
            book.header(key, text[-1])
            if not repeated:
                break
        check(key != "seat" or book.marks, "a header has at least one seat")
    header = "\n".join(text).encode()
    check(len(header) <= MOST, f"a header has at most {MOST} bytes")
    digest = hashlib.sha256(header).digest()
    check(lines.take() == f"= {digest.hex()}", "this is not the digest of the header")
    while not lines.begins(b"end "):
        at[0] += 1
        line = lines.take()
        book.entry(at[0], line, lines.number)
        digest = hashlib.sha256(digest + line.encode()).digest()
        check(lines.take() == f"= {digest.hex()}", "this is not the digest of the entry")
    entries, at[0] = at[0], None
    check(lines.take() == f"end {entries} {digest.hex()}", "this is not the trailer of this book")
    signature = None
    if lines.begins(b"signed "):
        check(re.fullmatch(rf"signed [0-9a-f]{{16}} {HEX64}{HEX64}", lines.take()), "this is not printed as a signature")
        signature = "signature not checked"
    check(lines.rest == [b""], "something follows the signature" if signature else "something follows the trailer")
    state = "closed" if book.closed else "finished" if book.finished else "going on"
    dice = "no throws" if not book.throws else "every die checked" if book.closed else "dice not checked: no seed yet"
    found = {"verified": True, "entries": entries, "moves": len(book.standing), "state": state, "dice": dice, "digest": digest.hex()}
    return {**found, "signature": signature or "not signed"}


def verify(data):
    """What a file's bytes say: a dictionary whose `verified` is True or False."""
    lines, at = Lines(data), [1]
    try:
        return read(lines, Book(), at)
    except Wrong as wrong:
        return {"verified": False, "line": wrong.line or lines.number, "entry": wrong.entry or at[0], "why": wrong.why}


def verify_file(name):
    try:
        with open(name, "rb") as file:
            return verify(file.read())
    except OSError as error:
        return {"verified": False, "line": None, "entry": None, "why": f"cannot be read: {error.strerror}"}


def main(arguments):
    sys.stdout.reconfigure(errors="backslashreplace")
    asked = re.fullmatch(rf"--dice ({HEX64})((?: [1-9][0-9]{{0,3}}){{4}})", " ".join(arguments))
    if asked:
        seed, (seats, dice, sides, count) = bytes.fromhex(asked[1]), map(int, asked[2].split())
        print(commitment(seed))
        for draw in range(count):
            print(",".join(map(str, throw(seed, seats, draw, draw % seats, dice, sides))))
        return 0
    files = [argument for argument in arguments if argument != "--json"]
    if not files:
        print(__doc__)
        return 2
    right = True
    for name in files:
        found = verify_file(name)
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
