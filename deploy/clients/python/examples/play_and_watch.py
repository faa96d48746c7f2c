"""Plays a game of every ruleset and watches it at the same time, whatever happens to the servers meanwhile.

    python examples/play_and_watch.py http://127.0.0.1:50051 [--step]

With --step it waits for Enter before each move. It ends with an error if a watcher missed an entry or saw one twice.
"""

import argparse
import logging
import random
import threading

from plybook.v1 import game_service_pb2 as v1
from plybook_client import Client, Options, Value

# A board that is done with quickly; every other ruleset is played as the server describes it.
SMALL: dict[str, dict[str, Value]] = {"gomoku": {"size": 9}, "othello": {"size": 6}, "snakes_and_ladders": {"size": 30}}


class Watcher(threading.Thread):
    """Somebody who watches a game to its end."""

    def __init__(self, client: Client, game_id: str) -> None:
        super().__init__()
        self.events, self.seen = client.events(game_id), list[int]()

    def run(self) -> None:
        for event in self.events:
            self.seen.append(event.seq)


def play(client: Client, ruleset: str, step: bool) -> None:
    chance = random.Random(ruleset)
    game = client.new_game(ruleset, ["ann", "bob"], SMALL.get(ruleset))
    watcher = Watcher(client, game.game_id)
    watcher.start()
    seq, moves = game.seq, 0
    while True:
        seq, seat, actions = client.legal_actions(game.game_id)
        if seat is None:
            break
        notation = chance.choice(actions).notation
        if step:
            input(f"{ruleset}: {notation}? ")
        event = client.play(game.game_id, seat=seat, notation=notation, at=seq)
        seq, moves = event.seq, moves + 1
    watcher.join()
    assert watcher.seen == list(range(1, seq + 1)), f"the watcher saw {watcher.seen}"
    book = client.book(game.game_id).decode()
    assert f"\nend {seq} " in book
    winners = list(client.game(game.game_id).outcome.winners)
    print(f"{ruleset}: {moves} moves, {seq} entries, won by {winners or 'nobody'}", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("addresses", nargs="?", default="http://127.0.0.1:50051")
    arguments.add_argument("--token", help="shown to the server")
    arguments.add_argument("--step", action="store_true", help="wait for Enter before each move")
    given = arguments.parse_args()
    # What is sent again is told on standard error.
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    with Client(given.addresses, Options(token=given.token)) as client:
        for ruleset in client.games.ListRulesets(v1.ListRulesetsRequest()).rulesets:
            if ruleset.is_default:
                play(client, ruleset.id, given.step)


if __name__ == "__main__":
    main()
