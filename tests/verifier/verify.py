#!/usr/bin/env python3
"""A second verifier of Plybook's books. It knows what proto/book-format.md says and nothing else.

    python3 tests/verifier/verify.py FILE.ply ...                checks each file; exit code 1 if one of them is wrong
    python3 tests/verifier/verify.py --json FILE.ply ...         the same, one JSON object a line
    python3 tests/verifier/verify.py --public-key "ID HEX" ...   the same, and one of these keys must have signed each file
    python3 tests/verifier/verify.py --receipts FILE --public-key "ID HEX" ...    whether one of these keys signed each receipt
    python3 tests/verifier/verify.py --dice SEED SEATS DICE SIDES COUNT    the first throws of a seed, seats in turn

It needs Python 3.9 and its standard library. It shares no code with Plybook, so that the two check each other.
A wrong book is told by its first fault, `FILE: line L, entry N: why`; lines count from 1, the header is entry 1,
and the trailer belongs to no entry (`entry -`).

Checked: how every line is printed, numbering, times, the chain of digests and the trailer; that moves come from the
seat whose turn it is and undos from whom the header allows; that plies count up, that an undo names a standing move,
gives the turn back to its seat and changes the cells back; that cells held what a change says they held; that the book
ends when it closes, with the seed behind the commitment; and every die of every throw, also of moves taken back, but not
of moves that the game was given. Of nonces: their order, their times, each against its commitment, the signatures of seats;
of absences: when, who, and what becomes of the game. Of live games: every bank and deadline to the millisecond and what settles it,
who leaves and what follows, whose turn it is, offers and their answers, who is away and for how long, who moves for whom.

Not checked, because it takes the rules of the game: whether a move was legal and changed the right cells, who is next after a move,
who can move where a turn goes on, whether a move had to throw, who has won by it and why, and the parameters; nor what bots choose. `plybook verify` knows the rules and checks them too.
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
MS = r"(?:0|[1-9][0-9]{0,10})"
LONGEST, LATEST = 31622400000, 253402300799999  # of a time span, and of a time, in milliseconds

# --- section 2: the header's lines in their order; `param`, `seat` and `bot` repeat ----------------------------------

BOT = rf"{NAME}@(?P<version>[1-9][0-9]{{0,9}}) (?P<nodes>[1-9][0-9]{{0,9}})"
PACE = rf"per_move {MS}|(?:fischer|bronstein) {MS} {MS}|byo_yomi {MS} {MS} {NUMBER}|correspondence {NUMBER}"
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
    ("undo", r"(?P<by>none|own_last_move|agreement|free)"),
    ("undo-over-throw", r"(?P<throw>yes|no)"),
    ("undo-after-end", r"(?P<end>yes|no)"),
    ("origin", rf"{UUID} (?P<at>{NUMBER}) {HEX64} (?P<given>{NUMBER})"),
    ("entropy", rf"joint (?P<seconds>{NUMBER}) (?P<absent>abort|forfeit)"),
    ("receipts", r"always"),
    ("bot", rf"(?P<seat>{NUMBER}) {BOT}"),
    ("fallback", BOT),
    ("clock", rf"(?P<pace>{PACE}) (?P<expiry>forfeit|skip|bot) (?P<undo>restore|keep)(?: credit (?P<credit>{MS}))?"),
    ("absence", rf"(?P<grace>{MS}) (?P<then>forfeit|claim_draw|claim_win)"),
    ("undo-limit", rf"(?P<limit>{NUMBER})"),
    ("abort-before", rf"(?P<abort>{NUMBER})"),
    ("close-after", rf"(?P<close>{MS})"),
    ("rematch", UUID),
]
REPEATED, OPTIONAL = ("param", "seat", "bot"), tuple(key for key, _ in HEADER[13:] if key != "bot")

# --- section 3: an entry, and its facts in their order ---------------------------------------------------------------

ENTRY = re.compile(
    rf"(?P<seq>{NUMBER}) (?P<time>{TIME}) (?P<seat>{NUMBER}|-):(?P<by>{PRINCIPAL}) "
    rf"(?:(?P<bare>close|resign|abort|away|back)|(?P<ask>[a-z]+(?:-[a-z]+)?) (?P<what>[^ {CONTROL}]+))(?P<facts>(?: .*)?)"
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
    "remove": NUMBER,
    "timeout": NUMBER,
    "forfeit": NUMBER,
    "claim": r"win|draw",
    "draw": r"offer|accept|decline|withdraw",
    "undo-offer": NUMBER,
    "undo-accept": NUMBER,
    "undo-decline": NUMBER,
    "undo-withdraw": NUMBER,
    "credit": MS,
}
NOBODYS = ("absent", "remove", "timeout", "forfeit", "credit", "close")
REASONS = {"resign": "resigned", "remove": "removed", "timeout": "timeout", "forfeit": "absent", "claim": "absent"}
FACTS = {
    "key": HEX64,
    "sig": HEX64 + HEX64,
    "ply": NUMBER,
    "throw": LIST,
    "cells": rf"{GROUP}(?:;{GROUP})*",
    "skip": LIST,
    "next": NUMBER,
    "reopens": r"yes",
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


# --- section 3, clocks and presence ----------------------------------------------------------------------------------


class Clock:
    """What every seat has left, and the turn that runs."""

    def __init__(self, pace, fields, seats, at):
        self.pace, *numbers = pace.split(" ")
        self.numbers = [int(one) for one in numbers]
        self.expiry, self.undo, self.most = fields["expiry"], fields["undo"], fields["credit"]
        least = {"per_move": [1], "fischer": [1, 0], "bronstein": [1, 0], "byo_yomi": [0, 1, 1], "correspondence": [1]}[self.pace]
        most = {"byo_yomi": [LONGEST, LONGEST, 100], "correspondence": [366]}.get(self.pace, [LONGEST, LONGEST])
        check(all(low <= one <= high for low, one, high in zip(least, self.numbers, most)), f"{pace} is out of bounds")
        check(self.most is None or 1 <= int(self.most) <= LONGEST, "a credit has 1 to 31622400000 ms")
        renews = self.pace not in ("fischer", "bronstein") or self.numbers[1] > 0
        check(self.expiry != "skip" or renews, "with `skip` every turn has time of its own")
        self.banks = [self.full() for _ in range(seats)]
        self.at, self.runs, self.credited = at, True, 0

    def full(self):
        """`ms` and `periods` at first."""
        ms = self.numbers[0] * (86400000 if self.pace == "correspondence" else 1)
        return (ms, self.numbers[2] if self.pace == "byo_yomi" else 0)

    def may_take(self, seat):
        ms, periods = self.banks[seat]
        return ms + (periods * self.numbers[1] if periods else 0)

    def deadline(self, seat):
        return min(LATEST, self.at + self.may_take(seat) + self.credited) if self.runs else None

    def ends(self, seat, at, adds):
        """The turn of this seat ends, and the next one begins."""
        if self.runs:
            used = max(0, at - self.at - self.credited)
            ms, periods = self.banks[seat]
            if self.pace == "fischer":
                ms = max(0, ms - used) + (self.numbers[1] if adds else 0)
            elif self.pace == "bronstein":
                ms = max(0, ms - max(0, used - self.numbers[1]))
            elif self.pace == "byo_yomi":
                lost = (used - ms - 1) // self.numbers[1] if used > ms else 0
                ms, periods = max(0, ms - used), max(0, periods - lost)
            self.banks[seat] = (ms, periods)
        self.at, self.runs, self.credited = at, True, 0

    def goes_back(self, banks):
        keeps = self.undo == "keep"
        self.banks = [tuple(map(min, now, then)) if keeps else then for now, then in zip(self.banks, banks)]


class Presence:
    """Who is away, and since when their graces run: None where nobody is there to wait."""

    def __init__(self, fields, people):
        self.grace, self.then = int(fields["grace"]), fields["then"]
        check(1 <= self.grace <= 2592000000, "a grace has 1 to 2592000000 ms")
        self.people, self.away, self.reports = set(people), {}, 0

    def count(self, now):
        somebody = self.people - set(self.away)
        self.away = {seat: (now if since is None else since) if somebody else None for seat, since in self.away.items()}

    def goes(self, seat, now):
        self.away[seat] = None
        self.count(now)

    def is_back(self, seat, now):
        if seat in self.away:
            del self.away[seat]
            self.count(now)

    def remain(self, people, now):
        self.people = set(people)
        self.away = {seat: since for seat, since in self.away.items() if seat in self.people}
        self.count(now)

    def begin_again(self, now):
        self.away = dict.fromkeys(self.away)
        self.count(now)

    def ends(self):
        """The ends of the graces that run, by seat."""
        return {seat: min(LATEST, since + self.grace) for seat, since in self.away.items() if since is not None}

    def over(self, now):
        return {seat for seat, end in self.ends().items() if now > end}


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
        self.standing = []  # the moves not taken back: (entry, seat, changes, whether it threw, the banks before it)
        self.throws = []  # every throw, also those taken back: (line, entry, draw, seat, faces)
        self.cells = {}  # what is known of the board: a cell is known from its first change on
        self.next = 0  # the seat to move; None when nobody is
        self.finished = self.closed = False
        self.bots, self.fallback, self.live = set(), False, set()
        self.clock = self.presence = self.terms = None
        self.undo_limit = self.abort_before = self.close_after = None
        self.stand_in, self.idle, self.undos, self.ended = False, 0, 0, None
        self.offers = {"draw": None, "undo": None}  # (seat, number, who has accepted)
        self.offered = set()  # (kind, seat): made since the position changed

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
        elif key in ("bot", "fallback"):
            check(number(fields["version"]) and number(fields["nodes"]) <= 1000000000, "a bot has 1 to 1000000000 nodes")
            self.fallback |= key == "fallback"
            if key == "bot":
                seat = self.seat(int(fields["seat"]))
                check(not self.bots or max(self.bots) < seat, "bots stand in the order of seats")
                self.bots.add(seat)
        elif key == "clock":
            self.clock = Clock(fields["pace"], fields, len(self.marks), self.now)
        elif key == "absence":
            self.presence = Presence(fields, set(range(len(self.marks))) - self.bots)
        elif key == "undo-limit":
            self.undo_limit = int(fields["limit"])
            check(1 <= self.undo_limit <= 200000 and self.rule["by"] != "none", "there are 1 to 200000 undos, where there are any")
        elif key == "abort-before":
            self.abort_before = int(fields["abort"])
            check(self.abort_before <= 200000, "a game is aborted before at most 200000 moves")
        elif key == "close-after":
            self.close_after = int(fields["close"])
            check(1 <= self.close_after <= LONGEST and self.rule["end"] == "yes", "a game that may be reopened closes after 1 ms or more")
        elif key == "entropy":
            self.rule.update(fields)
            check(1 <= int(fields["seconds"]) <= 2592000, "a step of joining has 1 to 2592000 seconds")
            self.due = self.now + 1000 * int(fields["seconds"])
        else:
            self.rule.update(fields)
            contradicts = self.rule.get("by") == "none" and "yes" in (self.rule.get("throw"), self.rule.get("end"))
            check(not contradicts, "where nobody may undo, nothing is undone over a throw or after the end")

    def begin(self):
        """What only the whole header says."""
        lets_bot_move = self.bots or (self.clock and self.clock.expiry == "bot")
        check(self.fallback == bool(lets_bot_move), "there is a fallback exactly where a bot may move")
        self.live = set(range(len(self.marks)))
        if self.clock:
            self.clock.runs = self.due is None

    def entry(self, seq, text, line):
        """One entry; `line` is where it stands in the file."""
        check(not self.closed, "nothing follows the entry that carries `seed`")
        found = ENTRY.fullmatch(text)
        ask = found and (found["bare"] or found["ask"])
        check(found and (found["bare"] or re.fullmatch(ASKS.get(ask, "(?!)"), found["what"])), "this is not printed as an entry")
        check(len(text.encode()) <= MOST, f"an entry has at most {MOST} bytes")
        check(ask not in ("given", "move") or len(found["what"].encode()) <= 32, "a notation has at most 32 bytes")
        check(int(found["seq"]) == seq, f"this should be entry {seq}")
        check(seq <= 200000 or " seed=" in found["facts"], "a game has at most 200000 entries")
        self.at(found["time"])
        actor, by = None if found["seat"] == "-" else self.seat(number(found["seat"])), found["by"]
        check(ask == "abort" or (actor is None) == (ask in NOBODYS), f"{', '.join(NOBODYS)} are nobody's at the table, all else is a seat's")
        check(actor is None or actor in self.live, f"seat {actor} has left")
        check(ask in ("given", "move", "commit", "reveal") or actor not in self.bots, f"seat {actor} is a bot's")
        check(not self.finished or ask == "close" or ask.startswith("undo"), "the game is finished")
        due = self.deadline()
        check(due is None or self.now <= due[0], "a deadline has passed, and nothing settles it")
        check((ask == "given") == (len(self.standing) < self.given), f"the game begins with {self.given} given moves and has no others")
        facts = parse_facts(found["facts"])
        header = (self.created, self.rule["creator"])
        check(ask != "given" or (found["time"], by) == header, "a given move has the time and the principal of the header")
        if ask in ("given", "move"):
            self.hand(ask, by)
            self.move(ask, seq, actor, facts, line)
        elif ask == "undo":
            check(self.rule["by"] != "agreement" or not self.others(actor), "the others have not agreed")
            self.undo(actor, number(found["what"]), facts)
        elif ask == "close":
            check(self.finished, "only a finished game can be closed")
            check(set(facts) == {"seed"}, "`close` carries `seed` and nothing else")
        elif ask in ("commit", "reveal", "absent"):
            self.join(ask, actor, found["what"], facts)
        else:
            check(self.joined() or ask == "abort", "the seats have yet to join")
            self.incident(ask, seq, actor, by, found["what"], facts, due)
        if self.presence and actor in self.live and ask != "away" and not is_service(by):
            self.presence.is_back(actor, self.now)
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
                check(self.next == int(facts["next"]), f"it is the turn of seat {self.next}")
                if self.clock:
                    self.clock.at, self.clock.runs = self.now, True

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
        check(ask == "given" or self.next == actor, f"it is the turn of seat {self.next}")
        check("reopens" not in facts, "a move carries no `reopens`")
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
            check(self.live.issuperset(skipped), "a seat that has left is skipped")
            check("next" in facts, "`skip` goes with `next`")
        if "win" in facts:
            winners = [self.seat(seat) for seat in numbers(facts["win"])]
            check(ascending(winners), "winning seats do not ascend")
            check(self.live.issuperset(winners), "a seat that has left wins")
        check_line(facts.get("line"))
        changes = self.change(facts)
        self.standing.append((seq, actor, changes, "throw" in facts, self.clock and list(self.clock.banks)))
        if self.clock and ask == "move":
            self.clock.ends(actor, self.now, True)
        self.turn(facts)
        check(ends or self.next in self.live, "the turn is of a seat that has left")
        self.finished, self.ended = ends, self.now
        self.stand_in, self.idle = False, 0
        self.offered.clear()
        self.turn_over(actor)

    def undo(self, actor, target, facts):
        must = {"ply", "next", "reopens"} if self.finished else {"ply", "next"}
        check(set(facts) - {"cells"} == must, "an undo carries `ply`, `cells`, `next`, `reopens` if it reopens, and nothing else")
        taken, kept = self.undoable(actor, target)
        before = dict(self.cells)
        for _, _, changes, *_ in reversed(taken):
            before.update({cell: change[0] for cell, change in changes.items()})
        net = {cell: (now, before[cell]) for cell, now in self.cells.items() if before[cell] != now}
        check(self.change(facts) == net, "the cells do not change back to what they held before the move taken back")
        self.standing = kept
        if self.clock:
            if not self.finished:
                self.clock.ends(self.next, self.now, False)
            self.clock.at, self.clock.runs = self.now, True
            self.clock.goes_back(taken[0][4])
        self.turn(facts)
        whose = taken[0][1]
        check(self.next == whose or (whose not in self.live and self.next in self.live), f"the turn goes back to seat {whose}")
        if self.finished and self.presence:
            self.presence.begin_again(self.now)
        self.finished, self.stand_in, self.idle = False, False, 0
        self.undos += 1
        self.offered.clear()
        self.offers = {"draw": None, "undo": None}

    def undoable(self, actor, target):
        """The moves that this seat takes back from here on, if that is allowed, and those that it leaves."""
        check(not self.finished or self.rule["end"] == "yes", "this book allows no undo after the end")
        check(self.undo_limit is None or self.undos < self.undo_limit, f"there are {self.undo_limit} undos")
        kept = [move for move in self.standing if move[0] < target]
        taken = self.standing[len(kept) :]
        check(taken and taken[0][0] == target, f"{target} is no standing move")
        check(len(kept) >= self.given, "nobody takes given moves back")
        check(len(taken) <= 100, "one undo takes back at most 100 moves")
        check(self.rule["by"] != "none", "this book allows no undo")
        own = taken[0][1] == actor and all(seat == actor or seat in self.bots for _, seat, *_ in taken)
        check(own or self.rule["by"] != "own_last_move", "this book allows nobody to take back another seat's move")
        check(self.rule["throw"] == "yes" or not any(threw for _, _, _, threw, _ in taken), "this book allows no undo over a throw")
        return taken, kept

    # --- live games

    def deadline(self):
        """The next deadline, and what it is of."""
        if self.finished:
            return self.close_after and (min(LATEST, self.ended + self.close_after), "close", None)
        if not self.joined():
            # Steps of joining say for themselves that they are too late.
            return (self.due, "absent", None)
        turn = self.clock and self.clock.deadline(self.next)
        dues = [] if turn is None else [(turn, "timeout", self.next)]
        if self.presence and self.presence.then == "forfeit":
            dues += sorted((end, "forfeit", seat) for seat, end in self.presence.ends().items())
        return min(dues, key=lambda due: due[0]) if dues else None

    def others(self, seat):
        return self.live - self.bots - {seat}

    def hand(self, ask, by):
        """Whether this principal moves for the seat whose turn it is."""
        if ask == "move" and (self.stand_in or self.next in self.bots):
            allowed = ("plybook/fallback",) if self.stand_in else ("plybook/bot", "plybook/fallback")
            check(by in allowed, f"here a move is by {' or '.join(allowed)}")
        elif ask == "move":
            check(not is_service(by), "the service moves only for bots and those whose time is over")

    def incident(self, ask, seq, actor, by, what, facts, due):
        """What is neither a move nor an undo; the facts have to be one of those that can follow."""
        if ask in ("timeout", "forfeit", "credit"):
            check(by == "plybook" and actor is None, f"`{ask}` is the service's own")
            kind = "timeout" if ask == "credit" else ask
            check(due and due[:2] == (self.now, kind), f"`{ask}` settles a deadline, and has its time")
            check(ask == "credit" or int(what) == due[2], f"the deadline is of seat {due[2]}")
        if ask.startswith("undo-"):
            check(self.rule["by"] == "agreement", "this book knows no undo by agreement")
            if self.offer(ask[5:], "undo", actor, number(what)) and "ply" in facts:
                return self.undo(self.offers["undo"][0], number(what), facts)
            check(self.offers["undo"] is None or self.offers["undo"][2] < self.others(self.offers["undo"][0]), "all have agreed to an undo")
        stays = {} if self.finished else {"next": str(self.next)}
        can_follow = [stays]
        leavers, ended = set(), {}
        if ask == "resign":
            leavers = {actor}
        elif ask in ("remove", "forfeit"):
            leavers = {number(what)}
            check(leavers <= self.live, f"seat {what} has left, or never was")
        elif ask == "timeout" and self.clock.expiry == "forfeit":
            leavers = {number(what)}
        elif ask == "claim":
            leavers = self.claim(actor, what)
            ended = {"draw": "yes", "reason": "absent"} if what == "draw" else {}
        elif ask == "abort":
            most = len(self.marks) if self.abort_before is None else self.abort_before
            check(actor is None or len(self.standing) < most, f"a seat aborts before {most} moves stand")
            ended = {"void": "yes", "reason": "aborted"}
        elif ask == "draw" and self.offer(what, "draw", actor, None):
            ended = {"draw": "yes", "reason": "agreement"}
        elif ask in ("away", "back"):
            self.report(ask, actor)
        elif ask == "credit":
            check(self.clock.most and 1 <= int(what) <= int(self.clock.most) - self.clock.credited, f"{what} ms are not to be credited")
        if ask == "timeout" and self.clock.expiry == "skip":
            self.idle += 1
            can_follow = self.goes_on(self.live, {"next": what})
            if self.idle >= 2 * len(self.live):
                can_follow = [{"void": "yes", "reason": "abandoned"}]
        elif leavers:
            can_follow = self.without(leavers, REASONS[ask])
        can_follow = [ended] if ended else can_follow
        if seq > 200000 and ask in ("timeout", "forfeit"):
            can_follow = [follows if "next" not in follows else {"void": "yes", "reason": "abandoned"} for follows in can_follow]
        seed = {key: facts[key] for key in ("seed",) if key in facts}
        check(any(facts == {**follows, **seed} for follows in can_follow), f"after this comes one of {can_follow}")
        ends = "reason" in facts
        check(("seed" in facts) == ends, "what ends a game and is no move closes it, and nothing else does")
        if not ends:
            self.go_on(ask, what, leavers, facts)

    def without(self, leavers, reason):
        """What can follow when these leave."""
        left = self.live - leavers
        if len(left) < 2:
            return [{**({"win": str(*left)} if left else {"void": "yes"}), "reason": reason}]
        if self.next in left:
            return [{"next": str(self.next)}]
        return self.goes_on(left, {"void": "yes", "reason": reason})

    def goes_on(self, among, otherwise):
        """The turn goes to the next of these who can move, whoever that is, or to nobody of them."""
        seats = [(self.next + step) % len(self.marks) for step in range(1, len(self.marks))]
        seats = [seat for seat in seats if seat in among]
        skip = [",".join(map(str, sorted(seats[:at]))) for at in range(len(seats))]
        return [{"next": str(seat), **({"skip": skip} if skip else {})} for seat, skip in zip(seats, skip)] + [otherwise]

    def go_on(self, ask, what, leavers, facts):
        """After something that is neither move nor undo, and that did not end the game."""
        before = self.next
        self.next = None if self.finished else int(facts["next"])
        if ask == "credit":
            self.clock.credited += int(what)
        elif ask == "timeout":
            self.clock.ends(before, self.now, True)
            if self.clock.expiry == "bot":
                self.clock.runs, self.stand_in = False, True
            elif self.clock.expiry == "skip":
                self.turn_over(before)
            self.offered.clear()
        elif self.next != before:
            self.stand_in = False
            if self.clock:
                self.clock.ends(before, self.now, False)
        if leavers:
            self.live -= leavers
            self.offered.clear()
            self.offers = {"draw": None, "undo": None}
            if self.presence:
                self.presence.remain(self.live - self.bots, self.now)

    def turn_over(self, seat):
        """The turn of this seat is over: what it was offered is declined by that."""
        self.offers["undo"] = None
        draw = self.offers["draw"]
        if draw and draw[0] != seat and seat not in self.bots:
            self.offers["draw"] = None

    def offer(self, step, kind, seat, what):
        """A step of an offer; whether all have agreed by it."""
        offer = self.offers[kind]
        if step == "offer":
            check(self.others(seat), "nobody is there to answer")
            check(offer is None, "an offer is open")
            check((kind, seat) not in self.offered, "the seat has made this offer since the position changed")
            if kind == "undo":
                self.undoable(seat, what)
            self.offered.add((kind, seat))
            self.offers[kind] = (seat, what, set())
            return False
        check(offer and offer[1] == what, "no such offer is open")
        check((offer[0] == seat) == (step == "withdraw"), "who makes an offer withdraws it, and others answer it")
        if step != "accept":
            self.offers[kind] = None
            return False
        check(seat not in offer[2], "the seat has accepted it before")
        offer[2].add(seat)
        return offer[2] >= self.others(offer[0])

    def report(self, ask, seat):
        check(self.presence, "this book asks nobody whether they are there")
        check((seat in self.presence.away) == (ask == "back"), "the seat is reported as it was")
        check(ask == "back" or self.presence.reports < 1000, "there were 1000 reports")
        self.presence.reports += 1
        if ask == "back":
            self.presence.is_back(seat, self.now)
        else:
            self.presence.goes(seat, self.now)

    def claim(self, seat, what):
        """Who leaves by a claim."""
        presence = self.presence
        check(presence and presence.then in ("claim_win", f"claim_{what}"), "this book gives no such claim")
        check(seat not in presence.away, "who claims is there")
        over, others = presence.over(self.now), presence.people - {seat}
        check(over if what == "win" else others and others <= over, "the graces are not over")
        return over if what == "win" else set()

    def throw(self, ask, seq, actor, faces, line):
        dice, sides = (self.params.get(name, "") for name in ("dice", "sides"))
        check(dice.isdigit() and sides.isdigit() and int(sides) > 0, "a throw under a ruleset without `dice` and `sides`")
        check(len(faces) == int(dice), f"a throw has {dice} dice")
        check(all(1 <= face <= min(int(sides), 255) for face in faces), f"a die has {sides} sides")
        draw = sum(threw for _, _, _, threw, _ in self.standing)
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


def is_service(by):
    return by.split("/")[0] == "plybook"


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
    book.begin()
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


RECEIPT = (
    rf"receipt ({UUID}) ({NUMBER}) ({HEX64}) ([0-9a-f]{{16}}) ({HEX64}{HEX64})(?: leaf ({NUMBER}) of ({NUMBER}) ({HEX64}(?:,{HEX64})*))?"
)


def root(head, index, size, path):
    """The root over so many heads, one of which stands there: RFC 9162, section 2.1.3.2."""
    check(2 <= size <= 512 and index < size, f"there is no leaf {index} of {size} heads")
    at, last, found = index, size - 1, hashlib.sha256(b"\0" + head).digest()
    for node in path:
        check(last > 0, "the path is too long")
        if at % 2 or at == last:
            found = hashlib.sha256(b"\1" + node + found).digest()
            while at % 2 == 0 and at:
                at, last = at >> 1, last >> 1
        else:
            found = hashlib.sha256(b"\1" + found + node).digest()
        at, last = at >> 1, last >> 1
    check(last == 0, "the path is too short")
    return found


def receipt(line, keys):
    """What is wrong with a receipt, or nothing."""
    try:
        found = re.fullmatch(RECEIPT, line)
        check(found and number(found[2]) > 0, "this is not printed as a receipt")
        check(found[4] in keys, f"the key {found[4]} was not given")
        signs = b"plybook-head/1" + bytes.fromhex(found[1].replace("-", "")) + number(found[2]).to_bytes(4, "big") + bytes.fromhex(found[3])
        if found[6]:
            index, size, path = number(found[6]), number(found[7]), map(bytes.fromhex, found[8].split(","))
            signs = b"plybook-heads/1" + size.to_bytes(4, "big") + root(signs, index, size, path)
        check(signed(keys[found[4]], signs, bytes.fromhex(found[5])), f"this is not the signature of key {found[4]}")
    except Wrong as wrong:
        return wrong.why
    return None


def receipts(name, keys):
    """Says of each line of a file whether it is a receipt that one of these keys signed."""
    with open(name, encoding="utf-8", newline="") as file:
        found = [receipt(line, keys) for line in file.read().removesuffix("\n").split("\n")]
    for at, why in enumerate(found):
        print(f"{name}: line {at + 1}: {why or 'right'}")
    return 1 if any(found) else 0


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
    files, keys, kept, rest = [], {}, [], iter(arguments)
    for argument in rest:
        if argument == "--public-key":
            keys.update([public_key(next(rest, ""))])
        elif argument == "--receipts":
            kept.append(next(rest, ""))
        elif argument != "--json":
            files.append(argument)
    if kept:
        return max(receipts(name, keys) for name in kept)
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
