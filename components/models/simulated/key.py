"""The private answer key that stands for the simulated core's medical knowledge."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from hashlib import blake2b
from pathlib import Path
from string import punctuation
from typing import Any, get_type_hints

import orjson

from components.core.errors import ConfigError
from components.core.messages import Message
from components.core.types import Problem, Sample
from components.text.yaml_text import parsed, read_yaml

_REMEMBERED = 4_000
_VARIABLE = re.compile(r"\$\{oc\.env:(\w+)\}")
_BASE = re.compile(r"/dataset/(\S+)@_here_")
_PART = re.compile(r"/dataset@(\w+)")  # a dataset within another one, by its name there
_CONF = Path(__file__).resolve().parents[3] / "conf"
_EXAMPLE = "\n[Example of an answer]\n"  # what follows is another patient's
_LABEL = 24  # longest label before a question, such as "Question: "


class AnswerKey:
    """Finds the sample that a conversation is about, by its question's text and, where several samples
    share it, by the context, options, images and names of inputs that are shown.
    """

    def __init__(self, samples: Iterable[Sample] = ()) -> None:
        self._by_line: dict[str, list[Sample]] = {}
        self._seen: dict[bytes, tuple[Sample, ...]] = {}
        held = [*samples]
        self.digest = _digest(held)
        for sample in held:
            for line in _first_lines(sample.problem.question):
                self._by_line.setdefault(line, []).append(sample)

    def find(self, messages: Sequence[Message]) -> Sample | None:
        """The sample whose question stands in the newest message that holds one; None when there is none."""
        for message in (*reversed(messages), *(_handed(one) for one in messages if one.role == "system")):
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
        """Samples whose question stands in the message: those of which it shows more first, and among equals the
        last of the text, since solved examples stand before what is asked.
        """
        text, found = message.text.partition(_EXAMPLE)[0], list[tuple[int, Sample]]()
        for number, line in enumerate(text.split("\n")):
            known = self._by_line.get(line := line.strip())
            if known is None and (start := line.find(": ", 0, _LABEL)) > 0:
                known = self._by_line.get(line[start + 2 :])
            found += [(number, s) for s in known or () if s.problem.question.strip() in text]
        if len(found) > 1:
            found.sort(key=lambda one: (-_shown(one[1].problem, message), -one[0]))
        return [sample for _, sample in found]


def _handed(message: Message) -> Message:
    """The query that a system message hands on, as its user would have asked it."""
    return Message("user", message.text.partition("\n[Query]\n")[2].partition("\n[Plan]\n")[0])


def _digest(samples: Sequence[Sample]) -> str:
    """16 hexadecimal digits for all that the samples hold, in whatever order they come; empty without any."""
    parts = sorted(blake2b(_told(one), digest_size=8).digest() for one in samples)
    return blake2b(b"".join(parts), digest_size=8).hexdigest() if parts else ""


def _told(sample: Sample) -> bytes:
    """What a sample asks, holds and is answered with, as JSON; without what images show."""
    problem = sample.problem
    held = [problem.question, dict(problem.choices), problem.context, dict(problem.inputs), sample.target]
    held.append(dict(sample.metadata))
    try:
        return orjson.dumps(held, _plain, orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # half surrogates
        return json.dumps(held, sort_keys=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    """What JSON does not know, always in one order."""
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)


def _of_its_database(found: Sequence[Sample], messages: Sequence[Message]) -> Sample:
    """Of samples with the first one's question the one whose context begins as a message tells, else the first."""
    if not found[0].problem.context:
        return found[0]
    same = [one for one in found if one.problem.question == found[0].problem.question and one.problem.context]
    texts = [message.text for message in messages]
    told = (one for one in same if any(one.problem.context.partition("\n\n")[0] in text for text in texts))
    return next(told, found[0])


def _shown(problem: Problem, message: Message) -> int:
    """How much beside its question a message shows of a problem."""
    text, parts = message.text, message.content if isinstance(message.content, tuple) else ()
    return (
        2 * bool(problem.context and problem.context in text)
        + bool(problem.choices and all(option in text for option in problem.choices.values()))
        + bool(problem.images and all(image in parts for image in problem.images))
        + bool(problem.inputs and all(f'"{name}"' in text for name in problem.inputs.values()))
    )


def _first_lines(question: str) -> tuple[str, ...]:
    """The first line of a question, and as agents may close it with a question mark."""
    line = question.strip().split("\n", 1)[0].strip()
    return (line, f"{line}?") if line and line[-1] not in punctuation else (line,)


def dataset_samples(name: str, arguments: Mapping[str, Any], profile: str = "paper") -> list[Sample]:
    """The samples of a dataset of ``conf/dataset`` that a run evaluates: those of its split. Raises ConfigError.

    ``arguments`` replace what its YAML says; of a dataset within another one ``inner`` is the name of another choice,
    and ``inner.path`` an argument of it.
    """
    dataset = _made(name, arguments, read_yaml(_CONF / "profile" / f"{profile}.yaml"))
    return [*dataset.load(dataset.split)]


def _typed(kind: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a class, with its dataclasses in place of mappings."""
    hints = get_type_hints(kind)
    return {
        name: hints[name](**value) if isinstance(value, Mapping) and is_dataclass(hints.get(name)) else value
        for name, value in arguments.items()
    }


def _made(name: str, arguments: Mapping[str, Any], switches: Mapping[str, Any]) -> Any:
    """The dataset of a choice, and those within it. Raises ConfigError."""
    node, given = _choice(name), dict(arguments)
    for part, choice in node.pop("defaults").items():
        inner = {key: given.pop(key) for key in list(given) if key.startswith(f"{part}.")}
        chosen = {key.partition(".")[2]: value for key, value in inner.items()}
        node[part] = _made(str(given.pop(part, choice)), chosen, switches)
    module, _, attribute = node.pop("_target_").rpartition(".")
    filled = {k: switches[v[10:-1]] if str(v).startswith("${profile.") else v for k, v in node.items()}
    try:
        kind = getattr(importlib.import_module(module), attribute)
        return kind(**_typed(kind, {**filled, **given}))
    except TypeError as error:
        raise ConfigError(f"--dataset-arg: {error}") from None


def _choice(name: str) -> dict[str, Any]:
    """What a YAML of ``conf/dataset`` says, on top of the one that its defaults name; what is left of the defaults are
    the choices of its parts. Raises ConfigError."""
    folder = _CONF / "dataset"
    path = folder / f"{name}.yaml"
    if not path.exists():
        have = sorted(p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.yaml"))
        raise ConfigError(f"--dataset {name}: there is no such dataset; there are {', '.join(have)}")
    text = path.read_text()
    if unset := set(_VARIABLE.findall(text)) - set(os.environ):
        raise ConfigError(f"--dataset {name}: the environment variable {min(unset)} is not set")
    node: dict[str, Any] = parsed(_VARIABLE.sub(lambda m: os.environ[m[1]], text))
    named = node.pop("defaults", ())
    bases = [match[1] for one in named if (match := _BASE.fullmatch(str(one)))]
    pairs = [pair for one in named if isinstance(one, dict) for pair in one.items()]
    parts = {match[1]: choice for key, choice in pairs if (match := _PART.fullmatch(key))}
    return {key: value for part in (*map(_choice, bases), node) for key, value in part.items()} | {"defaults": parts}
