"""What a call comes back with when it is not an answer.

Invariant: a refusal is final, the same request will be refused again; everything else may be sent again with the same
request id.
"""

from dataclasses import dataclass, field

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

DOMAIN = "plybook"


@dataclass
class Refused(Exception):
    """The server said no. `reason` is a name of ErrorReason without its prefix, or empty where a refusal is not Plybook's."""

    reason: str
    code: grpc.StatusCode
    message: str
    metadata: dict[str, str] = field(default_factory=dict)
    fields: list[tuple[str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.reason or self.code.name}: {self.message}"


@dataclass
class Unavailable(Exception):
    """No server answered while patience lasted. What was asked may have been done: ask again with the same request id."""

    attempts: int
    waited: float
    last: str
    request_id: str | None = None

    def __str__(self) -> str:
        return f"no answer after {self.attempts} attempts in {self.waited:.1f} s: {self.last}"


@dataclass(frozen=True)
class Again:
    """It may be sent again, not before so many seconds have passed."""

    why: str
    not_before: float = 0.0


def judge(error: grpc.RpcError) -> Refused | Again:
    """Plybook's own statuses carry its reason. One without comes from the way there."""
    code, message = error.code(), error.details() or ""
    info, retry, fields = _details(error)
    passes = code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED) or (
        info is None and code in (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
    )
    # A limit that tells when to come back is one of what goes on at once, or in a while.
    busy = code is grpc.StatusCode.RESOURCE_EXHAUSTED and info is not None and retry is not None
    if passes or busy:
        return Again(f"{code.name}: {message}", retry or 0.0)
    if info is None:
        return Refused("", code, message, {}, fields)
    return Refused(info.reason, code, message, dict(info.metadata), fields)


def _details(error: grpc.RpcError) -> tuple[error_details_pb2.ErrorInfo | None, float | None, list[tuple[str, str]]]:
    found: error_details_pb2.ErrorInfo | None = None
    retry: float | None = None
    fields: list[tuple[str, str]] = []
    try:
        status = rpc_status.from_call(error)
    except ValueError:
        # Somebody on the way changed code or message; the details are then nobody's word.
        status = None
    for detail in status.details if status else []:
        info, delay, bad = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), error_details_pb2.BadRequest()
        if detail.Unpack(info) and info.domain == DOMAIN:
            found = info
        elif detail.Unpack(delay):
            retry = delay.retry_delay.seconds + delay.retry_delay.nanos / 1e9
        elif detail.Unpack(bad):
            fields += [(violation.field, violation.description) for violation in bad.field_violations]
    return found, retry, fields
