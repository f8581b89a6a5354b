"""What a program from outside gets and gives: the problem as JSON, and its outcome as JSON."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson
from yarl import URL

from components import programs
from components.acting.attempt import shown_images
from components.core.errors import ModelError, ToolError
from components.core.messages import JSON
from components.core.protocols import Episode
from components.core.tools import Offer
from components.core.types import CONTEXT_LENGTH, Answer, Failure, Refusal
from components.prompts import load
from components.web import Web

_OUTPUT = 1 << 20  # bytes that it may print or reply
_GRACE = 0.2  # seconds that its streams may stay open when it has ended
_FORM = '{"answer": "..."}, {"refusal": {...}} or {"failure": "..."}'
_KINDS = {bool: "true or false", int: "number", float: "number", list: "list", dict: "object", type(None): "null"}
_LABEL = re.compile(r"[a-z][a-z0-9_]{0,39}")
_RESERVED = (CONTEXT_LENGTH, "unsupported_input")  # failures that are found out here
Outcome = Answer | Refusal | Failure


def problem_of(episode: Episode, prompts: str) -> dict[str, Any]:
    """The problem, in parts and as one text; all that an agent may see of it."""
    problem = episode.problem
    return {
        "id": problem.id,
        "text": load(prompts).render("problem", problem=problem, held=""),
        "question": problem.question,
        "context": problem.context,
        "choices": dict(problem.choices),
        "inputs": dict(problem.inputs),
        "images": [image.url for image in shown_images(episode)],
        "refusal_fields": {name: list(allowed) for name, allowed in episode.offer.refusal_fields.items()},
    }


async def run_program(command: Sequence[str], names: Sequence[str], env: Mapping[str, str], given: JSON) -> bytes:
    """What a program prints that reads ``given``. Raises ModelError (program) unless it ends with exit code 0."""
    try:
        process = await programs.start(command, names, env)
    except OSError as error:
        raise _failed(f"{command[0]!r} cannot be started: {error.strerror}") from None
    assert process.stdin and process.stdout and process.stderr, "they are pipes"
    printed, kept = bytearray(), bytearray()
    tail = asyncio.create_task(programs.read_tail(process.stderr, kept))
    reading = asyncio.create_task(_read(process.stdout, printed))
    try:
        with suppress(ConnectionError, RuntimeError):  # it has ended: its exit code says more
            process.stdin.write(orjson.dumps(given))
        process.stdin.close()
        while process.returncode is None and len(printed) <= _OUTPUT:
            await (asyncio.sleep(0.01) if reading.done() else asyncio.wait({reading}, timeout=_GRACE))
        await asyncio.wait({reading, tail}, timeout=_GRACE)  # what it started may still hold them
    finally:
        for task in (reading, tail):
            task.cancel()
        await programs.stop(process)
    if len(printed) > _OUTPUT:
        raise _failed(f"{command[-1]!r} printed more than {_OUTPUT:,} bytes")
    if process.returncode:
        raise _failed(f"{command[-1]!r} {programs.describe_end(process, kept)}")
    return bytes(printed)


async def _read(stream: asyncio.StreamReader, printed: bytearray) -> None:
    while len(printed) <= _OUTPUT and (piece := await stream.read(1 << 16)):
        printed += piece


async def post(url: str, given: JSON, timeout_seconds: float) -> bytes:
    """What a service replies. Raises ModelError (program) unless it replies with status 200."""
    web = Web(timeout_seconds, longest_reply_bytes=_OUTPUT)
    try:
        reply = await web.post_once(URL(url), orjson.dumps(given), {"Content-Type": "application/json"})
    except ToolError as error:
        raise _failed(f"{url} cannot be asked: {error}") from None
    if reply.status != 200:
        raise _failed(f"{url} replied with status {reply.status}: {programs.last_line(reply.body)}")
    return reply.body


def outcome_in(raw: bytes, name: str, offer: Offer) -> Outcome:
    """The outcome: all that was printed, or its last line. Raises ModelError (program)."""
    found: Any = None
    for part in (raw, *raw.strip().splitlines()[-1:]):
        if not isinstance(found, dict):
            with suppress(ValueError):
                found = orjson.loads(part)
    if not isinstance(found, dict):
        raise _failed(f"{name!r} gave no outcome: its last line is {programs.last_line(raw)!r}, should be {_FORM}")
    match found:
        case {"answer": str(text)} if len(found) == 1:
            return Answer(text)
        case {"failure": str(label), **rest} if rest.keys() <= {"detail"}:
            if not _LABEL.fullmatch(label) or label in _RESERVED:
                raise _failed(
                    f"{name!r} failed with {label!r}; it is a short name such as gave_up, and not one of ours"
                )
            return Failure(label, str(rest.get("detail", "")))
        case {"refusal": dict(grounds)} if len(found) == 1:
            fields = offer.refusal_fields
            if not fields:
                raise _failed(f"{name!r} refused, and this task may not be refused")
            if wrong := [key for key, allowed in fields.items() if allowed and grounds.get(key) not in allowed]:
                allowed = ", ".join(fields[wrong[0]])
                raise _failed(f"{name!r} refused with {wrong[0]}={grounds.get(wrong[0])!r}; it is one of {allowed}")
            return Refusal({str(key): str(value) for key, value in grounds.items()})
    kinds = ", ".join(f"{key!r}: {_KINDS.get(type(value), 'text')}" for key, value in found.items())
    raise _failed(f"{name!r} gave an outcome of {{{kinds}}}; it should be {_FORM}")


def _failed(text: str) -> ModelError:
    return ModelError(text[:1000], "program")
