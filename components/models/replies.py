"""What one attempt at a model call ends with: a completion, or a fault, its kind, and whether to try again.

Source: OpenAI's chat-completions reference, and what vLLM, Ollama, DeepSeek and OpenRouter add to it.
"""

import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from components.core.errors import OVERFLOW
from components.core.messages import Completion, Message, Request, ToolCall, Usage
from components.core.redaction import redact, without_echo
from components.models.prices import Price
from components.text.structured import read_yaml

RETRYABLE = frozenset({"rate_limit", "server", "connection", "timeout", "unreadable"})
LONGEST_PAUSE = 600.0  # seconds; who asks for more is not waited for
_NEVER_LENGTH = frozenset({401, 402, 403, 404, 407, 408})  # of a key, an account or an address, in spite of the text
_LABEL = re.compile(r"[\w.-]{1,64}")
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|[smhd])")  # one part of 6m0s
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_RETRY_DELAY = re.compile(r'"retryDelay":\s*"([0-9]{1,9}(?:\.[0-9]{1,9})?)s"')  # google.rpc.RetryInfo, in a body
_TRY_AGAIN = re.compile(r"try again in ([0-9][0-9a-z.]{0,30})")  # OpenAI's, in the text of a complaint
_LONGEST_DETAIL = 4_000
_LONGEST_REPORT = 16_000  # characters that are searched; what is longer holds an echo of the request
_THOUGHTS = re.compile(r"<(?:think|thinking)>(.*?)</(?:think|thinking)>(.*)", re.DOTALL)
_FINISH = {
    "eos": "stop", "eos_token": "stop", "end_turn": "stop", "stop_sequence": "stop", "STOP": "stop",
    "max_tokens": "length", "MAX_TOKENS": "length", "tool_use": "tool_calls", "function_call": "tool_calls",
}  # fmt: skip
_LOGPROB = ("token", "logprob", "bytes", "top_logprobs")  # of each token
_MOST_CALLS = 128  # what providers take as tools at the most
_LONGEST_NAME = 200  # of a model, and of a fingerprint, as its server reports them
_BROKEN_OFF = frozenset({"error", "ERROR", "abort", "network_error"})


def read_reply(body: object, price: Price | None) -> Completion:
    """The completion in a decoded reply. Raises Fault. ``<think>...</think>`` at the content's start becomes reasoning;
    a refusal in its own field becomes the content, with finish ``refusal``; a filter that left nothing is a fault."""
    if not isinstance(body, dict):
        raise Fault("unreadable", f"the reply is not a JSON object but {type(body).__name__}")
    if (error := body.get("error")) and _means_something(error):
        raise from_error_body(error)
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Fault("unreadable", "the reply holds no choices")
    choice = choices[0]
    if (error := choice.get("error")) and _means_something(error):
        raise from_error_body(error)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Fault("unreadable", "the reply's choice holds no message")
    finish = str(choice.get("finish_reason") or "stop")
    if finish in _BROKEN_OFF:
        raise Fault("server", f"the server cut the reply off (finish reason {finish!r})")
    finish = _FINISH.get(finish, finish)
    content, reasoning = _texts(message)
    calls = tuple(_calls(called)) if (called := message.get("tool_calls")) else ()
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal and not content:
        content, finish = refusal, "refusal"
    elif calls and finish == "stop":
        finish = "tool_calls"
    elif finish == "content_filter" and not (content or calls):  # nothing of it is the model's
        raise Fault("content_filter", "the provider's filter left nothing of the reply")
    reply = Message("assistant", content, calls, reasoning=reasoning or None)
    logprobs = choice.get("logprobs")
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if isinstance(tokens, list):
        tokens = [{key: one.get(key) for key in _LOGPROB} for one in tokens if isinstance(one, dict)]
    return Completion(
        reply, read_usage(body, price), finish, tokens if isinstance(tokens, list) else None,
        _answered_by(body),
    )  # fmt: skip


def _answered_by(body: Mapping[str, Any]) -> str:
    """The name of the model that answered and the fingerprint of what serves it, as far as the server reports them."""
    names = [one[:_LONGEST_NAME] for key in ("model", "system_fingerprint") if isinstance(one := body.get(key), str)]
    return " ".join(filter(None, names))


def read_usage(body: Mapping[str, Any], price: Price | None) -> Usage:
    """Tokens and cost of a reply; unreported values are None, also if a library replaced them by zeros."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return Usage()
    sent, received = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if not sent and not received:
        return Usage()
    cached = reasoning = None
    if isinstance(details := usage.get("prompt_tokens_details"), dict):
        cached = _count(details.get("cached_tokens"))
    if cached is None:
        cached = _count(usage.get("prompt_cache_hit_tokens"))
    if isinstance(details := usage.get("completion_tokens_details"), dict):
        reasoning = _count(details.get("reasoning_tokens"))
    cost = None
    if price is not None and sent is not None and received is not None:
        cost = price.cost(sent, received, cached or 0)
    return Usage(sent, received, cost, cached, reasoning)


def _texts(message: Mapping[str, Any]) -> tuple[str, str]:
    """The content and the reasoning."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(
            p if isinstance(p, str) else str(p.get("text", "")) for p in content if isinstance(p, str | dict)
        )
    if not isinstance(content, str):
        raise Fault("unreadable", f"the reply's content is not a text but {type(content).__name__}")
    for field in ("reasoning_content", "reasoning"):  # vLLM sends null where nothing looked for reasoning
        if isinstance(thoughts := message.get(field), str):
            return str(content), thoughts
    if content.startswith("<think") and (match := _THOUGHTS.match(content)):
        return match[2], match[1]
    return str(content), ""


def _calls(calls: object) -> list[ToolCall]:
    """Tool calls with their arguments as written; a missing id is made from the position."""
    read: list[ToolCall] = []
    if not isinstance(calls, list):
        raise Fault("unreadable", f"the reply's tool_calls are not a list but {type(calls).__name__}")
    if len(calls) > _MOST_CALLS:
        raise Fault("unreadable", f"the reply holds {len(calls)} tool calls; {_MOST_CALLS} are the most that are read")
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise Fault("unreadable", "the reply holds a tool call without a function")
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode() if arguments else ""
        read.append(ToolCall(str(call.get("id") or f"call_{index}"), str(function.get("name") or ""), text))
    return read


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _means_something(error: object) -> bool:
    """Whether an ``error`` field reports one: some servers send an empty object with a good reply."""
    if isinstance(error, dict):
        return bool(error.get("message")) or error.get("code") is not None
    return bool(error)


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


class NothingListens(Fault):
    """No connection was ever accepted: nothing listens at the address, or its name is unknown."""


class Complaint(NamedTuple):
    """A provider's error object, in any of the known shapes."""

    code: str = ""
    text: str = ""


@cache
def _reports(what: str) -> re.Pattern[str]:
    """The texts that complaints.yaml lists under a name."""
    return re.compile("|".join(read_yaml(Path(__file__).with_name("complaints.yaml"))[what]), re.IGNORECASE)


def kind_of(status: int, code: str = "", text: str = "") -> str:
    """The kind of an HTTP status with the error code and text that came with it."""
    report = f"{code}: {text}"[:_LONGEST_REPORT]
    if status == 402 or (status in (400, 422, 429) and _reports("unpaid").search(report)):
        return "quota"
    if status == 429:
        return "rate_limit"
    may_be_length = status not in _NEVER_LENGTH and status <= 500
    if may_be_length and not _reports("not").search(report) and _reports("too_long").search(report):
        return OVERFLOW
    if status == 400 and _reports("filtered").search(report):
        return "content_filter"
    if status == 408:
        return "timeout"
    if status >= 500 or status == 424:  # of TGI and Bedrock: the model failed
        return "server"
    return "auth" if status in (401, 403) else "bad_request"


def from_status(status: int, raw: bytes, headers: Mapping[str, str]) -> Fault:
    """The fault behind a reply whose HTTP status is not a success."""
    if 300 <= status < 400:  # a query may hold a key
        place = re.split("[?#]", redact(headers.get("location", "")))[0].removesuffix("/chat/completions")
        return Fault("redirect", f"HTTP {status}, which is not followed", place and f"it points to {place}")
    body = raw[:_LONGEST_REPORT].decode("utf-8", "replace").strip()
    try:
        complaint = complaint_in(orjson.loads(raw))
    except orjson.JSONDecodeError:  # a server without JSON, or JSON that is cut off; nothing of a web page
        complaint = Complaint(text="" if body.startswith("<") else body[:_LONGEST_DETAIL])
    return from_complaint(status, complaint, headers, body)


def from_complaint(status: int, complaint: Complaint, headers: Mapping[str, str], body: str = "") -> Fault:
    """The fault behind a status and the provider's complaint; ``body``: where Gemini's wait is."""
    code = complaint.code if _LABEL.fullmatch(complaint.code) and redact(complaint.code) == complaint.code else ""
    summary = f"HTTP {status} ({code})" if code else f"HTTP {status}"
    kind, pause = kind_of(status, code, complaint.text), retry_after(headers, body)
    if kind == "rate_limit" and pause is None:
        stated = _TRY_AGAIN.search(complaint.text)
        pause = _seconds_in(stated[1]) if stated else _until_reset(headers)
    if pause is not None and pause > LONGEST_PAUSE:
        summary += f", asking to wait {pause / 3600:.3g} hours; the longest wait is 10 minutes"
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
    if not isinstance(body, dict):
        return Complaint()
    error: Any = body.get("error") or body.get("detail") or body
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, dict):
        return Complaint(text=error if isinstance(error, str) else "")
    code = next((str(error[key]) for key in ("code", "type", "status") if error.get(key) is not None), "")
    metadata = error.get("metadata")  # of a router, whose own text only says that a provider failed
    texts = (error.get("message") or error.get("msg"), metadata.get("raw") if isinstance(metadata, dict) else None)
    return Complaint(code, " ".join(text for text in texts if isinstance(text, str) and text))


def retry_after(headers: Mapping[str, str], body: str = "") -> float | None:
    """Seconds to wait as the headers ask (seconds, milliseconds or an HTTP date), or the body of Gemini's errors."""
    lowered = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            if isfinite(value := float(lowered.get(name, ""))):
                return max(value, 0.0) / unit
    with suppress(ValueError):
        return max(parsedate_to_datetime(lowered.get("retry-after", "")).timestamp() - time.time(), 0.0)
    return float(delay[1]) if (delay := _RETRY_DELAY.search(body)) else None


def _until_reset(headers: Mapping[str, str]) -> float | None:
    """Seconds until all used-up limits are as new, by OpenAI's durations or Anthropic's times. One that takes longer
    than is ever waited does not count: it refills on the way."""
    lowered = {name.lower(): value for name, value in headers.items()}
    resets = [name for name in lowered if "-ratelimit-" in name and "reset" in name]
    used_up = [name for name in resets if lowered.get(name.replace("reset", "remaining")) == "0"]
    waits = [wait for name in used_up if (wait := _seconds_in(lowered[name])) is not None and wait <= LONGEST_PAUSE]
    return max(waits, default=None)


def _seconds_in(text: str) -> float | None:
    """The length of a duration such as 6m0s, or of what is left until a time with a zone."""
    if parts := _DURATION.findall(text):
        return sum(float(n) * _UNITS[unit] for n, unit in parts)
    with suppress(ValueError):
        if (time_of := datetime.fromisoformat(text)).tzinfo is not None:
            return max(time_of.timestamp() - time.time(), 0.0)
    return None
