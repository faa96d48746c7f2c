"""What a Python backend uses to speak with Plybook.

Invariants: a request keeps one request id through all its retries, so that it is answered once however often it is sent; no
server that said when to come back is asked before; a stream goes on by itself after a broken connection, without gap or repeat.

    client = Client("http://127.0.0.1:50051")
    game = client.new_game("mnk", ["ann", "bob"], {"rows": 15, "cols": 15, "k": 5})
    event = client.play(game.game_id, seat=0, notation="b2", at=game.seq)
    for event in client.events(game.game_id):
        print(event.line)

`client.games` and `client.audit` are the generated stubs, with every call of the contract and the same promises.
"""

from .client import Client, Value, param
from .errors import Refused, Unavailable
from .options import Options
from .streams import Events, Feed

__all__ = ["Client", "Events", "Feed", "Options", "Refused", "Unavailable", "Value", "param"]
