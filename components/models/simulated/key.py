"""The private answer key that stands for the simulated core's medical knowledge."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from components.errors import ConfigError
from components.messages import Message
from components.types import Problem, Sample

_REMEMBERED = 4_000
_VARIABLE = re.compile(r"\$\{oc\.env:(\w+)\}")
_CONF = Path(__file__).resolve().parents[3] / "conf"
_LABEL = 24  # longest label before a question, such as "Question: "


class AnswerKey:
    """Finds the sample that a conversation is about, by its question's text and, where several samples
    share it, by the context, options, images and names of inputs that are shown.
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
                found = self._seen[message.digest] = tuple(self._search(message))
            if found:
                return found[0]
        return None

    def _search(self, message: Message) -> list[Sample]:
        """Samples whose question stands in the message, those of which it shows more first."""
        text, found = message.text, list[Sample]()
        for line in text.split("\n"):
            known = self._by_line.get(line)
            if known is None and (start := line.find(": ", 0, _LABEL)) > 0:
                known = self._by_line.get(line[start + 2 :])
            found += [s for s in known or () if s.problem.question.strip() in text]
        return sorted(found, key=lambda s: -_shown(s.problem, message)) if len(found) > 1 else found


def _shown(problem: Problem, message: Message) -> int:
    """How much beside its question a message shows of a problem."""
    text, parts = message.text, message.content if isinstance(message.content, tuple) else ()
    return (
        2 * bool(problem.context and problem.context in text)
        + bool(problem.choices and all(option in text for option in problem.choices.values()))
        + bool(problem.images and all(image in parts for image in problem.images))
        + bool(problem.inputs and all(f'"{name}"' in text for name in problem.inputs.values()))
    )


def _first_line(question: str) -> str:
    return question.strip().split("\n", 1)[0].strip()


def dataset_samples(name: str, arguments: Mapping[str, str], profile: str = "paper") -> list[Sample]:
    """All samples of a dataset of ``conf/dataset``, for the answer key. Raises ConfigError."""
    path = _CONF / "dataset" / f"{name}.yaml"
    if not path.exists():
        have = sorted(p.stem for p in path.parent.glob("*.yaml"))
        raise ConfigError(f"--dataset {name}: there is no such dataset; there are {', '.join(have)}")
    text = path.read_text()
    if unset := set(_VARIABLE.findall(text)) - set(os.environ):
        raise ConfigError(f"--dataset {name}: the environment variable {min(unset)} is not set")
    node = yaml.safe_load(_VARIABLE.sub(lambda m: os.environ[m[1]], text))
    module, _, attribute = node.pop("_target_").rpartition(".")
    switches = yaml.safe_load((_CONF / "profile" / f"{profile}.yaml").read_text())
    node.pop("defaults", None)
    given = {k: switches[v[10:-1]] if str(v).startswith("${profile.") else v for k, v in node.items()}
    try:
        dataset = getattr(importlib.import_module(module), attribute)(**{**given, **arguments})
    except TypeError as error:
        raise ConfigError(f"--dataset-arg: {error}") from None
    return [sample for split in dataset.splits for sample in dataset.load(split)]
