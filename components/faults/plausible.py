"""Plausible wrong values of the variables of a radiology record: of the same type, and not the record's own.

Departure from nothing published: Zheng et al. 2024 (arXiv 2412.09529) name tools that are never wrong as a limit of
their benchmark. Entities come from the vocabulary of the records, numbers are put off by a fifth to two fifths.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any

from components.faults.numbers import shifted
from components.radiology.memory import recorded
from components.radiology.study import Study
from components.radiology.tasks import PAIRS, var
from components.radiology.vocabulary import ENTITIES

_ENTITY = {var("IndicatorName" if entity == "Indicator" else key): entity for entity, (_, _, key) in ENTITIES.items()}
_FREE = (var("Report"), var("Treatment"))
_ANATOMY, _MODALITY, _DISEASE = var("Anatomy"), var("Modality"), var("Disease")


def plausible(study: Study, name: str, wrong: Mapping[str, Any], rng: Random) -> Any:
    """A wrong value of a variable (with dollar signs); ``wrong`` holds those that are wrong already.

    A report and a treatment repeat what is wrong already, and take another disease where nothing is. A mask stays the
    placeholder that it is: that it is wrong shows in nothing.
    """
    right = recorded(study.record, name)
    if name in _ENTITY:
        return rng.choice(study.vocabulary.others(_ENTITY[name], str(right)) or [f"no {right}"])
    if name in (_ANATOMY, _MODALITY):
        return _elsewhere(study, name, rng)
    if name in _FREE:
        return _retold(study, str(right), wrong, rng)
    if name.endswith("Mask$"):
        return right
    text = shifted(str(right), rng.uniform(0.2, 0.4), rng, whole=True)
    return text.text if text.n else f"not {str(right)[:1].lower()}{str(right)[1:]}"


def _elsewhere(study: Study, name: str, rng: Random) -> str:
    """Another anatomy or modality, of a pair that exists with the other half."""
    anatomy, modality = study.pair
    if name == _ANATOMY:
        return rng.choice([a for a, m in PAIRS if m == modality and a != anatomy] or [a for a, _ in PAIRS])
    return rng.choice([m for a, m in PAIRS if a == anatomy and m != modality])


def _retold(study: Study, text: str, wrong: Mapping[str, Any], rng: Random) -> str:
    """A text with what is wrong in the record's place."""
    swaps = {str(recorded(study.record, name)): str(value) for name, value in wrong.items() if name not in _FREE}
    told = replaced(text, {right: shown for right, shown in swaps.items() if right != shown})
    if told != text:
        return told
    other = str(wrong.get(_DISEASE) or plausible(study, _DISEASE, {}, rng))
    told = replaced(text, {str(recorded(study.record, _DISEASE)): other})
    return told if told != text else f"As for {other}. {text.partition('. ')[0].rstrip('.')}."


def replaced(text: str, swaps: Mapping[str, str]) -> str:
    """The text with whole words swapped, whatever their case, the longest first and none twice."""
    low = {right.casefold(): shown for right, shown in swaps.items() if right.strip()}
    if not low:
        return text
    found = "|".join(re.escape(right) for right in sorted(low, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda one: low[one[0].casefold()], text)


def stands_in(value: str, text: str) -> bool:
    """Whether a text holds a value as whole words, whatever their case."""
    return bool(value.strip()) and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None
