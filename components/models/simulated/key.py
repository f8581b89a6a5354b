"""The private answer key: the simulated model's medical knowledge."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from string import punctuation
from typing import Any

import orjson

from components.core.messages import Message
from components.core.types import Problem, Sample

_REMEMBERED = 4_000
_EXAMPLE = "\n[Example of an answer]\n"  # what follows is another patient's
_LABEL = 24  # longest label before a question, such as "Question: "


class AnswerKey:
    """Finds the sample that a conversation is about, by its question's text and, where several samples share it, by the
    context, options, images and names of inputs that are shown."""

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._by_line: dict[str, list[Sample]] = {}
        self._seen: dict[bytes, tuple[Sample, ...]] = {}
        digests = []
        for sample in samples:
            digests.append(blake2b(_bytes_of(sample), digest_size=8).digest())
            line = sample.problem.question.strip().split("\n", 1)[0].strip()
            closed = (f"{line}?",) if line and line[-1] not in punctuation else ()  # as agents may close it
            for key in (line, *closed):
                self._by_line.setdefault(key, []).append(sample)
        # Of all that the samples hold, in whatever order they come; empty without any.
        self.digest = blake2b(b"".join(sorted(digests)), digest_size=8).hexdigest() if digests else ""

    def find(self, messages: Sequence[Message]) -> Sample | None:
        """The sample whose question is in the newest message that holds one; None when there is none."""
        systems = (one.text.partition("\n[Query]\n")[2] for one in messages if one.role == "system")
        queries = (Message("user", text.partition("\n[Plan]\n")[0]) for text in systems)  # that they pass on
        for message in (*reversed(messages), *queries):
            if message.role != "user":
                continue
            found = self._seen.get(message.digest)
            if found is None:
                if len(self._seen) > _REMEMBERED:
                    self._seen.clear()
                found = self._seen[message.digest] = tuple(self._search(message))
            if found:
                return found[0] if len(found) == 1 else _of_its_database(found, messages)
        return None

    def _search(self, message: Message) -> list[Sample]:
        """Samples whose question is in the message: those of which it shows more first, and among equals the last of
        the text, since solved examples come before the question."""
        text, found = message.text.partition(_EXAMPLE)[0], list[tuple[int, Sample]]()
        for number, line in enumerate(text.split("\n")):
            known = self._by_line.get(line := line.strip())
            if known is None and (start := line.find(": ", 0, _LABEL)) > 0:
                known = self._by_line.get(line[start + 2 :])
            found += [(number, s) for s in known or () if s.problem.question.strip() in text]
        if len(found) > 1:
            found.sort(key=lambda one: (-_overlap(one[1].problem, message), -one[0]))
        return [sample for _, sample in found]


def _bytes_of(sample: Sample) -> bytes:
    """Question, inputs and answer of a sample as JSON, without its images."""
    problem = sample.problem
    texts = [problem.question, dict(problem.choices), problem.context, dict(problem.inputs)]
    whole = [*texts, sample.target, dict(sample.metadata)]
    try:
        return orjson.dumps(whole, _plain, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # half surrogates
        return json.dumps(whole, sort_keys=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    """What JSON does not know, always in one order."""
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


def _of_its_database(found: Sequence[Sample], messages: Sequence[Message]) -> Sample:
    """Of samples with the first one's question the one whose context begins as a message does, else the first."""
    if not found[0].problem.context:
        return found[0]
    same = [one for one in found if one.problem.question == found[0].problem.question and one.problem.context]
    texts = [message.text for message in messages]
    shown = (one for one in same if any(one.problem.context.partition("\n\n")[0] in text for text in texts))
    return next(shown, found[0])


def _overlap(problem: Problem, message: Message) -> int:
    """How much of a problem a message shows, other than its question."""
    text, parts = message.text, message.content if isinstance(message.content, tuple) else ()
    return (
        2 * bool(problem.context and problem.context in text)
        + bool(problem.choices and all(option in text for option in problem.choices.values()))
        + bool(problem.images and all(image in parts for image in problem.images))
        + bool(problem.inputs and all(f'"{name}"' in text for name in problem.inputs.values()))
    )
