"""A client of one or several servers of one database, and what a service needs of them day by day."""

import time
from collections.abc import Iterable, Mapping

import grpc
from plybook.v1 import audit_service_pb2, board_pb2, event_pb2, feed_pb2, game_service_pb2, ruleset_pb2
from plybook.v1.audit_service_pb2_grpc import AuditServiceStub
from plybook.v1.game_service_pb2_grpc import GameServiceStub

from .channel import Retrying
from .errors import Refused, judge
from .options import Options
from .streams import Events, Feed

Value = bool | int | str | Iterable[int]


def param(value: Value) -> ruleset_pb2.ParamValue:
    """A parameter: a flag, a number, a word, or numbers."""
    if isinstance(value, bool):
        return ruleset_pb2.ParamValue(bool_value=value)
    if isinstance(value, int):
        return ruleset_pb2.ParamValue(int_value=value)
    if isinstance(value, str):
        return ruleset_pb2.ParamValue(string_value=value)
    return ruleset_pb2.ParamValue(int_list=ruleset_pb2.IntList(values=value))


class Client:
    """Speaks with `http://host:port`, or with several servers, separated by commas. Threads may share it."""

    def __init__(self, addresses: str = "http://127.0.0.1:50051", options: Options = Options()) -> None:
        self.channel = Retrying(addresses, options)
        self.games: GameServiceStub = GameServiceStub(self.channel)
        self.audit: AuditServiceStub = AuditServiceStub(self.channel)

    def new_game(self, ruleset: str, players: Iterable[str], params: Mapping[str, Value] | None = None, request_id: str = "") -> game_service_pb2.Game:
        """Creates a game. Players' ids stay in the book for ever: pseudonyms, never names."""
        spec = ruleset_pb2.RulesetSpec(id=ruleset, params={name: param(value) for name, value in (params or {}).items()})
        seats = [event_pb2.Seat(player_id=player) for player in players]
        return self.games.CreateGame(game_service_pb2.CreateGameRequest(request_id=request_id, ruleset=spec, seats=seats)).game

    def play(self, game_id: str, *, seat: int, notation: str, at: int, request_id: str = "") -> event_pb2.Event:
        """Makes a move that was decided on entry `at`."""
        request = game_service_pb2.MakeMoveRequest(
            request_id=request_id, game_id=game_id, expected_seq=at, seat=seat, action=board_pb2.Action(notation=notation)
        )
        return self.games.MakeMove(request).event

    def legal_actions(self, game_id: str) -> tuple[int, int | None, list[game_service_pb2.LegalAction]]:
        """The head, the seat to move (nobody once the game is over), and all that it may do."""
        actions: list[game_service_pb2.LegalAction] = []
        token = ""
        while True:
            page = self.games.ListLegalActions(game_service_pb2.ListLegalActionsRequest(game_id=game_id, page_token=token))
            actions += page.actions
            token = page.next_page_token
            if not token:
                return page.head_seq, page.seat_to_move if page.HasField("seat_to_move") else None, actions

    def game(self, game_id: str, at_seq: int | None = None) -> game_service_pb2.Game:
        """Reads a game at its head, or at an earlier entry."""
        return self.games.GetGame(game_service_pb2.GetGameRequest(game_id=game_id, at_seq=at_seq)).game

    def events(self, game_id: str, after_seq: int = 0) -> Events:
        """Follows a game from the entry after `after_seq` until it is closed."""
        return Events(self.channel, game_id, after_seq)

    def feed(
        self, resume_token: str = "", filter: feed_pb2.FeedFilter | None = None, *, from_now: bool = False, stop_at_head: bool = False
    ) -> Feed:
        """Follows every game of the tenant."""
        return Feed(self.channel, resume_token, filter, from_now, stop_at_head)

    def book(self, game_id: str) -> bytes:
        """A game as a `.ply` file."""
        request, patience = audit_service_pb2.GetBookRequest(game_id=game_id), self.channel.patience()
        while True:
            route = self.channel.routes.current()[0]
            try:
                return b"".join(piece.chunk for piece in self.audit.GetBook(request, timeout=self.channel.options.timeout))
            except grpc.RpcError as error:
                failed = judge(error)
                if isinstance(failed, Refused):
                    raise failed from error
            self.channel.routes.leave(route)
            time.sleep(patience.spend(failed))

    def close(self) -> None:
        """Ends all connections."""
        self.channel.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
