"""A channel over which a call is sent until it is answered, refused, or patience ends.

Invariant: always with the same request id, to the next server when one does not answer. The generated stubs know nothing of it.
"""

import time
import uuid
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import Message

from .errors import Refused, judge
from .options import Options
from .patience import Patience
from .routes import Routes


class Retrying(grpc.Channel):
    """What a stub is made over. Streams of answers are not asked for again: see `streams`."""

    def __init__(self, addresses: str, options: Options) -> None:
        self.options, self.routes = options, Routes(addresses, options)

    def patience(self) -> Patience:
        """For one call, or until the next frame of a stream."""
        return Patience(self.options, len(self.routes))

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Call(self, lambda channel: channel.unary_unary(method, *args, **kwargs), identified)

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Its messages are kept until the answer is there."""
        return _Call(self, lambda channel: channel.stream_unary(method, *args, **kwargs), list, iter)

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        return _Stream(self, lambda channel: channel.unary_stream(method, *args, **kwargs))

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("the contract has no such call")

    def subscribe(self, callback: Any, try_to_connect: bool | None = False) -> None:
        raise NotImplementedError("it is several connections")

    def unsubscribe(self, callback: Any) -> None:
        raise NotImplementedError("it is several connections")

    def close(self) -> None:
        self.routes.close()

    def __enter__(self) -> "Retrying":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def identified(request: Message) -> Message:
    """The same with a request id, where it takes one and has none."""
    if "request_id" not in request.DESCRIPTOR.fields_by_name or getattr(request, "request_id"):
        return request
    copy = type(request)()
    copy.CopyFrom(request)
    setattr(copy, "request_id", str(uuid.uuid4()))
    return copy


class _Call:
    """One method of a stub."""

    def __init__(
        self, channel: Retrying, method: Callable[[grpc.Channel], Any], keep: Callable[[Any], Any], send: Callable[[Any], Any] | None = None
    ) -> None:
        self._channel, self._method, self._keep, self._send = channel, method, keep, send

    def __call__(self, request: Any, timeout: float | None = None, metadata: Any = None, **more: Any) -> Any:
        request, options, patience = self._keep(request), self._channel.options, self._channel.patience()
        while True:
            route, channel = self._channel.routes.current()
            try:
                return self._method(channel)(
                    self._send(request) if self._send else request,
                    timeout=timeout or options.timeout,
                    metadata=[*options.metadata(), *(metadata or [])],
                    **more,
                )
            except grpc.RpcError as error:
                failed = judge(error)
                if isinstance(failed, Refused):
                    raise failed from error
            self._channel.routes.leave(route)
            time.sleep(patience.spend(failed, getattr(request, "request_id", None)))


class _Stream:
    """One method of a stub that answers with a stream: once, over the server that is spoken to."""

    def __init__(self, channel: Retrying, method: Callable[[grpc.Channel], Any]) -> None:
        self._channel, self._method = channel, method

    def __call__(self, request: Any, timeout: float | None = None, metadata: Any = None, **more: Any) -> Any:
        _, channel = self._channel.routes.current()
        sent = [*self._channel.options.metadata(), *(metadata or [])]
        return self._method(channel)(request, timeout=timeout, metadata=sent, **more)
