"""Streams that are asked for again, behind what was given out, whenever they break.

Invariants: entries come in order, each once; what was given out is the only place from which a stream is asked for again.
"""

import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from plybook.v1 import event_pb2, feed_pb2, game_service_pb2
from plybook.v1.audit_service_pb2_grpc import AuditServiceStub
from plybook.v1.game_service_pb2_grpc import GameServiceStub

from .channel import Retrying
from .errors import Again, Refused, judge

Item = TypeVar("Item")


class Gap(Exception):
    """Something is missing before a frame."""


class Resuming(Generic[Item]):
    """An iterator over what comes behind a cursor. One thread may wait in it; any may `close` it."""

    def __init__(self, channel: Retrying) -> None:
        self._channel, self._patience = channel, channel.patience()
        self._call: Any = None
        self._route, self._ended = 0, False

    def _ask(self) -> Any:
        raise NotImplementedError

    def _take(self, frame: Any) -> Item | None:
        raise NotImplementedError

    @property
    def heartbeat(self) -> Duration:
        """How often a server has to show that it is alive."""
        interval = Duration()
        interval.FromNanoseconds(int(self._channel.options.silence / 3 * 1e9))
        return interval

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        while not self._ended:
            try:
                if self._call is None:
                    self._route = self._channel.routes.current()[0]
                    self._call = self._ask()
                item = self._take(_within(self._channel.options.silence, self._call))
                self._patience = self._channel.patience()
                if item is not None:
                    return item
                continue
            except StopIteration:
                self.close()
                break
            except Gap as gap:
                failed: Refused | Again = Again(str(gap))
            except grpc.RpcError as error:
                failed = judge(error)
            self._break(failed)
        raise StopIteration

    def _break(self, failed: Refused | Again) -> None:
        """What follows from a failure: another server after a while, or an error and the end."""
        if self._call is not None:
            self._call.cancel()
            self._call = None
        if self._ended:
            return
        if isinstance(failed, Refused):
            self._ended = True
            raise failed
        self._channel.routes.leave(self._route)
        try:
            time.sleep(self._patience.spend(failed))
        except BaseException:
            self._ended = True
            raise

    def close(self) -> None:
        """Ends it, also for whoever waits in it."""
        self._ended = True
        if self._call is not None:
            self._call.cancel()

    def __enter__(self) -> "Resuming[Item]":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _within(silence: float, call: Any) -> Any:
    """The next frame; a call without one for so long is cancelled."""
    watch = threading.Timer(silence, call.cancel)
    watch.daemon = True
    watch.start()
    try:
        return next(call)
    finally:
        watch.cancel()


class Events(Resuming[event_pb2.Event]):
    """The entries of one game after a cursor, until the game is closed."""

    def __init__(self, channel: Retrying, game_id: str, after_seq: int = 0) -> None:
        super().__init__(channel)
        self.game_id, self.last_seq = game_id, after_seq

    def _ask(self) -> Any:
        request = game_service_pb2.StreamEventsRequest(
            game_id=self.game_id, after_seq=self.last_seq, heartbeat_interval=self.heartbeat
        )
        return GameServiceStub(self._channel).StreamEvents(request)

    def _take(self, frame: game_service_pb2.StreamEventsResponse) -> event_pb2.Event | None:
        if not frame.HasField("event") or frame.event.seq <= self.last_seq:
            return None
        if frame.event.seq > self.last_seq + 1:
            raise Gap(f"entry {frame.event.seq} came after {self.last_seq}")
        self.last_seq = frame.event.seq
        # Nothing follows the entry that reveals the seed.
        self._ended = bool(frame.event.revealed_seed)
        return frame.event


class Feed(Resuming[event_pb2.Event]):
    """Every entry of the tenant that fits a filter. Keep `resume_token` once you have dealt with an entry."""

    def __init__(
        self,
        channel: Retrying,
        resume_token: str = "",
        filter: feed_pb2.FeedFilter | None = None,
        from_now: bool = False,
        stop_at_head: bool = False,
    ) -> None:
        super().__init__(channel)
        self.resume_token, self.filter, self.from_now, self.stop_at_head = resume_token, filter, from_now, stop_at_head

    def _ask(self) -> Any:
        request = feed_pb2.StreamAllEventsRequest(
            resume_token=self.resume_token,
            from_now=self.from_now and not self.resume_token,
            filter=self.filter,
            stop_at_head=self.stop_at_head,
            heartbeat_interval=self.heartbeat,
        )
        return AuditServiceStub(self._channel).StreamAllEvents(request)

    def _take(self, frame: feed_pb2.StreamAllEventsResponse) -> event_pb2.Event | None:
        self.resume_token = frame.resume_token
        return frame.event if frame.HasField("event") else None
