"""The private answer key that stands for the simulated core's medical knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.messages import Message
from components.types import Sample

_REMEMBERED = 20_000
_LABEL = 24  # longest label before a question, such as "Question: "


class AnswerKey:
    """Finds the sample that a conversation is about, by its question's text and, where several samples
    share it, by the context shown.
    """

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._by_line: dict[str, list[Sample]] = {}
        self._seen: dict[bytes, tuple[Sample, ...]] = {}
        for sample in samples:
            self._by_line.setdefault(_first_line(sample.problem.question), []).append(sample)

    def find(self, messages: Sequence[Message]) -> Sample | None:
        """The sample whose question stands in the newest message that holds one; None when there is none."""
        for message in reversed(messages):
            if message.role != "user":
                continue
            found = self._seen.get(message.digest)
            if found is None:
                if len(self._seen) > _REMEMBERED:
                    self._seen.clear()
                found = self._seen[message.digest] = tuple(self._search(message.text))
            if found:
                return found[0]
        return None

    def _search(self, text: str) -> list[Sample]:
        """Samples whose question stands in the text, those whose context does too first."""
        found: list[Sample] = []
        for line in text.split("\n"):
            known = self._by_line.get(line)
            if known is None and (start := line.find(": ", 0, _LABEL)) > 0:
                known = self._by_line.get(line[start + 2 :])
            found += [s for s in known or () if s.problem.question.strip() in text]
        found.sort(key=lambda s: not (s.problem.context and s.problem.context in text))
        return found


def _first_line(question: str) -> str:
    return question.strip().split("\n", 1)[0].strip()
