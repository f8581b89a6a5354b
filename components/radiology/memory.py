"""The memory of a RadABench sample: variable values, their scores, and how a tool's result is written.

Source: Zheng et al. 2024, arXiv 2412.09529; rules as in the reference implementation
(MAGIC-AI4Med/RadABench, January 2025). Tools are oracles: what is written comes from the patient record.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson

from components.core.errors import ToolError
from components.radiology.plausible import plausible
from components.radiology.study import NO_VOCABULARY, Vocabulary, placeholder, recorded
from components.radiology.switches import Switches
from components.radiology.tasks import VARIABLES, lookup, var

IMAGE, INFORMATION, INDICATOR_NAME = var("Image"), var("Information"), var("IndicatorName")
_START: Mapping[str, str] = {IMAGE: "PLACEHOLDER_IMAGE", INFORMATION: "PLACEHOLDER_INFORMATION"}
# What is known of an organ or an anomaly once both its mask and its name are: mask, name, dimension.
_REVEALED = tuple((var(f"{kind}Mask"), var(f"{kind}Object"), var(f"{kind}Dim")) for kind in ("Organ", "Anomaly"))
_PATTERNS = tuple((name, var(name)) for name in VARIABLES)


@dataclass
class RadiologyMemory:
    """What the tools of one sample have found.

    ``scores`` are in [0, 1]; ``fixed`` are those of the variables known from the start, kept by every call.
    ``given`` are the variables that the sample itself makes known, whatever is claimed; ``wrong`` what a tool that
    was mistaken wrote in place of the record's, until the variable is written again. ``vocabulary``: what plausible
    wrong values are taken from.
    """

    record: Mapping[str, Any]
    values: dict[str, Any]
    scores: dict[str, float]
    fixed: Mapping[str, float]
    given: tuple[str, ...] = ()
    wrong: dict[str, Any] = field(default_factory=dict)
    vocabulary: Vocabulary = NO_VOCABULARY

    def fork(self) -> "RadiologyMemory":
        """A copy that can be changed apart."""
        kept = dict(self.values), dict(self.scores), self.fixed, self.given, dict(self.wrong)
        return RadiologyMemory(self.record, *kept, self.vocabulary)

    def close(self) -> None:
        """Nothing to let go of."""

    def begin(self, known: Iterable[str]) -> None:
        """Start again, with these variables known besides those that the sample gives.

        Raises ToolError when the record lacks one.
        """
        fresh = start_memory(self.record, [*self.given, *known])
        self.values, self.scores, self.fixed, self.wrong = fresh.values, fresh.scores, fresh.fixed, {}

    def write(self, outputs: Iterable[str], score: float, refresh: bool) -> None:
        """Take in a successful call. What exists already becomes a placeholder unless ``refresh``."""
        values, scores, written = self.values, self.scores, tuple(outputs)
        for name in written:
            values[name] = recorded(self.record, name) if refresh or name not in values else placeholder(name)
            scores[name] = score
            self.wrong.pop(name, None)
        scores.update(self.fixed)
        for mask, entity, dimension in _REVEALED:
            if mask in values and entity in values:
                values[entity] = recorded(self.record, entity)
                values[dimension] = recorded(self.record, dimension)
                scores[dimension] = scores[entity]
                if mask in written:
                    self.wrong.pop(dimension, None)
        values.update(self.wrong)

    def mistake(self, values: Mapping[str, Any]) -> None:
        """Write what a mistaken tool returns: variables (with dollar signs) and their wrong values."""
        self.wrong.update(values)
        self.values.update(values)

    def plausible(self, name: str, wrong: Mapping[str, Any], rng: Random) -> Any:
        """A wrong value of a variable that could be right; ``wrong`` holds those that are wrong already."""
        return plausible(self.record, self.vocabulary, name, wrong, rng)

    def text(self, information: bool = False) -> str:
        """The values as one line of JSON; with ``information`` the patient's in place of its placeholder."""
        values = self.values
        if information:
            values = {**values, INFORMATION: self.record["Information"]}
        return orjson.dumps(values).decode()


def start_memory(record: Mapping[str, Any], known: Iterable[str] = ()) -> RadiologyMemory:
    """The memory before the first call: image, information, and variables (with dollar signs) held known.

    Raises ToolError ``unknown_initial_info`` when the record lacks one, as it lacks the masks.
    """
    values: dict[str, Any] = dict(_START)
    for name in known:
        if name in values:
            continue
        value = lookup(record, name.strip("$"))
        if value is None:
            text = f"{name} cannot be known from the start: the patient's record does not hold it"
            raise ToolError(text, "unknown_initial_info", {"error_class": "OSError"})
        values[name] = value
    scores = dict.fromkeys(values, 1.0)
    return RadiologyMemory(record, values, scores, dict(scores))


def open_memory(
    record: Mapping[str, Any], chain: str, switches: Switches, vocabulary: Vocabulary = NO_VOCABULARY
) -> RadiologyMemory:
    """The memory of a sample of this task before anything is claimed to be known."""
    named = switches.indicator_name == "start_for_indicator_tasks" and "7" in chain
    memory = start_memory(record, (INDICATOR_NAME,) if named else ())
    memory.given = (INDICATOR_NAME,) if named else ()
    memory.vocabulary = vocabulary
    return memory


def inputs_of(value: str | Sequence[str]) -> list[str]:
    """The variables named in the ``input`` of a call, a text or a list, with dollar signs."""
    return read_inputs(value if isinstance(value, str) else orjson.dumps(value, default=str).decode())


def read_inputs(text: str) -> list[str]:
    """The variables named in a call's input, in canonical order, with dollar signs.

    A bare name anywhere in the text counts; anything else in it is passed over.
    """
    return [name for bare, name in _PATTERNS if bare in text]
