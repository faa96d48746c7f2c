"""How long a call goes on trying.

Invariant: the pauses of one call sum up to its patience at most, and no server that said when to come back is asked before.
"""

import logging
import random
import time

from .errors import Again, Unavailable
from .options import Options

log = logging.getLogger("plybook_client")


class Patience:
    """The attempts of one call over so many servers."""

    def __init__(self, options: Options, routes: int) -> None:
        self._options, self._routes = options, max(routes, 1)
        self._began, self._pause = time.monotonic(), options.first_pause
        self._attempts, self._not_before = 0, 0.0

    def spend(self, failed: Again, request_id: str | None = None) -> float:
        """Counts a failed attempt; answers how long to wait before the next, or raises Unavailable."""
        self._attempts += 1
        self._not_before = max(self._not_before, failed.not_before)
        wait = 0.0
        # The other servers are tried at once; only a whole round without an answer is a reason to wait.
        if self._attempts % self._routes == 0:
            wait = max(self._pause * random.uniform(0.5, 1.0), self._not_before)
            self._pause, self._not_before = min(self._pause * 2, self._options.longest_pause), 0.0
        waited = time.monotonic() - self._began
        if waited + wait > self._options.patience:
            raise Unavailable(self._attempts, waited, failed.why, request_id)
        log.info("again in %.2f s: %s", wait, failed.why)
        return wait
