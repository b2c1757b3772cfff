"""What the server refuses, and what can be tried again."""

from __future__ import annotations

import email.utils
import random
import time
from typing import Any, Mapping, Optional

import httpx

# Longer waits are for whoever calls to decide about.
LONGEST_WAIT = 120.0
AGAIN = {429, 500, 502, 503, 504}


class QuireError(Exception):
    """The server refused a request, or could not be reached (then `status` is 0)."""

    def __init__(self, status: int, error: Mapping[str, Any]):
        self.status = status
        self.code: Optional[str] = error.get("code")
        self.reason: Optional[str] = error.get("reason")
        self.param: Optional[str] = error.get("param")
        self.request_id: Optional[str] = error.get("request_id")
        self.retry_after: Optional[float] = error.get("retry_after")
        super().__init__(error.get("message") or error.get("cause") or f"the server answered {status}")


def error_of(response: httpx.Response) -> QuireError:
    """The error in a response that has been read."""
    try:
        error = response.json().get("error")
    except ValueError:
        error = None
    if not isinstance(error, dict):
        error = {"message": f"the server answered {response.status_code} without an error of quire's"}
    error.setdefault("request_id", response.headers.get("x-request-id"))
    return QuireError(response.status_code, error)


def unreachable(cause: Exception) -> QuireError:
    return QuireError(0, {"message": f"the server cannot be reached: {cause}", "reason": "unreachable"})


def wait_before_retry(response: Optional[httpx.Response], tries: int) -> Optional[float]:
    """How long to wait before another try, or None where that does not help."""
    usual = min(8.0, 0.5 * 2**tries) * random.uniform(0.75, 1.25)
    if response is None:
        return usual
    if response.status_code not in AGAIN or response.headers.get("x-should-retry") == "false":
        return None
    wanted = _seconds(response.headers.get("retry-after-ms"), 0.001) or _seconds(response.headers.get("retry-after"), 1.0)
    if wanted is None:
        return usual
    return wanted if wanted <= LONGEST_WAIT else None


def _seconds(value: Optional[str], unit: float) -> Optional[float]:
    if value is None:
        return None
    try:
        return max(0.0, float(value) * unit)
    except ValueError:
        date = email.utils.parsedate_to_datetime(value) if unit == 1.0 else None
        return max(0.0, date.timestamp() - time.time()) if date else None
