"""What can go wrong with one attempt at a model call: its kind, and whether to try again, are decided here."""

import re
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from components.core.errors import OVERFLOW
from components.core.messages import Request
from components.core.redaction import redact, without_echo
from components.text.structured import read_yaml

RETRYABLE = frozenset({"rate_limit", "server", "connection", "timeout", "unreadable"})
LONGEST_PAUSE = 600.0  # seconds; who asks for more is not waited for
_NEVER_LENGTH = frozenset({401, 402, 403, 404, 407, 408})  # of a key, an account or an address, in spite of the text
_LABEL = re.compile(r"[\w.-]{1,64}")
_LONGEST_DETAIL = 4_000
_LONGEST_REPORT = 16_000  # characters that are searched; what is longer holds an echo of the request


class Fault(Exception):
    """One failed attempt. ``detail`` is the provider's own text; it may hold a key or parts of the request, so only
    ``explain`` shows it. ``retry_after``: seconds, as the provider requests."""

    def __init__(self, kind: str, summary: str, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(summary)
        self.kind = kind
        self.detail = detail
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same call may pass later, and not too late."""
        return self.kind in RETRYABLE and (self.retry_after or 0) <= LONGEST_PAUSE

    def explain(self, request: Request, secrets: Iterable[str]) -> str:
        """What went wrong, without keys and without a word of the request."""
        detail = without_echo(redact(self.detail[:_LONGEST_DETAIL], secrets), request.messages).strip()
        return redact(f"{self}: {detail}" if detail else str(self), secrets)


class Complaint(NamedTuple):
    """A provider's error object, in any of the known shapes."""

    code: str = ""
    text: str = ""


@cache
def _reports(what: str) -> re.Pattern[str]:
    """``too_long``: the texts of a request that is longer than the context window; ``not``: others like them."""
    return re.compile("|".join(read_yaml(Path(__file__).with_name("overflow.yaml"))[what]), re.IGNORECASE)


def kind_of(status: int, code: str = "", text: str = "") -> str:
    """The kind of an HTTP status with the error code and text that came with it."""
    if status == 429:
        return "quota" if code == "insufficient_quota" else "rate_limit"
    report = f"{code}: {text}"[:_LONGEST_REPORT] if status not in _NEVER_LENGTH and status <= 500 else ""
    if report and not _reports("not").search(report) and _reports("too_long").search(report):
        return OVERFLOW
    if status == 408:
        return "timeout"
    if status >= 500:
        return "server"
    return "auth" if status in (401, 403) else "bad_request"


def from_status(status: int, raw: bytes, headers: Mapping[str, str]) -> Fault:
    """The fault behind a reply whose HTTP status is not a success."""
    try:
        complaint = complaint_in(orjson.loads(raw))
    except orjson.JSONDecodeError:  # a server without JSON, or JSON that is cut off; nothing of a web page
        text = raw[:_LONGEST_DETAIL].decode("utf-8", "replace").strip()
        complaint = Complaint(text="" if text.startswith("<") else text)
    return from_complaint(status, complaint, headers)


def from_complaint(status: int, complaint: Complaint, headers: Mapping[str, str]) -> Fault:
    """The fault behind a status and the provider's complaint."""
    code = complaint.code if _LABEL.fullmatch(complaint.code) and redact(complaint.code) == complaint.code else ""
    summary = f"HTTP {status} ({code})" if code else f"HTTP {status}"
    kind, pause = kind_of(status, code, complaint.text), retry_after(headers)
    if pause is not None and pause > LONGEST_PAUSE:
        summary += f", asking to wait {pause / 3600:.3g} hours; no more than 10 minutes are waited"
        kind = "quota" if kind == "rate_limit" else kind
    return Fault(kind, summary, complaint.text, pause)


def from_error_body(error: object) -> Fault:
    """The fault behind an error object that came with status 200."""
    complaint = complaint_in({"error": error})
    status = int(complaint.code) if re.fullmatch("[45][0-9][0-9]", complaint.code) else 500
    return Fault(kind_of(status, complaint.code, complaint.text), "HTTP 200 with an error in it", complaint.text)


def complaint_in(body: object) -> Complaint:
    """Read the shapes in use: OpenAI's, vLLM's, Ollama's, FastAPI's, OpenRouter's, Gemini's (a list of one)."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return Complaint()
    error: Any = body.get("error") or body.get("detail") or body
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, Mapping):
        return Complaint(text=error if isinstance(error, str) else "")
    code = next((str(error[key]) for key in ("code", "type", "status") if error.get(key) is not None), "")
    metadata = error.get("metadata")  # of a router, whose own text only says that a provider failed
    texts = (error.get("message") or error.get("msg"), metadata.get("raw") if isinstance(metadata, Mapping) else None)
    return Complaint(code, " ".join(text for text in texts if isinstance(text, str) and text))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the headers ask (seconds, milliseconds or an HTTP date); None if they do not."""
    lowered = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := _number(lowered.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    text = lowered.get("retry-after", "")
    if (seconds := _number(text)) is not None:
        return seconds
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(value, 0.0) if isfinite(value) else None
