"""The memory of a RadABench sample: variable values, their scores, how a result is written, and wrong values.

Source: Zheng et al. 2024, arXiv 2412.09529; rules as in the reference implementation (MAGIC-AI4Med/RadABench, January
2025). Tools are oracles: what is written comes from the patient record. Departure: values that are wrong but plausible,
for faults; the article names tools that are never wrong as a limit of its benchmark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import orjson

from components.core.errors import ToolError
from components.faults.marks import shift_numbers
from components.radiology.study import ENTITIES, NO_VOCABULARY, Vocabulary, placeholder, recorded_value
from components.radiology.switches import Switches
from components.radiology.tasks import PAIRS, VARIABLES, lookup, var
from components.text.cached import cached_short
from components.text.words import replaced

IMAGE, INFORMATION, INDICATOR_NAME = var("Image"), var("Information"), var("IndicatorName")
_START: Mapping[str, str] = {IMAGE: "PLACEHOLDER_IMAGE", INFORMATION: "PLACEHOLDER_INFORMATION"}
# Mask, name, dimension of an organ or an anomaly: the third is known once the others are.
_REVEALED = tuple((var(f"{kind}Mask"), var(f"{kind}Object"), var(f"{kind}Dim")) for kind in ("Organ", "Anomaly"))
_PATTERNS = tuple((name, var(name)) for name in VARIABLES)
_ENTITY_OF = {var(variable): entity for entity, (_, variable) in ENTITIES.items()}
_FREE = (var("Report"), var("Treatment"))
_ANATOMY, _MODALITY, _DISEASE = var("Anatomy"), var("Modality"), var("Disease")


@dataclass
class RadiologyMemory:
    """The results of the tools of one sample. ``scores`` are in [0, 1]; ``fixed`` are those of the variables known from
    the start, which no call changes. ``given`` are the variables that the sample makes known, whatever is claimed;
    ``wrong`` the values that a mistaken tool wrote in place of the record's. ``vocabulary``: for plausible ones."""

    record: Mapping[str, Any]
    values: dict[str, Any]
    scores: dict[str, float]
    fixed: Mapping[str, float]
    given: tuple[str, ...] = ()
    wrong: dict[str, Any] = field(default_factory=dict)
    vocabulary: Vocabulary = NO_VOCABULARY

    def fork(self) -> "RadiologyMemory":
        """A copy that can be changed apart."""
        return replace(self, values=dict(self.values), scores=dict(self.scores), wrong=dict(self.wrong))

    def close(self) -> None:
        """Nothing to release."""

    def begin(self, known: Iterable[str]) -> None:
        """Start again, with these variables known besides those that the sample gives. Raises ToolError when the record
        lacks one."""
        fresh = start_memory(self.record, [*self.given, *known])
        self.values, self.scores, self.fixed, self.wrong = fresh.values, fresh.scores, fresh.fixed, {}

    def write(self, outputs: Iterable[str], score: float, refresh: bool) -> None:
        """Take in a successful call. What exists already becomes a placeholder unless ``refresh``."""
        values, scores, written = self.values, self.scores, tuple(outputs)
        for name in written:
            values[name] = recorded_value(self.record, name) if refresh or name not in values else placeholder(name)
            scores[name] = score
            self.wrong.pop(name, None)
        scores.update(self.fixed)
        for mask, entity, dimension in _REVEALED:  # nothing new is revealed by what else is written
            if (mask in written or entity in written or dimension in written) and mask in values and entity in values:
                values[entity] = recorded_value(self.record, entity)
                values[dimension] = recorded_value(self.record, dimension)
                scores[dimension] = scores[entity]
                if mask in written:
                    self.wrong.pop(dimension, None)
        values.update(self.wrong)

    def mistake(self, values: Mapping[str, Any]) -> None:
        """Write what a mistaken tool returns: variables (with dollar signs) and their wrong values."""
        self.wrong.update(values)
        self.values.update(values)

    def plausible(self, name: str, wrong: Mapping[str, Any], rng: Random) -> Any:
        """A wrong value of a variable (with dollar signs), of the same type: an entity of the vocabulary, or a number
        changed by a fifth to two fifths. A report and a treatment repeat what is ``wrong`` already, and take another
        disease where nothing is; a mask stays the placeholder that it is."""
        right = recorded_value(self.record, name)
        if name in _ENTITY_OF:
            return rng.choice(self.vocabulary.others(_ENTITY_OF[name], str(right)) or [f"no {right}"])
        if name in (_ANATOMY, _MODALITY):
            part, fixed = (0, self.record["Modality"]) if name == _ANATOMY else (1, self.record["Anatomy"])
            near = [pair[part] for pair in PAIRS if pair[1 - part] == fixed and pair[part] != right]
            return rng.choice(near or [pair[part] for pair in PAIRS])
        if name in _FREE:
            text = str(right)
            swaps = {
                str(recorded_value(self.record, one)): str(value) for one, value in wrong.items() if one not in _FREE
            }
            changed = replaced(text, {own: shown for own, shown in swaps.items() if own != shown})
            if changed == text:
                other = str(wrong.get(_DISEASE) or self.plausible(_DISEASE, {}, rng))
                changed = replaced(text, {str(recorded_value(self.record, _DISEASE)): other})
                if changed == text:
                    return f"As for {other}. {text.partition('. ')[0].rstrip('.')}."
            return changed
        if name.endswith("Mask$"):
            return right
        off = shift_numbers(str(right), rng.uniform(0.2, 0.4), rng, whole=True)
        return off.text if off.n else f"not {str(right)[:1].lower()}{str(right)[1:]}"

    def text(self, information: bool = False) -> str:
        """The values as one line of JSON; with ``information`` the patient's in place of its placeholder."""
        patient = {INFORMATION: self.record["Information"]} if information else {}
        return orjson.dumps({**self.values, **patient}).decode()


def start_memory(record: Mapping[str, Any], known: Iterable[str] = ()) -> RadiologyMemory:
    """The memory before the first call: image, information, and known variables (with dollar signs). Raises ToolError
    ``unknown_initial_info`` when the record lacks one, as it lacks the masks."""
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
    given = (INDICATOR_NAME,) if named else ()
    memory = start_memory(record, given)
    memory.given, memory.vocabulary = given, vocabulary
    return memory


def read_inputs(value: str | Sequence[str]) -> list[str]:
    """The variables named anywhere in a call's ``input``, a text or a list, in canonical order, with dollar signs."""
    return list(_named_in(value if isinstance(value, str) else orjson.dumps(value, default=str).decode()))


@cached_short(1_024)
def _named_in(text: str) -> tuple[str, ...]:
    return tuple([name for bare, name in _PATTERNS if bare in text])
