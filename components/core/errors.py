"""The errors, each with who acts on it."""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

CUT_OFF = "model_context_window_exceeded"  # the finish reason of a reply that the end of the window cut off
OVERFLOW = "context_window"  # the kind of a ModelError: a request was longer than the model takes


class ConfigError(Exception):
    """For the person who runs it: one clear line before any sample runs, exit code 2."""


class ActionError(Exception):
    """For the model: its reply does not follow the grammar. ``label`` is a short stable name for records, ``call_id``
    the native tool call it answers, if any."""

    def __init__(self, text: str, label: str = "unparsable_reply", call_id: str | None = None) -> None:
        super().__init__(text)
        self.label = label
        self.call_id = call_id


class ToolError(Exception):
    """For the model: its text becomes the observation and the episode continues. ``label`` is a short stable name for
    records, ``data`` facts for scorers, as in an Observation."""

    def __init__(self, text: str, label: str = "tool_error", data: Mapping[str, Any] | None = None) -> None:
        super().__init__(text)
        self.label = label
        self.data: Mapping[str, Any] = data or {}


class LimitReached(Exception):
    """For the trajectory: a budget of the sample is spent; scored as it is."""


class AttemptOver(LimitReached):
    """For the caller of the attempt: its steps are spent; other attempts of the sample may continue."""


class RunLimitReached(Exception):
    """For the run: its budget is spent; finished records stay valid."""


class ModelError(Exception):
    """For the record: no reply after bounded retries; unscored, run again on resume.

    ``kind`` is a short stable name: timeout, rate_limit, server, connection, auth, bad_request, content_filter,
    context_window, unreadable, quota, redirect, too_large, replay_miss ... An agent's request of kind ``OVERFLOW`` is
    the failure of its episode instead (``components.core.types.CONTEXT_LENGTH``), which is scored and not run again.
    """

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


def missing_extra(subject: str, module: str, extra: str) -> str:
    """What to install when an optional module is not there; empty when it is. The module is not imported."""
    return (
        "" if find_spec(module) else f"{subject} needs the optional extra {extra!r}: pip install 'wardround[{extra}]'"
    )


def check_pattern(name: str, pattern: str) -> None:
    """Raise ConfigError for an invalid regular expression."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"{name}: {pattern!r} is not a regular expression ({error})") from None
