"""The servers that a client knows, and which of them it speaks to.

Invariant: any server serves any request, so leaving one for the next loses nothing.
"""

import ipaddress
import threading
from urllib.parse import urlsplit

import grpc

from .options import Options


class Routes:
    """Connections, one a server, made when they are first used."""

    def __init__(self, addresses: str, options: Options) -> None:
        self._channels = [_channel(address.strip(), options) for address in addresses.split(",")]
        self._current, self._lock = 0, threading.Lock()

    def __len__(self) -> int:
        return len(self._channels)

    def current(self) -> tuple[int, grpc.Channel]:
        """The server to speak to, and its place for `leave`."""
        with self._lock:
            return self._current, self._channels[self._current]

    def leave(self, at: int) -> None:
        """Goes on to the next server, unless another caller already left this one."""
        with self._lock:
            if self._current == at:
                self._current = (at + 1) % len(self._channels)

    def close(self) -> None:
        """Ends all connections."""
        for channel in self._channels:
            channel.close()


def _channel(address: str, options: Options) -> grpc.Channel:
    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.netloc:
        raise ValueError(f"{address!r} is no address of a server: it begins with http:// or https:// and a host")
    if url.scheme == "http" and (options.ca or options.certificate):
        raise ValueError(f"{address!r}: certificates are for https://")
    if url.scheme == "http" and options.token and not options.token_in_clear and not _is_here(url.hostname or ""):
        raise ValueError(f"{address!r}: the token would cross the network in clear, where https:// would hide it")
    settings = [
        ("grpc.max_receive_message_length", options.answer_bytes_max),
        # gRPC's own waits grow to minutes, and its own retries know no request id.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.enable_retries", 0),
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.max_pings_without_data", 0),
        # Two clients of one process share nothing, least of all a connection that one of them has given up.
        ("grpc.use_local_subchannel_pool", 1),
    ]
    if url.scheme == "http":
        return grpc.insecure_channel(url.netloc, settings)
    chain, key = options.certificate or (None, None)
    return grpc.secure_channel(url.netloc, grpc.ssl_channel_credentials(options.ca, key, chain), settings)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
