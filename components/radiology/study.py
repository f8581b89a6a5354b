"""RadABench's patient records: their files, a sample as toolset and conditions read it, and restriction lists.

Source: Zheng et al. 2024, arXiv 2412.09529; layout of ``combined_casesV3_qa_Subset.json``; also records without the
wrapper ``case``, a file of one record, and numbers in place of texts. Departures: the six vocabularies are built from
the records of the file at hand, and topped up from our own terms, so that a small file has lists too; besides the
record's own value (exact string) its other spellings, wider and narrower terms can be excluded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from components.core.errors import ConfigError
from components.core.types import Sample
from components.radiology.tasks import ANATOMIES, MODALITIES, PAIRS, RECORD_KEYS, TASKS, Pair, Task, lookup

Record = Mapping[str, Any]
ENOUGH = 20
# Entity of a restriction (its name in conditions): list of the term file, and variable.
ENTITIES: Mapping[str, tuple[str, str]] = {
    "Organ": ("organ_list", "OrganObject"),
    "Anomaly": ("anomaly_list", "AnomalyObject"),
    "Disease": ("disease_list", "Disease"),
    "OrganBiomarker": ("organ_dim_list", "OrganDim"),
    "AnomalyBiomarker": ("anomaly_dim_list", "AnomalyDim"),
    "Indicator": ("indicator_list", "IndicatorName"),
}
LISTS = tuple(name for name, _ in ENTITIES.values())


@dataclass(frozen=True)
class Vocabulary:
    """``lists``: the values of a file's records, ``terms``: what they are topped up from; both by list name."""

    lists: Mapping[str, Sequence[str]]
    terms: Mapping[str, Sequence[str]]

    def others(self, entity: str, own: str, exact: bool = False) -> list[str]:
        """The entries that do not mean the record's ``own`` value; at least 20 where the terms allow. ``exact`` drops
        equal strings only; otherwise equal ones ignoring case, those that contain the value or are contained in it, and
        second spellings."""
        name, folded = ENTITIES[entity][0], own.strip().casefold()

        def differs(entry: str) -> bool:
            other = entry.strip().casefold()
            return entry != own if exact else bool(other) and not (folded and (folded in other or other in folded))

        found = dict.fromkeys(filter(differs, self.lists.get(name, ())))
        for term in filter(differs, self.terms.get(name, ())):
            if len(found) < ENOUGH:
                found.setdefault(term)
        if exact:
            return list(found)
        spellings: dict[str, str] = {}
        for entry in found:
            spellings.setdefault(entry.strip().casefold(), entry)
        return list(spellings.values())


NO_VOCABULARY = Vocabulary({}, {})


def build_vocabulary(records: Sequence[Record], terms: Mapping[str, Sequence[str]]) -> Vocabulary:
    """The distinct values of the six fields over all records, in file order."""
    values = {name: dict.fromkeys(lookup(one, variable) for one in records) for name, variable in ENTITIES.values()}
    return Vocabulary({name: tuple(found) for name, found in values.items()}, terms)


class Study(NamedTuple):
    """The patient record of a sample, its task, and the vocabulary of its file."""

    record: Record
    task: Task
    vocabulary: Vocabulary

    @property
    def pair(self) -> Pair:
        """Anatomy and modality of the record."""
        return self.record["Anatomy"], self.record["Modality"]

    def own(self, entity: str) -> str:
        """The record's own value of an entity of ``ENTITIES``."""
        return str(lookup(self.record, ENTITIES[entity][1]))


def study_of(sample: Sample) -> Study:
    """Read a sample. Raises ConfigError when it is not one of RadABench's."""
    data = sample.metadata
    try:
        return Study(data["record"], TASKS[data["chain"]], data["vocabulary"])
    except KeyError:
        raise ConfigError(
            f"sample {sample.problem.id!r} has no patient record to image: toolset=radiology and its conditions"
            " work with dataset=radabench_mini or dataset=radabench"
        ) from None


def placeholder(name: str) -> str:
    """The text in place of a value that is not stored; ``name`` with dollar signs."""
    return f"PLACEHOLDER_{name}"


def recorded_value(record: Record, name: str) -> Any:
    """The value a tool writes for a variable (with dollar signs); masks exist as placeholders only."""
    bare = name.strip("$")
    if bare == "Report":
        return f"Findings: {record['Report']['Finding']} Impression: {record['Report']['Impression']}"
    return placeholder(name) if bare.endswith("Mask") else lookup(record, bare)


class Entry(NamedTuple):
    """A patient record and its questions: task id -> (question, answer)."""

    id: str
    record: Record
    questions: Mapping[str, tuple[str, str]]


def parse_records(data: bytes, where: str, terms: Mapping[str, Sequence[str]]) -> tuple[Sequence[Entry], Vocabulary]:
    """The entries of a file in its order, checked, and the vocabulary of all their records; ``where`` names it,
    ``terms`` top up the vocabulary. Raises ConfigError with the record and the key that are wrong."""
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{where}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{where}: expected a JSON object of patient records, found {_kind(content)}")
    single = "case" in content or "Anatomy" in content  # a file of one record
    named = {"0": content} if single else content
    entries = tuple(_entry(f"{where}: record {name!r}", name, raw) for name, raw in named.items())
    if not entries:
        raise ConfigError(f"{where}: there are no patient records in it")
    return entries, build_vocabulary([entry.record for entry in entries], terms)


def _entry(where: str, name: str, raw: Any) -> Entry:
    """Check that a record is complete, and its questions; numbers become texts."""
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: expected an object with the keys case and QA, found {_kind(raw)}")
    record = raw["case"] if "case" in raw else {key: value for key, value in raw.items() if key != "QA"}
    if not isinstance(record, dict):
        raise ConfigError(f"{where}: case is {_kind(record)}; an object is expected")
    if "QA" not in raw:
        raise ConfigError(f"{where}: QA is missing; it holds a Q and an A per chain of {list(TASKS)}")
    for key, inner in RECORD_KEYS.items():
        if inner is None:
            _text(where, record, key, key)
        elif not isinstance(record.get(key), dict):
            found = _kind(record[key]) if key in record else "missing"
            raise ConfigError(f"{where}: {key} is {found}; an object with {inner} is expected")
        for part in inner or ():
            _text(where, record[key], part, f"{key}.{part}")
    for key, known in (("Anatomy", ANATOMIES), ("Modality", MODALITIES)):
        if record[key] not in known:
            raise ConfigError(f"{where}: {key} is {record[key]!r}; known are {list(known)}")
    anatomy, modality = record["Anatomy"], record["Modality"]
    if (anatomy, modality) not in PAIRS:
        fitting = [other for place, other in PAIRS if place == anatomy]
        raise ConfigError(f"{where}: Modality is {modality!r}; for Anatomy {anatomy!r} known are {fitting}")
    return Entry(name, record, dict(_questions(where, raw["QA"])))


def _text(where: str, group: dict[str, Any], key: str, path: str) -> None:
    value = group.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool):
        group[key] = str(value)
    elif not isinstance(value, str):
        raise ConfigError(f"{where}: {path} is {f'{_kind(value)}; text is expected' if key in group else 'missing'}")


def _questions(where: str, raw: Any) -> Iterator[tuple[str, tuple[str, str]]]:
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
