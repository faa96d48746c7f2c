"""The promises, against servers that fail as they are told to: `python -m unittest discover tests`."""

import threading
import time
import unittest
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as Detail
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from plybook.v1 import event_pb2, feed_pb2
from plybook.v1 import game_service_pb2 as v1
from plybook.v1.audit_service_pb2_grpc import AuditServiceServicer, add_AuditServiceServicer_to_server
from plybook.v1.game_service_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from plybook_client import Client, Options, Refused, Unavailable

Step = Callable[[grpc.ServicerContext], Any]


def refuse(code: int, reason: str, *details: Any, domain: str = "plybook") -> Step:
    """A status with ErrorInfo and more."""

    def step(context: grpc.ServicerContext) -> Any:
        status = status_pb2.Status(code=code, message="no")
        for detail in (error_details_pb2.ErrorInfo(domain=domain, reason=reason, metadata={"head_seq": "7"}), *details):
            packed = Detail()
            packed.Pack(detail)
            status.details.append(packed)
        context.abort_with_status(rpc_status.to_status(status))

    return step


def retry_info(seconds: float) -> error_details_pb2.RetryInfo:
    info = error_details_pb2.RetryInfo()
    info.retry_delay.FromNanoseconds(int(seconds * 1e9))
    return info


class Server(GameServiceServicer, AuditServiceServicer):
    """Does with each call what the next step says; remembers what it was asked, when, and by whom."""

    def __init__(self, *steps: Step) -> None:
        self.steps, self.asked = list(steps), list[tuple[float, Any, dict[str, Any]]]()
        self.server = grpc.server(futures.ThreadPoolExecutor(4))
        add_GameServiceServicer_to_server(self, self.server)
        add_AuditServiceServicer_to_server(self, self.server)
        self.url = f"http://127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def _next(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.asked.append((time.monotonic(), request, dict(context.invocation_metadata())))
        return self.steps.pop(0)(context)

    def MakeMove(self, request: Any, context: grpc.ServicerContext) -> Any:
        return self._next(request, context)

    def StreamEvents(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield from self._next(request, context)

    def StreamAllEvents(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        yield from self._next(request, context)


def moved(seq: int) -> Step:
    return lambda _: v1.MakeMoveResponse(event=event_pb2.Event(seq=seq))


def entries(*seqs: int, then: Step | None = None, last: int = 0) -> Step:
    def step(context: grpc.ServicerContext) -> Iterator[Any]:
        for seq in seqs:
            yield v1.StreamEventsResponse(event=event_pb2.Event(seq=seq, revealed_seed=b"s" if seq == last else b""))
        if then is not None:
            then(context)

    return step


DRAINING = refuse(14, "SERVER_DRAINING", retry_info(0))


class Promises(unittest.TestCase):
    def served(self, *steps: Step) -> Server:
        server = Server(*steps)
        self.addCleanup(server.server.stop, None)
        return server

    def client(self, *servers: Server, **options: Any) -> Client:
        client = Client(",".join(server.url for server in servers), Options(**{"patience": 300.0, **options}))
        self.addCleanup(client.close)
        return client

    def play(self, client: Client) -> event_pb2.Event:
        return client.play("g", seat=0, notation="b2", at=1)

    def test_one_request_id_is_kept_and_nobody_is_asked_before_his_time(self) -> None:
        server = self.served(refuse(14, "STORE_UNAVAILABLE", retry_info(0.4)), refuse(8, "RATE_LIMITED", retry_info(0.3)), moved(2))
        self.assertEqual(self.play(self.client(server)).seq, 2)
        (first, one, _), (second, two, _), (third, three, _) = server.asked
        self.assertTrue(one.request_id)
        self.assertEqual([one, two], [two, three])
        self.assertGreaterEqual(second - first, 0.4)
        self.assertGreaterEqual(third - second, 0.3)

    def test_a_given_id_is_sent_as_it_is(self) -> None:
        server = self.served(moved(2))
        self.client(server).play("g", seat=0, notation="b2", at=1, request_id="mine")
        self.assertEqual(server.asked[0][1].request_id, "mine")

    def test_another_server_is_asked_at_once(self) -> None:
        one, other = self.served(refuse(14, "SERVER_DRAINING", retry_info(3600))), self.served(moved(2))
        self.assertEqual(self.play(self.client(one, other)).seq, 2)

    def test_a_refusal_is_final_and_has_its_type(self) -> None:
        fields = error_details_pb2.BadRequest()
        fields.field_violations.add(field="seat", description="is missing")
        server = self.served(refuse(9, "ILLEGAL_MOVE", fields), refuse(14, "", domain="elsewhere"), refuse(9, "X", domain="elsewhere"))
        client = self.client(server)
        with self.assertRaises(Refused) as caught:
            self.play(client)
        refused = caught.exception
        self.assertEqual((refused.reason, refused.metadata, refused.fields), ("ILLEGAL_MOVE", {"head_seq": "7"}, [("seat", "is missing")]))
        with self.assertRaises(Refused) as caught:
            self.play(client)
        self.assertEqual(caught.exception.reason, "")
        self.assertEqual(len(server.asked), 3)

    def test_patience_ends_and_tells_the_id(self) -> None:
        server = self.served(refuse(14, "STORE_UNAVAILABLE", retry_info(900)))
        with self.assertRaises(Unavailable) as caught:
            self.play(self.client(server))
        self.assertEqual(caught.exception.request_id, server.asked[0][1].request_id)
        self.assertEqual(caught.exception.attempts, 1)

    def test_a_token_is_asked_for_before_every_attempt(self) -> None:
        server, tokens = self.served(DRAINING, moved(2), entries(1, last=1)), iter("abc")
        client = self.client(server, token=lambda: next(tokens))
        self.play(client)
        list(client.events("g"))
        self.assertEqual([metadata["authorization"] for _, _, metadata in server.asked], ["Bearer a", "Bearer b", "Bearer c"])

    def test_a_broken_stream_goes_on_behind_what_was_given_out(self) -> None:
        # Broken, going back, with a gap, and ended by its last entry.
        server = self.served(entries(1, 2, then=DRAINING), entries(2, 3, 5), entries(4, then=DRAINING), entries(5, 6, last=6))
        self.assertEqual([event.seq for event in self.client(server).events("g")], [1, 2, 3, 4, 5, 6])
        self.assertEqual([request.after_seq for _, request, _ in server.asked], [0, 2, 3, 4])

    def test_a_stream_that_falls_silent_is_opened_again(self) -> None:
        released = threading.Event()
        self.addCleanup(released.set)

        def silent(context: grpc.ServicerContext) -> Iterator[Any]:
            yield from entries(1)(context)
            released.wait()

        server = self.served(silent, entries(2, last=2))
        self.assertEqual([event.seq for event in self.client(server, silence=1.0).events("g")], [1, 2])

    def test_a_stream_is_ended_by_whoever_waits_in_it_no_more(self) -> None:
        released, waits = threading.Event(), threading.Event()
        self.addCleanup(released.set)

        def silent(_: grpc.ServicerContext) -> Iterator[Any]:
            waits.set()
            released.wait()
            yield from ()

        events, seen = self.client(self.served(silent)).events("g"), list[Any]()
        reader = threading.Thread(target=lambda: seen.extend(events))
        reader.start()
        waits.wait()
        events.close()
        reader.join()
        self.assertEqual(seen, [])

    def test_a_feed_goes_on_behind_its_token(self) -> None:
        def frames(*tokens: str, then: Step | None = None) -> Step:
            def step(context: grpc.ServicerContext) -> Iterator[Any]:
                for token in tokens:
                    event = None if token.startswith("-") else event_pb2.Event(line=token)
                    yield feed_pb2.StreamAllEventsResponse(resume_token=token, event=event)
                if then is not None:
                    then(context)

            return step

        server = self.served(frames("a", "-b", then=DRAINING), frames("c"))
        feed = self.client(server).feed(from_now=True, stop_at_head=True)
        self.assertEqual([event.line for event in feed], ["a", "c"])
        self.assertEqual([(request.resume_token, request.from_now) for _, request, _ in server.asked], [("", True), ("-b", False)])
        self.assertEqual(feed.resume_token, "c")

    def test_addresses_are_read(self) -> None:
        for bad in ("", "127.0.0.1:50051", "ftp://a:1", "http://", "http://a,"):
            with self.assertRaises(ValueError, msg=bad):
                Client(bad)

    def test_a_token_leaves_in_clear_only_where_its_owner_says_so(self) -> None:
        for here in ("http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://games.example:1"):
            Client(here, Options(token="swordfish")).close()
        with self.assertRaises(ValueError) as caught:
            Client("http://games.example:1", Options(token="swordfish"))
        self.assertNotIn("swordfish", f"{caught.exception} {Options(token='swordfish')}")
        Client("http://games.example:1", Options(token="swordfish", token_in_clear=True)).close()
        with self.assertRaises(ValueError):
            Client("http://127.0.0.1:1", Options(ca=b"roots"))


if __name__ == "__main__":
    unittest.main()
