"""How a client waits, and who it is. Every wait has an end; all are in seconds."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Options:
    """How long a client waits for what, and what it shows."""

    timeout: float = 10.0
    """For the answer to one attempt; the server hears of it as `grpc-timeout`."""
    patience: float = 30.0
    """In all, over the attempts of one call; also for a broken stream to come back."""
    first_pause: float = 0.05
    """Before the second round of attempts; doubled each round."""
    longest_pause: float = 2.0
    """At most, between two rounds of attempts."""
    silence: float = 30.0
    """Without any frame on a stream, before it counts as broken. Heartbeats come thrice as often."""
    answer_bytes_max: int = 64 << 20
    """Largest answer."""
    token: str | Callable[[], str] | None = field(default=None, repr=False)
    """Sent as `authorization: Bearer …`; a function is asked before every attempt, so that a token can be renewed."""
    token_in_clear: bool = False
    """Whether it may go to a server that is neither on this machine nor reached through TLS. Whoever is on the way reads it then."""
    ca: bytes | None = None
    """Certificates (PEM) that `https://` servers are checked against; the system's where there are none."""
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """A certificate chain and its key (PEM) to show to `https://` servers."""

    def metadata(self) -> list[tuple[str, str]]:
        """What goes with every attempt."""
        token = self.token() if callable(self.token) else self.token
        return [("authorization", f"Bearer {token}")] if token else []
