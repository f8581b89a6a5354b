"""Plausible wrong values of the variables of a radiology record: of the same type, and not the record's own.

Departure from nothing published: Zheng et al. 2024 (arXiv 2412.09529) name tools that are never wrong as a limit of
their benchmark. Entities come from the vocabulary of the records, numbers are put off by a fifth to two fifths.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from components.faults.altering import shifted
from components.radiology.study import ENTITIES, Vocabulary, recorded
from components.radiology.tasks import PAIRS, var
from components.text.words import replaced

_ENTITY = {var("IndicatorName" if entity == "Indicator" else key): entity for entity, (_, _, key) in ENTITIES.items()}
_FREE = (var("Report"), var("Treatment"))
_ANATOMY, _MODALITY, _DISEASE = var("Anatomy"), var("Modality"), var("Disease")


def plausible(
    record: Mapping[str, Any], vocabulary: Vocabulary, name: str, wrong: Mapping[str, Any], rng: Random
) -> Any:
    """A wrong value of a variable (with dollar signs); ``wrong`` holds those that are wrong already.

    A report and a treatment repeat what is wrong already, and take another disease where nothing is. A mask stays the
    placeholder that it is: that it is wrong shows in nothing.
    """
    right = recorded(record, name)
    if name in _ENTITY:
        return rng.choice(vocabulary.others(_ENTITY[name], str(right)) or [f"no {right}"])
    if name in (_ANATOMY, _MODALITY):
        return _elsewhere(record["Anatomy"], record["Modality"], name, rng)
    if name in _FREE:
        return _rewritten(record, vocabulary, str(right), wrong, rng)
    if name.endswith("Mask$"):
        return right
    text = shifted(str(right), rng.uniform(0.2, 0.4), rng, whole=True)
    return text.text if text.n else f"not {str(right)[:1].lower()}{str(right)[1:]}"


def _elsewhere(anatomy: str, modality: str, name: str, rng: Random) -> str:
    """Another anatomy or modality, of a pair that exists with the other half."""
    if name == _ANATOMY:
        return rng.choice([a for a, m in PAIRS if m == modality and a != anatomy] or [a for a, _ in PAIRS])
    return rng.choice([m for a, m in PAIRS if a == anatomy and m != modality])


def _rewritten(
    record: Mapping[str, Any], vocabulary: Vocabulary, text: str, wrong: Mapping[str, Any], rng: Random
) -> str:
    """A text with what is wrong in the record's place."""
    swaps = {str(recorded(record, name)): str(value) for name, value in wrong.items() if name not in _FREE}
    changed = replaced(text, {right: shown for right, shown in swaps.items() if right != shown})
    if changed != text:
        return changed
    other = str(wrong.get(_DISEASE) or plausible(record, vocabulary, _DISEASE, {}, rng))
    changed = replaced(text, {str(recorded(record, _DISEASE)): other})
    return changed if changed != text else f"As for {other}. {text.partition('. ')[0].rstrip('.')}."
