"""RadABench's files: patient records with a question and an answer for each task.

Source: Zheng et al. 2024, arXiv 2412.09529; layout of the reference implementation's
``combined_casesV3_qa_Subset.json``. Also accepted: records without the wrapper ``case``, a file of one
record, and numbers in place of texts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from components.core.errors import ConfigError
from components.radiology.study import Vocabulary, build_vocabulary
from components.radiology.tasks import ANATOMIES, MODALITIES, PAIRS, TASKS

_GROUPS: Mapping[str, Sequence[str]] = {
    "Information": ("Age", "Sex", "Height", "Weight", "History", "Complaint"),
    "Anomaly": ("Part", "Symptom"),
    "OrganBiomarker": ("OrganObject", "OrganDim", "OrganQuant"),
    "AnomalyBiomarker": ("AnomalyObject", "AnomalyDim", "AnomalyQuant"),
    "Indicator": ("Name", "Value"),
    "Report": ("Finding", "Impression"),
}
_TEXTS = ("Anatomy", "Modality", "Disease", "Treatment")


@dataclass(frozen=True)
class Entry:
    """A patient record and its questions: task id -> (question, answer)."""

    id: str
    record: Mapping[str, Any]
    questions: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class RecordFile:
    """The entries of a file in its order, and the vocabulary of all their records."""

    entries: Sequence[Entry]
    vocabulary: Vocabulary


def parse_records(data: bytes, where: str, terms: Mapping[str, Sequence[str]]) -> RecordFile:
    """Read and check a file's content; ``where`` names it, ``terms`` top up the vocabulary.

    Raises ConfigError with the record and the key that are wrong.
    """
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{where}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{where}: expected a JSON object of patient records, found {_kind(content)}")
    entries = tuple(_entry(f"{where}: record {name!r}", name, raw) for name, raw in _named(content))
    if not entries:
        raise ConfigError(f"{where}: there are no patient records in it")
    return RecordFile(entries, build_vocabulary((entry.record for entry in entries), terms))


def _named(content: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The records by name; a file of one record has no names."""
    if "case" in content or "Anatomy" in content:
        yield "0", content
    else:
        yield from content.items()


def _entry(where: str, name: str, raw: Any) -> Entry:
    """Check a record and its questions."""
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: expected an object with the keys case and QA, found {_kind(raw)}")
    bare = "case" not in raw
    record = {key: value for key, value in raw.items() if key != "QA"} if bare else raw["case"]
    if not isinstance(record, dict):
        raise ConfigError(f"{where}: case is {_kind(record)}; an object is expected")
    if "QA" not in raw:
        raise ConfigError(f"{where}: QA is missing; it holds a Q and an A per chain of {list(TASKS)}")
    _check(where, record)
    return Entry(name, record, dict(_questions(where, raw["QA"])))


def _check(where: str, record: dict[str, Any]) -> None:
    """Check that a record is whole; numbers become texts."""
    for key in _TEXTS:
        _text(where, record, key, key)
    for group, keys in _GROUPS.items():
        if not isinstance(record.get(group), dict):
            found = _kind(record[group]) if group in record else "missing"
            raise ConfigError(f"{where}: {group} is {found}; an object with {list(keys)} is expected")
        for key in keys:
            _text(where, record[group], key, f"{group}.{key}")
    for key, known in (("Anatomy", ANATOMIES), ("Modality", MODALITIES)):
        if record[key] not in known:
            raise ConfigError(f"{where}: {key} is {record[key]!r}; known are {list(known)}")
    if (pair := (record["Anatomy"], record["Modality"])) not in PAIRS:
        fitting = [modality for anatomy, modality in PAIRS if anatomy == pair[0]]
        raise ConfigError(f"{where}: Modality is {pair[1]!r}; for Anatomy {pair[0]!r} known are {fitting}")


def _text(where: str, group: dict[str, Any], key: str, path: str) -> None:
    """Check that a value is text; a number becomes text."""
    value = group.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        group[key] = str(value)
    elif not isinstance(value, str):
        found = f"{_kind(value)}; text is expected" if key in group else "missing"
        raise ConfigError(f"{where}: {path} is {found}")


def _questions(where: str, raw: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Check the questions, in file order."""
    if not isinstance(raw, dict) or not raw:
        raise ConfigError(f"{where}: QA is {_kind(raw)}; an object with a Q and an A per chain is expected")
    for chain, pair in raw.items():
        if chain not in TASKS:
            raise ConfigError(f"{where}: QA has the unknown chain {chain!r}; known are {list(TASKS)}")
        if not isinstance(pair, dict):
            raise ConfigError(f"{where}: QA.{chain} is {_kind(pair)}; an object with Q and A is expected")
        for key in ("Q", "A"):
            _text(where, pair, key, f"QA.{chain}.{key}")
        yield chain, (pair["Q"], pair["A"])


def _kind(value: Any) -> str:
    """A JSON value's type in words."""
    names = {dict: "an empty object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
