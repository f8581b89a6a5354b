"""An episode as the page's viewer reads it: plain JSON in compressed blocks that are opened one by one, empty values
left out, every long paragraph stored once; and marks of its steps, by which the page finds where two trajectories of a
sample first differ without reading either."""

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from shlex import quote
from typing import Any, TypeAlias
from urllib.parse import quote as quote_link

import orjson

from components.core.messages import Image, Message, ToolCall
from components.core.types import Observed, Step, Trajectory
from components.faults.marks import fault_lines
from runner.results.runs import Run
from runner.storage.sweeps import home_of
from runner.storage.texts import paragraphs, without_surrogates

PAGE = "report.html"
Text: TypeAlias = str | list[int]  # as it is, or the numbers of its paragraphs

_INLINE = 120  # characters; shorter texts are stored where they are used
_LONG = 4_000  # characters; longer paragraphs are remembered by digest
_ROOM, _EPISODES, _LEAST = 1_200_000, 50, 1_000  # characters that so many episodes may add; of any text
_BLOCK = 1 << 19  # bytes of JSON, from which on a block is closed
Plain = dict[str, Any]
Marks = tuple[list[str], list[list[int]]]


def pack(value: object) -> str:
    """A value as base64 of compressed JSON: a browser finds no markup in it."""
    return base64.b64encode(gzip.compress(orjson.dumps(value), 6, mtime=0)).decode()


@dataclass
class Blocks:
    """A list in blocks: ``starts`` has the number of the first value in each block."""

    written: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    count: int = 0
    _open: list[orjson.Fragment] = field(default_factory=list)
    _bytes: int = 0

    def add(self, value: object) -> int:
        """Put a value at the end of the list. Returns its number."""
        if not self._open:
            self.starts.append(self.count)
        line = orjson.dumps(value)
        self._open.append(orjson.Fragment(line))
        self._bytes += len(line)
        self.count += 1
        if self._bytes >= _BLOCK:
            self.close()
        return self.count - 1

    def close(self) -> list[str]:
        """All blocks, the last one with the values so far."""
        if self._open:
            self.written.append(pack(self._open))
            self._open, self._bytes = [], 0
        return self.written


class Texts:
    """Texts by their paragraphs, each of which is stored once for all episodes. ``room``: characters that an episode
    may still add; of a text beyond it the beginning is stored, and ``whole``, where the rest is."""

    def __init__(self) -> None:
        self.blocks, self.room, self.whole = Blocks(), _ROOM, ""
        self._numbers: dict[str | bytes, int] = {}
        self._stored: dict[str | bytes, list[int]] = {}  # whole texts, which other episodes have too

    def add(self, text: str) -> Text:
        """Store a text. Returns its reference. Lone surrogates, which cannot be written to a file, become ``?``."""
        if len(text) < _INLINE:
            return without_surrogates(text)
        if (known := self._stored.get(key := _key(text))) is not None:
            return known
        parts, stored, room = paragraphs(text), list[str](), max(self.room, _LEAST)
        for n, part in enumerate(parts):
            if _key(part) not in self._numbers:
                if len(part) > room:
                    left = sum(map(len, parts[n:])) - room
                    note = f"[... {left:,} characters are left out on this page; whole: {self.whole} ...]"
                    self.room = 0
                    return self.lines([*stored, part[:room], note])
                room -= len(part)
            stored.append(part)
        self.room = room
        self._stored[key] = self.lines(stored)
        return self._stored[key]

    def lines(self, parts: Sequence[str]) -> list[int]:
        """Store a text that is given by its paragraphs. Returns its reference."""
        numbers = []
        for part in parts:
            if (number := self._numbers.get(key := _key(part))) is None:
                number = self._numbers[key] = self.blocks.add(without_surrogates(part))
            numbers.append(number)
        return numbers


def _key(part: str) -> str | bytes:
    return part if len(part) < _LONG else sha256(part.encode("utf-8", "surrogatepass")).digest()


class Writer:
    """Writes ``count`` episodes, of fewer more; their texts go into ``texts``."""

    def __init__(self, count: int) -> None:
        self.texts, self._room = Texts(), _ROOM // min(max(count, 1), _EPISODES)
        self._text = self.texts.add

    def episode(self, record: Mapping[str, Any], trajectory: Trajectory, offered: Sequence[str], folder: str) -> Plain:
        """All of an episode of a run's ``folder`` that the list does not have. ``offered``: its tools' stored lines."""
        self.texts.room = self._room
        epoch = f" --epoch {record['epoch']}" if record["epoch"] else ""
        command = f"python -m runner.report episode {quote(str(record['sample_id']))} {quote(folder)}{epoch} --prompts"
        self.texts.whole = without_surrogates(command)
        grounds = trajectory.refusal.grounds if trajectory.refusal else {}
        return _drop_empty(
            {
                "question": self._text(question_of(trajectory)),
                "offered": self.texts.lines(offered),
                "steps": [self._step(step) for step in trajectory.steps],
                "answer": None if trajectory.answer is None else self._text(trajectory.answer),
                "grounds": {str(name): self._text(str(ground)) for name, ground in grounds.items()},
                "failure": trajectory.failure,
                "error": self._text(trajectory.error or ""),
                "scores": record["scores"],
                "ceilings": record.get("ceilings"),
                "explanations": {name: self._text(why) for name, why in (record.get("explanations") or {}).items()},
                "purposes": record["usage"].get("purposes"),
                "command": self.texts.whole,
            }
        )

    def _step(self, step: Step) -> Plain:
        action = step.action
        calls = action.calls if action is not None else ()
        done = [one.call for one in (*step.tried, *step.observed)]
        remarks = {name: value for name, value in step.remarks.items() if name != "label"}
        return _drop_empty(
            {
                "purpose": step.purpose,
                "role": "" if step.role == "main" else step.role,
                "branch": step.branch,
                "label": str(step.remarks.get("label", "")),
                "kept": step.kept,
                "asked": [self._message(message) for message in step.asked],
                "reply": self._message(step.reply, calls),
                "finish": "" if step.finish == "stop" else step.finish,
                "aside": not step.committed,
                "verdict": self._text(str(step.verdict)),
                "unreadable": self._text(action.error_text or action.error) if action and action.error else "",
                "tried": [self._add_observed(one) for one in step.tried],
                "observed": [self._add_observed(one) for one in step.observed],
                "skipped": [self._call(call) for call in calls if call not in done],
                "remarks": self._text(orjson.dumps(remarks, option=orjson.OPT_INDENT_2).decode()) if remarks else "",
                "usage": [step.usage.input_tokens, step.usage.output_tokens, step.usage.cost_usd],
                "seconds": round(step.seconds, 3),
            }
        )

    def _message(self, message: Message, shown: Sequence[ToolCall] = ()) -> Plain:
        """A message; images as places in its text, native calls that are not ``shown`` elsewhere."""
        return _drop_empty(
            {
                "role": message.role,
                "text": self._text(text_of(message)),
                "source": message.source,
                "thought": self._text(message.reasoning or ""),
                "calls": [self._call(call) for call in message.tool_calls if call not in shown],
            }
        )

    def _add_observed(self, one: Observed) -> Plain:
        pictures = "".join("\n[an image]" for _ in one.observation.images)
        found = {
            "call": self._call(one.call), "text": self._text(one.observation.text + pictures), "error": one.error,
            "control": one.control, "seconds": round(one.seconds, 3),
            "faults": [self._text(fault) for fault in fault_lines(one)],
        }  # fmt: skip
        return _drop_empty(found)

    def _call(self, call: ToolCall) -> list[Text]:
        return [call.name, self._text(call.arguments)]


def link_keys(runs: Sequence[Run]) -> list[str]:
    """What links to episodes call the runs: their folders, numbered where several have the same name."""
    names = [without_surrogates(run.folder.resolve().name) for run in runs]
    return [name if name not in names[:n] else f"{name}~{n + 1}" for n, name in enumerate(names)]


def link_of(key: str, sample: str, epoch: int) -> str:
    """The link to an episode of the run that links call ``key``."""
    return f"#episode={quote_link(key, safe='')}/{quote_link(sample, safe='')}/{epoch}"


def page_line(run: Run, sample: str, epoch: int) -> str:
    """Where a page has an episode of a run: its own, or that of its sweep; the command that writes one, without any."""
    home = home_of(run.folder, name) if (name := run.manifest.get("sweep")) else None
    if page := next((one / PAGE for one in (run.folder, home) if one and (one / PAGE).is_file()), None):
        return f"on the page: {page.resolve().as_uri()}{link_of(link_keys([run])[0], sample, epoch)}"
    return f"as a page: python -m runner.report page {quote(str(run.folder))}"


def question_of(trajectory: Trajectory) -> str:
    """The last message of a user in the first call; empty for an episode without a call."""
    first = trajectory.steps[0].asked if trajectory.steps else ()
    return next((text_of(message) for message in reversed(first) if message.role == "user"), "")


def text_of(message: Message) -> str:
    """The text of a message, images by name."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join("[an image]" if isinstance(part, Image) else part for part in message.content)


def _drop_empty(found: Plain) -> Plain:
    return {name: value for name, value in found.items() if value}


class Marker:
    """Numbers the content of steps, equal content equally, in episodes of one sample and epoch; 0: nothing."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], dict[bytes, int]] = {}

    def marks(self, record: Mapping[str, Any], trajectory: Trajectory, tools: Mapping[str, str]) -> Marks:
        """The purposes of the steps; per step [who, asked, said, called, observed], then [how it ended]; without what
        differs by chance: ids of calls, times. ``tools``: name -> what the tool is: one that two runs call by different
        names is the same."""
        known = self._known.setdefault((record["sample_id"], record["epoch"]), {})

        def number(part: object) -> int:
            return known.setdefault(sha256(orjson.dumps(part)).digest()[:12], len(known) + 1) if part else 0

        def call(one: ToolCall) -> list[str]:
            return [tools.get(one.name, one.name), one.arguments]

        steps = []
        for step in trajectory.steps:
            calls = step.action.calls if step.action is not None else ()
            seen = [[call(one.call), one.observation.text, one.error] for one in (*step.tried, *step.observed)]
            parts = (
                [step.purpose, step.role, step.branch, step.committed],
                [[message.role, text_of(message)] for message in step.asked],
                [text_of(step.reply), str(step.verdict)],
                [call(one) for one in calls],
                [len(step.tried), seen] if seen else [],
            )
            steps.append([number(part) for part in parts])
        refusal = dict(trajectory.refusal.grounds) if trajectory.refusal else None
        end = number([trajectory.stop, trajectory.answer, refusal, trajectory.failure])
        return [step.purpose for step in trajectory.steps], [*steps, [end]]
