"""A whole game of every ruleset, played over the wire by somebody who knows only the contract.

Usage: newcomer.py HOST:PORT. Prints a line a game; any surprise ends it with a traceback.
"""

import random
import sys

from contract import Refused, connect, fresh
from proof import Book

# Rulesets with something to set; every other one is played as the server describes it.
OPTIONS = {
    "connect_four": {"pop_out": {"bool_value": True}},
    "gomoku": {"size": {"int_value": 9}},
    "mnk": {"rows": {"int_value": 4}, "cols": {"int_value": 4}, "k": {"int_value": 4}},
    "othello": {"size": {"int_value": 6}},
    "snakes_and_ladders": {"size": {"int_value": 30}, "jumps": {"int_list": {"values": [3, 22, 17, 4, 27, 1]}}, "edge_jumps": {"bool_value": True}},
}
FREE = {"by": 3, "over_throw": True, "after_end": True}


def refused(reason, ask, **fields):
    """The call is refused for this reason; answers with the metadata."""
    try:
        ask(**fields)
    except Refused as refusal:
        assert refusal.reason == reason, refusal
        return refusal.metadata
    raise AssertionError(f"{reason} was expected, and it was accepted: {fields}")


def explicit_defaults(ruleset):
    """Every parameter at the default that the server publishes."""
    return {param.name: param.default_value for param in ruleset.params}


class Table:
    """One game and what was seen of it."""

    def __init__(self, games, audit, ruleset):
        self.games, self.audit, self.chance = games, audit, ruleset.chance
        spec = {"id": ruleset.id, "version": ruleset.version, "params": OPTIONS.get(ruleset.id) or explicit_defaults(ruleset)}
        wish = {"request_id": fresh(), "ruleset": spec, "seats": [{"player_id": "ann"}, {"player_id": "bob"}], "undo_policy": FREE}
        game = games.CreateGame(**wish).game
        assert games.CreateGame(**wish).game == game, "the same request, the same game"
        self.id, self.head, self.to_move, self.commitment = game.game_id, game.seq, game.seat_to_move, game.seed_commitment
        self.over = False

    def append(self, ask, **fields):
        """Sends it twice: the second answer is the first."""
        fields = {"request_id": fresh(), "game_id": self.id, "expected_seq": self.head, **fields}
        event = ask(**fields).event
        assert ask(**fields).event == event, "the same request, the same entry"
        self.head = event.seq
        body = event.WhichOneof("body")
        if body == "move_made":
            self.over = not event.move_made.HasField("next_seat")
            self.to_move = event.move_made.next_seat
        elif body == "move_undone":
            self.over, self.to_move = False, event.move_undone.next_seat
        return event

    def move(self, rng):
        """The seat to move plays something legal."""
        legal = self.games.ListLegalActions(game_id=self.id)
        assert (legal.head_seq, legal.seat_to_move) == (self.head, self.to_move)
        choice = rng.choice(list(legal.actions))
        return self.append(self.games.MakeMove, seat=self.to_move, action=choice.action)

    def position(self):
        return self.games.GetGame(game_id=self.id).game.position

    def check_refusals(self):
        """What may not be done is told, with what one needs to go on."""
        move = {"request_id": fresh(), "game_id": self.id, "expected_seq": self.head, "seat": self.to_move}
        told = refused("NOT_YOUR_TURN", self.games.MakeMove, **{**move, "seat": 1 - self.to_move, "action": {"notation": self.legal()}})
        assert told == {"seat_to_move": str(self.to_move), "head_seq": str(self.head)}, told
        told = refused("STALE_SEQ", self.games.MakeMove, **{**move, "expected_seq": 1, "action": {"notation": self.legal()}})
        assert told["head_seq"] == str(self.head) and told["missed_2"].startswith("2 "), told
        assert refused("INVALID_ACTION", self.games.MakeMove, **{**move, "action": {"notation": "?"}})["accepted"]
        refused("INVALID_PARAMETER", self.games.MakeMove, **{**move, "expected_seq": None, "action": {"notation": self.legal()}})
        refused("INVALID_REQUEST_ID", self.games.MakeMove, **{**move, "request_id": "x", "action": {"notation": self.legal()}})
        refused("GAME_NOT_FINISHED", self.games.CloseGame, request_id=fresh(), game_id=self.id, expected_seq=self.head)

    def legal(self):
        return self.games.ListLegalActions(game_id=self.id).actions[0].notation

    def undo_and_replay(self, last):
        """Takes the last move back and plays it again: the same position, the same dice."""
        before = self.position()
        self.append(self.games.Undo, seat=last.move_made.seat)
        again = self.append(self.games.MakeMove, seat=last.move_made.seat, action={"notation": last.move_made.notation})
        assert list(again.move_made.faces) == list(last.move_made.faces), "a throw taken back comes again"
        assert self.position().position_digest == before.position_digest
        return again


def check_stream(table):
    """Every entry once and in order, the closing one last, then OK."""
    events = [frame.event for frame in table.games.StreamEvents(game_id=table.id) if frame.WhichOneof("frame") == "event"]
    assert [event.seq for event in events] == list(range(1, table.head + 1))
    assert events[0].WhichOneof("body") == "game_created" and events[-1].WhichOneof("body") == "game_closed"
    assert not any(event.revealed_seed for event in events[:-1]) and len(events[-1].revealed_seed) == 32
    return events


def check_book(table, events):
    """The file against hashlib and hmac, and against what the stream said."""
    file = b"".join(piece.chunk for piece in table.audit.GetBook(game_id=table.id)).decode()
    book = Book(file)
    head = book.check_chain()
    assert [event.line for event in events] == book.texts
    assert [event.book_digest for event in events] == book.digests and events[-1].book_digest == head
    seed = book.check_commitment()
    assert seed == events[-1].revealed_seed and table.commitment.hex() == book.word("commitment")
    dice = book.check_dice()
    assert (dice > 0) == table.chance, f"{dice} dice"
    check_lies(file)
    return dice


def fails(check, entry):
    """The check fails, and names this entry."""
    try:
        check()
    except AssertionError as why:
        assert f"entry {entry} " in str(why), why
        return
    raise AssertionError(f"a lie in entry {entry} was not found")


def check_lies(file):
    """One changed byte breaks the chain there; a changed face breaks the dice, whatever the chain says."""
    honest = Book(file)
    for number in range(1, len(honest.texts) + 1):
        book = Book(file)
        text = book.texts[number - 1]
        book.texts[number - 1] = text[:-1] + chr(ord(text[-1]) ^ 1)
        fails(book.check_chain, number)
    for number, text in enumerate(honest.texts, start=1):
        if " throw=" not in text:
            continue
        book = Book(file)
        shown = honest.facts(text)["throw"]
        book.texts[number - 1] = text.replace(f" throw={shown}", f" throw={int(shown) % 6 + 1}")
        fails(book.check_dice, number)


def play(games, audit, ruleset):
    """One game from its creation to its proof."""
    rng = random.Random(ruleset.id)
    table = Table(games, audit, ruleset)
    moves = 0
    while not table.over:
        last = table.move(rng)
        moves += 1
        if moves == 2:
            table.check_refusals()
        if moves % 3 == 0:
            last = table.undo_and_replay(last)
        if table.over and moves > 1:
            assert last.HasField("outcome")
            told = refused("GAME_FINISHED", games.MakeMove, request_id=fresh(), game_id=table.id, expected_seq=table.head, seat=0, action={"notation": "roll" if table.chance else last.move_made.notation})
            assert told["closed"] == "false"
            table.undo_and_replay(last)
    table.append(games.CloseGame)
    game = games.GetGame(game_id=table.id).game
    assert game.state == 3 and game.seq == table.head and len(game.revealed_seed) == 32
    dice = check_book(table, check_stream(table))
    print(f"{ruleset.id}@{ruleset.version}: {moves} moves, {table.head} entries, {dice} dice, winners {list(game.outcome.winners)}")


def main():
    games, audit = connect(sys.argv[1])
    rulesets = games.ListRulesets().rulesets
    assert len(rulesets) >= 5, rulesets
    for ruleset in rulesets:
        play(games, audit, ruleset)


if __name__ == "__main__":
    main()
